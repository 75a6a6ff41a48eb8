"""Blobs by hash range of terms: no task holds more than its share of the vocabulary, and pruning is exact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bayleaf.engines.core import merge, merged
from bayleaf.engines.parts import Part, added, of_texts
from bayleaf.model import Model

MOST_RANGES = 4096


def check_ranges(ranges: int, empty: Model) -> int:
    """Raise unless the counts of such a model can be divided by terms."""
    if type(ranges) is not int or not 1 <= ranges <= MOST_RANGES:
        raise ValueError(f"`ranges` must be a whole number from 1 to {MOST_RANGES}, got {ranges!r}.")
    if ranges > 1 and not of_texts(empty):
        raise ValueError("`ranges` divides the terms of texts; a model that looks at a table has none.")
    return ranges


def divided(blob: bytes | None, ranges: int) -> list[bytes | None]:
    """A blob as one for each range; each has all documents, and the terms whose hash is in its range."""
    return [None] * ranges if blob is None else list(each_range(blob, ranges))


def each_range(blob: bytes, ranges: int) -> Iterator[bytes]:
    """The same, one after the other."""
    return (part.to_bytes() for part in Part.unpacked(blob).divided(ranges))


def rejoined(blobs: Iterable[bytes], ranges: int, empty: Model) -> Model | None:
    """The model whose terms are in these blobs, one for each range; all have counted the same documents."""
    if ranges == 1:
        return merged(blobs, empty)
    total = added(blobs, Part.beside)
    return None if total is None else total.model(empty)


def without_rare(blob: bytes | None, min_documents: int, empty: Model) -> bytes | None:
    """A complete range without its rare terms: it has all counts of its terms, so this is exact."""
    if blob is None or min_documents <= 1:
        return blob
    return merge([blob], empty, min_documents)


def complete(blobs: Iterable[bytes | None], ranges: int) -> Iterator[bytes]:
    """The blobs of all ranges, or none if there was no document."""
    found = 0
    for blob in blobs:
        if blob is not None:
            found += 1
            yield blob
    if found and found != ranges:
        raise RuntimeError(f"{ranges - found} ranges of the model are missing. Run the job again.")
