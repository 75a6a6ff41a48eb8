"""Quoted fields, found without reading byte by byte: behind an odd number of quotes is inside one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.corpus.slices import Offsets, Slices, positions

QUOTE = 34


def outside(offsets: Offsets, quotes: Offsets) -> Offsets:
    """Keep the offsets that no quoted field encloses."""
    return offsets[np.searchsorted(quotes, offsets) & 1 == 0] if len(quotes) else offsets


def regular(content: NDArray[np.uint8], quotes: Offsets, delimiter: int) -> bool:
    """Whether each quote opens a field, closes one or is doubled in one, and carriage returns end lines.

    Only then does counting quotes find the fields; a stray quote, as in `5" disk`, needs the careful reader.
    """
    returns = outside(positions(content[:-1], 13), quotes)
    if (content[returns + 1] != 10).any():
        return False
    opening, closing = quotes[0::2], quotes[1::2]
    after = content[np.minimum(closing + 1, len(content) - 1)]
    closes = (after == delimiter) | (after == 10) | (after == 13) | (closing == len(content) - 1)
    closes[: len(opening) - 1] |= closing[: len(opening) - 1] + 1 == opening[1:]
    return len(opening) == len(closing) and bool(closes.all()) and _open_fields(content, opening, delimiter)


def _open_fields(content: NDArray[np.uint8], opening: Offsets, delimiter: int) -> bool:
    """Whether these quotes begin a field, or are the second of two."""
    before = np.where(opening > 0, content[opening - 1], 10)
    return bool(((before == delimiter) | (before == 10) | (before == QUOTE)).all())


class LastRecord:
    """Cuts behind the last line break that no quoted field encloses; it is given the lines as they come."""

    def __init__(self, delimiter: int) -> None:
        self._delimiter = delimiter
        self._quoted, self._sound = False, True

    def __call__(self, lines: bytes) -> int:
        """Where the record begins that the next lines go on with."""
        content = np.frombuffer(lines, np.uint8)
        quotes = positions(content, QUOTE)
        before, self._quoted = self._quoted, self._quoted ^ bool(len(quotes) & 1)
        if self._quoted:
            begin = self._open_record(content, quotes, before)
            # A quote inside a field that is not quoted never closes one: then only lines count.
            if begin >= 0 or self._sound:
                return begin
        self._quoted, self._sound = False, True
        return len(lines)

    def _open_record(self, content: NDArray[np.uint8], quotes: Offsets, quoted: bool) -> int:
        breaks = positions(content, 10)
        breaks = breaks[(np.searchsorted(quotes, breaks) + quoted) & 1 == 0]
        begin = int(breaks[-1]) + 1 if len(breaks) else -1
        opening = quotes[int(quoted) :: 2]
        sound = _open_fields(content, opening[opening >= begin], self._delimiter)
        self._sound = sound and (begin >= 0 or self._sound)
        return begin


def unquoted(fields: Slices, quotes: Offsets) -> Slices:
    """Take the quotes off fields, and one of each two inside them."""
    content = np.frombuffer(fields.buffer, np.uint8)
    filled = fields.ends > fields.starts
    wrapped = filled & (content[np.minimum(fields.starts, len(content) - 1)] == QUOTE)
    starts, ends = fields.starts + wrapped, fields.ends - wrapped
    inside = np.searchsorted(quotes, ends) > np.searchsorted(quotes, starts)
    return _undoubled(Slices(fields.buffer, starts, ends), np.flatnonzero(wrapped & inside))


def _undoubled(fields: Slices, rows: NDArray[np.intp]) -> Slices:
    if not len(rows):
        return fields
    bounds = zip(fields.starts[rows].tolist(), fields.ends[rows].tolist(), strict=True)
    added = Slices.packed([fields.buffer[start:end].replace(b'""', b'"') for start, end in bounds])
    starts, ends = fields.starts.copy(), fields.ends.copy()
    starts[rows] = added.starts + len(fields.buffer)
    ends[rows] = added.ends + len(fields.buffer)
    return Slices(fields.buffer + added.buffer, starts, ends)
