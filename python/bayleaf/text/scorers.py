"""Scorers of text: counts made ready to answer, kept in step with what is learned, taken apart to explain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import length_of
from bayleaf.text import event_models
from bayleaf.text.counts import ClassCounts, TextTally
from bayleaf.text.event_models import Event, TermFrequency
from bayleaf.text.selection import Selection
from bayleaf.types import Classes, Floats, Unseen
from bayleaf.view import Piece

ROWS_UP_TO = 256
"""With more classes, batches are answered by frozen weights, summed tile by tile."""
FREEZE_CLASSES_FOR = 100
FREEZE_MOVING_FOR = 1000
"""For so many documents weights of many classes, or that move, are frozen first: they are faster to add."""
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Asked:
    """What a scorer of text makes of its counts."""

    event: Event | Literal["earned"]
    tf: TermFrequency
    alpha: float
    unseen: Unseen
    selection: Selection

    @property
    def moves(self) -> bool:
        """Whether all weights change with every document, so that they are made when they are asked for."""
        return self.event == "bernoulli" or self.tf == "tf-idf"

    def settings(
        self, tally: TextTally, order: Classes, unused: NDArray[Any] | None = None, **others: Any
    ) -> dict[str, Any]:
        """What the core needs to make rows and keep them in step; `unused` nodes say nothing."""
        least, most = self.selection.bounds
        chosen = None if self.selection.follows else self.selection.of(tally.counts(order))
        left_out = [each for each in (unused, None if chosen is None else chosen.dropped) if each is not None]
        dropped = np.concatenate(left_out).astype(np.uint32) if left_out else None
        settings: dict[str, Any] = {
            "event": self.event, "tf": self.tf, "alpha": float(self.alpha), "smooth": self.unseen == "smooth",
            "least": least, "most": most, "dropped": dropped,
            "weights": None, "groups": [], "shortest": 1, "by_class": None,
        }  # fmt: skip
        return settings | others


class LivingScorer:
    """Rows of numbers in the core, which change with the counts: what every scorer of text answers by."""

    may_rule_out = False

    def __init__(self, tally: TextTally, order: Classes, asked: Asked, **others: Any) -> None:
        self.tally, self.order, self.asked = tally, order, asked
        self.asking = tally.asking(asked.settings(tally, order, **others), order)

    @property
    def follows(self) -> bool:
        """Whether it stays right when documents are learned or forgotten."""
        return self.asked.selection.follows

    def ordered(self, order: Classes) -> Self:
        """The same for other classes, or in another order."""
        other = copy(self)
        other.order, other.asking = order, self.asking.ordered(order)
        return other

    @property
    def bias(self) -> Floats:
        """What every document gets, whatever is in it."""
        return self.asking.bias()

    def scores(self, column: Any, threads: int) -> Floats:
        """The log likelihood of each document in each class."""
        return self.asking.score(column, threads)

    def best(self, column: Any, log_prior: Floats, threads: int) -> NDArray[np.integer[Any]]:
        """The class of highest likelihood and prior of each document, if none can be ruled out."""
        return self.asking.best(column, log_prior, threads)

    def shown(self, column: Any, name: str) -> str:  # noqa: ARG002
        """The text itself."""
        return as_text(column[0])

    def parts(self, column: Any, name: str) -> list[Piece]:
        """The parts of the score of the only document of a column."""
        raise NotImplementedError

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The terms with the highest log odds against the mean of the other classes."""
        raise NotImplementedError

    def counts(self) -> ClassCounts:
        """The counts of the terms that are used."""
        return self.asked.selection.of(self.tally.counts(self.order))


class TextScorer(LivingScorer):
    """The weights of an event model."""

    def __init__(self, tally: TextTally, order: Classes, asked: Asked) -> None:
        super().__init__(tally, order, asked)
        self.may_rule_out = asked.alpha == 0
        self._frozen: tuple[int, Any] | None = None
        self._all: tuple[int, tuple[ClassCounts, event_models.Weights, Floats]] | None = None

    def scores(self, column: Any, threads: int) -> Floats:
        """The log likelihood of each document in each class."""
        frozen = self._for_many(column)
        return super().scores(column, threads) if frozen is None else frozen.score(column, threads)

    def best(self, column: Any, log_prior: Floats, threads: int) -> NDArray[np.integer[Any]]:
        """The class of highest likelihood and prior of each document, if none can be ruled out."""
        frozen = self._for_many(column)
        if frozen is None:
            return self.asking.best(column, log_prior, threads)
        best: NDArray[np.uint32] = frozen.best(column, log_prior, threads)
        return best

    def _for_many(self, column: Any) -> Any:
        """Weights frozen as they are now, for many documents of thousands of classes or of rows that move."""
        pays = self.asked.moves or len(self.order) > ROWS_UP_TO
        least = FREEZE_CLASSES_FOR if len(self.order) > ROWS_UP_TO else FREEZE_MOVING_FOR
        if not pays or self.may_rule_out or length_of(column) < least:
            return None
        changes = self.tally.changes
        if self._frozen is None or self._frozen[0] != changes:
            counts, weights = self._weights()
            self._frozen = changes, self.tally.scorer(weights.finite.value, counts, weights.finite.arrays())
        return self._frozen[1]

    def _weights(self) -> tuple[ClassCounts, event_models.Weights]:
        asked, event = self.asked, cast("Event", self.asked.event)
        quantities = event_models.quantities(event, asked.tf) | asked.selection.quantities
        counts = asked.selection.of(self.tally.counts(self.order, quantities))
        return counts, event_models.weights(counts, event, asked.tf, asked.alpha, asked.unseen)

    def table(self) -> tuple[ClassCounts, event_models.Weights]:
        """The counts of the terms that are used, and the weights of these terms."""
        return self._weights()

    def parts(self, column: Any, name: str) -> list[Piece]:  # noqa: ARG002
        """Each occurrence of a term with what it adds to the scores."""
        found, rows = self.asking.explain(column[0])
        places = np.array([place for _, place, _, _ in found], np.intp)
        scores = np.zeros((len(found), len(self.order)))
        known = places >= 0
        scores[known] = rows[places[known]]
        scores[places == -1] = rows[-1]
        scores /= _repeats(found, event_models.VALUES[self._value])[:, None]
        return [
            Piece(term, start, end, row) for (term, _, start, end), row in zip(found, scores, strict=True)
        ]

    @property
    def _value(self) -> str:
        return "binary" if self.asked.event == "bernoulli" else self.asked.tf

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The terms with the highest log odds against the mean of the other classes."""
        counts, weights, sums = self._whole()
        ends = counts.arrays["class_ends"]
        own = slice(int(ends[chosen - 1]) if chosen else 0, int(ends[chosen]))
        terms, linear, classes = counts.term[own].astype(np.intp), weights.finite, len(self.order)
        scale = np.ones(len(terms)) if linear.scale is None else linear.scale[terms]
        # The sum over the other classes is that over all without its own: no class is looked at but this one.
        mine = linear.differences[own] + scale * linear.base[chosen]
        others = sums[terms] + scale * linear.base.sum() - mine
        odds = mine - others / (classes - 1) if classes > 1 else mine + _offset(linear, terms)
        names = counts.term_names
        return [(names[terms[i]], float(odds[i])) for i in np.argsort(-odds, kind="stable")[:n].tolist()]

    def _whole(self) -> tuple[ClassCounts, event_models.Weights, Floats]:
        """All counts, their weights, and of each term the sum over the classes; kept until they change."""
        changes = self.tally.changes
        if self._all is None or self._all[0] != changes:
            counts, weights = self._weights()
            self._all = changes, (counts, weights, counts.by_term(weights.finite.differences))
        return self._all[1]


def _offset(linear: event_models.Linear, terms: NDArray[np.intp]) -> Floats | float:
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


def _repeats(found: list[tuple[str, int, int, int]], value: str) -> Floats:
    """By what each occurrence's weight is divided."""
    if value == "count":
        return np.ones(len(found))
    if value == "share":
        return np.full(len(found), float(len(found)))
    times = Counter((term, index) for term, index, _, _ in found)
    return np.array([times[term, index] for term, index, _, _ in found], np.float64)
