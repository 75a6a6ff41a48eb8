"""FASTA and FASTQ sequences, with labels from a taxonomy table."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from bayleaf.corpus.batches import Batch
from bayleaf.corpus.blocks import Block, blocks, bounded
from bayleaf.corpus.layout import Layout, from_path
from bayleaf.corpus.reader import StreamReader
from bayleaf.corpus.settings import CorpusError, Reject, Settings, listed
from bayleaf.corpus.slices import Offsets, Slices
from bayleaf.corpus.streams import Stream, open_stream

RANKS = ("kingdom", "phylum", "class", "order", "family", "genus", "species")
LINEAGES = ("taxon", "taxonomy", "lineage", "taxa", "consensuslineage")
NUCLEOTIDES = b"ACGTUNRYSWKMBDHV-.*"
EMPTY_RANK = re.compile(r"(?:[A-Za-z]__)?\s*")


class SequenceReader(StreamReader):
    """Reads sequences in capitals, U as T; a taxonomy table, the description or the path gives the class.

    A lower-case letter marks a repeat and U is T in RNA: what is sequenced is the same. A record whose rank
    is not named (`g__`) is left out and counted.
    """

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream, settings)
        self._depth = depth(settings.rank)
        self._taxa = taxonomy_table(settings) if settings.taxonomy is not None else None
        columns = (
            ("id", "description", "text") if self._taxa is None else ("id", "description", "text", "taxon")
        )
        self.layout = Layout(columns, ("text",), self._label(columns))

    def _label(self, columns: tuple[str, ...]) -> str | None:
        label = self.settings.label
        if label and label not in columns and not from_path(label):
            raise CorpusError(
                f"{self.name}: no column is named {label!r}. The columns are {listed(columns)}."
            )
        if self.settings.labeled is False:
            return None
        if label in columns or (self._taxa is not None and not label):
            return label or "taxon"
        if self.settings.labeled and not label:
            raise CorpusError(
                f"{self.name}: sequences have no label. Name the table of their taxa with `taxonomy`, or "
                "their class with `constant`."
            )
        return None

    def _named(self, block: Block, starts: Offsets, headers: Offsets, texts: Slices) -> Iterator[Batch]:
        """Make a batch of records, given where they start and where their first line ends."""
        kept = block.without_spoiled(starts, self.settings)
        bounds = zip(starts.tolist(), headers.tolist(), strict=True)
        names = [_header(block.buffer[start + 1 : end]) for start, end in bounds]
        columns = {"id": Slices.packed([name for name, _ in names]), "text": texts}
        columns["description"] = Slices.packed([description for _, description in names])
        ranked_by, lineages = self._lineages(names)
        if ranked_by:
            lines = [block.line(start) for start in starts.tolist()]
            labels = [self._ranked(*row) for row in zip(lineages, names, lines, strict=True)]
            kept &= np.array([label is not None for label in labels], bool)
            columns[ranked_by] = Slices.of(label or "" for label in labels)
        ordered = {name: columns[name].take(kept) for name in self.layout.columns}
        return self.batch(ordered, block.origins(starts[kept]))

    def _lineages(self, names: list[tuple[bytes, bytes]]) -> tuple[str | None, list[str | None]]:
        """Which column has lineages, and the lineage of each record; None where there is none."""
        if self._taxa is not None:
            return "taxon", [self._taxa.get(name.decode()) for name, _ in names]
        if self.layout.label == "description":
            return "description", [description.decode() or None for _, description in names]
        return None, []

    def _ranked(self, lineage: str | None, name: tuple[bytes, bytes], line: int) -> str | None:
        if lineage is None:
            lacking = "its header has no description"
            if self._taxa is not None:
                lacking = f"the taxonomy has no line for {name[0].decode()!r}"
            self.settings.refuse(self.name, line, f": {lacking}", "")
            return None
        if self._depth is None and self._taxa is None:
            return lineage
        label = ranked(lineage, self._depth)
        if label is None:
            reason = "its rank is not named"
            self.settings.reject(Reject(self.name, line, reason), f"{self.name}, line {line}: {reason}.")
        return label


class FastaReader(SequenceReader):
    """Reads FASTA: a header and the lines of a sequence."""

    def batches(self) -> Iterator[Batch]:
        """Stream the sequences."""
        for block in blocks(self.stream, self.settings, last_sequence):
            if block.first_line == 1 and block.buffer.isspace():
                continue  # empty lines before the first header
            starts, ends = _records(block)
            newlines = np.append(block.newlines, len(block.buffer))
            headers = np.minimum(newlines[np.searchsorted(newlines, starts)], ends)
            texts = _joined_lines(block, np.minimum(headers + 1, ends), ends)
            yield from self._named(block, starts, headers, one_alphabet(texts))


class FastqReader(SequenceReader):
    """Reads FASTQ: a name, a sequence, a plus sign and qualities, a line each; the qualities are left out."""

    def batches(self) -> Iterator[Batch]:
        """Stream the reads."""
        for block in blocks(self.stream, self.settings, EveryFourth()):
            starts, ends = block.lines()
            while len(ends) and ends[-1] == starts[-1]:
                starts, ends = starts[:-1], ends[:-1]
            self._check(block, starts, ends)
            texts = Slices(block.buffer, starts[1::4], ends[1::4])
            if len(texts):
                yield from self._named(block, starts[0::4], ends[0::4], one_alphabet(texts))

    def _check(self, block: Block, starts: Offsets, ends: Offsets) -> None:
        content = block.bytes
        for place, sign, what in (
            (0, ord("@"), "begin with '@' and a name"),
            (2, ord("+"), "have a '+' as its third line"),
        ):
            wrong = starts[place::4][content[np.minimum(starts[place::4], len(content) - 1)] != sign]
            if len(wrong):
                raise CorpusError(f"{block.where(int(wrong[0]))}: a FASTQ record must {what}; this does not.")
        lengths = ends - starts
        if len(starts) % 4:
            raise CorpusError(
                f"{block.where(int(starts[-1]))}: the last FASTQ record has fewer than four lines."
            )
        uneven = starts[1::4][lengths[1::4] != lengths[3::4]]
        if len(uneven):
            where = block.where(int(uneven[0]))
            raise CorpusError(f"{where}: a FASTQ sequence and its qualities must be equally long.")


class EveryFourth:
    """Cuts behind every fourth line."""

    def __init__(self) -> None:
        self._lines = 0

    def __call__(self, lines: bytes) -> int:
        """Where the record begins that the next lines go on with."""
        self._lines += lines.count(b"\n")
        if self._lines < 4:
            return -1
        self._lines %= 4
        at = len(lines)
        for _ in range(self._lines + 1):
            at = lines.rfind(b"\n", 0, at)
        return at + 1


def depth(rank: str | int | None) -> int | None:
    """The number of a rank: kingdom is 1, genus 6."""
    if rank is None:
        return None
    if str(rank).isdecimal() and int(rank) > 0:
        return int(rank)
    if str(rank).lower() not in RANKS:
        raise CorpusError(f"No rank is named {rank!r}. The ranks are {listed(RANKS)}, or a number from 1.")
    return RANKS.index(str(rank).lower()) + 1


def ranked(lineage: str, depth: int | None) -> str | None:
    """Cut a lineage at a rank; None if that rank is not named. Without a rank: at the last that is named."""
    ranks = [rank.strip() for rank in lineage.split(";")]
    if depth is None:
        while ranks and EMPTY_RANK.fullmatch(ranks[-1]):
            ranks.pop()
        return ";".join(ranks) or None
    if len(ranks) < depth or EMPTY_RANK.fullmatch(ranks[depth - 1]):
        return None
    return ";".join(ranks[:depth])


def taxonomy_table(settings: Settings) -> dict[str, str]:
    """Read the table of names and lineages: columns named so in a header, or the first two."""
    path = str(settings.taxonomy)
    stream = open_stream(path, settings)
    try:
        rows = [
            (number, line.rstrip("\r").split("\t"))
            for block in blocks(stream, settings)
            for number, line in enumerate(block.buffer.decode().split("\n"), block.first_line)
            if line.strip()
        ]
    finally:
        stream.close()
    if not rows:
        raise CorpusError(f"{path} is empty.")
    header = [cell.strip().lower().lstrip("#") for cell in rows[0][1]]
    lineage = next((header.index(name) for name in LINEAGES if name in header), None)
    named, lineage = (0, 1) if lineage is None else (int(lineage == 0), lineage)
    table = {}
    for number, row in rows[int(any(name in header for name in LINEAGES)) :]:
        if len(row) <= max(named, lineage):
            raise CorpusError(f"{path}, line {number} has 1 column, expected a name, a tab and the taxa.")
        table[row[named]] = row[lineage]
    return table


def last_sequence(lines: bytes) -> int:
    """Cut before the last header."""
    at = lines.rfind(b"\n>") + 1
    return at if at or lines.startswith(b">") else -1


def _records(block: Block) -> tuple[Offsets, Offsets]:
    content = block.bytes
    starts, _ = bounded(content, block.newlines)
    heads = starts[content[starts] == ord(">")]
    if block.first_line == 1 and not (len(heads) and block.buffer[: int(heads[0])].strip() == b""):
        raise CorpusError(f"{block.name}, line 1: a FASTA file begins with '>' and a name; this does not.")
    return heads, np.append(heads[1:], len(content))


def _joined_lines(block: Block, starts: Offsets, ends: Offsets) -> Slices:
    content = block.bytes
    breaks = np.flatnonzero((content == 10) | (content == 13))
    joined = np.delete(content, breaks).tobytes()
    return Slices(joined, starts - np.searchsorted(breaks, starts), ends - np.searchsorted(breaks, ends))


def one_alphabet(texts: Slices) -> Slices:
    """The sequences in capitals, and U as T unless other letters show that they are proteins."""
    buffer = texts.buffer.upper()
    capitals = Slices(buffer, texts.starts, texts.ends)
    if b"U" not in buffer:
        return capitals
    return Slices.packed(
        [
            piece if piece.translate(None, NUCLEOTIDES) else piece.replace(b"U", b"T")
            for piece in capitals.pieces()
        ]
    )


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, description, *_ = *line.split(None, 1), b"", b""
    return name, description.rstrip()
