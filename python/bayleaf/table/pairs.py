"""Pairs of columns: averaged one-dependence estimators (AODE; Webb, Boughton and Wang 2005), by counting.

Each value in turn is the parent of the others: the likelihood is the mean, over the parents, of the share of
the parent in the class, times the shares of the other values among the rows of the class with that parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf import columns
from bayleaf.checks import check_alpha
from bayleaf.posterior import log_evidence
from bayleaf.table.densities import smoothed_log_shares
from bayleaf.table.pair_counts import SHIFT, CodedBlock, Ids, PairCounts, PairTally
from bayleaf.text.scorers import top_rows
from bayleaf.types import Arrays, Classes, Floats, Unseen
from bayleaf.view import Piece, View

MISSING, UNSEEN = -1, -2
CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, repr=False)
class Pairs(View):
    """Several columns of categories, two by two; made by `pairs()`."""

    columns: tuple[str, ...] = ()
    alpha: float | None = None
    least: int = 1

    kind: ClassVar[str] = "pairs"
    judgments: ClassVar[frozenset[str]] = frozenset({"alpha", "least"})

    def __post_init__(self) -> None:
        if self.alpha is not None:
            object.__setattr__(self, "alpha", check_alpha(self.alpha))
        names = tuple(self.columns)
        object.__setattr__(self, "columns", names)
        if any(not isinstance(name, str) for name in names) or len({*names}) < len(names):
            raise ValueError(f"`columns` must be different strings, got {list(names)!r}.")
        if len(names) == 1:
            raise ValueError(f"pairs({names[0]!r}) names one column; name two or more, or use category().")
        if type(self.least) is not int or self.least < 1:
            raise ValueError(f"`least` must be a whole number >= 1, got {self.least!r}.")

    def __repr__(self) -> str:
        settings = [f"alpha={self.alpha!r}"] if self.alpha is not None else []
        settings += [f"least={self.least!r}"] if self.least != 1 else []
        return f"pairs({', '.join([*map(repr, self.columns), *settings])})"

    def read(self, raw: Any, where: str) -> CodedBlock:
        """The columns side by side, each as its values and which of them each row has."""
        if not self.columns:
            raise ValueError("pairs() looks at columns of a table: name two or more of them.")
        named = zip(self.columns, raw, strict=True)
        return CodedBlock.of(
            [columns.as_values(column, f"The column {name!r} of {where}") for name, column in named]
        )

    def tally(self) -> PairTally:
        """Counts of nothing yet."""
        return PairTally(len(self.columns))

    def restore(self, arrays: Arrays) -> PairTally:
        """The counts that a file holds."""
        return PairTally.restore(arrays, len(self.columns))

    def compile(self, tally: PairTally, order: Classes, alpha: float, unseen: Unseen) -> PairScorer:
        """The shares of values, alone and beside each other value."""
        alpha = alpha if self.alpha is None else self.alpha
        return PairScorer(tally.counts(order), self.columns, alpha, unseen == "smooth", self.least)


def pairs(*columns: str, alpha: float | None = None, least: int = 1) -> Pairs:
    """Look at columns of categories two by two: what one says given each of the others (AODE).

    The likelihood of a row is the mean over its values, each in turn the parent of the others, of P(parent |
    class) times the product of P(other value | class, parent), each a share smoothed by `alpha` as in
    `category()`. A value is a parent if at least `least` rows had it. In a table, name the columns; the view
    has a name of its own: `{"votes": pairs("budget", "crime")}`.
    """
    return Pairs(columns, alpha, least)


class _Terms(NamedTuple):
    """Of rows and one class: the log share of each parent (rows x parents), that of each other value beside
    it (rows x parents x values), and who is a parent."""

    parent: Floats
    child: Floats
    is_parent: NDArray[np.bool_]

    def by_parent(self) -> Floats:
        """The log likelihood of each row with each parent; without a parent, -inf."""
        scores: Floats = np.where(self.is_parent, self.parent + self.child.sum(axis=2), -np.inf)
        return scores

    def total(self) -> Floats:
        """The log of the mean over the parents; of a row without one, naive Bayes."""
        parents = self.is_parent.sum(axis=1)
        mean = log_evidence(self.by_parent()) - np.log(np.maximum(parents, 1))
        total: Floats = np.where(parents > 0, mean, self.parent.sum(axis=1))
        return total

    def of_values(self) -> Floats:
        """What each value adds to the total of the only row; values that are not looked at add 0."""
        if not self.is_parent.any():
            alone: Floats = self.parent[0]
            return alone
        scores = self.by_parent()[0]
        highest = scores.max()
        if np.isneginf(highest):
            impossible = np.isneginf(self.parent[0]) | np.isneginf(self.child[0]).any(axis=0)
            return np.where(impossible, -np.inf, 0.0)
        share = np.exp(scores - highest)
        share /= share.sum()
        used = share > 0
        said = share[used] @ np.where(np.eye(len(scores))[used] > 0, self.parent[0], self.child[0][used])
        said[used] -= share[used] * np.log(share[used] * self.is_parent.sum())
        values: Floats = said
        return values


class PairScorer:
    """Averages of one-dependence estimators; a missing value is neither parent nor child."""

    def __init__(
        self, counts: PairCounts, names: Sequence[str], alpha: float, smooth: bool, least: int
    ) -> None:
        self._counts, self._columns = counts, names
        self._alpha, self._smooth, self._least = alpha, smooth, least
        self._places = [
            {name: start + i for i, name in enumerate(counts.names[start:end])}
            for start, end in zip(counts.starts.tolist(), counts.column_ends.tolist(), strict=True)
        ]
        self._seen = np.append(
            counts.alone.sum(axis=0), [0.0, 0.0]
        )  # what is missing or unseen counts from the end
        self.bias = np.zeros(counts.n_classes)
        self.may_rule_out = alpha == 0

    def ids(self, block: CodedBlock) -> Ids:
        """The number of each value of each row, or that it is missing or was never seen."""
        found = np.empty(block.codes.shape, np.int64)
        for column, (values, places) in enumerate(zip(block.values, self._places, strict=True)):
            numbers = [*(places.get(value, UNSEEN) for value in values), MISSING]
            found[:, column] = np.array(numbers)[block.codes[:, column]]
        return found

    def scores(self, column: CodedBlock, threads: int = 1) -> Floats:  # noqa: ARG002
        """The log likelihood of each row in each class."""
        return self._scored(self.ids(column), None)

    def left_out(self, column: CodedBlock, labels: Classes) -> Floats:
        """The same of rows that were counted, each under the counts without it; NaN if it was not."""
        ids = self.ids(column)
        scores = self._scored(ids, labels)
        scores[(ids == UNSEEN).any(axis=1)] = np.nan
        return scores

    def _scored(self, ids: Ids, labels: Classes | None) -> Floats:
        scores = np.zeros((len(ids), len(self.bias)))
        at_once = max(CELLS_AT_ONCE // max(ids.shape[1] ** 2, 1), 1)
        for start in range(0, len(ids), at_once):
            rows = slice(start, start + at_once)
            for number in range(len(self.bias)):
                own = None if labels is None else labels[rows]
                scores[rows, number] = self._of_class(ids[rows], number, own)
        return scores

    def _of_class(self, ids: Ids, number: int, labels: Classes | None) -> Floats:
        mine = np.zeros(len(ids)) if labels is None else (labels == number).astype(float)
        gone = np.zeros(len(ids)) if labels is None else np.ones(len(ids))
        terms, counted = self._terms(ids, number, mine, gone)
        return np.where(counted, terms.total(), np.nan)

    def _terms(self, ids: Ids, number: int, mine: Floats, gone: Floats) -> tuple[_Terms, NDArray[np.bool_]]:
        """The shares in a class without `mine` rows of it and `gone` of all, and whether so many were there.

        Both are 0 or 1 for each row, and stand for the row itself.
        """
        known = ids >= 0
        seen = self._seen[ids] - np.where(known, gone[:, None], 0.0)
        there = seen > 0
        sizes = self._counts.sizes - (known & ~there)
        used = there | ((ids != MISSING) & (self._smooth & (sizes > 0)))
        together, beside = self._together(ids, number)
        together -= mine[:, None, None] * (known[:, :, None] & known[:, None, :])
        beside -= mine[:, None, None] * (known[:, :, None] & known[:, None, :])
        alone = np.einsum("nii->ni", together)
        totals = self._counts.column_totals[number] - mine[:, None] * known
        child = self._shares(together, beside, sizes[:, None, :])
        child[~(there[:, :, None] & used[:, None, :]) | np.eye(ids.shape[1], dtype=bool)] = 0.0
        parent = np.where(used, self._shares(alone, totals, sizes), 0.0)
        return _Terms(parent, child, seen >= self._least), together.min(axis=(1, 2), initial=0) >= 0

    def _shares(self, counts: Floats, totals: Floats, sizes: Ids) -> Floats:
        return smoothed_log_shares(np.maximum(counts, 0), np.maximum(totals, 0), sizes, self._alpha)

    def _together(self, ids: Ids, number: int) -> tuple[Floats, Floats]:
        """How often the class has each two values of a row together, and each with any of a column."""
        cells, counts = self._counts.cells(number)
        cells, counts = np.append(cells, -1), np.append(counts, 0.0)
        low, high = np.minimum(ids[:, :, None], ids[:, None, :]), np.maximum(ids[:, :, None], ids[:, None, :])
        wanted = (low << SHIFT) + high
        place = np.searchsorted(cells[:-1], wanted)
        found = np.where((low >= 0) & (cells[place] == wanted), counts[place], 0.0)
        return found, self._counts.beside(number)[ids]

    def shown(self, column: CodedBlock, name: str) -> str:  # noqa: ARG002
        """The values with the names of their columns."""
        return " ".join(term for term in self._named(column) if term)

    def _named(self, column: CodedBlock) -> list[str]:
        row = column.to_list()[0]
        both = zip(self._columns, row, strict=True)
        return ["" if value is None else f"{name}={value}" for name, value in both]

    def parts(self, column: CodedBlock, name: str) -> list[Piece]:  # noqa: ARG002
        """What each value adds: the mean of its shares beside each parent, weighed by what these say."""
        ids, none = self.ids(column), np.zeros(1)
        scores = np.stack(
            [self._terms(ids, number, none, none)[0].of_values() for number in range(len(self.bias))], axis=1
        )
        pieces, at = [], 0
        for term, row in zip(self._named(column), scores, strict=True):
            if term:
                pieces.append(Piece(term, at, at + len(term), row))
                at += len(term) + 1
        return pieces

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The values that, each by itself, speak most for a class."""
        counts = self._counts
        known = np.flatnonzero(counts.is_known)
        column = counts.column_of[known]
        shares = self._shares(counts.alone[:, known], counts.column_totals[:, column], counts.sizes[column])
        names = [
            f"{self._columns[of]}={counts.names[i]}"
            for of, i in zip(column.tolist(), known.tolist(), strict=True)
        ]
        return top_rows(names, shares.T, chosen, n)
