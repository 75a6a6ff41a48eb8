"""TSV and CSV: rows cut into columns, all rows of a block at once."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from bayleaf.corpus.batches import Batch, Origins
from bayleaf.corpus.blocks import NONE, UNDECODABLE, Block, blocks, bounded, last_line
from bayleaf.corpus.layout import has_header, layout
from bayleaf.corpus.quotes import QUOTE, LastRecord, outside, regular, unquoted
from bayleaf.corpus.reader import StreamReader
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.slices import Offsets, Slices, positions
from bayleaf.corpus.streams import STANDARD_INPUT, Stream

SAMPLE = 1 << 16
LARGEST_FIELD = (1 << 31) - 1


class TableReader(StreamReader):
    """Reads rows of delimited columns; the line breaks of a CSV file may lie in quoted fields.

    In TSV a quote is a letter like any other, and if the last column is the text, further tabs belong to it.
    """

    def __init__(self, stream: Stream, settings: Settings, quoted: bool) -> None:
        super().__init__(stream, settings)
        self._quoted = quoted
        sample = stream.peek(SAMPLE).decode(settings.line_encoding, "replace")
        self._delimiter = _delimiter(sample) if quoted else "\t"
        self.layout = layout(self._sampled(sample), settings, f"{stream.name}, line 1", trusting=quoted)
        self._takes_rest = not quoted and self.layout.columns[-1:] == self.layout.text
        self._header = self.layout.header
        needed = self.layout.label if settings.labeled else None
        self._label = None if needed is None else self.layout.columns.index(needed)

    def _sampled(self, sample: str) -> list[list[str]]:
        if not self._quoted:
            rows = [line.rstrip("\r").split("\t") for line in sample.split("\n", 100)[:100]]
        else:
            rows = _first_rows(sample, self._delimiter)
        may_go_on = len(sample) >= SAMPLE or self.stream.interactive
        if may_go_on and len(rows) > 1 and not sample.endswith("\n"):
            rows.pop()
        filled = [row for row in rows if any(row)]
        if not filled:
            raise CorpusError(f"{self.name}: the first lines are empty, so the columns are not known.")
        pairs = _may_be_pairs(self.settings) and not self._quoted
        if self.name == STANDARD_INPUT:
            # More than the first line may or may not have come yet, and the answers must not depend on that.
            filled = filled[:1]
            pairs = pairs and not has_header(filled, self.settings, trusting=False)
        else:
            pairs = pairs and _differ_beyond_two(filled)
            if not pairs and not has_header(filled, self.settings, self._quoted):
                usual = Counter(map(len, filled)).most_common(1)[0][0]
                filled = [row for row in filled if len(row) == usual]
        return [[row[0], "\t".join(row[1:])] for row in filled] if pairs else filled

    def restrict(self, start: int, end: int) -> None:
        """Read only the rows that begin in a range; the header is in the first one."""
        super().restrict(start, end)
        self._header = self._header and not start

    def batches(self) -> Iterator[Batch]:
        """Stream the rows."""
        cut = LastRecord(ord(self._delimiter)) if self._quoted else last_line
        source = blocks(self.stream, self.settings, cut)
        for block in source:
            quotes = positions(block.bytes, QUOTE) if self._quoted else NONE
            if self._quoted and not regular(block.bytes, quotes, ord(self._delimiter)):
                yield from self._careful(chain([block], source))
                return
            yield from self._block(block, quotes)

    def _block(self, block: Block, quotes: Offsets) -> Iterator[Batch]:
        content = block.bytes
        tabs = outside(positions(content, ord(self._delimiter)), quotes)
        starts, ends = bounded(content, outside(block.newlines, quotes))
        kept = block.without_spoiled(starts, self.settings) & (ends > starts)
        first, last = np.searchsorted(tabs, starts), np.searchsorted(tabs, ends)
        self._check_counts(block, kept, starts, last - first)
        if self._header and kept.any():
            kept[np.argmax(kept)] = self._header = False
        columns = self._columns(block, tabs, starts[kept], ends[kept], first[kept], quotes)
        rows = self._check_labels(block, columns, starts[kept])
        if not rows.all():
            columns = {name: column.take(rows) for name, column in columns.items()}
        return self.batch(columns, block.origins(starts[kept][rows]))

    def _check_counts(self, block: Block, kept: NDArray[np.bool_], starts: Offsets, tabs: Offsets) -> None:
        expected = len(self.layout.columns) - 1
        wrong = kept & ((tabs < expected) if self._takes_rest else (tabs != expected))
        for row in np.flatnonzero(wrong).tolist():
            reason = f" has {_counted(int(tabs[row]) + 1)}, expected {expected + 1}"
            self.settings.refuse(self.name, block.line(int(starts[row])), reason)
        kept &= ~wrong

    def _columns(
        self, block: Block, tabs: Offsets, starts: Offsets, ends: Offsets, first: Offsets, quotes: Offsets
    ) -> dict[str, Slices]:
        columns = {}
        names = self.layout.columns
        for place, name in enumerate(names):
            begin = starts if place == 0 else tabs[first + place - 1] + 1
            end = ends if place == len(names) - 1 else tabs[first + place]
            fields = Slices(block.buffer, begin, end)
            columns[name] = unquoted(fields, quotes) if len(quotes) else fields
        return columns

    def _check_labels(self, block: Block, columns: dict[str, Slices], starts: Offsets) -> NDArray[np.bool_]:
        if self._label is None:
            return np.ones(len(starts), bool)
        labels = columns[self.layout.columns[self._label]]
        filled: NDArray[np.bool_] = labels.ends > labels.starts
        for start in starts[~filled].tolist():
            self.settings.refuse(self.name, block.line(start), " has no label")
        return filled

    def _careful(self, source: Iterator[Block]) -> Iterator[Batch]:
        """Read rows one by one with Python's own reader, which knows what to make of a stray quote."""
        gathered: list[tuple[list[str], int]] = []
        size = 0
        for row, line in self._read_rows(Lines(source)):
            gathered.append((row, line))
            size += sum(map(len, row))
            if size >= self.settings.batch_bytes:
                yield from self._gathered(gathered)
                gathered, size = [], 0
        yield from self._gathered(gathered)

    def _read_rows(self, lines: Lines) -> Iterator[tuple[list[str], int]]:
        csv.field_size_limit(LARGEST_FIELD)
        rows = csv.reader(lines, delimiter=self._delimiter)
        before = 0
        while True:
            try:
                row = next(rows, None)
            except csv.Error as error:
                self.settings.refuse(self.name, lines.first + before, f" cannot be read as CSV: {error}")
                row = []
            if row is None:
                return
            line, before = lines.first + before, rows.line_num
            if self._accepted(row, line, lines.spoiled):
                yield row, line

    def _accepted(self, row: list[str], line: int, spoiled: set[int]) -> bool:
        if not row:
            return False
        problem = None
        if spoiled:
            problem = UNDECODABLE
            spoiled.clear()
        elif len(row) != len(self.layout.columns):
            problem = f"has {_counted(len(row))}, expected {len(self.layout.columns)}"
        elif self._label is not None and not row[self._label]:
            problem = "has no label"
        if problem:
            self.settings.refuse(self.name, line, f" {problem}")
        header, self._header = self._header and not problem, self._header and bool(problem)
        return problem is None and not header

    def _gathered(self, gathered: list[tuple[list[str], int]]) -> Iterator[Batch]:
        columns = {
            name: Slices.of(row[place] for row, _ in gathered)
            for place, name in enumerate(self.layout.columns)
        }
        return self.batch(columns, Origins(self.name, lambda: [line for _, line in gathered]))


class Lines:
    """The lines of blocks as text, one by one; `spoiled` collects those that are to be skipped."""

    def __init__(self, source: Iterator[Block]) -> None:
        self._source = source
        self.first = 0
        self.spoiled: set[int] = set()

    def __iter__(self) -> Iterator[str]:
        for block in self._source:
            self.first = self.first or block.first_line
            spoiled = {block.line(int(offset)) for offset in block.spoiled}
            for number, line in enumerate(io.StringIO(block.buffer.decode(), newline="\n"), block.first_line):
                if number in spoiled:
                    self.spoiled.add(number)
                yield line


def _may_be_pairs(settings: Settings) -> bool:
    """Whether nothing was asked that `label, tab, text` could not mean."""
    return not settings.text and settings.header is None and not settings.table


def _differ_beyond_two(rows: list[list[str]]) -> bool:
    widths = {len(row) for row in rows}
    return len(widths) > 1 and min(widths) == 2


def _first_rows(sample: str, delimiter: str) -> list[list[str]]:
    csv.field_size_limit(LARGEST_FIELD)
    rows = []
    with suppress(csv.Error):
        for row in islice(csv.reader(io.StringIO(sample, newline="\n"), delimiter=delimiter), 100):
            rows.append(row)  # noqa: PERF402 (what came before an error is kept)
    return rows


def _counted(columns: int) -> str:
    return "1 column" if columns == 1 else f"{columns} columns"


def _delimiter(sample: str) -> str:
    first = sample.split("\n", 1)[0]
    return max(",;\t|", key=first.count)
