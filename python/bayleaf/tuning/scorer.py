"""Texts scored with earned weights, and taken apart to explain: the parts sum to the score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.text.counts import ClassCounts, TextTally
from bayleaf.text.scorers import as_text, best_rows
from bayleaf.tuning.examples import Looked
from bayleaf.tuning.judgment import MIN_DOCUMENTS, ViewJudgment
from bayleaf.types import Floats
from bayleaf.view import Piece


def lengths_of(counts: ClassCounts) -> NDArray[np.uint8]:
    """Of how many words more than the shortest each term is made: the group in which it earns a weight."""
    pairs = counts.arrays["pairs"].reshape(-1, 2)
    words = len(counts.arrays["word_ends"])
    lengths = np.ones(words + len(pairs), np.uint8)
    while True:
        longer = lengths[pairs[:, 0]] + np.uint8(1)
        if (longer == lengths[words:]).all():
            break
        lengths[words:] = longer
    found: NDArray[np.uint8] = lengths[counts.arrays["terms"]]
    found -= found.min(initial=255) if len(found) else np.uint8(0)
    return found


def kept_terms(counts: ClassCounts) -> NDArray[np.intp]:
    """The terms that can have a weight, the frequent first, so that they share the processor's cache."""
    holders = counts.by_term(counts.documents)
    kept = np.flatnonzero(holders >= MIN_DOCUMENTS)
    return kept[np.argsort(-holders[kept], kind="stable")]


def look(tally: TextTally, counts: ClassCounts, column: Any, alpha: float, threads: int) -> Looked:
    """Read documents once, as rows of the terms that can have a weight."""
    kept = kept_terms(counts)
    lengths = lengths_of(counts)
    groups = int(lengths.max(initial=0)) + 1
    rows = tally.rows(column, counts.nodes[kept], threads)
    cells = counts.rows(kept, counts.documents).astype(np.uint32)
    return Looked(rows, np.arange(len(kept), dtype=np.uint32), cells, lengths[kept], groups, alpha)


class TunedScorer:
    """The log likelihood of each term, centered over the classes, times the weight it has earned.

    A term that occurs f times counts 1 + log f, and the squares of a document's terms sum to 1.
    """

    may_rule_out = False

    def __init__(self, tally: TextTally, counts: ClassCounts, judgment: ViewJudgment) -> None:
        kept = kept_terms(counts)
        kept = kept[judgment.used(counts.nodes[kept])]
        earned = judgment.of_terms(counts.nodes[kept], lengths_of(counts)[kept])
        documents = counts.rows(kept, counts.documents)
        totals = documents.sum(axis=0) + judgment.alpha * len(kept)
        rows = np.log(documents + judgment.alpha) - np.log(np.maximum(totals, 1e-300))
        rows -= rows.mean(axis=1, keepdims=True)
        rows *= earned[:, None]
        self.bias = np.zeros(counts.n_classes)
        self._counts, self._kept, self._rows = counts, kept, rows
        self._core = tally.tuned(counts.nodes[kept], rows)

    def scores(self, column: Any, threads: int) -> Floats:
        """The evidence of each document for each class."""
        scores: Floats = self._core.score(column, threads)
        return scores

    def shown(self, column: Any, name: str) -> str:  # noqa: ARG002
        """The text itself."""
        return as_text(column[0])

    def parts(self, column: Any, name: str) -> list[Piece]:  # noqa: ARG002
        """Each occurrence of a term with its part of the term's score."""
        found = self._core.parts(column[0])
        terms = np.array([term for _, term, _, _ in found], np.intp)
        known, place, times = np.unique(terms[terms >= 0], return_inverse=True, return_counts=True)
        values = 1 + np.log(times)
        scores = np.zeros((len(found), self._counts.n_classes))
        if len(known):
            scale = values / (times * np.sqrt((values**2).sum()))
            scores[terms >= 0] = (self._rows[known] * scale[:, None])[place]
        return [
            Piece(term, start, end, row) for (term, _, start, end), row in zip(found, scores, strict=True)
        ]

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The terms with the highest log odds against the mean of the other classes."""
        names = self._counts.term_names
        return [(names[self._kept[i]], odds) for i, odds in best_rows(self._rows, chosen, n)]
