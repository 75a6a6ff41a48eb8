"""The counts of all views and the classes they belong to: changed in every view or in none."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf._core import Lessons, NotLearned, Sizes
from bayleaf.columns import Drift, length_of
from bayleaf.labels import Labels, as_list
from bayleaf.ledger import Ledger, NotInLedger
from bayleaf.model_views import NamedViews
from bayleaf.text.counts import TextTally
from bayleaf.turns import Turn, finish
from bayleaf.types import Classes, Label
from bayleaf.view import NotCounted, Tally

MOST_DOCUMENTS = 2**62
"""Of one class; a model with text has at most 2**32 - 1."""


class Source(Protocol):
    """Where the tallies of a model are until somebody needs them."""

    def tallies(self) -> list[Tally]:
        """The tallies: the same ones, however often they are asked for."""
        ...


class LabeledCounts:
    """A tally for each view, and how many documents each class has; classes have numbers as they are met."""

    def __init__(self, views: NamedViews, classes: Any = None, ledger: Ledger | None = None) -> None:
        self.columns = [name for name, _ in views]
        self.labels = Labels()
        if classes is not None:
            self.labels.close(classes)
        self.source: Source | None = None
        self._tallies: list[Tally] = [view.tally() for _, view in views]
        self.sizes = Sizes()
        self.ledger = ledger

    @classmethod
    def of(
        cls,
        views: NamedViews,
        classes: list[Label],
        closed: bool,
        documents: NDArray[np.int64],
        tallies: list[Tally] | Source,
        ledger: Ledger | None = None,
    ) -> LabeledCounts:
        """What a file holds."""
        found = cls(views, ledger=ledger)
        found.labels.number(classes)
        found.labels.closed = closed
        found.documents = documents
        if isinstance(tallies, list):
            found._tallies = tallies
        else:
            found.source = tallies
        return found

    @property
    def documents(self) -> NDArray[np.int64]:
        """How many documents each class has, by its number; a change puts another array in its place."""
        return self.sizes.array

    @documents.setter
    def documents(self, documents: NDArray[np.int64]) -> None:
        self.sizes.array = documents

    @property
    def tallies(self) -> list[Tally]:
        """A tally for each view; those that are elsewhere yet are had now."""
        source = self.source
        if source is not None:
            self._tallies = source.tallies()
            self.source = None
        return self._tallies

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
        if len(self.documents) == len(self.labels.names):
            return self.documents[order]
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

    @property
    def state(self) -> tuple[Any, int, bool]:
        """The documents, the labels, and whether their set is closed: to `go_back` to."""
        return self.documents, len(self.labels.names), self.labels.closed

    def go_back(self, state: tuple[Any, int, bool]) -> None:
        """Take back the labels that came since with documents that were refused."""
        documents, known, closed = state
        if self.documents is documents:
            self.labels.go_back(known, closed)

    def lessons(self, turn: Turn, answering: Any, drift: Drift | None) -> Lessons | None:
        """What learns and forgets one text in one call, if it is read by texts' tallies alone."""
        tallies = [tally for tally in self.tallies if isinstance(tally, TextTally)]
        if any(self.columns) or len(tallies) < len(self.columns) or self.ledger is not None:
            return None
        texts = [tally.changing() for tally in tallies]
        return Lessons(turn, self.labels.numbers, self.sizes, texts, answering, drift)

    def add(self, columns: list[Any], numbers: Classes, threads: int) -> None:
        """Count documents."""
        self._change(columns, numbers, self._with(numbers, 1), threads)

    def subtract(self, columns: list[Any], numbers: Classes, threads: int) -> None:
        """Take documents back; ValueError if they cannot have been counted."""
        left = self._with(numbers, -1)
        if left.min(initial=0) < 0:
            raise ValueError(self._not_learned(None, int(left.argmin())))
        self._change(columns, numbers, left, threads, forget=True)

    def _with(self, numbers: Classes, sign: int) -> NDArray[np.int64]:
        """How many documents each class has with these, or without."""
        return _added(self.documents, sign * np.bincount(numbers, minlength=len(self.documents)))

    @property
    def has_documents(self) -> bool:
        """Whether anything was learned."""
        return 1 in self.sizes.exist

    @property
    def key(self) -> tuple[bytes, int, bool]:
        """What the list of classes depends on."""
        return self.sizes.exist, len(self.labels.names), self.labels.closed

    def _change(
        self, columns: list[Any], numbers: Classes, documents: Any, threads: int, forget: bool = False
    ) -> None:
        names, tallies = self.columns, self.tallies
        if self.ledger is not None:  # first: what it refuses is not looked at
            names, tallies, columns = (
                ["", *names],
                self._noted(self.tallies),
                [self._digests(columns), *columns],
            )
        before: list[int] = []
        done = False
        try:
            for tally, column in zip(tallies, columns, strict=True):
                before.append(tally.changes)
                if forget:
                    tally.subtract(column, numbers)
                else:
                    tally.add(column, numbers, threads)
            self.documents, done = documents, True
        except BaseException as error:
            if not done:
                _undo(list(zip(tallies, columns, before, strict=False)), numbers, threads, forget)
            refusal = self._refusal(error, names[len(before) - 1])
            if refusal is None:
                raise
            raise ValueError(refusal) from None

    def _refusal(self, error: BaseException, name: str) -> str | None:
        """Why documents cannot be forgotten, if that is what the error of a column says."""
        if isinstance(error, NotInLedger):
            return self._not_in_ledger(*error.args)
        if isinstance(error, NotLearned | NotCounted):
            term, number, *lacking = error.args
            column = name if isinstance(error, NotCounted) else ""
            return self._not_learned(term, number, column, bool(lacking))
        return None

    def _digests(self, columns: list[Any]) -> list[bytes]:
        """A hash of each document; views of one column read the same."""
        assert self.ledger is not None
        return self.ledger.digests(list(dict(zip(self.columns, columns, strict=True)).values()))

    def _noted(self, tallies: list[Any]) -> list[Any]:
        return tallies if self.ledger is None else [self.ledger, *tallies]

    def learned(self, columns: list[Any]) -> list[dict[Label, int]]:
        """How often each document was learned with each class, by the ledger."""
        if self.ledger is None:
            raise ValueError("The model keeps no ledger of its documents. Make it with `ledger=True`.")
        held = [self.ledger.held(digest) for digest in self._digests(columns)]
        return [{self.labels.names[number]: times for number, times in each.items()} for each in held]

    def _not_in_ledger(self, row: int, number: int, others: list[int]) -> str:
        label, names = self.labels.names[number], [self.labels.names[other] for other in others]
        if number in others:
            known = f"was learned as {label!r} less often than it is to be forgotten"
        elif names:
            known = f"was learned as {' and '.join(map(repr, names))}, not as {label!r}"
        else:
            known = "was never learned"
        return f"Document {row} {known}, says the ledger. Nothing was forgotten."

    def _not_learned(self, term: str | None, number: int, column: str = "", lacking: bool = False) -> str:
        label = self.labels.names[number]
        if term is None:
            return f"X has more documents of the class {label!r} than were learned. Nothing was forgotten."
        if lacking:
            return (
                f"X was not learned like this: it lacks the term {term!r}, which would be in more documents "
                f"of {label!r} than are left. Nothing was forgotten."
            )
        what = f"{term} in the column {column!r}" if column else f"the term {term!r}"
        return (
            f"X was not learned like this: {what} occurs in it more often than in all documents learned as "
            f"{label!r}. Nothing was forgotten."
        )

    def merge(self, source: LabeledCounts, names: list[Label] | None = None) -> None:
        """Add the counts of another model, whose classes are called by other `names` here, if given."""
        before = self.state
        try:
            self._merge(source, names)
        except BaseException:
            self.go_back(before)
            raise

    def _merge(self, source: LabeledCounts, names: list[Label] | None) -> None:
        numbers = self.labels.number(source.labels.names if names is None else names)
        moved = np.zeros(len(self.labels.names), np.int64)
        np.add.at(moved, numbers[: len(source.documents)], source.documents)
        documents = _added(self.documents, moved)
        if (self.ledger is None) != (source.ledger is None):
            raise ValueError(
                "One of the models keeps a ledger of its documents and the other does not. Make both with "
                "`ledger=True`, or both without."
            )
        pairs = list(zip(self._noted(self.tallies), source._noted(source.tallies), strict=True))
        for mine, yours in pairs:
            mine.check_merge(yours, numbers)
        before = [mine.changes for mine, _ in pairs]

        def merge() -> None:
            for (mine, yours), then in zip(pairs, before, strict=True):
                if mine.changes == then:
                    mine.merge(yours, numbers)
            self.documents = documents

        finish(merge)


def _undo(counted: list[tuple[Any, Any, int]], numbers: Classes, threads: int, forget: bool) -> None:
    def undo() -> None:
        for tally, column, before in counted:
            if tally.changes == before + 1:
                if forget:
                    tally.add(column, numbers, threads)
                else:
                    tally.subtract(column, numbers)

    finish(undo)


def _added(documents: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    if len(documents) == len(more):
        return documents + more
    total = np.zeros(max(len(documents), len(more)), np.int64)
    total[: len(documents)] += documents
    total[: len(more)] += more
    if total.max(initial=0) > MOST_DOCUMENTS:
        raise ValueError(f"A class would have more than {MOST_DOCUMENTS} documents. Nothing was changed.")
    return total
