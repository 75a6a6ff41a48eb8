"""Blobs by hash range of terms: no task holds more than its share of the vocabulary, and pruning is exact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bayleaf import storage
from bayleaf.engines.core import merged, restored
from bayleaf.exchange import pruned, with_terms
from bayleaf.model import Model
from bayleaf.text.counts import ClassCounts, TextTally

MOST_RANGES = 4096
_MIX = np.uint64(0x9E3779B97F4A7C15)


def check_ranges(ranges: int, empty: Model) -> int:
    """Raise unless the counts of such a model can be divided by terms."""
    if type(ranges) is not int or not 1 <= ranges <= MOST_RANGES:
        raise ValueError(f"`ranges` must be a whole number from 1 to {MOST_RANGES}, got {ranges!r}.")
    if ranges > 1 and not all(isinstance(tally, TextTally) for tally in empty.tallies):
        raise ValueError("`ranges` divides the terms of texts; a model that looks at a table has none.")
    return ranges


def divided(blob: bytes | None, ranges: int, empty: Model) -> list[bytes | None]:
    """A blob as one for each range; each has all documents, and the terms whose hash is in its range."""
    if blob is None or ranges == 1:
        return [blob] * ranges
    model = restored(blob, empty)
    settings, _ = storage.unpack(blob, "a part of the model")
    views = [model.counts(view) for view in range(len(model.views))]
    places = [_range_of_terms(counts, ranges) for counts in views]
    return [
        storage.pack(
            settings,
            [with_terms(counts, place == own) for counts, place in zip(views, places, strict=True)],
        )
        for own in range(ranges)
    ]


def rejoined(blobs: Iterable[bytes], ranges: int, empty: Model) -> Model | None:
    """The model whose terms are in these blobs, one for each range; all have counted the same documents."""
    total = merged(blobs, empty)
    if total is None or ranges == 1:
        return total
    settings, arrays = storage.unpack(total.to_bytes(), "the model")
    settings["documents"] = [documents // ranges for documents in settings["documents"]]
    for own in arrays:
        own["class_documents"] = own["class_documents"] // np.uint64(ranges)
    return restored(storage.pack(settings, arrays), empty, total.threads)


def without_rare(blob: bytes | None, min_documents: int, empty: Model) -> bytes | None:
    """A complete range without its rare terms: it has all counts of its terms, so this is exact."""
    if blob is None or min_documents <= 1:
        return blob
    return pruned(restored(blob, empty), min_documents).to_bytes()


def complete(blobs: Sequence[bytes | None], ranges: int) -> list[bytes]:
    """The blobs of all ranges, or none if there was no document."""
    found = [blob for blob in blobs if blob is not None]
    if found and len(found) != ranges:
        raise RuntimeError(f"{ranges - len(found)} ranges of the model are missing. Run the job again.")
    return found


def _range_of_terms(counts: ClassCounts, ranges: int) -> NDArray[np.intp]:
    """The range of each term, by its words: the same wherever they are counted."""
    blob, ends = counts.arrays["words"].tobytes(), counts.arrays["word_ends"].tolist()
    words = np.array([crc32(blob[a:b]) for a, b in pairwise([0, *ends])], np.uint64)
    pairs = counts.arrays["pairs"].reshape(-1, 2)
    hashes = np.concatenate([words, np.zeros(len(pairs), np.uint64)])
    before = hashes.copy()
    while len(pairs):  # a pair may begin with a pair: as often as the longest n-gram has words
        hashes[len(words) :] = (hashes[pairs[:, 0]] + np.uint64(1)) * _MIX + hashes[pairs[:, 1]]
        if np.array_equal(hashes, before):
            break
        before = hashes.copy()
    chosen = hashes[counts.arrays["terms"]] * _MIX
    places: NDArray[np.intp] = ((chosen >> np.uint64(32)) % np.uint64(ranges)).astype(np.intp)
    return places
