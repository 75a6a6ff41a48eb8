"""Counts and document rows of one analysis of the texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.text.counts import ClassCounts
from bayleaf.text.views import TextView
from bayleaf.types import Classes, Floats

# Below this many numbers a table of all terms and classes is kept, and not made anew for each fold.
DENSE = 4_000_000
Places = NDArray[np.intp]
Numbers = NDArray[Any]
"""Whole numbers for counts, floats for shares."""


Owner = TypeVar("Owner")
Key = TypeVar("Key")
Value = TypeVar("Value")


def once(method: Callable[[Owner, Key], Value]) -> Callable[[Owner, Key], Value]:
    """Compute a method once for each argument, and keep the answers in the object, to go when it goes.

    A cache of a bound method would be a cycle: folds of a large corpus stay in memory until it is found.
    """

    def kept(owner: Owner, key: Key) -> Value:
        answers: dict[Key, Value] = owner.__dict__.setdefault(f"_{method.__name__}_of", {})
        if key not in answers:
            answers[key] = method(owner, key)
        return answers[key]

    kept.__doc__ = method.__doc__
    return kept


@dataclass(frozen=True, eq=False)
class Split:
    """The documents in the order of their folds, dealt so that each has its part of every class."""

    texts: list[Any]
    truth: Places
    ends: Places
    order: Places

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.ends)

    @cached_property
    def fold(self) -> Places:
        """The fold of each document."""
        return np.repeat(np.arange(self.n_folds), np.diff(self.ends, prepend=0))

    def documents(self, fold: int) -> slice:
        """Where the documents of a fold are."""
        return slice(int(self.ends[fold - 1]) if fold else 0, int(self.ends[fold]))


def split(texts: list[Any], truth: Places, folds: int, seed: int, groups: Any = None) -> Split:
    """Shuffle, then deal out the documents class by class like cards; those of a group together."""
    shuffled = np.random.default_rng(seed).permutation(len(truth))
    dealt = shuffled[np.argsort(truth[shuffled], kind="stable")]
    fold = np.arange(len(truth)) % folds
    if groups is not None:
        dealt, fold = (
            shuffled,
            _folds_of_groups(truth[shuffled], [groups[i] for i in shuffled.tolist()], folds),
        )
    order = dealt[np.argsort(fold, kind="stable")]
    ends = np.cumsum(np.bincount(fold, minlength=folds))
    return Split([texts[i] for i in order.tolist()], truth[order], ends, order)


def _folds_of_groups(truth: Places, groups: list[Any], folds: int) -> Places:
    """The fold of each document: the largest group first, each where its classes are rarest so far."""
    number: dict[Any, int] = {}
    group = np.array([number.setdefault(name, len(number)) for name in groups])
    if len(number) < folds:
        raise ValueError(f"`folds` is {folds}, more than there are groups ({len(number)}). Use fewer folds.")
    held = np.zeros((len(number), int(truth.max()) + 1))
    np.add.at(held, (group, truth), 1)
    parts = held / np.maximum(held.sum(axis=0), 1)
    filled, chosen = np.zeros((folds, parts.shape[1])), np.zeros(len(number), np.intp)
    for each in np.argsort(-held.sum(axis=1), kind="stable").tolist():
        empty = ~filled.any(axis=1)
        crowd = np.where(empty, -1.0, filled @ parts[each])
        chosen[each] = np.lexsort((filled.sum(axis=1), crowd))[0]
        filled[chosen[each]] += parts[each]
    found: Places = chosen[group]
    return found


class Counted:
    """Counts of terms in classes, one row a class.

    A kind of count is "tf" (occurrences), "binary" (documents), "share" (tf / length) or "log" (1 + log tf).
    """

    def __init__(self, view: TextView, split: Split, n_classes: int, threads: int = 1) -> None:
        classes = split.truth.astype(np.uint32)
        order: Classes = np.arange(n_classes, dtype=np.uint32)
        tally = view.tally()
        tally.add(split.texts, classes, threads)
        self.split = split
        self.counts: ClassCounts = tally.counts(order)
        rows = tally.rows(split.texts, self.counts.nodes, threads)
        ends, terms, self.times = rows.arrays()
        self.terms = terms.astype(np.intp)
        self.ends = np.append(0, ends.astype(np.intp))
        self.lengths = rows.lengths.astype(np.float64)

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return self.counts.n_terms

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.counts.n_classes

    @cached_property
    def occurrences(self) -> Floats:
        """How often each term occurs."""
        return self.counts.by_term(self.counts.occurrences)

    @cached_property
    def term_logs(self) -> Floats:
        """The logarithm of how many documents hold each term."""
        return np.log(self.counts.by_term(self.counts.documents))

    @cached_property
    def histogram(self) -> Places:
        """For each class, how many terms are in 0, 1, 2… of its documents."""
        counts = self.counts
        size = int(counts.documents.max(initial=0)) + 1
        places = counts.class_ * size + counts.documents.astype(np.intp)
        found = np.bincount(places, minlength=size * self.n_classes).reshape(self.n_classes, size)
        found[:, 0] += self.n_terms - found.sum(axis=1)
        return found

    @cached_property
    def share_logs(self) -> Floats:
        """For each class, the sum over all terms of share times log of documents."""
        return self.counts.by_class(self.counts.shares * self.term_logs[self.counts.term])

    @once
    def logs(self, alpha: float) -> Floats:
        """The logarithms of 0, 1, 2… + alpha, up to the largest count."""
        most = max(self.occurrences.max(initial=0), len(self.lengths))
        logs: Floats = np.log(np.arange(int(most) + 1) + alpha)
        return logs

    @once
    def totals(self, kind: str) -> Floats:
        """What each class has of all terms together."""
        if kind == "log":
            return np.asarray(self.table(kind).sum(axis=1), np.float64)
        return self.counts.by_class(self._cells(kind))

    def rows(self, kind: str, terms: Places) -> Numbers:
        """What each class has of some terms."""
        if kind == "log" or self.n_terms * self.n_classes <= DENSE:
            return self.table(kind).take(terms, axis=1)
        return _whole(kind, np.ascontiguousarray(self.counts.rows(terms, self._cells(kind)).T))

    @once
    def table(self, kind: str) -> Numbers:
        """What each class has of each term."""
        if kind == "log":
            return self._damped()
        table = np.zeros((self.n_classes, self.n_terms), np.float64 if kind == "share" else np.intp)
        table[self.counts.class_, self.counts.term] = self._cells(kind)
        return table

    def _cells(self, kind: str) -> Floats:
        cells = {"tf": "occurrences", "binary": "documents", "share": "shares"}
        found: Floats = getattr(self.counts, cells[kind])
        return found

    def _damped(self) -> Floats:
        """The sum of 1 + log tf, which no tally keeps: documents, and the logarithms where tf is above 1."""
        often = np.flatnonzero(self.times > 1)
        document = np.searchsorted(self.ends, often, side="right") - 1
        places = self.split.truth[document] * self.n_terms + self.terms[often]
        size = self.n_terms * self.n_classes
        more = np.bincount(places, np.log(self.times[often]), size).reshape(self.n_classes, self.n_terms)
        return np.asarray(more + self.rows("binary", np.arange(self.n_terms)), np.float64)


def _whole(kind: str, values: Floats) -> Numbers:
    return values if kind == "share" else values.astype(np.intp)
