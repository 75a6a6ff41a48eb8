"""How often each class has each pair of values of two columns: integers that add, subtract and merge.

That a value is missing is counted like a value, so that only what was learned like this can be taken back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import Coded
from bayleaf.table.counts import CellTally, pack_texts, size_of, unpack_texts
from bayleaf.types import Arrays, Classes, Floats
from bayleaf.view import NotCounted

Ids = NDArray[np.int64]

Value = tuple[int, bool, str]
"""The number of a column, whether there is a value, and its name: missing ones come before the others."""

ROW = 0
"""The number of what every row has: its count is that of the rows."""

SHIFT: int = 32
"""A cell is two numbers of values in one, the first in the upper half; of a value alone, twice the same."""

ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class CodedBlock:
    """Columns of categories side by side: the values of each, and for each row which (-1: missing)."""

    values: list[list[str]]
    codes: NDArray[np.intp]
    """One row a row, one column a column."""

    @classmethod
    def of(cls, columns: list[Coded]) -> CodedBlock:
        """The columns side by side."""
        lengths = [len(column) for column in columns]
        if len(set(lengths)) > 1:
            raise ValueError(f"The columns of X have different lengths: {lengths}.")
        return cls([column.values for column in columns], np.stack([each.codes for each in columns], axis=1))

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[Any]) -> CodedBlock:
        """Some of the rows."""
        return CodedBlock(self.values, self.codes[rows])

    def to_list(self) -> list[tuple[str | None, ...]]:
        """Each row as its values."""
        named = [
            np.array([*values, None], object)[own]
            for values, own in zip(self.values, self.codes.T, strict=True)
        ]
        return list(zip(*(own.tolist() for own in named), strict=True))


@dataclass(frozen=True, eq=False)
class PairCounts:
    """One entry a nonzero cell, class by class; values are numbered in the order of columns and names."""

    arrays: Arrays

    @cached_property
    def column_ends(self) -> Ids:
        """Up to which number the values of each column go."""
        return self.arrays["column_ends"].astype(np.int64)

    @cached_property
    def column_of(self) -> Ids:
        """The column of each value."""
        return np.searchsorted(self.column_ends, np.arange(self.n_values), "right").astype(np.int64)

    @property
    def n_values(self) -> int:
        """How many different values the columns have together, missing ones among them."""
        return int(self.column_ends[-1])

    @cached_property
    def starts(self) -> Ids:
        """From which number on the values of each column go, behind that which stands for a missing one."""
        starts: Ids = np.append(0, self.column_ends[:-1]) + self.arrays["has_missing"].astype(np.int64)
        return starts

    @property
    def sizes(self) -> Ids:
        """How many different values each column has."""
        return self.column_ends - self.starts

    @cached_property
    def is_known(self) -> NDArray[np.bool_]:
        """Which numbers are of values, not of a missing one."""
        return np.arange(self.n_values) >= self.starts[self.column_of]

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.arrays["class_documents"])

    @cached_property
    def names(self) -> list[str]:
        """The values, column by column."""
        return unpack_texts(self.arrays)

    def cells(self, number: int) -> tuple[Ids, Floats]:
        """The cells of a class, in order, and their counts."""
        ends = [0, *self.arrays["class_ends"].tolist()]
        own = slice(ends[number], ends[number + 1])
        first, second = (self.arrays[name][own].astype(np.int64) for name in ("first", "second"))
        return (first << SHIFT) + second, self.arrays["count"][own].astype(np.float64)

    @cached_property
    def alone(self) -> Floats:
        """How often each class has each value."""
        alone = np.zeros((self.n_classes, self.n_values))
        for number, row in enumerate(alone):
            cells, counts = self.cells(number)
            own = cells >> SHIFT == cells & (2**SHIFT - 1)
            row[cells[own] >> SHIFT] = counts[own]
        return alone

    @cached_property
    def column_totals(self) -> Floats:
        """How many rows of each class have a value in each column."""
        columns = self.column_of[self.is_known]
        each = [np.bincount(columns, own[self.is_known], len(self.column_ends)) for own in self.alone]
        return np.array(each, np.float64).reshape(self.n_classes, -1)

    def beside(self, number: int) -> Floats:
        """How often a class has each value together with any value of each column: values x columns.

        Two rows of zeros at the end are for values that are missing or were never seen.
        """
        found = self._beside.get(number)
        if found is None:
            self._beside[number] = found = self._summed(number, self.is_known)
        return found

    def _summed(self, number: int, used: NDArray[np.bool_]) -> Floats:
        cells, counts = self.cells(number)
        first, second = cells >> SHIFT, cells & (2**SHIFT - 1)
        found = np.zeros((self.n_values + 2, len(self.column_ends)))
        for left, right, own in (
            (first, second, used[second]),
            (second, first, used[first] & (first != second)),
        ):
            np.add.at(found, (left[own], self.column_of[right[own]]), counts[own])
        return found

    @cached_property
    def _beside(self) -> dict[int, Floats]:
        return {}


class PairTally(CellTally):
    """Counts of the pairs of values that rows have, and of each value alone."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self._columns = columns
        self._numbers: dict[Value, int] = {}

    @property
    def _values(self) -> list[Value]:
        return list(self._numbers)

    def _ids(self, block: CodedBlock) -> Ids:
        """The number of each value of each row; new values get new numbers."""
        found = np.empty(block.codes.shape, np.int64)
        for column, values in enumerate(block.values):
            named = [*((column, True, value) for value in values), (column, False, "")]
            numbers = [self._numbers.setdefault(value, len(self._numbers) + 1) for value in named]
            found[:, column] = np.array(numbers)[block.codes[:, column]]
        return found

    def add(self, block: CodedBlock, classes: Classes, threads: int = 1) -> None:  # noqa: ARG002
        """Count the pairs of values of rows."""
        self._grow(size_of(classes))
        self._apply(list(_cells(self._ids(block), classes)), self._missing, 1)

    def subtract(self, block: CodedBlock, classes: Classes) -> None:
        """Take rows back, if all of their pairs, and as many missing values, have been counted."""
        self._grow(size_of(classes))
        cells = list(_cells(self._ids(block), classes))
        for number, cell, count in cells:
            if self._states[number][cell] < count:
                raise NotCounted(self._named(cell), number)
        self._apply(cells, self._missing, -1)

    def _named(self, cell: int) -> str:
        if cell == _alone(ROW):
            return "a row"
        first, second = divmod(cell, 2**SHIFT)
        values = [self._values[each - 1] for each in dict.fromkeys([first, second])]
        return " with ".join(name if known else "a missing value" for _, known, name in values)

    def _rows(self, state: Counter[int]) -> int:
        return state[_alone(ROW)]

    def merge(self, other: PairTally, classes: Classes) -> None:
        """Add the counts of another tally, whose class i is `classes[i]` here."""
        self._grow(size_of(classes))
        moved = [ROW, *(self._numbers.setdefault(each, len(self._numbers) + 1) for each in other._values)]
        states = self._states.copy()
        for number, state in zip(classes.tolist(), other._states, strict=False):
            own = Counter({_moved(cell, moved): count for cell, count in state.items()})
            states[number] = states[number] + own
        self._states, self.changes = states, self.changes + 1

    def counts(self, order: Classes) -> PairCounts:
        """The counts of the classes in this order."""
        states, _ = self._in_order(order)
        present = {cell >> SHIFT for state in states for cell in state if cell != _alone(ROW)}
        present |= {cell & (2**SHIFT - 1) for state in states for cell in state if cell != _alone(ROW)}
        kept = sorted((self._values[number - 1], number) for number in present)
        place = np.zeros(len(self._numbers) + 1, np.int64)
        place[[number for _, number in kept]] = np.arange(len(kept))
        sorted_cells = [_sorted(state, place) for state in states]
        flat = np.concatenate([np.zeros((0, 3), np.int64), *sorted_cells])
        columns = np.array([column for (column, _, _), _ in kept], np.intp)
        missing = np.array([not known for (_, known, _), _ in kept], bool)
        arrays: Arrays = {
            "class_documents": np.array([state[_alone(ROW)] for state in states], np.uint64),
            "column_ends": np.cumsum(np.bincount(columns, minlength=self._columns)).astype(np.uint64),
            "has_missing": np.bincount(columns[missing], minlength=self._columns).astype(np.uint8),
            "class_ends": np.cumsum([len(each) for each in sorted_cells]).astype(np.uint64),
            **{name: flat[:, i].astype(np.uint64) for i, name in enumerate(("first", "second", "count"))},
            **pack_texts(name for (_, _, name), _ in kept),
        }
        return PairCounts(arrays)

    @classmethod
    def restore(cls, arrays: Arrays, columns: int) -> Self:
        """The tally whose counts are these arrays."""
        tally, found = cls(columns), PairCounts(arrays)
        _check_values(found, columns)
        known = zip(found.column_of.tolist(), found.is_known.tolist(), found.names, strict=True)
        for value in known:
            tally._numbers.setdefault(value, len(tally._numbers) + 1)
        if len(tally._numbers) < found.n_values or tally._values != sorted(tally._values):
            raise ValueError("the values of a column are not in order")
        for number, rows in enumerate(arrays["class_documents"].tolist()):
            cells, counts = found.cells(number)
            _check_cells(found, number, cells)
            own = zip((cells + _alone(1)).tolist(), counts.astype(np.int64).tolist(), strict=True)
            tally._states.append(Counter({**({_alone(ROW): rows} if rows else {}), **dict(own)}))
            tally._missing.append(0)
        return tally


def _alone(number: int) -> int:
    return int(number * (2**SHIFT + 1))


def _moved(cell: int, numbers: list[int]) -> int:
    return int(numbers[cell >> SHIFT] * 2**SHIFT + numbers[cell & (2**SHIFT - 1)])


def _cells(ids: Ids, classes: Classes) -> Iterator[tuple[int, int, int]]:
    """Class, cell and count of each nonzero cell; of two columns, the first one's value comes first."""
    first, second = np.triu_indices(ids.shape[1])
    for number in np.unique(classes).tolist():
        own, totals = ids[classes == number], Counter[int]()
        for start in range(0, len(own), ROWS_AT_ONCE):
            some = own[start : start + ROWS_AT_ONCE]
            left, right = some[:, first], some[:, second]
            cells, counts = np.unique((left << SHIFT) + right, return_counts=True)
            for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
                totals[cell] += count
        yield number, _alone(ROW), len(own)
        yield from ((number, cell, count) for cell, count in totals.items())


def _sorted(state: Counter[int], place: Ids) -> NDArray[np.int64]:
    """First value, second value and count of the cells of a class, without that of the rows."""
    pairs = [(cell, count) for cell, count in state.items() if cell != _alone(ROW)]
    cells, counts = np.array(pairs, np.int64).reshape(-1, 2).T
    first, second = place[cells >> SHIFT], place[cells & (2**SHIFT - 1)]
    rows = np.lexsort((second, first))
    return np.stack([first, second, counts], axis=1)[rows]


def _check_values(found: PairCounts, columns: int) -> None:
    arrays = found.arrays
    if (
        len(arrays["column_ends"]) != columns
        or len(arrays["has_missing"]) != columns
        or arrays["has_missing"].max(initial=0) > 1
        or (np.diff(found.column_ends, prepend=0) < 0).any()
        or (found.sizes < 0).any()
        or len(found.names) != found.n_values
    ):
        raise ValueError("the values of the columns do not fit together")


def _check_cells(found: PairCounts, number: int, cells: Ids) -> None:
    """Raise unless a file's cells are in order, of values that there are, and not more than their rows."""
    first, second = cells >> SHIFT, cells & (2**SHIFT - 1)
    counts = found.arrays["count"]
    fits = (
        len(found.arrays["first"]) == len(found.arrays["second"]) == len(counts)
        and found.arrays["class_ends"][-1] == len(counts)
        and (np.diff(cells) > 0).all()
        and (second < found.n_values).all()
        and (counts > 0).all()
        and (counts < 2**62).all()
    )
    if not fits or not _adds_up(found, number, first, second):
        raise ValueError("the counts of the pairs do not fit together")


def _adds_up(found: PairCounts, number: int, first: Ids, second: Ids) -> bool:
    """Whether pairs are of two columns, and each row has one value, or a missing one, of each column."""
    apart = found.column_of[first] < found.column_of[second]
    alone = found.alone[number]
    by_column = np.bincount(found.column_of, alone, len(found.column_ends))
    beside = found._summed(number, np.ones(found.n_values, bool))[: found.n_values]
    return bool(
        (apart | (first == second)).all()
        and (by_column == float(found.arrays["class_documents"][number])).all()
        and (beside == alone[:, None]).all()
    )
