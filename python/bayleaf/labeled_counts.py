"""The counts of all views and the classes they belong to: changed in every view or in none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf._core import NotLearned
from bayleaf.columns import length_of
from bayleaf.labels import Labels, as_list
from bayleaf.model_views import NamedViews
from bayleaf.table.counts import NotCounted
from bayleaf.turns import finish
from bayleaf.types import Classes, Label
from bayleaf.view import Tally

MOST_DOCUMENTS = 2**62
"""Of one class; a model with text has at most 2**32 - 1."""


class LabeledCounts:
    """A tally for each view, and how many documents each class has; classes have numbers as they are met."""

    def __init__(self, views: NamedViews, classes: Any = None) -> None:
        self.columns = [name for name, _ in views]
        self.labels = Labels()
        if classes is not None:
            self.labels.close(classes)
        self.tallies: list[Tally] = [view.tally() for _, view in views]
        self.documents = np.zeros(0, np.int64)

    @classmethod
    def of(
        cls,
        views: NamedViews,
        classes: list[Label],
        closed: bool,
        documents: NDArray[np.int64],
        tallies: list[Tally],
    ) -> LabeledCounts:
        """What a file holds."""
        found = cls(views)
        found.labels.number(classes)
        found.labels.closed = closed
        found.documents, found.tallies = documents, tallies
        return found

    @property
    def order(self) -> Classes:
        """The numbers of the classes, in the order of `classes`."""
        return self.labels.order(self.documents)

    @property
    def classes(self) -> list[Label]:
        """The labels, numbers before strings, in sorted order."""
        return self.labels_of(self.order)

    def labels_of(self, numbers: Classes) -> list[Label]:
        """The labels with these numbers."""
        return [self.labels.names[number] for number in numbers.tolist()]

    def documents_of(self, order: Classes) -> NDArray[np.int64]:
        """How many documents the classes with these numbers have."""
        documents = np.zeros(len(self.labels.names), np.int64)
        documents[: len(self.documents)] = self.documents
        return documents[order]

    def number(self, columns: list[Any], y: Any, grow: bool = True) -> Classes:
        """The number of each document's class."""
        numbers = self.labels.number(y, grow)
        documents = length_of(columns[0])
        if documents != len(numbers):
            raise ValueError(
                f"X has {documents} documents and y has {len(numbers)} labels; each document needs one."
            )
        return numbers

    def places(self, numbers: Classes) -> Classes:
        """Where the classes with these numbers stand in `classes`."""
        place = np.zeros(len(self.labels.names), np.uint32)
        place[self.order] = np.arange(len(self.order))
        return place[numbers]

    def close(self, classes: Any) -> None:
        """Let no other classes in from now on."""
        self.labels.close(classes)
        announced = set(as_list(classes))
        left_out = [label for label in self.classes if label not in announced]
        if left_out:
            raise ValueError(f"`classes` lacks {left_out!r}, which are there already. Name all classes.")

    @contextmanager
    def labels_kept_or_undone(self) -> Iterator[None]:
        """New labels stay with the documents they came with, and go if those are refused."""
        documents, labels = self.documents, self.labels.state
        try:
            yield
        except BaseException:
            if self.documents is documents:
                self.labels.go_back(labels)
            raise

    def add(self, columns: list[Any], numbers: Classes, threads: int) -> None:
        """Count documents."""
        more = np.bincount(numbers, minlength=len(self.labels.names))
        self._change(columns, numbers, _added(self.documents, more), threads)

    def subtract(self, columns: list[Any], numbers: Classes, threads: int) -> None:
        """Take documents back; ValueError if they cannot have been counted."""
        left = _added(self.documents, -np.bincount(numbers, minlength=len(self.documents)))
        if left.min(initial=0) < 0:
            raise ValueError(self._not_learned(None, int(left.argmin())))
        self._change(columns, numbers, left, threads, forget=True)

    def _change(
        self, columns: list[Any], numbers: Classes, documents: Any, threads: int, forget: bool = False
    ) -> None:
        before = [tally.changes for tally in self.tallies]
        name, done = "", False
        try:
            for name, tally, column in zip(self.columns, self.tallies, columns, strict=True):  # noqa: B007
                _counted(tally, column, numbers, threads, forget)
            self.documents, done = documents, True
        except BaseException as error:
            if not done:
                counted = list(zip(self.tallies, columns, before, strict=True))
                finish(lambda: _undo(counted, numbers, threads, forget))
            if isinstance(error, NotLearned | NotCounted):
                term, number = error.args
                column = name if isinstance(error, NotCounted) else ""
                raise ValueError(self._not_learned(term, number, column)) from None
            raise

    def _not_learned(self, term: str | None, number: int, column: str = "") -> str:
        label = self.labels.names[number]
        if term is None:
            return f"X has more documents of the class {label!r} than were learned. Nothing was forgotten."
        what = f"{term} in the column {column!r}" if column else f"the term {term!r}"
        return (
            f"X was not learned like this: {what} occurs in it more often than in all documents learned as "
            f"{label!r}. Nothing was forgotten."
        )

    def merge(self, source: LabeledCounts, names: list[Label] | None = None) -> None:
        """Add the counts of another model, whose classes are called by other `names` here, if given."""
        numbers = self.labels.number(source.labels.names if names is None else names)
        moved = np.zeros(len(self.labels.names), np.int64)
        np.add.at(moved, numbers[: len(source.documents)], source.documents)
        documents = _added(self.documents, moved)
        pairs = list(zip(self.tallies, source.tallies, strict=True))
        for mine, yours in pairs:
            mine.check_merge(yours, numbers)
        before = [mine.changes for mine in self.tallies]

        def merge() -> None:
            for (mine, yours), then in zip(pairs, before, strict=True):
                if mine.changes == then:
                    mine.merge(yours, numbers)
            self.documents = documents

        finish(merge)


def _undo(counted: list[tuple[Tally, Any, int]], numbers: Classes, threads: int, forget: bool) -> None:
    for tally, column, before in counted:
        if tally.changes == before + 1:
            _counted(tally, column, numbers, threads, not forget)


def _counted(tally: Tally, column: Any, numbers: Classes, threads: int, forget: bool) -> None:
    if forget:
        tally.subtract(column, numbers)
    else:
        tally.add(column, numbers, threads)


def _added(documents: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    if len(documents) == len(more):
        return documents + more
    total = np.zeros(max(len(documents), len(more)), np.int64)
    total[: len(documents)] += documents
    total[: len(more)] += more
    if total.max(initial=0) > MOST_DOCUMENTS:
        raise ValueError(f"A class would have more than {MOST_DOCUMENTS} documents. Nothing was changed.")
    return total
