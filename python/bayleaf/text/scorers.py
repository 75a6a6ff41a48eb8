"""Frozen scorers of text: counts and weights made ready to answer, and taken apart to explain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.text import event_models
from bayleaf.text.counts import ClassCounts, TextTally
from bayleaf.text.event_models import Linear, Weights
from bayleaf.text.selection import Selection
from bayleaf.types import Floats
from bayleaf.view import Piece

SURROGATE = re.compile("[\ud800-\udfff]")


class TextScorer:
    """Weights of terms."""

    def __init__(self, tally: TextTally, counts: ClassCounts, weights: Weights) -> None:
        self.counts, self.weights = counts, weights
        self._finite = _frozen(tally, counts, weights.finite)
        self._zeros = None if weights.zeros is None else _frozen(tally, counts, weights.zeros)
        self.may_rule_out = weights.zeros is not None
        zeros = None if weights.zeros is None else weights.zeros.bias
        self.bias = _ruled_out(weights.finite.bias, zeros)

    def scores(self, column: Any, threads: int) -> Floats:
        """The log likelihood of each document in each class."""
        finite: Floats = self._finite.score(column, threads)
        return finite if self._zeros is None else _ruled_out(finite, self._zeros.score(column, threads))

    def best(self, column: Any, log_prior: Floats, threads: int) -> NDArray[np.integer[Any]]:
        """The class of highest likelihood and prior of each document, if none can be ruled out."""
        best: NDArray[np.uint32] = self._finite.best(column, log_prior, threads)
        return best

    def shown(self, column: Any, name: str) -> str:  # noqa: ARG002
        """The text itself."""
        return as_text(column[0])

    def parts(self, column: Any, name: str) -> list[Piece]:  # noqa: ARG002
        """Each occurrence of a term with what it adds to the scores."""
        found = self._finite.parts(column[0])
        terms = np.array([index for _, index, _, _ in found], np.intp)
        used = (terms >= 0) & (terms < self.counts.n_terms)
        known, place = np.unique(terms[used], return_inverse=True)
        scores = np.zeros((len(found), self.counts.n_classes))
        scores[used] = _ruled_out_rows(self.weights, self.counts, known)[place]
        unseen = self.weights.finite.unseen
        if unseen is not None:
            scores[terms < 0] = np.full_like(unseen, -np.inf) if self.may_rule_out else unseen
        scores /= _repeats(found, self.weights.finite.value)[:, None]
        return [
            Piece(term, start, end, row) for (term, _, start, end), row in zip(found, scores, strict=True)
        ]

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The terms with the highest log odds against the mean of the other classes."""
        ends = self.counts.arrays["class_ends"]
        own = slice(int(ends[chosen - 1]) if chosen else 0, int(ends[chosen]))
        terms, linear = self.counts.term[own].astype(np.intp), self.weights.finite
        scale = np.ones(len(terms)) if linear.scale is None else linear.scale[terms]
        # The sum over the other classes is that over all without its own: no class is looked at but this one.
        mine = linear.differences[own] + scale * linear.base[chosen]
        others = self._differences[terms] + scale * linear.base.sum() - mine
        odds = mine - others / (len(self.bias) - 1) if len(self.bias) > 1 else mine + _offset(linear, terms)
        names = self.counts.term_names
        return [(names[terms[i]], float(odds[i])) for i in np.argsort(-odds, kind="stable")[:n].tolist()]

    @cached_property
    def _differences(self) -> Floats:
        """Of each term, the sum over the classes."""
        return self.counts.by_term(self.weights.finite.differences)


def _offset(linear: Linear, terms: NDArray[np.intp]) -> Floats | float:
    return 0.0 if linear.offset is None else linear.offset[terms]


def best_rows(rows: Floats, chosen: int, n: int) -> list[tuple[int, float]]:
    """The rows that favor a class most, with their log odds against the mean of the others."""
    others = np.delete(rows, chosen, axis=1)
    odds = rows[:, chosen] - (others.mean(axis=1) if others.shape[1] else 0.0)
    return [(i, float(odds[i])) for i in np.argsort(-odds, kind="stable")[:n].tolist()]


def top_rows(names: Sequence[str], rows: Floats, chosen: int, n: int) -> list[tuple[str, float]]:
    """The names whose rows favor a class most, with their log odds against the mean of the others."""
    return [(names[i], odds) for i, odds in best_rows(rows, chosen, n)]


def as_text(value: Any) -> str:
    """A document as a string, in which its terms stand where `parts` says."""
    if not isinstance(value, bytes):
        return SURROGATE.sub("\ufffd", str(value))
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def compile_text(
    tally: TextTally, order: Any, event: Any, tf: Any, alpha: float, unseen: Any, selection: Selection
) -> TextScorer:
    """Freeze the weights of an event model."""
    counts = selection.of(tally.counts(order, event_models.quantities(event, tf) | selection.quantities))
    return TextScorer(tally, counts, event_models.weights(counts, event, tf, alpha, unseen))


def _frozen(tally: TextTally, counts: ClassCounts, linear: Linear) -> Any:
    return tally.scorer(linear.value, counts, linear.arrays())


def _repeats(found: list[tuple[str, int, int, int]], value: str) -> Floats:
    """By what each occurrence's weight is divided."""
    if value == "count":
        return np.ones(len(found))
    if value == "share":
        return np.full(len(found), float(len(found)))
    times = Counter((term, index) for term, index, _, _ in found)
    return np.array([times[term, index] for term, index, _, _ in found], np.float64)


def _ruled_out(finite: Floats, zeros: Floats | None) -> Floats:
    return finite if zeros is None else np.where(zeros > 0.5, -np.inf, finite)


def _ruled_out_rows(weights: Weights, counts: ClassCounts, terms: NDArray[np.intp]) -> Floats:
    finite = weights.finite.rows(counts, terms)
    return finite if weights.zeros is None else _ruled_out(finite, weights.zeros.rows(counts, terms))
