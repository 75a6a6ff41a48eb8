"""Mail: the messages of an mbox, and a mail that is a file or comes from a pipe."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayleaf.corpus.batches import Batch, Origins
from bayleaf.corpus.blocks import Block, blocks, decoded
from bayleaf.corpus.layout import Layout, from_path
from bayleaf.corpus.reader import StreamReader, label_of
from bayleaf.corpus.settings import CorpusError, Settings, too_long
from bayleaf.corpus.slices import Slices
from bayleaf.corpus.streams import STANDARD_INPUT, Stream
from bayleaf.raw_mail import QUOTED_FROM, SEPARATOR, as_text, readable


def read_mail(raw: bytes, settings: Settings, name: str, line: int = 1) -> bytes:
    """The text of a mail: by its own charset, or in the encoding that was asked for."""
    raw = readable(raw)
    if settings.encoding == "utf-8":
        return as_text(raw)
    text, spoiled = decoded(raw, settings, name, line)
    return text if not len(spoiled) else as_text(raw)


class MboxReader(StreamReader):
    """Reads the messages of an mbox, each raw, headers and body; the label is the file's name unless another
    rule is given.
    """

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream, settings)
        label = path_column(stream, settings, "file")
        self.layout = Layout(("text",) if label is None else ("text", label), ("text",), label)

    def batches(self) -> Iterator[Batch]:
        """Stream the messages."""
        for block in blocks(self.stream, self.settings, last_message, raw=True):
            offsets, mails = self._messages(block)
            columns = {"text": Slices.packed([read_mail(raw, self.settings, self.name) for raw in mails])}
            if self.layout.label:
                label = label_of(self.name, self.settings.label or "file")
                columns["label"] = Slices.repeated(label, len(mails))
            yield from self.batch(columns, block.origins(np.array(offsets, np.int64)), mails)

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
        starts = np.array([match.start() for match in found], np.int64)
        kept = block.without_spoiled(starts, self.settings)
        offsets, messages = [], []
        for match, end, sound in zip(found, [*starts[1:].tolist(), len(block.buffer)], kept, strict=True):
            if not sound:
                continue
            raw = block.buffer[match.end() : end]
            offsets.append(match.start())
            messages.append(QUOTED_FROM.sub(rb"\1", raw[:-1] if raw.endswith(b"\n\n") else raw))
        return offsets, messages


def last_message(lines: bytes) -> int:
    """Cut before the last line that begins a message."""
    at = len(lines)
    while (at := lines.rfind(b"\nFrom ", 0, at)) >= 0:
        if SEPARATOR.match(lines, at + 1):
            return at + 1
    return 0 if SEPARATOR.match(lines) else -1


class MailReader(StreamReader):
    """Reads a stream as one mail; the line that an mbox begins with is not part of it."""

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream, settings)
        if settings.label and not from_path(settings.label):
            raise CorpusError(
                f"{stream.name} is a mail and has no column {settings.label!r}. Name its class with "
                "`constant`."
            )
        label = path_column(stream, settings, "folder")
        self.layout = Layout(("text",) if label is None else (label, "text"), ("text",), label)

    @property
    def path_label(self) -> str | None:
        """The label is a column of its own here."""
        return None

    def batches(self) -> Iterator[Batch]:
        """Read it all."""
        raw = read_whole(self.stream, self.settings)
        if match := SEPARATOR.match(raw):
            raw = raw[match.end() :]
        columns = {"text": Slices.packed([read_mail(raw, self.settings, self.name)])}
        if self.layout.label:
            columns["label"] = Slices.repeated(label_of(self.name, self.settings.label or "folder"), 1)
        yield from self.batch(columns, Origins(self.name, lambda: [1]), [raw])


def path_column(stream: Stream, settings: Settings, rule: str) -> str | None:
    """The column of labels that come from the path; none where there is no path and none are needed."""
    if settings.labeled is False or (settings.labeled is None and stream.name == STANDARD_INPUT):
        return None
    label_of(stream.name, settings.label or rule)
    return "label"


def read_whole(stream: Stream, settings: Settings) -> bytes:
    """All of a stream that is one record."""
    pieces, size = [], 0
    while piece := stream.read(1 << 20):
        size += len(piece)
        if size > settings.max_record:
            raise CorpusError(f"{stream.name}{too_long(settings.max_record)}.")
        pieces.append(piece)
    return b"".join(pieces)
