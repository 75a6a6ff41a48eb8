"""Plain lines, and the lines of fastText that begin with their label."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayleaf.corpus.batches import Batch
from bayleaf.corpus.blocks import Block, blocks
from bayleaf.corpus.layout import Layout
from bayleaf.corpus.reader import StreamReader, unlabeled_layout
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.slices import Offsets, Slices
from bayleaf.corpus.streams import Stream
from bayleaf.first_lines import PREFIX

REMEDY = (
    "its lines have no label. Expected a label, a tab and the text on each line; or take the labels from the "
    'names of the files with `label="file"`.'
)


class LinesReader(StreamReader):
    """Reads each line as a document. An empty line is an empty one, unless labels come from the path:
    then the lines are to be learned from, and it is left out.
    """

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream, settings)
        self.layout = unlabeled_layout(stream.name, settings, ("text",), REMEDY)

    def batches(self) -> Iterator[Batch]:
        """Stream the lines."""
        for block in blocks(self.stream, self.settings):
            starts, ends = block.lines()
            kept = block.without_spoiled(starts, self.settings)
            if self.path_label is not None:
                kept &= ends > starts
            texts = Slices(block.buffer, starts[kept], ends[kept])
            yield from self.batch({"text": texts}, block.origins(texts.starts))


class FastTextReader(StreamReader):
    """Reads `__label__x text`; a line with two labels is refused, since naive Bayes learns one."""

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream, settings)
        if settings.label not in (None, "label"):
            raise CorpusError(
                f"{stream.name}: the label of a fastText line is the one it begins with; drop `label`."
            )
        self.layout = Layout(("label", "text"), ("text",), None if settings.labeled is False else "label")

    def batches(self) -> Iterator[Batch]:
        """Stream the lines."""
        for block in blocks(self.stream, self.settings):
            starts, ends = block.lines()
            kept = block.without_spoiled(starts, self.settings) & (ends > starts)
            yield from self._block(block, Slices(block.buffer, starts[kept], ends[kept]))

    def _block(self, block: Block, rows: Slices) -> Iterator[Batch]:
        labeled = _begin_with(rows, PREFIX)
        self._refuse(block, rows, ~labeled, "does not begin with __label__")
        rows = rows.take(labeled)
        border = _first_space(rows)
        texts = Slices(block.buffer, np.minimum(border + 1, rows.ends), rows.ends)
        single = ~_begin_with(texts, PREFIX)
        self._refuse(block, rows, ~single, "has more than one label")
        labels = Slices(block.buffer, rows.starts + len(PREFIX), border).take(single)
        columns = {"label": labels, "text": texts.take(single)}
        return self.batch(columns, block.origins(rows.starts[single]))

    def _refuse(self, block: Block, rows: Slices, wrong: NDArray[np.bool_], why: str) -> None:
        for start in rows.starts[wrong].tolist():
            self.settings.refuse(self.name, block.line(start), f" {why}")


def _first_space(rows: Slices) -> Offsets:
    """Where the first space or tab of each row is, or its end."""
    find = re.compile(rb"[ \t]|\Z").search
    bounds = zip(rows.starts.tolist(), rows.ends.tolist(), strict=True)
    found = (match.start() for start, end in bounds if (match := find(rows.buffer, start, end)))
    return np.fromiter(found, np.int64, len(rows))


def _begin_with(rows: Slices, prefix: bytes) -> NDArray[np.bool_]:
    content = np.frombuffer(rows.buffer, np.uint8)
    same = rows.ends - rows.starts >= len(prefix)
    for place, byte in enumerate(prefix):
        same &= content[np.minimum(rows.starts + place, len(content) - 1)] == byte
    return same
