"""JSON lines: an object on each line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayleaf.corpus.batches import Batch, Origins
from bayleaf.corpus.blocks import Block, blocks
from bayleaf.corpus.layout import Layout, chosen
from bayleaf.corpus.reader import StreamReader
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.slices import Slices
from bayleaf.corpus.streams import Stream

SAMPLE = 1 << 16
MOST_SAMPLED = 100


class MalformedError(Exception):
    """Why a line is not a record, as it goes on behind "mail.jsonl, line 12"."""


class JsonReader(StreamReader):
    """Reads one JSON object per line; the first one with a text (and a label, if needed) decides the columns.

    Records may lack other keys, or have more.
    """

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream, settings)
        self.layout = self._decided()
        label = (self.layout.label,) if self.layout.label else ()
        self._needed = (*self.layout.text, *label)
        others = self.layout.columns if settings.others or settings.table else ()
        self._columns = tuple(dict.fromkeys((*others, *self._needed)))

    def _decided(self) -> Layout:
        """Choose the columns by the first record that has what is needed."""
        columns: dict[str, None] = {}
        problem: CorpusError | None = None
        for number, line in enumerate(self._first_lines(), 1):
            try:
                columns |= dict.fromkeys(_object(line))
                return chosen(tuple(columns), self.settings, f"{self.name}, line {number}")
            except MalformedError as error:
                if self.settings.on_error != "skip":
                    self.settings.refuse(self.name, number, str(error))
            except CorpusError as error:
                problem = problem or error
        raise problem or CorpusError(f"{self.name} holds no JSON object in its first lines.")

    def _first_lines(self) -> Iterator[str]:
        """Some lines, looked at ahead; further ones are waited for when the first do not say enough."""
        done, number = 0, 0
        sample = self.stream.peek(SAMPLE)
        if sample.lstrip().startswith(b"["):
            raise CorpusError(
                f"{self.name}, line 1 begins a JSON array; expected an object on each line (JSON lines)."
            )
        while number < MOST_SAMPLED and done < SAMPLE:
            end = sample.find(b"\n", done) + 1
            if not end:
                more = self.stream.peek(len(sample) + 1, wait=True)
                if len(more) > len(sample):
                    sample = more
                    continue
                end = len(sample)
            if sample[done:end].strip():
                yield sample[done:end].decode(self.settings.line_encoding, "replace")
                number += 1
            elif end == done:
                return
            done = end

    def batches(self) -> Iterator[Batch]:
        """Stream the objects."""
        for block in blocks(self.stream, self.settings):
            yield from self._block(block)

    def _block(self, block: Block) -> Iterator[Batch]:
        starts, ends = block.lines()
        sound = block.without_spoiled(starts, self.settings)
        rows, places = [], []
        for place, line in enumerate(block.buffer.decode().split("\n")):
            if not line.strip() or not sound[place]:
                continue
            try:
                rows.append(self._fields(line))
                places.append(place)
            except MalformedError as error:
                self.settings.refuse(self.name, block.first_line + place, str(error))
        kept = np.array(places, np.int64)
        columns = {name: Slices.packed([row[i] for row in rows]) for i, name in enumerate(self._columns)}
        raw = Slices(block.buffer, starts[kept], ends[kept])
        origins = Origins(self.name, lambda: kept + block.first_line)
        yield from self.batch(columns, origins, records=lambda: [piece.strip() for piece in raw.pieces()])

    def _fields(self, line: str) -> list[bytes]:
        found = _object(line)
        values = {name: value_of(found, name) for name in self._columns}
        for name in self._needed:
            values[name] = self._checked(values[name], name)
        errors = "replace" if self.settings.on_error == "replace" else "strict"
        try:
            return [written(value).encode("utf-8", errors) for value in values.values()]
        except UnicodeEncodeError:
            raise MalformedError(" holds half of a surrogate pair, which is not text") from None

    def _checked(self, value: Any, name: str) -> Any:
        missing = value is None or (name == self.layout.label and value == "")
        if missing and self.settings.on_error == "replace" and name != self.layout.label:
            return ""
        if missing:
            raise MalformedError(f" has no value for {name!r}")
        if isinstance(value, dict | list):
            raise MalformedError(f" has {json.dumps(value)[:40]} for {name!r}, which is not text")
        return value


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise MalformedError(f", column {error.colno}: {error.msg}. Expected a JSON object") from None
    except ValueError:
        raise MalformedError(": a number has more digits than can be read") from None
    except RecursionError:
        raise MalformedError(": the JSON is nested too deeply") from None
    if not isinstance(found, dict) or not found:
        raise MalformedError(f": expected a JSON object with named values, got {line.strip()[:40]!r}")
    return found


def value_of(record: dict[str, Any], name: str) -> Any:
    """The value of a key, or of a key inside a key: "metadata.lang"; None if there is none."""
    if name in record or "." not in name:
        return record.get(name)
    parts = name.split(".")
    for i in range(1, len(parts)):
        inner = record.get(".".join(parts[:i]))
        if isinstance(inner, dict):
            return value_of(inner, ".".join(parts[i:]))
    return None


def written(value: Any) -> str:
    """A value as text; a number or a truth value as JSON has it."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
