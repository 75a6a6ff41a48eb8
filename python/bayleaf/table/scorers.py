"""Frozen scorers of table columns. A missing value adds nothing to any class."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import Coded
from bayleaf.table.counts import BlockCounts, ValueCounts
from bayleaf.table.densities import smoothed_log_shares
from bayleaf.text.scorers import top_rows
from bayleaf.types import Floats
from bayleaf.view import Piece


def named(name: str, value: str) -> str:
    """A value with its column's name, if it has one."""
    return f"{name}={value}" if name else value


class CategoryScorer:
    """The log share of each value in each class. Memory follows the cells that are not zero."""

    def __init__(self, counts: ValueCounts, values: Sequence[str], alpha: float, smooth: bool) -> None:
        size = len({*counts.values, *values})
        by_value = np.lexsort((counts.class_, counts.value))
        self._class = counts.class_[by_value]
        cells = smoothed_log_shares(counts.count[by_value], counts.totals[self._class], size, alpha)
        self._cells = cells
        self._ends = np.searchsorted(counts.value[by_value], np.arange(len(counts.values)), "right")
        seen = set(counts.values)
        self._names = [*counts.values, *(value for value in values if value not in seen)]
        self._place = {value: i for i, value in enumerate(self._names)}
        self.bias = np.zeros(counts.n_classes)
        self._absent = smoothed_log_shares(self.bias, counts.totals, size, alpha) if size else self.bias
        self._unseen = self._absent if smooth else self.bias
        self.may_rule_out = alpha == 0

    def _rows(self, values: Sequence[str]) -> Floats:
        rows = np.empty((len(values), len(self.bias)))
        for row, value in zip(rows, values, strict=True):
            place = self._place.get(value, -1)
            row[:] = self._unseen if place < 0 else self._absent
            if 0 <= place < len(self._ends):
                cells = slice(self._ends[place - 1] if place else 0, self._ends[place])
                row[self._class[cells]] = self._cells[cells]
        return rows

    def table(self) -> tuple[list[str], Floats, Floats]:
        """The values, the row of each, and that of a value that was never seen."""
        return self._names, self._rows(self._names), self._unseen

    def scores(self, column: Coded, threads: int = 1) -> Floats:  # noqa: ARG002
        """The log likelihood of each value in each class."""
        rows = np.vstack([self._rows(column.values), np.zeros_like(self.bias)])
        scores: Floats = rows[column.codes]
        return scores

    def shown(self, column: Coded, name: str) -> str:
        """The value with its column's name."""
        return named(name, column.values[0] if column.values else "")

    def parts(self, column: Coded, name: str) -> list[Piece]:
        """The value, unless it is missing."""
        term = self.shown(column, name)
        return [Piece(term, 0, len(term), row) for row in self._rows(column.values)]

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The values that speak most for a class."""
        return top_rows(self._names, self._rows(self._names), chosen, n)


class NumberScorer:
    """A log density of numbers in each class."""

    def __init__(
        self, density: Callable[[Floats], Floats], n_classes: int, may_rule_out: bool = False
    ) -> None:
        self._density = density
        self.bias = np.zeros(n_classes)
        self.may_rule_out = may_rule_out

    def scores(self, column: Floats, threads: int = 1) -> Floats:  # noqa: ARG002
        """The log density of each number in each class."""
        scores = np.zeros((len(column), len(self.bias)))
        present = ~np.isnan(column)
        if present.any():
            scores[present] = self._density(column[present])
        return scores

    def shown(self, column: Floats, name: str) -> str:
        """The number with its column's name."""
        return named(name, "" if np.isnan(column[0]) else f"{column[0]:g}")

    def parts(self, column: Floats, name: str) -> list[Piece]:
        """The number, unless it is missing."""
        if np.isnan(column[0]):
            return []
        term = self.term(float(column[0]), name)
        return [Piece(term, 0, len(self.shown(column, name)), self.scores(column)[0])]

    def term(self, number: float, name: str) -> str:
        """What a part is called."""
        return named(name, f"{number:g}")

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:  # noqa: ARG002
        """A density has no terms."""
        raise ValueError(
            "Numbers have a density instead of terms; `top_terms` is for words, categories, bins and counts."
        )


class BinScorer(NumberScorer):
    """The log share of each bin in each class."""

    def __init__(self, counts: ValueCounts, cuts: Floats, alpha: float) -> None:
        bin_of = np.searchsorted(cuts, counts.values)[counts.value]
        table = np.zeros((len(cuts) + 1, counts.n_classes))
        np.add.at(table, (bin_of, counts.class_), counts.count)
        self.cuts, self.shares = cuts, smoothed_log_shares(table, counts.totals, len(table), alpha)
        super().__init__(lambda x: self.shares[np.searchsorted(cuts, x)], counts.n_classes, alpha == 0)

    def term(self, number: float, name: str) -> str:
        """The bin that a number falls into."""
        return self._named_bin(int(np.searchsorted(self.cuts, number)), name or "x")

    def _named_bin(self, place: int, name: str) -> str:
        if len(self.cuts) == 0:
            return f"any {name}"
        if place == len(self.cuts):
            return f"{name}>{self.cuts[-1]:g}"
        low = f"{self.cuts[place - 1]:g}<" if place else ""
        return f"{low}{name}<={self.cuts[place]:g}"

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The bins that speak most for a class."""
        return top_rows([self._named_bin(i, "x") for i in range(len(self.shares))], self.shares, chosen, n)


class BlockScorer:
    """Each class draws what is counted, with replacement, from one bag of its own."""

    def __init__(self, counts: BlockCounts, alpha: float) -> None:
        sums = counts.sums
        self.names = counts.names
        self.weights = smoothed_log_shares(sums.T, sums.sum(axis=1), sums.shape[1], alpha)
        self.may_rule_out = alpha == 0
        self.bias = np.zeros(len(sums))

    def scores(self, column: NDArray[np.int64], threads: int = 1) -> Floats:  # noqa: ARG002
        """The log likelihood of each row of counts in each class."""
        if column.shape[1] != len(self.weights):
            raise ValueError(
                f"The block has {column.shape[1]} columns, and {len(self.weights)} were learned."
            )
        impossible = np.isneginf(self.weights)
        scores: Floats = column.astype(np.float64) @ np.where(impossible, 0.0, self.weights)
        if self.may_rule_out:
            scores[(column > 0).astype(float) @ impossible > 0] = -np.inf
        return scores

    def shown(self, column: NDArray[np.int64], name: str) -> str:  # noqa: ARG002
        """The counts that are not zero, with their names."""
        pairs = zip(self.names, column[0].tolist(), strict=True)
        return " ".join(f"{each}={count}" for each, count in pairs if count)

    def parts(self, column: NDArray[np.int64], name: str) -> list[Piece]:
        """Each count that is not zero."""
        parts, at = [], 0
        for each, count, row in zip(self.names, column[0].tolist(), self.weights, strict=True):
            if count:
                term = f"{each}={count}"
                label = f"{name}: {term}" if name and each.isdigit() else term
                parts.append(Piece(label, at, at + len(term), count * row))
                at += len(term) + 1
        return parts

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The counts that speak most for a class."""
        return top_rows(self.names, self.weights, chosen, n)
