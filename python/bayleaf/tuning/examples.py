"""The documents that a judgment is fitted on, and what their views say of each when it is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf import _core
from bayleaf.table.leave_one_out import in_turn, left_out
from bayleaf.text.counts import TextTally
from bayleaf.text.views import TextView
from bayleaf.tuning.class_sizes import evening
from bayleaf.tuning.judgment import MIN_DOCUMENTS
from bayleaf.tuning.leave_one_out import log_likelihood
from bayleaf.tuning.shared_weights import STEPS, Prior, center, step_of
from bayleaf.types import Classes, Floats, Unseen
from bayleaf.view import Tally, View, taken

NONE = np.uint32(0xFFFFFFFF)
OF_WHOLES = 0.5
"""The weight of a view without terms, before any document has said something."""
OF_TABLES = Prior(held=1.0, share=0.25, even=1.0)
"""Tables have few weights, which need little holding back (measured in docs/decisions.md)."""
FARTHEST = 1e4
"""Log odds of one view beyond this say no more than that a class is impossible."""


def none() -> NDArray[Any]:
    """Nothing for any document."""
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Examples:
    """Labeled documents: their rows and classes, how much each counts, and which are left out together.

    `weights` is empty if all count alike; otherwise their mean is 1. `groups` is empty if each is alone.
    """

    documents: Classes
    y: Classes
    classes: int
    weights: Floats = field(default_factory=none)
    groups: Classes = field(default_factory=lambda: none().astype(np.uint32))

    def __len__(self) -> int:
        return len(self.y)

    def some(self, places: NDArray[Any]) -> Examples:
        """The examples at these places."""
        weights = normalized(self.weights[places]) if len(self.weights) else self.weights
        groups = self.groups[places] if len(self.groups) else self.groups
        return Examples(self.documents[places], self.y[places], self.classes, weights, groups)

    def counts(self) -> Floats:
        """How many there are of each class, by their weights."""
        return np.bincount(self.y, self.weights if len(self.weights) else None, self.classes).astype(float)

    def evened(self) -> Examples:
        """The same, each class counting as much as it is believed to be frequent, not as it was drawn."""
        factors = evening(self.counts())[self.y]
        weights = factors * self.weights if len(self.weights) else factors
        return replace(self, weights=normalized(weights))

    def shuffled(self, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """All places in random order, those of a group in a row, and where each group begins."""
        order = np.random.default_rng(seed).permutation(len(self))
        if not len(self.groups):
            return order, np.arange(len(self))
        _, group = np.unique(self.groups, return_inverse=True)
        first = np.full(group.max(initial=0) + 1, len(self))
        np.minimum.at(first, group[order], np.arange(len(self)))
        rank = first[group[order]]
        order, rank = order[np.argsort(rank, kind="stable")], np.sort(rank)
        return order, np.flatnonzero(np.diff(rank, prepend=-1))


def normalized(weights: Any) -> Floats:
    """Weights with the mean 1, so that k for all is 1 for all, to the last digit; empty if all are equal."""
    weights = np.asarray(weights, np.float64)
    if not len(weights) or (weights == weights[0]).all():
        return none()
    # A power of two divides exactly: sums of weights and of twice the weights round alike.
    weights = weights / 2.0 ** np.floor(np.log2(weights.max()))
    return np.asarray(weights / weights.mean(), np.float64)


@dataclass(frozen=True, eq=False)
class Cells:
    """Documents of each class that hold each term, where there are any; those of a term are in one run."""

    ends: NDArray[np.uint64]
    class_: Classes
    documents: NDArray[np.uint32]
    classes: int

    @classmethod
    def of(cls, table: NDArray[np.uint32]) -> Cells:
        """The cells of a table with one row a term."""
        term, class_ = np.nonzero(table)
        ends = np.cumsum(np.bincount(term, minlength=len(table))).astype(np.uint64)
        return cls(ends, class_.astype(np.uint32), table[term, class_], table.shape[1])

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many cells each term has."""
        return np.diff(self.ends, prepend=np.uint64(0)).astype(np.intp)

    def holders(self) -> NDArray[Any]:
        """How many documents hold each term."""
        sums = np.concatenate([[0], np.cumsum(self.documents, dtype=np.int64)])
        ends = self.ends.astype(np.intp)
        held: NDArray[Any] = sums[ends] - sums[ends - self.sizes]
        return held

    def table(self) -> NDArray[np.uint32]:
        """One row a term, one column a class."""
        table = np.zeros((len(self), self.classes), np.uint32)
        table[np.repeat(np.arange(len(self)), self.sizes), self.class_] = self.documents
        return table

    def only(self, used: NDArray[np.bool_]) -> Cells:
        """The cells of some of the terms."""
        kept = np.repeat(used, self.sizes)
        ends = np.cumsum(self.sizes[used]).astype(np.uint64)
        return Cells(ends, self.class_[kept], self.documents[kept], self.classes)


@dataclass(frozen=True, eq=False)
class Looked:
    """The documents as one view of text sees them: rows of terms, counts by class, the group of each term."""

    rows: _core.Rows
    place: Classes
    counts: Cells
    group: NDArray[np.uint8]
    groups: int
    alpha: float
    least: int = MIN_DOCUMENTS
    scale: float = 1.0
    """By how much more weight its terms have than words, before any document has said something."""

    def steps(self, left_out: int) -> NDArray[np.intp]:
        """The step of each term by the documents that hold it, of which so many are left out."""
        return self.group.astype(np.intp) * STEPS + step_of(self.counts.holders() - left_out)

    def counted(self, examples: Examples) -> Looked:
        """The view as if only these documents had been learned."""
        held = (self.place != NONE) & (self.rows.holders(examples.documents) >= self.least)
        place = _numbered(held)
        counts = self.rows.counts(examples.documents, examples.y, examples.classes, place, int(held.sum()))
        return replace(self, place=place, counts=Cells.of(counts), group=self.group[self.place[held]])

    def only(self, used: NDArray[np.bool_]) -> Looked:
        """The view without some of its terms."""
        return replace(self, place=_numbered(used), counts=self.counts.only(used), group=self.group[used])


def _numbered(held: NDArray[np.bool_]) -> Classes:
    """The number of each term among those that are held."""
    place = np.full(len(held), NONE)
    place[held] = np.arange(held.sum())
    return place


@dataclass(frozen=True, eq=False)
class Whole:
    """The documents as any other view sees them: what it says of each as a whole has one weight."""

    view: View
    tally: Tally
    column: Any
    order: Classes
    alpha: float
    unseen: Unseen
    threads: int
    center: float = OF_WHOLES

    def counted(self, examples: Examples) -> Whole:
        """The view as if only these documents had been learned."""
        tally = self.view.tally()
        tally.add(taken(self.column, examples.documents), self.order[examples.y], self.threads)
        return replace(self, tally=tally)

    def scores(self, examples: Examples) -> Floats:
        """What the view says of documents that were not counted."""
        scorer = self.view.compile(self.tally, self.order, self.alpha, self.unseen)
        return scorer.scores(taken(self.column, examples.documents), self.threads)

    def left_out(self, examples: Examples) -> Floats:
        """What it says of documents under the counts without them and their groups; NaN if not counted."""
        column = taken(self.column, examples.documents)
        scores = self._alone(column, examples.y)
        if len(examples.groups):
            _, group, sizes = np.unique(examples.groups, return_inverse=True, return_counts=True)
            rows = np.flatnonzero(sizes[group] > 1)
            scores[rows] = in_turn(
                self.view, self.tally, self.order, taken(column, rows), examples.y[rows],
                group[rows], self.alpha, self.unseen,
            )  # fmt: skip
        return scores

    def _alone(self, column: Any, y: Classes) -> Floats:
        if isinstance(self.view, TextView) and isinstance(self.tally, TextTally):
            return log_likelihood(
                self.view, self.tally, self.order, column, y, self.alpha, self.unseen, self.threads
            )
        with np.errstate(over="ignore"):
            return left_out(self.view, self.tally, self.order, column, y, self.alpha, self.unseen)


class Expert(Protocol):
    """What says something of documents as a whole, and has one weight."""

    @property
    def center(self) -> float:
        """Its weight before any document has said something."""

    def counted(self, examples: Examples) -> Expert:
        """The same as if only these documents had been learned."""

    def scores(self, examples: Examples) -> Floats:
        """What it says of documents that were not counted."""

    def left_out(self, examples: Examples) -> Floats:
        """What it says of documents under the counts without them and their groups."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The documents as all views see them: those of plain text term by term, the others as a whole."""

    texts: Sequence[Looked]
    wholes: Sequence[Expert] = ()

    def counted(self, examples: Examples) -> Evidence:
        """The evidence as if only these documents had been learned."""
        texts = [view.counted(examples) for view in self.texts]
        return Evidence(texts, [view.counted(examples) for view in self.wholes])

    @property
    def steps(self) -> int:
        """How many weights are shared: those of the steps of lengths of n-grams, and of views without."""
        return STEPS * sum(view.groups for view in self.texts) + len(self.wholes)

    def step_of(self, left_out: int) -> NDArray[np.uint8]:
        """The step of each term, so many documents that hold it left out, and of each view without."""
        starts = np.cumsum([0, *(STEPS * view.groups for view in self.texts)])
        both = zip(self.texts, starts, strict=False)
        each = [view.steps(left_out) + start for view, start in both]
        return np.concatenate([*each, np.arange(starts[-1], self.steps)]).astype(np.uint8)

    @property
    def prior(self) -> Prior:
        """What is believed before any document has said something."""
        return Prior() if self.texts else OF_TABLES

    def priors(self, counts: Floats) -> tuple[NDArray[Any], Floats]:
        """The kind of each step, and the weight it has before any document has said something."""
        scales = np.array([view.scale for view in self.texts for _ in range(view.groups)])
        kinds = len(scales) + np.arange(len(self.wholes))
        kind = np.concatenate([np.repeat(np.arange(len(scales)), STEPS), kinds])
        steps = np.outer(scales, center(float(counts.sum()), self.prior)).ravel()
        return kind, np.concatenate([steps, [view.center for view in self.wholes]])

    def of_wholes(self, examples: Examples, leave_out: bool) -> Floats:
        """Documents x views x classes: what the views without terms say, the best class at 0."""
        found = np.zeros((len(examples), len(self.wholes), examples.classes))
        for i, view in enumerate(self.wholes):
            scores = view.left_out(examples) if leave_out else view.scores(examples)
            check_learned(scores, examples.documents)
            highest = scores.max(axis=1, keepdims=True)
            highest[~np.isfinite(highest)] = 0
            found[:, i] = np.clip(scores - highest, -FARTHEST, 0.0)
        return found

    def features(self, examples: Examples, threads: int, leave_out: bool) -> Features:
        """The documents as the core adds them up."""
        wholes = self.of_wholes(examples, leave_out)
        if not self.texts:
            return Features(None, wholes)
        parts = [(view.rows, view.place, view.counts.table(), view.alpha) for view in self.texts]
        core = _core.Features(
            parts, examples.documents, examples.y.astype(np.uint32),
            examples.weights, examples.groups.astype(np.uint32), wholes, leave_out, threads,
        )  # fmt: skip
        return Features(core, wholes)

    def shared_scores(self, examples: Examples, threads: int) -> NDArray[np.float32]:
        """As `step_scores` of documents left out, up to a number for all classes, but without a table."""
        starts = np.cumsum([0, *(STEPS * view.groups for view in self.texts)])
        parts = [
            (
                view.rows, view.place, view.counts.ends, view.counts.class_, view.counts.documents,
                (view.steps(1) + start).astype(np.uint8), view.alpha,
            )
            for view, start in zip(self.texts, starts, strict=False)
        ]  # fmt: skip
        scores = _core.shared_scores(
            parts, examples.documents, examples.y.astype(np.uint32), examples.groups.astype(np.uint32),
            (self.steps, examples.classes), threads,
        )  # fmt: skip
        if self.wholes:
            scores[:, starts[-1] :] = self.of_wholes(examples, leave_out=True)
        return scores

    def step_scores(self, features: Features) -> Floats:
        """Documents x steps x classes: the scores if everything had the weight 1."""
        if features.core is None:
            return features.wholes
        return features.core.group_scores(self.step_of(1), self.steps)


@dataclass(frozen=True, eq=False)
class Features:
    """The documents in the core, if they have terms, and the scores of views without."""

    core: _core.Features | None
    wholes: Floats


def check_learned(scores: Floats, documents: Classes) -> None:
    """Raise if a document cannot be left out, because it was not counted."""
    unknown = np.isnan(scores).any(axis=1)
    if unknown.any():
        raise ValueError(
            f"Document {int(documents[unknown.argmax()])} was not learned with its label, so it cannot be "
            "left out. Give documents that the model has learned, and their labels."
        )
