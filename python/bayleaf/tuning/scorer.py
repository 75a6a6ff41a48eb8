"""Texts scored with earned weights, and taken apart to explain: the parts sum to the score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf import _core
from bayleaf.text.counts import ClassCounts, TextTally
from bayleaf.text.scorers import Asked, LivingScorer, best_rows
from bayleaf.text.views import TextView, Words
from bayleaf.tuning.judgment import DROPPED, ViewJudgment
from bayleaf.types import Classes, Floats
from bayleaf.view import Piece

if TYPE_CHECKING:
    from bayleaf.tuning.examples import Cells, Looked


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


def kept_terms(counts: ClassCounts, least: int) -> NDArray[np.intp]:
    """The terms that can have a weight, the frequent first, so that they share the processor's cache."""
    holders = counts.by_term(counts.documents)
    kept = np.flatnonzero(holders >= least)
    return kept[np.argsort(-holders[kept], kind="stable")]


def look(
    tally: TextTally, counts: ClassCounts, column: Any, alpha: float, least: int, scale: float, threads: int
) -> Looked:
    """Read documents once, as rows of the terms that can have a weight."""
    from bayleaf.tuning.examples import Looked  # not needed to answer

    kept = kept_terms(counts, least)
    lengths = lengths_of(counts)
    groups = int(lengths.max(initial=0)) + 1
    rows = tally.rows(column, counts.nodes[kept], threads)
    return Looked(
        rows,
        np.arange(len(kept), dtype=np.uint32),
        _cells(counts, kept),
        lengths[kept],
        groups,
        alpha,
        least,
        scale,
    )


def asked_of(view: TextView, judgment: ViewJudgment) -> tuple[Asked, dict[str, Any]]:
    """What is asked of the counts of a view that was judged, and of its judgment."""
    return Asked("earned", "count", judgment.alpha, "ignore", view.selection), {
        "least": max(judgment.least, view.selection.bounds[0]),
        "groups": list(judgment.groups),
        "shortest": view.shortest if isinstance(view, Words) and view.buckets is None else 1,
    }


def _cells(counts: ClassCounts, kept: NDArray[np.intp]) -> Cells:
    """The cells of some terms, term by term and class by class."""
    from bayleaf.tuning.examples import NONE, Cells  # not needed to answer

    place = np.full(counts.n_terms, NONE)
    place[kept] = np.arange(len(kept))
    documents = counts.arrays["documents"].astype(np.uint32)
    term, class_ends = counts.term.astype(np.uint32), counts.arrays["class_ends"].astype(np.uint64)
    return Cells(*_core.cells_by_term(term, class_ends, documents, place, len(kept)), counts.n_classes)


class TunedScorer(LivingScorer):
    """The log likelihood of each term, centered over the classes, times the weight it has earned.

    A term that occurs f times counts 1 + log f, and the squares of a document's terms sum to 1. `numbers` are
    those of the classes of the judgment in the tally, for terms with a weight for each; -1: it is gone.
    """

    def __init__(
        self,
        tally: TextTally,
        order: Classes,
        view: TextView,
        judgment: ViewJudgment,
        numbers: Sequence[int],
    ) -> None:
        self.numbers = list(numbers)
        asked, own = asked_of(view, judgment)
        own["weights"] = judgment.weights
        if judgment.weights is not None:
            own["unused"] = np.flatnonzero(judgment.weights == DROPPED)
        self._by_class = None if judgment.by_class is None else judgment.by_class.by_number(numbers)
        own["by_class"] = self._by_class
        super().__init__(tally, order, asked, **own)
        self._judgment = judgment

    def parts(self, column: Any, name: str) -> list[Piece]:  # noqa: ARG002
        """Each occurrence of a term with its part of the term's score."""
        found, rows = self.asking.explain(column[0])
        places = np.array([place for _, place, _, _ in found], np.intp)
        known, place, times = np.unique(places[places >= 0], return_inverse=True, return_counts=True)
        values = 1 + np.log(times)
        scores = np.zeros((len(found), len(self.order)))
        if len(known):
            scale = values / (times * np.sqrt((values**2).sum()))
            scores[places >= 0] = (rows[known] * scale[:, None])[place]
        return [
            Piece(term, start, end, row) for (term, _, start, end), row in zip(found, scores, strict=True)
        ]

    def table(self) -> tuple[list[str], Floats]:
        """The terms that have a weight, and the row of each."""
        counts = self.counts()
        kept, rows = earned_rows(counts, self._judgment)
        if self._by_class is not None:
            nodes, weights = self._by_class
            place = np.full(int(max(counts.nodes.max(initial=0), nodes.max(initial=0))) + 1, -1)
            place[counts.nodes[kept]] = np.arange(len(kept))
            there, known = place[nodes] >= 0, self.order < weights.shape[1]
            rows[np.ix_(place[nodes[there]], known)] += weights[np.ix_(there, self.order[known])]
        return [counts.term_names[i] for i in kept.tolist()], rows

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The terms with the highest log odds against the mean of the other classes."""
        names, rows = self.table()
        return [(names[i], odds) for i, odds in best_rows(rows, chosen, n)]


def earned_rows(counts: ClassCounts, judgment: ViewJudgment) -> tuple[NDArray[np.intp], Floats]:
    """The terms that have a weight, and the row of each: a table of terms and classes."""
    kept = kept_terms(counts, judgment.least)
    kept = kept[judgment.used(counts.nodes[kept])]
    earned = judgment.of_terms(counts.nodes[kept], lengths_of(counts)[kept])
    documents = counts.rows(kept, counts.documents.astype(np.float64))
    totals = documents.sum(axis=0) + judgment.alpha * len(kept)
    rows = np.log(documents + judgment.alpha) - np.log(np.maximum(totals, 1e-300))
    rows -= rows.mean(axis=1, keepdims=True)
    return kept, rows * earned[:, None]
