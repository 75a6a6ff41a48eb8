"""FASTA sequences, with labels from a taxonomy table."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from bayleaf.corpus.batches import Batch
from bayleaf.corpus.blocks import Block, blocks, bounded
from bayleaf.corpus.layout import Layout, from_path
from bayleaf.corpus.reader import StreamReader
from bayleaf.corpus.settings import CorpusError, Settings, listed
from bayleaf.corpus.slices import Offsets, Slices
from bayleaf.corpus.streams import Stream, open_stream

RANKS = ("kingdom", "phylum", "class", "order", "family", "genus", "species")
EMPTY_RANK = re.compile(r"(?:[A-Za-z]__)?\s*")


class FastaReader(StreamReader):
    """Reads sequences, their line breaks removed; the taxonomy table gives each name its class.

    A record whose rank is not named in the table (`g__`) is skipped and counted.
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
        if self.settings.labelled is False:
            return None
        if label in columns or self._taxa is not None:
            return label or "taxon"
        if label and not from_path(label):
            raise CorpusError(
                f"{self.name}: no column is named {label!r}. The columns are {listed(columns)}."
            )
        if self.settings.labelled and not label:
            raise CorpusError(
                f"{self.name}: sequences have no label. Name the table of their taxa with --taxonomy."
            )
        return None

    def batches(self) -> Iterator[Batch]:
        """Stream the sequences."""
        for block in blocks(self.stream, self.settings, last_sequence):
            batch = self._block(block)
            if len(batch):
                yield batch

    def _block(self, block: Block) -> Batch:
        starts, ends = _records(block)
        kept = block.without_spoiled(starts, self.settings)
        newlines = np.append(block.newlines, len(block.buffer))
        headers = np.minimum(newlines[np.searchsorted(newlines, starts)], ends)
        texts = _joined_lines(block, np.minimum(headers + 1, ends), ends)
        bounds = zip(starts.tolist(), headers.tolist(), strict=True)
        names = [_header(block.buffer[start + 1 : end]) for start, end in bounds]
        columns = {"id": Slices.packed([name for name, _ in names]), "text": texts}
        columns["description"] = Slices.packed([description for _, description in names])
        if self._taxa is not None:
            labels = [
                self._taxon(name.decode(), block, int(start))
                for (name, _), start in zip(names, starts, strict=True)
            ]
            kept &= np.array([label is not None for label in labels], bool)
            columns["taxon"] = Slices.of(label or "" for label in labels)
        ordered = {name: columns[name].take(kept) for name in self.layout.columns}
        return self.batch(ordered, block.origins(starts[kept]))

    def _taxon(self, name: str, block: Block, start: int) -> str | None:
        lineage = (self._taxa or {}).get(name)
        if lineage is None:
            self.settings.refuse(f"{block.where(start)}: the taxonomy has no line for {name!r}.")
            return None
        label = ranked(lineage, self._depth)
        self.settings.skipped += label is None
        return label


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
    """Read the table of names and lineages: name, tab, ranks divided by semicolons."""
    path = str(settings.taxonomy)
    stream = open_stream(path, settings)
    try:
        table = {}
        for block in blocks(stream, settings):
            for number, line in enumerate(block.buffer.decode().splitlines(), block.first_line):
                name, tab, lineage = line.partition("\t")
                if line and not tab:
                    raise CorpusError(
                        f"{path}, line {number} has 1 column, expected a name, a tab and the taxa."
                    )
                table[name] = lineage
    finally:
        stream.close()
    if not table:
        raise CorpusError(f"{path} is empty.")
    return table


def last_sequence(buffer: bytes) -> int:
    """Cut before the last header."""
    return buffer.rfind(b"\n>") + 1


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


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, description, *_ = *line.split(None, 1), b"", b""
    return name, description.rstrip()
