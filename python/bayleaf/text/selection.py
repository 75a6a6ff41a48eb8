"""Feature selection on the counts: nothing is read again, and nothing is lost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.text.counts import ClassCounts
from bayleaf.text.normalization import Top

__all__ = ["Selection"]

_CELLS = {"documents", "occurrences", "shares_whole", "shares_part"}


@dataclass(frozen=True)
class Selection:
    """Leave out terms that are too frequent or too rare.

    | argument | values | meaning |
    |---|---|---|
    | `stop_words` | `top(n)`, None | leave out the n terms that occur most often |
    | `min_df` | whole number >= 1, share from 0.0 to 1.0, None | documents that must have a term |
    | `max_df` | whole number >= 1, share from 0.0 to 1.0, None | documents that may have a term |
    | `max_terms` | number >= 1, None | of the others, keep those that occur most often |
    """

    stop_words: Top | None = None
    min_df: int | float | None = None
    max_df: int | float | None = None
    max_terms: int | None = None

    def __post_init__(self) -> None:
        if self.stop_words is not None and not isinstance(self.stop_words, Top):
            raise ValueError(
                f"`stop_words` can be changed to top(n) or None, got {self.stop_words!r}: a list of words "
                "decides what is counted, and must be given to the view."
            )
        for name in ("min_df", "max_df"):
            _check_df(name, getattr(self, name))
        if self.max_terms is not None and not _is_count(self.max_terms):
            raise ValueError(f"`max_terms` must be a whole number >= 1, or None, got {self.max_terms!r}.")

    @property
    def quantities(self) -> frozenset[str]:
        """By which of the counts terms are chosen."""
        return frozenset() if self == Selection() else frozenset({"documents", "occurrences"})

    @property
    def follows(self) -> bool:
        """Whether each term is chosen by its own documents alone, however many others there are."""
        shares = isinstance(self.min_df, float) or isinstance(self.max_df, float)
        return self.stop_words is None and self.max_terms is None and not shares

    @property
    def bounds(self) -> tuple[int, int | None]:
        """In how many documents a term must be, and may be, if that is all that is asked."""
        if not self.follows:
            return 0, None
        return int(self.min_df or 0), None if self.max_df is None else int(self.max_df)

    def of(self, counts: ClassCounts) -> ClassCounts:
        """The counts of the terms that are used."""
        keep = self.mask(counts)
        return counts if keep.all() else selected(counts, keep)

    def mask(self, counts: ClassCounts) -> NDArray[np.bool_]:
        """Which terms are used."""
        keep = np.ones(counts.n_terms, np.bool_)
        if self == Selection():
            return keep
        total = float(counts.class_documents.sum())
        documents, occurrences = counts.by_term(counts.documents), counts.by_term(counts.occurrences)
        if self.min_df is not None:
            keep &= documents >= _documents(self.min_df, total)
        if self.max_df is not None:
            keep &= documents <= _documents(self.max_df, total)
        if self.stop_words is not None:
            keep[_ranked(occurrences)[: self.stop_words.n]] = False
        if self.max_terms is not None:
            left = np.flatnonzero(keep)
            keep[left[_ranked(occurrences[left])[self.max_terms :]]] = False
        return keep


def selected(counts: ClassCounts, keep: NDArray[np.bool_]) -> ClassCounts:
    """The counts of some terms alone; the others are remembered as dropped, and say nothing."""
    cells = keep[counts.term]
    arrays = dict(counts.arrays)
    for name in arrays.keys() & _CELLS:
        arrays[name] = arrays[name][cells]
    arrays["term"] = (np.cumsum(keep) - 1)[counts.term[cells]].astype(np.uint32)
    arrays["terms"] = arrays["terms"][keep]
    sizes = np.bincount(counts.class_[cells], minlength=counts.n_classes)
    arrays["class_ends"] = np.cumsum(sizes).astype(np.uint64)
    return replace(counts, arrays=arrays, nodes=counts.nodes[keep], dropped=counts.nodes[~keep])


def _ranked(occurrences: NDArray[np.float64]) -> NDArray[np.intp]:
    """Most frequent first; ties go to the first term."""
    return np.argsort(-occurrences, kind="stable")


def _documents(df: int | float, total: float) -> float:
    return df * total if isinstance(df, float) else float(df)


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)


def _check_df(name: str, value: Any) -> None:
    share = isinstance(value, float) and 0 <= value <= 1
    if value is not None and not share and not _is_count(value):
        expected = "a number of documents, 1 or more, or a share of them from 0.0 to 1.0"
        raise ValueError(f"`{name}` is {expected}, got {value!r}.")
