"""Records read one by one: the objects of JSON lines and the messages of an mbox."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayleaf.corpus.batches import Batch
from bayleaf.corpus.blocks import Block, blocks
from bayleaf.corpus.layout import Layout, chosen
from bayleaf.corpus.reader import StreamReader, label_of
from bayleaf.corpus.settings import SKIP, CorpusError, Settings
from bayleaf.corpus.slices import Slices
from bayleaf.corpus.streams import Stream

SAMPLE = 1 << 16
# A line that only begins with "From " is ordinary text; a separator has the time of delivery in it.
SEPARATOR = re.compile(rb"^From [^\n]*\d\d?:\d\d[^\n]*(?:\n|\Z)", re.MULTILINE)
QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)


class JsonReader(StreamReader):
    """Reads one JSON object per line; the keys of the first are the columns."""

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream, settings)
        where = f"{stream.name}, line 1"
        self.layout = chosen(tuple(self._first(where)), settings, where)
        label = (self.layout.label,) if self.layout.label else ()
        self._needed = (*self.layout.text, *label)

    def _first(self, where: str) -> dict[str, Any]:
        sample = self.stream.peek(SAMPLE).lstrip()
        if sample.startswith(b"["):
            raise CorpusError(f"{where} begins a JSON array; expected an object on each line (JSON lines).")
        return self._object(sample.split(b"\n", 1)[0].decode(self.settings.line_encoding, "replace"), where)

    def _object(self, line: str, where: str) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except json.JSONDecodeError as error:
            raise CorpusError(
                f"{where}, column {error.colno}: {error.msg}. Expected a JSON object. {SKIP}"
            ) from None
        except RecursionError:
            raise CorpusError(f"{where}: the JSON is nested too deeply. {SKIP}") from None
        if not isinstance(found, dict) or not found:
            raise CorpusError(f"{where}: expected a JSON object with named values, got {line[:40]!r}. {SKIP}")
        return found

    def batches(self) -> Iterator[Batch]:
        """Stream the objects."""
        for block in blocks(self.stream, self.settings):
            rows, numbers = self._rows(block)
            if rows:
                names = self.layout.columns
                columns = {name: Slices.packed([row[i] for row in rows]) for i, name in enumerate(names)}
                yield self.batch(columns, self.numbered(numbers))

    def _rows(self, block: Block) -> tuple[list[list[bytes]], list[int]]:
        spoiled = {block.line(int(offset)) for offset in block.spoiled}
        self.settings.skipped += len(spoiled)
        rows, numbers = [], []
        for number, line in enumerate(block.buffer.decode().split("\n"), block.first_line):
            if not line.strip() or number in spoiled:
                continue
            try:
                rows.append(self._fields(line, f"{self.name}, line {number}"))
                numbers.append(number)
            except CorpusError as error:
                self.settings.refuse(str(error))
        return rows, numbers

    def _fields(self, line: str, where: str) -> list[bytes]:
        found = self._object(line, where)
        for name in self._needed:
            if found.get(name) is None:
                raise CorpusError(f"{where} has no value for {name!r}. {SKIP}")
        try:
            return [_written(found.get(name)).encode() for name in self.layout.columns]
        except UnicodeEncodeError:
            raise CorpusError(f"{where} holds half of a surrogate pair, which is not text. {SKIP}") from None


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


class MboxReader(StreamReader):
    """Reads the messages of an mbox, each raw, headers and body; the label is the file's name unless another
    rule is given.
    """

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream, settings)
        columns = ("text",) if settings.labelled is False else ("text", "label")
        self.layout = Layout(columns, ("text",), None if settings.labelled is False else "label")

    def batches(self) -> Iterator[Batch]:
        """Stream the messages."""
        for block in blocks(self.stream, self.settings, last_message):
            offsets, messages = self._messages(block)
            if not messages:
                continue
            columns = {"text": Slices.packed(messages)}
            if self.layout.label:
                label = label_of(self.name, self.settings.label or "file")
                columns["label"] = Slices.repeated(label, len(messages))
            yield self.batch(columns, block.origins(np.array(offsets)))

    @property
    def path_label(self) -> str | None:
        """The label is a column of its own here."""
        return None

    def _messages(self, block: Block) -> tuple[list[int], list[bytes]]:
        found = list(SEPARATOR.finditer(block.buffer))
        if not found or (block.first_line == 1 and found[0].start() != 0):
            raise CorpusError(
                f"{self.name}, line 1: an mbox begins with a line 'From ADDRESS DATE'; this does not."
            )
        bounds = [*(match.start() for match in found), len(block.buffer)]
        spoiled = block.spoiled.tolist()
        offsets, messages = [], []
        for match, end in zip(found, bounds[1:], strict=True):
            if any(match.start() <= offset < end for offset in spoiled):
                self.settings.skipped += 1
                continue
            raw = block.buffer[match.end() : end]
            offsets.append(match.start())
            messages.append(QUOTED_FROM.sub(rb"\1", raw[:-1] if raw.endswith(b"\n\n") else raw))
        return offsets, messages


def last_message(buffer: bytes) -> int:
    """Cut before the last line that begins a message."""
    at = len(buffer)
    while (at := buffer.rfind(b"\nFrom ", 0, at)) > 0:
        if SEPARATOR.match(buffer, at + 1) and buffer.find(b"\n", at + 1) > 0:
            return at + 1
    return 0
