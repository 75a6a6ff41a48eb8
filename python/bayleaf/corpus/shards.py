"""Parts of a corpus for the tasks of a job: each document is in one of them, whatever their number."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from bayleaf.corpus.documents import Document
from bayleaf.corpus.parquet import ParquetReader
from bayleaf.corpus.reader import Reader, StreamReader
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.sources import Source

BY_LINE = ("tsv", "jsonl", "fasttext", "lines")
"""Formats in which a record is a line, so that a file can be cut at any line break; in CSV a break may be
quoted."""


@dataclass(frozen=True)
class Section(Source):
    """The lines, or the row groups, of a file that begin in a range of its bytes."""

    start: int = 0
    end: int = 0

    def size(self) -> int:
        """The length of the range."""
        return self.end - self.start

    def open(self, settings: Settings) -> tuple[str, Reader]:
        """Open the file at its head, which tells the columns, and go to the range."""
        kind, reader = super().open(settings)
        if isinstance(reader, StreamReader):
            reader.restrict(self.start, self.end)
        return kind, reader


@dataclass(frozen=True)
class Every(Source):
    """Every so-many-th of documents that are files of their own."""

    number: int = 0
    of: int = 1

    def _documents(self) -> Iterator[Document]:
        yield from islice(super()._documents(), self.number, None, self.of)


def split(sources: Sequence[Source], settings: Settings, of: int) -> list[list[Source]]:
    """Give each of so many shards its part of the bytes, in the order of the sources.

    Files that cannot be cut (compressed, CSV, FASTA, mailboxes) belong to the shard in which they begin.
    """
    shards: list[list[Source]] = [[] for _ in range(of)]
    sizes = [0 if source.kind else _size(source) for source in sources]
    bounds = [sum(sizes) * number // of for number in range(of + 1)]
    begin = 0
    for source, size in zip(sources, sizes, strict=True):
        if source.kind:
            for number, own in enumerate(shards):
                own.append(Every(**vars(source), number=number, of=of))
        else:
            for number, part in _parts(source, settings, begin, begin + size, bounds):
                shards[number].append(part)
        begin += size
    return shards


def _size(source: Source) -> int:
    size = source.size()
    if size is None:
        raise CorpusError(
            f"{source.path} cannot be read in shards: its size is not known. Save it to a file."
        )
    return size


def _parts(
    source: Source, settings: Settings, begin: int, end: int, bounds: list[int]
) -> Iterator[tuple[int, Source]]:
    """The shards that a file belongs to, each with what it reads of it."""
    most = len(bounds) - 2
    first = min(bisect_right(bounds, begin) - 1, most)
    last = max(first, min(bisect_left(bounds, end) - 1, most))
    if first == last or not _can_be_cut(source, settings):
        yield first, source
        return
    for number in range(first, last + 1):
        low, high = max(bounds[number], begin), min(bounds[number + 1], end)
        if low < high:
            yield number, Section(**vars(source), start=low - begin, end=high - begin)


def _can_be_cut(source: Source, settings: Settings) -> bool:
    kind, reader = source.open(settings)
    try:
        if not isinstance(reader, StreamReader) or reader.stream.compressed:
            return False
        return isinstance(reader, ParquetReader) or (kind in BY_LINE and settings.has_byte_lines)
    finally:
        reader.close()
