"""Event models: counts to weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.posterior import log_shares
from bayleaf.text.counts import ClassCounts
from bayleaf.types import Floats, Unseen

Event = Literal["multinomial", "bernoulli", "complement"]
TermFrequency = Literal["count", "binary", "normalized", "tf-idf"]

SMALL = 4096
_AT_A_TIME = 1 << 16

VALUES = {"count": "count", "binary": "binary", "normalized": "share", "tf-idf": "share"}


@dataclass(frozen=True, eq=False)
class Linear:
    """The score of a document is a bias plus a sum of weights.

    The weight of term t in class j is `offset[t] + scale[t] * base[j]`, plus `differences` at a nonzero cell.
    It counts once (`value="binary"`), once an occurrence (`"count"`), or once divided by the length
    (`"share"`).
    """

    value: str
    bias: Floats
    base: Floats
    differences: Floats
    offset: Floats | None = None
    scale: Floats | None = None
    unseen: Floats | None = None

    def arrays(self) -> dict[str, NDArray[Any] | None]:
        """What the core needs to score."""
        names = ("bias", "base", "differences", "offset", "scale", "unseen")
        return {name: getattr(self, name) for name in names}

    def rows(self, counts: ClassCounts, terms: NDArray[np.intp]) -> Floats:
        """The weights of some terms, one row a term, one column a class."""
        rows = counts.rows(terms, self.differences)
        scale = np.ones(len(terms)) if self.scale is None else self.scale[terms]
        rows += scale[:, None] * self.base
        return rows if self.offset is None else rows + self.offset[terms, None]


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights, and with `alpha=0` beside them how many factors of a document's likelihood are zero."""

    finite: Linear
    zeros: Linear | None = field(default=None)


def weights(counts: ClassCounts, event: Event, tf: TermFrequency, alpha: float, unseen: Unseen) -> Weights:
    """The weights of an event model, from counts."""
    smooth = unseen == "smooth" and counts.n_terms > 0
    if event == "bernoulli":
        return bernoulli(counts, alpha, smooth)
    if event == "complement":
        return Weights(complement(counts, tf, alpha, smooth))
    return multinomial(counts, tf, alpha, smooth)


def multinomial(counts: ClassCounts, tf: TermFrequency, alpha: float, smooth: bool) -> Weights:
    """Each class draws tokens, with replacement, from one bag of its own."""
    mass, scale = _mass(counts, tf)
    total = counts.by_class(mass) + alpha * counts.n_terms
    at = slice(None) if scale is None else counts.term
    factor = 1.0 if scale is None else scale[at]
    bias = np.zeros(counts.n_classes)
    if alpha > 0:
        base = log_shares(math.log(alpha), total)
        logs = _log_of_counts(mass, alpha) if tf in ("count", "binary") else np.log(mass + alpha)
        logs -= math.log(alpha)
        differences = logs if scale is None else logs * factor
        return Weights(
            Linear(VALUES[tf], bias, base, differences, scale=scale, unseen=base if smooth else None)
        )
    finite = log_shares(_log(mass), total[counts.class_]) * factor
    one = np.ones(counts.n_classes)
    possible = None if scale is None else (scale > 0).astype(np.float64)
    zeros = Linear(
        "binary", bias, one, -(np.ones(len(mass)) if possible is None else possible[at]),
        scale=possible, unseen=one if smooth else None,
    )  # fmt: skip
    return Weights(Linear(VALUES[tf], bias, bias, finite, unseen=bias if smooth else None), zeros)


def bernoulli(counts: ClassCounts, alpha: float, smooth: bool) -> Weights:
    """Each class tosses a coin of its own for every term: present or absent."""
    n = counts.class_documents
    absent = n[counts.class_] - counts.documents
    if alpha == 0:
        return _bernoulli_likelihood(counts, n, absent, smooth)
    base = math.log(alpha) - np.log(n + alpha)
    present = np.log(counts.documents + alpha) - np.log(absent + alpha)
    bias = counts.by_class(_log_absence(absent, counts.documents, alpha))
    bias -= counts.n_terms * np.log1p(alpha / (n + alpha))
    unseen = math.log(alpha) - np.log(n + 2 * alpha) if smooth else None
    return Weights(Linear("binary", bias, base, present - base[counts.class_], unseen=unseen))


def _log_absence(absent: Floats, present: Floats, alpha: float) -> Floats:
    """log (absent + alpha) / (n + alpha); mostly near 0, where a difference of logarithms loses digits.

    The same loss for each of 110,000 pairs of words added up to 1e-10 in the scores of a corpus of reviews.
    """
    total = absent + present + alpha
    near_0 = np.log1p(-np.minimum(present, absent) / total)
    return np.where(present < absent, near_0, np.log((absent + alpha) / total))


def _bernoulli_likelihood(counts: ClassCounts, n: Floats, absent: Floats, smooth: bool) -> Weights:
    """Without smoothing: a term of every document of a class must be there, a term of none must not."""
    always = absent == 0
    odds = np.where(always, 0.0, _log(counts.documents) - _log(absent))
    absence = counts.by_class(np.where(always, 0.0, _log(absent) - _log(n)[counts.class_]))
    none, one = np.zeros(counts.n_classes), np.ones(counts.n_classes)
    must = counts.by_class(always.astype(np.float64))
    zeros = Linear("binary", must, one, np.where(always, -2.0, -1.0), unseen=one if smooth else None)
    return Weights(Linear("binary", absence, none, odds, unseen=none if smooth else None), zeros)


def complement(counts: ClassCounts, tf: TermFrequency, alpha: float, smooth: bool) -> Linear:
    """A class is what the other classes together are not (Rennie et al. 2003)."""
    check_complement_alpha(alpha)
    mass, scale = _mass(counts, tf)
    total = counts.by_class(mass)
    of_term = counts.by_term(mass)
    elsewhere = np.maximum(of_term[counts.term] - mass, 0)
    base = _log(total.sum() - total + alpha * counts.n_terms)
    offset = -np.log(of_term + alpha)
    differences = -offset[counts.term] - np.log(elsewhere + alpha)
    if scale is not None:
        offset, differences = offset * scale, differences * scale[counts.term]
    unseen = base - math.log(alpha) if smooth else None
    return Linear(VALUES[tf], np.zeros(counts.n_classes), base, differences, offset, scale, unseen)


def quantities(event: Event, tf: TermFrequency) -> frozenset[str]:
    """From which of the counts the weights are made."""
    if event == "bernoulli":
        return frozenset({"documents"})
    masses = {"count": {"occurrences"}, "binary": {"documents"}, "normalized": {"shares"}}
    return frozenset(masses.get(tf, {"documents", "shares"}))


def _mass(counts: ClassCounts, tf: TermFrequency) -> tuple[NDArray[Any], Floats | None]:
    """What is put in the place of term counts in each cell, and for tf-idf the idf of each term.

    Whole numbers stay in the type in which they lie: of six million cells, floats would be 50 MB more.
    """
    if tf == "count":
        return counts.arrays["occurrences"], None
    if tf == "binary":
        return counts.arrays["documents"], None
    if tf == "normalized":
        return counts.shares, None
    idf = math.log(max(counts.class_documents.sum(), 1)) - _log(counts.by_term(counts.documents))
    return counts.shares * idf[counts.term], idf


def _log_of_counts(mass: NDArray[Any], alpha: float) -> Floats:
    """log(mass + alpha) of whole numbers: nearly all of them are small, and each logarithm is taken once.

    Some at a time, so that what is needed in between stays in the cache.
    """
    table = np.log(np.arange(SMALL) + alpha)
    logs = np.empty(len(mass))
    for start in range(0, len(mass), _AT_A_TIME):
        here = slice(start, start + _AT_A_TIME)
        table.take(mass[here].astype(np.intp), mode="clip", out=logs[here])
        large = start + np.flatnonzero(mass[here] >= SMALL)
        logs[large] = np.log(mass[large] + alpha)
    return logs


def _log(values: NDArray[Any]) -> Floats:
    """The logarithm, 0 where there is nothing: such cells are ruled out elsewhere."""
    logs: Floats = np.log(values, where=values > 0, out=np.zeros(values.shape), dtype=np.float64)
    return logs


def check_complement_alpha(alpha: float) -> None:
    """Raise if `alpha` is 0."""
    if alpha == 0:
        raise ValueError(
            "`alpha` must be above 0 for the complement model, got 0: a term of one class only would "
            "decide everything. Use a small number such as 1e-3."
        )
