"""A weight for each word and class, beside what is counted: what the counts alone get wrong.

Weights of terms say how much a term is worth, the same for every class. Where the classes differ in what a
word is worth to them, the documents that are left out say so: a weight for each word and class is fitted on
what their scores leave to explain (logistic regression with the scores as its offset), held back to nothing.
How strongly is decided by documents held out of counts and fit alike, around a prior belief.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf import _core
from bayleaf.tuning.examples import NONE, Examples, Expert, Looked
from bayleaf.tuning.lbfgs import minimize
from bayleaf.types import Floats

PENALTIES = (10.0, 1.0, 0.3, 0.1, 0.03)
"""From nothing to what the documents say alone."""
BELIEVED = 3
"""The penalty that is believed in before any document was held out."""
BELIEF = 1.0
"""So many nats more are needed for each step away from it."""
MOST_CELLS = 5_000_000
"""Pairs of a document and a word, times classes, beyond which a pass would take too long."""
RARITY = 0.5
"""The power of the log of documents for each that holds the word, as for weights that terms share."""
ITERATIONS = 30


def pays(view: Looked, classes: int) -> bool:
    """Whether the words of a view and the classes are few enough."""
    return int(view.counts.holders()[view.group == 0].sum()) * classes <= MOST_CELLS


@dataclass(frozen=True, eq=False)
class Words:
    """The words of one view, of its terms that have counts, and how much each is worth before the fit."""

    view: Looked
    places: NDArray[np.intp]
    """Among the terms that have counts."""
    number: NDArray[np.uint32]
    """Of each term of the rows, among the words; NONE for others."""
    worth: Floats

    @classmethod
    def of(cls, view: Looked, documents: int, power: float = RARITY) -> Words:
        """The shortest n-grams of a view, worth a power of how rare they are."""
        places = np.flatnonzero(view.group == 0)
        known = np.full(len(view.counts) + 1, NONE)
        known[places] = np.arange(len(places))
        held = np.where(view.place == NONE, len(view.counts), view.place.astype(np.intp))
        holders = np.maximum(view.counts.holders()[places], 1)
        worth = np.maximum(np.log((documents + 1) / holders) / np.log(max(documents, 1) + 1), 0.1) ** power
        return cls(view, places, known[held], worth)

    def rows(self, examples: Examples, leave_out: bool) -> Rows:
        """Documents as rows of words, each term's value times its worth.

        With `leave_out`, terms that no other document holds do not add to their length, as they will not
        add to that of a new document.
        """
        ends, terms, times = self.view.rows.arrays()
        starts = np.concatenate([[0], ends[:-1]]).astype(np.intp)
        lengths = (ends.astype(np.intp) - starts)[examples.documents]
        document = np.repeat(np.arange(len(examples)), lengths)
        first = np.repeat(starts[examples.documents] - np.cumsum(lengths) + lengths, lengths)
        entry = first + np.arange(len(document))
        values = 1 + np.log(times[entry])
        place = self.view.place[terms[entry]]
        held = place != NONE
        if leave_out:
            held[held] = self.view.counts.holders()[place[held]] > 1
        squares = np.bincount(document[held], values[held] ** 2, len(examples))
        word = self.number[terms[entry]]
        own = word != NONE
        document, word = document[own], word[own]
        values = values[own] / np.sqrt(np.maximum(squares[document], 1.0)) * self.worth[word]
        return Rows(np.cumsum(np.bincount(document, minlength=len(examples))), word, values)


@dataclass(frozen=True, eq=False)
class Rows:
    """Documents as rows of words: where each ends, the words, their values."""

    ends: NDArray[np.intp]
    words: NDArray[np.uint32]
    values: Floats

    def lengths(self) -> NDArray[np.intp]:
        """How many words each document has."""
        return np.diff(self.ends, prepend=0)

    def summed(self, scores: Floats) -> Floats:
        """Of scores of each entry and class, those of each document."""
        places = np.repeat(np.arange(len(self.ends)), self.lengths())
        totals = np.zeros((len(self.ends), scores.shape[1]))
        np.add.at(totals, places, scores * self.values[:, None])
        return totals

    def size(self) -> float:
        """The root of the mean of the sum of squares of a document."""
        return float(np.sqrt(np.einsum("i,i", self.values, self.values) / max(len(self.ends), 1))) or 1.0

    def beside(self, known: Floats, examples: Examples, words: int, size: float) -> _core.ByClass:
        """The documents in the core, the scores that are known beside them."""
        return _core.ByClass(
            self.ends.astype(np.uint64), self.words.astype(np.uint32),
            (self.values / size).astype(np.float32), examples.y.astype(np.uint32), examples.weights,
            np.ascontiguousarray(known), words,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class WordExpert(Expert):
    """One more expert beside what is counted: it adds up what each word says, and has one weight."""

    words: Words
    size: float

    @abstractmethod
    def weights(self) -> Floats:
        """Words x classes: what each word says."""

    def rows(self, examples: Examples, leave_out: bool) -> Rows:
        """Documents as rows of words, of about the same size."""
        rows = self.words.rows(examples, leave_out)
        return replace(rows, values=rows.values / self.size)

    def scores(self, examples: Examples) -> Floats:
        """What it says of documents that were not counted."""
        rows = self.rows(examples, leave_out=False)
        return rows.summed(self.weights()[rows.words])

    def added(self, weight: float) -> Floats:
        """What each word adds for each class, if the expert has this weight."""
        rows: Floats = self.weights() * (weight * self.words.worth / self.size)[:, None]
        rows -= rows.mean(axis=1, keepdims=True)
        return rows


def fit(documents: _core.ByClass, start: Floats, penalty: float) -> Floats:
    """The weights of words and classes, flat: the log loss, plus half the penalty times their squares."""

    def loss(at: Floats) -> tuple[float, Floats]:
        value, slope = documents.slope(at)
        return value + penalty / 2 * float(np.einsum("i,i", at, at)), slope + penalty * at

    found, _ = minimize(loss, start, tolerance=2e-3, most=ITERATIONS)
    return found


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A fold: the documents that were fitted, those held out, and the scores of the classes for these."""

    fitted: NDArray[Any]
    judging: NDArray[Any]
    scores: Floats


@dataclass(eq=False)
class Part:
    """Documents that are fitted, and documents held out that judge."""

    fitted: _core.ByClass
    judging: _core.ByClass
    judges: Examples
    rows: Rows
    known: Floats
    """Of those that judge: what is known without weights of classes."""
    weights: Floats
    counted: NDArray[Any]
    """The documents that were not held out."""

    @classmethod
    def of(cls, words: Words, fitted: Examples, known: Floats, judges: Examples, judging: Floats) -> Part:
        """The part of these documents, with what is known of both."""
        rows, n = words.rows(fitted, leave_out=True), len(words.places)
        size = rows.size()
        judged = words.rows(judges, leave_out=False)
        start = np.zeros(n * known.shape[1])
        beside = rows.beside(known, fitted, n, size), judged.beside(judging, judges, n, size)
        scaled = replace(judged, values=judged.values / size)
        return cls(*beside, judges, scaled, judging, start, fitted.documents)

    def loss(self, penalty: float) -> float:
        """What those that judge lose; the fit begins where the last one ended."""
        self.weights = fit(self.fitted, self.weights, penalty)
        return self.judging.loss(self.weights)

    def held_out(self, penalty: float) -> HeldOut:
        """The scores of those that judge, with weights of classes held back like this."""
        scores = self.known
        if np.isfinite(penalty):
            weights = fit(self.fitted, self.weights, penalty).reshape(-1, scores.shape[1])
            scores = scores + self.rows.summed(weights[self.rows.words])
        return HeldOut(self.counted, self.judges.documents, scores)


def choose_penalty(parts: Sequence[Part]) -> float:
    """The penalty that held-out documents and the belief agree on; infinite: no weights of classes."""
    best, penalty = sum(part.judging.loss(np.zeros_like(part.weights)) for part in parts), np.inf
    best += BELIEF * (BELIEVED + 1)
    for i, each in enumerate(PENALTIES):
        lost = sum(part.loss(each) for part in parts) + BELIEF * abs(i - BELIEVED)
        if lost >= best and i > BELIEVED:
            break
        if lost < best:
            best, penalty = lost, each
    return penalty
