"""What is counted in the columns of a table: integers that add, subtract and merge exactly, in any order.

Categories, and the numbers of `kernel` and `bins`, are counted by distinct value; a block of counts is
summed. The measurements of `normal` have a file of their own, `moments`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import Coded
from bayleaf.turns import finish
from bayleaf.types import Arrays, Classes, Floats
from bayleaf.view import NotCounted, as_floats

T = TypeVar("T")

MOST_ROWS = 2**62
"""Of one class, and of any sum of counts; beyond it a file could not be read again."""


def size_of(classes: Classes) -> int:
    """One more than the highest class number."""
    return int(classes.max()) + 1 if len(classes) else 0


class PerClass(Generic[T]):
    """Tallies of rows: one state for each class, and how many of its rows had no value."""

    def __init__(self) -> None:
        self._states: list[T] = []
        self._missing: list[int] = []
        self.changes = 0

    def _new(self) -> T:
        raise NotImplementedError

    def _grow(self, size: int) -> None:
        for _ in range(size - len(self._states)):
            self._states.append(self._new())
            self._missing.append(0)

    def _rows(self, state: T) -> int:
        raise NotImplementedError

    def check_merge(self, other: Self, classes: Classes) -> None:
        """Raise if a class would have more rows than a file can say."""
        for number, state, missing in zip(classes.tolist(), other._states, other._missing, strict=False):
            rows = self._rows(state) + missing
            if number < len(self._states):
                rows += self._rows(self._states[number]) + self._missing[number]
            if rows > MOST_ROWS:
                raise ValueError(f"Class number {number} would have {rows} rows, more than 2**62.")

    def _missing_after(self, classes: Classes, sign: int) -> list[int]:
        missing = self._missing.copy()
        for number, count in enumerate(np.bincount(classes).tolist()):
            if count:
                missing[number] += sign * count
        return missing

    def _check_missing(self, classes: Classes) -> None:
        for number, count in enumerate(np.bincount(classes).tolist()):
            if count > (self._missing[number] if number < len(self._missing) else 0):
                raise NotCounted("a missing value", number)

    def _in_order(self, order: Classes) -> tuple[list[T], NDArray[np.uint64]]:
        self._grow(size_of(order))
        chosen = order.tolist()
        return [self._states[n] for n in chosen], np.array([self._missing[n] for n in chosen], np.uint64)


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """How often each class has each value: one entry a nonzero cell, class by class, values sorted."""

    arrays: Arrays
    values: Any

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.arrays["missing"])

    @cached_property
    def class_(self) -> NDArray[np.intp]:
        """The class of each cell."""
        ends = self.arrays["class_ends"]
        return np.searchsorted(ends, np.arange(len(self.count)), "right")

    @property
    def value(self) -> NDArray[np.intp]:
        """The value of each cell."""
        return self.arrays["value"].astype(np.intp)

    count = as_floats("count")
    """How often the class of each cell has its value."""

    @cached_property
    def totals(self) -> Floats:
        """How many rows of each class have a value."""
        totals: Floats = np.bincount(self.class_, self.count, self.n_classes)  # type: ignore[assignment]
        return totals

    @property
    def missing(self) -> NDArray[np.uint64]:
        """How many rows of each class have none."""
        return self.arrays["missing"]


class CellTally(PerClass["Counter[Any]"]):
    """Tallies of cells: how often each class has each of them."""

    def _new(self) -> Counter[Any]:
        return Counter()

    def _rows(self, state: Counter[Any]) -> int:
        return state.total()

    def _apply(self, cells: list[tuple[int, Any, int]], missing: list[int], sign: int) -> None:
        """Count all cells or, after Ctrl-C, none."""
        before = [self._states[number][value] for number, value, _ in cells]
        try:
            for (number, value, count), had in zip(cells, before, strict=True):
                _set_cell(self._states[number], value, had + sign * count)
            self._missing, self.changes, before = missing, self.changes + 1, []
        except BaseException:
            finish(lambda: self._reset(cells, before))
            raise

    def _reset(self, cells: list[tuple[int, Any, int]], before: list[int]) -> None:
        for (number, value, _), had in zip(cells, before, strict=False):
            _set_cell(self._states[number], value, had)


class ValueTally(CellTally):
    """How often each class has each value: texts (`category`, `flag`) or numbers (`kernel`, `bins`)."""

    def __init__(self, numeric: bool) -> None:
        super().__init__()
        self._numeric = numeric

    def add(self, column: Coded | Floats, classes: Classes, threads: int = 1) -> None:  # noqa: ARG002
        """Count the values of a column."""
        self._grow(size_of(classes))
        coded = _coded(column)
        self._apply(list(_cells(coded, classes)), self._missing_after(classes[coded.codes < 0], 1), 1)

    def subtract(self, column: Coded | Floats, classes: Classes) -> None:
        """Take values back, if all of them have been counted."""
        coded = _coded(column)
        missing = classes[coded.codes < 0]
        self._grow(size_of(classes))
        cells = list(_cells(coded, classes))
        self._check_missing(missing)
        for number, value, count in cells:
            if self._states[number][value] < count:
                raise NotCounted(f"{value}", number)
        self._apply(cells, self._missing_after(missing, -1), -1)

    def merge(self, other: ValueTally, classes: Classes) -> None:
        """Add the counts of another tally, whose class i is `classes[i]` here."""
        self._grow(size_of(classes))
        states, totals = self._states.copy(), self._missing.copy()
        for number, state, missing in zip(classes.tolist(), other._states, other._missing, strict=False):
            states[number] = states[number] + state
            totals[number] += missing
        self._states, self._missing, self.changes = states, totals, self.changes + 1

    def counts(self, order: Classes) -> ValueCounts:
        """The counts of the classes in this order."""
        states, missing = self._in_order(order)
        values = sorted(set().union(*states))
        place = {value: i for i, value in enumerate(values)}
        cells = [sorted((place[value], count) for value, count in state.items()) for state in states]
        flat = np.array([cell for each in cells for cell in each], np.uint64).reshape(-1, 2)
        arrays = {
            "missing": missing,
            "class_documents": missing + np.array([state.total() for state in states], np.uint64),
            "class_ends": np.cumsum([len(each) for each in cells]).astype(np.uint64),
            "value": flat[:, 0],
            "count": flat[:, 1],
        }
        if self._numeric:
            numbers = np.array(values, np.float64)
            return ValueCounts({**arrays, "numbers": numbers}, numbers)
        return ValueCounts({**arrays, **pack_texts(values)}, values)

    @classmethod
    def restore(cls, arrays: Arrays, numeric: bool) -> Self:
        """The tally whose counts are these arrays."""
        tally = cls(numeric)
        values = arrays["numbers"].tolist() if numeric else unpack_texts(arrays)
        if any(not a < b for a, b in pairwise(values)) or not np.isfinite(arrays.get("numbers", 0.0)).all():
            raise ValueError("the values of a column are not in order")
        numbers, counts = arrays["value"].tolist(), arrays["count"].tolist()
        start = 0
        for end, missing in zip(arrays["class_ends"].tolist(), arrays["missing"].tolist(), strict=True):
            pairs = zip(numbers[start:end], counts[start:end], strict=True)
            tally._states.append(Counter({values[i]: count for i, count in pairs}))
            tally._missing.append(missing)
            start = end
        rows = [state.total() + missing for state, missing in zip(tally._states, tally._missing, strict=True)]
        fits = (
            start == len(numbers) == len(counts)
            and 0 not in counts
            and rows == arrays["class_documents"].tolist()
        )
        if not fits:
            raise ValueError("the counts of a column do not fit together")
        return tally


def _set_cell(state: Counter[Any], value: Any, total: int) -> None:
    if total:
        state[value] = total
    else:
        state.pop(value, None)


def _coded(column: Coded | Floats) -> Coded:
    if isinstance(column, Coded):
        return column
    codes = np.full(len(column), -1)
    present = ~np.isnan(column)
    values, codes[present] = np.unique(column[present], return_inverse=True)
    return Coded(values.tolist(), codes)


def _cells(coded: Coded, classes: Classes) -> Iterator[tuple[int, Any, int]]:
    """Class, value and count of each nonzero cell."""
    present = coded.codes >= 0
    keys = classes[present].astype(np.int64) * max(len(coded.values), 1) + coded.codes[present]
    cells, counts = np.unique(keys, return_counts=True)
    for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
        number, value = divmod(cell, len(coded.values))
        yield number, coded.values[value], count


def pack_texts(texts: Iterable[str]) -> Arrays:
    """Texts as two arrays: their bytes, and where each ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded]).astype(np.uint64)
    return {"texts": np.frombuffer(b"".join(encoded), np.uint8), "text_ends": ends}


def unpack_texts(arrays: Arrays) -> list[str]:
    """The texts in such arrays."""
    blob, ends = arrays["texts"].tobytes(), arrays["text_ends"].tolist()
    starts = [0, *ends][: len(ends)]
    if any(a > b for a, b in zip(starts, ends, strict=True)) or (ends[-1] if ends else 0) != len(blob):
        raise ValueError("the texts of a column do not fit together")
    return [blob[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)]


@dataclass(frozen=True, eq=False)
class BlockCounts:
    """The sums of each count in each class."""

    arrays: Arrays
    names: list[str]

    @property
    def sums(self) -> Floats:
        """One row a class, one column a count."""
        shape = (len(self.arrays["class_documents"]), len(self.names))
        return self.arrays["sums"].astype(np.float64).reshape(shape)


class BlockTally:
    """Sums of a block of counts."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = list(names)
        self.changes = 0
        self._documents = np.zeros(0, np.int64)
        self._sums = np.zeros((0, len(self._names)), np.int64)

    def _grown(self, size: int, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Copies with room for more classes; without a row, the width is still open."""
        if not self._documents.any() and not self._names:
            return np.zeros(size, np.int64), np.zeros((size, width), np.int64)
        if self._sums.shape[1] != width:
            raise ValueError(f"The block has {width} columns, and {self._sums.shape[1]} were learned.")
        room = max(size - len(self._documents), 0)
        return np.pad(self._documents, (0, room)), np.pad(self._sums, [(0, room), (0, 0)])

    def _totals(self, block: NDArray[np.int64], classes: Classes, size: int) -> NDArray[np.int64]:
        totals = np.zeros((size, block.shape[1]), np.int64)
        np.add.at(totals, classes, block)
        return totals

    def _change(self, block: NDArray[np.int64], classes: Classes, sign: int) -> None:
        documents, sums = self._grown(size_of(classes), block.shape[1])
        rough = block.sum(axis=0, dtype=np.float64).max(initial=0) + sums.max(initial=0)
        if rough > MOST_ROWS:
            raise ValueError(f"The counts sum to {rough:.3g}, more than 2**62. Scale them down.")
        documents += sign * np.bincount(classes, minlength=len(documents))
        sums += sign * self._totals(block, classes, len(documents))
        if sums.min(initial=0) < 0:
            raise NotCounted("a count", int((sums < 0).any(axis=1).argmax()))
        self._documents, self._sums, self.changes = documents, sums, self.changes + 1

    def add(self, block: NDArray[np.int64], classes: Classes, threads: int = 1) -> None:  # noqa: ARG002
        """Count rows."""
        self._change(block, classes, 1)

    def subtract(self, block: NDArray[np.int64], classes: Classes) -> None:
        """Take rows back, if their sums are there."""
        self._change(block, classes, -1)

    def merge(self, other: BlockTally, classes: Classes) -> None:
        """Add the sums of another tally, whose class i is `classes[i]` here."""
        documents, sums = self._merged(other, classes)
        self._documents, self._sums, self.changes = documents, sums, self.changes + 1

    def check_merge(self, other: BlockTally, classes: Classes) -> None:
        """Raise what `merge` would raise."""
        self._merged(other, classes)

    def _merged(self, other: BlockTally, classes: Classes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if not other._documents.any():
            return self._documents, self._sums
        documents, sums = self._grown(size_of(classes), other._sums.shape[1])
        places = classes[: len(other._documents)]
        most = sums.max(initial=0).astype(np.float64) + other._sums.max(initial=0)
        if most > MOST_ROWS:
            raise ValueError(f"The counts sum to {most:.3g}, more than 2**62. Scale them down.")
        np.add.at(documents, places, other._documents)
        np.add.at(sums, places, other._sums)
        return documents, sums

    def counts(self, order: Classes) -> BlockCounts:
        """The sums of the classes in this order."""
        width = self._sums.shape[1] if self._documents.any() or self._names else 0
        documents, sums = self._grown(size_of(order), width)
        names = self._names or [str(i) for i in range(width)]
        arrays = {"class_documents": documents[order], "sums": sums[order].ravel()}
        return BlockCounts({name: array.astype(np.uint64) for name, array in arrays.items()}, names)

    @classmethod
    def restore(cls, arrays: Arrays, names: Iterable[str]) -> Self:
        """The tally whose sums are these arrays."""
        tally = cls(names)
        tally._documents = arrays["class_documents"].astype(np.int64)
        classes = len(tally._documents)
        width = len(tally._names) or len(arrays["sums"]) // max(classes, 1)
        tally._sums = arrays["sums"].astype(np.int64).reshape(classes, width)
        if tally._sums.min(initial=0) < 0:
            raise ValueError("the sums of a block are too large")
        return tally
