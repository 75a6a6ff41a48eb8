"""Views of the columns of a table: categories, flags, measurements, counts; and all views by name."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from bayleaf import columns
from bayleaf.checks import check_alpha, check_choice
from bayleaf.table import densities, kernels
from bayleaf.table.counts import BlockTally, ValueCounts, ValueTally
from bayleaf.table.moments import Moments, MomentTally
from bayleaf.table.scorers import BinScorer, BlockScorer, CategoryScorer, NumberScorer
from bayleaf.types import Arrays, Classes, Floats, Unseen
from bayleaf.view import View

Rule = Literal["scott", "silverman", "loo"]
Cut = Literal["quantiles", "entropy"]
Curve = tuple[Floats, Floats, float]
"""The points of the kernels of a class, how often each was seen, and their width."""


class Named(View):
    """Columns of values that have names, of which `values` are known before any was seen."""

    alpha: float | None
    values: tuple[str, ...]

    def tally(self) -> ValueTally:
        """Counts of nothing yet."""
        return ValueTally(numeric=False)

    def restore(self, arrays: Arrays) -> ValueTally:
        """The counts that a file holds."""
        return ValueTally.restore(arrays, numeric=False)

    def compile(self, tally: ValueTally, order: Classes, alpha: float, unseen: Unseen) -> CategoryScorer:
        """The share of each value in each class."""
        alpha = alpha if self.alpha is None else self.alpha
        return CategoryScorer(tally.counts(order), self.values, alpha, unseen == "smooth")


MAX_BINS = 100_000


@dataclass(frozen=True, repr=False)
class Category(Named):
    """One of several values; made by `category()`."""

    alpha: float | None = None
    values: tuple[str, ...] = ()

    kind: ClassVar[str] = "category"
    judgments: ClassVar[frozenset[str]] = frozenset({"alpha", "values"})

    def __post_init__(self) -> None:
        _set_alpha(self)
        object.__setattr__(self, "values", _checked_names("values", self.values))

    def read(self, raw: Any, where: str) -> columns.Coded:
        """The distinct values and, for each row, which."""
        return columns.as_values(raw, where)


@dataclass(frozen=True, repr=False)
class Flag(Named):
    """Yes or no; made by `flag()`: the share of yes in a class is (yes + alpha) / (rows + 2 alpha)."""

    alpha: float | None = None
    values = ("no", "yes")

    kind: ClassVar[str] = "flag"
    judgments: ClassVar[frozenset[str]] = frozenset({"alpha"})

    def __post_init__(self) -> None:
        _set_alpha(self)

    def read(self, raw: Any, where: str) -> columns.Coded:
        """Yes or no in each row."""
        return columns.as_flags(raw, where)


class _Numbers(View):
    """Columns of numbers."""

    def read(self, raw: Any, where: str) -> Floats:
        """The numbers, missing ones as NaN."""
        return columns.as_numbers(raw, where)


@dataclass(frozen=True, repr=False)
class Normal(_Numbers):
    """A measurement with a normal curve for each class; made by `normal()`."""

    smoothing: float = 1e-9

    kind: ClassVar[str] = "normal"
    judgments: ClassVar[frozenset[str]] = frozenset({"smoothing"})

    def __post_init__(self) -> None:
        if not _is_number(self.smoothing) or not 0 <= self.smoothing < math.inf:
            raise ValueError(f"`smoothing` must be a finite number >= 0, got {self.smoothing!r}.")

    def tally(self) -> MomentTally:
        """Moments of nothing yet."""
        return MomentTally()

    def restore(self, arrays: Arrays) -> MomentTally:
        """The moments that a file holds."""
        return MomentTally.restore(arrays)

    def compile(self, tally: MomentTally, order: Classes, alpha: float, unseen: Unseen) -> NumberScorer:  # noqa: ARG002
        """The curve of each class."""
        moments = tally.counts(order).moments
        power = sum(moments, Moments()).power
        curves = densities.normal_curves([each.scaled(power) for each in moments], self.smoothing)
        if curves is None:
            return _says_nothing(order)
        means, variances = curves
        density = lambda x: densities.log_normal(x, means, variances, power)  # noqa: E731
        return NumberScorer(density, len(order), not variances.all())


class _Values(_Numbers):
    """Columns of numbers that are kept by distinct value."""

    def tally(self) -> ValueTally:
        """Counts of nothing yet."""
        return ValueTally(numeric=True)

    def restore(self, arrays: Arrays) -> ValueTally:
        """The counts that a file holds."""
        return ValueTally.restore(arrays, numeric=True)


@dataclass(frozen=True, repr=False)
class Kernel(_Values):
    """A measurement with a density as bumpy as what was seen; made by `kernel()`."""

    bandwidth: Rule | float = "scott"

    kind: ClassVar[str] = "kernel"
    judgments: ClassVar[frozenset[str]] = frozenset({"bandwidth"})

    def __post_init__(self) -> None:
        usable = _is_number(self.bandwidth) and 0 < float(self.bandwidth) < math.inf
        if not usable and self.bandwidth not in ("scott", "silverman", "loo"):
            raise ValueError(
                f"`bandwidth` must be a number > 0, 'scott', 'silverman' or 'loo', got {self.bandwidth!r}."
            )

    def curves(self, counts: ValueCounts) -> list[Curve]:
        """The kernels of each class; a class without numbers gets those of the whole column."""
        found = [knots(counts, number) for number in range(counts.n_classes)]
        sums: Any = np.bincount(counts.value, counts.count)
        whole: tuple[Floats, Floats] = (counts.values, sums)
        found = [own if len(own[0]) else whole for own in found]
        spread = kernels.spread(*whole)
        return [(*own, kernels.bandwidth(self.bandwidth, *own, spread)) for own in found]

    def compile(self, tally: ValueTally, order: Classes, alpha: float, unseen: Unseen) -> NumberScorer:  # noqa: ARG002
        """The density of each class."""
        counts = tally.counts(order)
        if not len(counts.values):
            return _says_nothing(order)
        curves = self.curves(counts)
        return NumberScorer(
            lambda x: np.stack([kernels.log_kernel(x, *curve) for curve in curves], axis=1), len(order)
        )


def _says_nothing(order: Classes) -> NumberScorer:
    return NumberScorer(lambda x: np.zeros((len(x), len(order))), len(order))


def knots(counts: ValueCounts, number: int) -> tuple[Floats, Floats]:
    """The distinct values of one class, and how often it has each."""
    own = counts.class_ == number
    return counts.values[counts.value[own]], counts.count[own]


@dataclass(frozen=True, repr=False)
class Bins(_Values):
    """A measurement cut into bins; made by `bins()`."""

    number: int = 10
    by: Cut = "quantiles"
    alpha: float | None = None

    kind: ClassVar[str] = "bins"
    judgments: ClassVar[frozenset[str]] = frozenset({"number", "by", "alpha"})

    def __post_init__(self) -> None:
        _set_alpha(self)
        check_choice("by", self.by, ["quantiles", "entropy"])
        if type(self.number) is not int or not 1 <= self.number <= MAX_BINS:
            raise ValueError(
                f"`number` of bins must be a whole number from 1 to {MAX_BINS}, got {self.number!r}."
            )

    def compile(self, tally: ValueTally, order: Classes, alpha: float, unseen: Unseen) -> NumberScorer:  # noqa: ARG002
        """The share of each bin in each class."""
        counts = tally.counts(order)
        if not len(counts.values):
            return _says_nothing(order)
        table = np.zeros((len(counts.values), len(order)))
        table[counts.value, counts.class_] = counts.count
        if self.by == "entropy":
            cuts = densities.entropy_cuts(counts.values, table)
        else:
            cuts = densities.quantile_cuts(counts.values, table, self.number)
        return BinScorer(counts, cuts, alpha if self.alpha is None else self.alpha)


@dataclass(frozen=True, repr=False)
class CountsView(View):
    """A block of counts; made by `counts()`."""

    columns: tuple[str, ...] = ()
    alpha: float | None = None

    kind: ClassVar[str] = "counts"
    judgments: ClassVar[frozenset[str]] = frozenset({"alpha"})

    def __post_init__(self) -> None:
        _set_alpha(self)
        object.__setattr__(self, "columns", _checked_names("columns", self.columns))

    def __repr__(self) -> str:
        alpha = [] if self.alpha is None else [f"alpha={self.alpha!r}"]
        return f"counts({', '.join([*map(repr, self.columns), *alpha])})"

    def read(self, raw: Any, where: str) -> Any:
        """The counts side by side; of a block without names, its columns."""
        if not self.columns:
            block = np.asarray(raw)
            raw = block.T if block.ndim == 2 else [raw]
        return columns.as_counts(list(raw), where)

    def tally(self) -> BlockTally:
        """Sums of nothing yet."""
        return BlockTally(self.columns)

    def restore(self, arrays: Arrays) -> BlockTally:
        """The sums that a file holds."""
        return BlockTally.restore(arrays, self.columns)

    def compile(self, tally: BlockTally, order: Classes, alpha: float, unseen: Unseen) -> BlockScorer:  # noqa: ARG002
        """The share of each count in each class."""
        return BlockScorer(tally.counts(order), alpha if self.alpha is None else self.alpha)


def category(*, values: Iterable[str] = (), alpha: float | None = None) -> Category:
    """Look at a column as categories: a value's probability is its smoothed share in the class.

    The share is (count + alpha) / (rows with a value + alpha V), where V is the number of different values
    seen or announced with `values`. A value never seen or announced is ignored, or scored like a count of 0
    with the model's `unseen="smooth"`. Values are known by their text: 3, 3.0 and "3" are one category.
    """
    return Category(alpha, tuple(values))


def flag(*, alpha: float | None = None) -> Flag:
    """Look at a column as yes or no (true or false, 1 or 0): the Bernoulli model."""
    return Flag(alpha)


def normal(*, smoothing: float = 1e-9) -> Normal:
    """Look at a column of numbers as a normal curve for each class.

    `smoothing` is the part of the whole column's variance that is added to the variance of each class.
    """
    return Normal(smoothing)


def kernel(bandwidth: Rule | float = "scott") -> Kernel:
    """Look at a column of numbers as a density: a normal kernel on each value seen.

    `bandwidth` is the standard deviation of the kernels: a number, or for each class "scott" (σ n^(-1/5)),
    "silverman" (σ (3n/4)^(-1/5)) or "loo", the best of 24 around Silverman's by the likelihood of each value
    left out (together with all that are equal to it).
    """
    return Kernel(bandwidth)


def bins(number: int = 10, *, by: Cut = "quantiles", alpha: float | None = None) -> Bins:
    """Look at a column of numbers as bins, and at the bins as categories.

    `by="quantiles"` makes `number` bins that hold about the same number of rows; `by="entropy"` cuts where
    the classes part, as often as it pays (Fayyad and Irani 1993), and needs no `number`. The bins follow the
    counts: they move as more is learned, and can be chosen again at any time.
    """
    return Bins(number, by, alpha)


def counts(*columns: str, alpha: float | None = None) -> CountsView:
    """Look at columns of whole numbers together, as how often things occur: the multinomial model.

    In a table, name the columns; the view has a name of its own: `{"format": counts("links", "images")}`.
    """
    return CountsView(columns, alpha)


def _set_alpha(view: Any) -> None:
    if view.alpha is not None:
        object.__setattr__(view, "alpha", check_alpha(view.alpha))


def _checked_names(setting: str, names: Any) -> tuple[str, ...]:
    chosen = (names,) if isinstance(names, str) else tuple(names)
    wrong = [name for name in chosen if not isinstance(name, str)]
    if wrong or len(set(chosen)) < len(chosen):
        raise ValueError(f"`{setting}` must be different strings, got {list(chosen)!r}.")
    return chosen


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)
