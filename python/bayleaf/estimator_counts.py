"""What the matrix classifiers count: values that add, subtract and find their class's new place.

NumPy and SciPy's sparse matrices only; nothing here knows a model or a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]

# Sums of fractional weights are exact to about 1e-16; what is left below this part of a count is rounding.
ROUNDING = 1e-12
# Entries handled at a time: as fast as any other size on 20ng and imdb, and needs a megabyte.
BLOCK = 2**16
# Up to this many, a product with the classes as columns is faster than adding up entry by entry.
FEW_CLASSES = 4


class Counts(Protocol):
    """What was learned, with the classes along the first axis."""

    @property
    def rows(self) -> Array:
        """How many rows (their weights summed) each class has."""

    def add(self, other: Any) -> None:
        """Add `other`, in place."""

    def minus(self, other: Any) -> Any:
        """Return what is left without `other`; ValueError if `other` cannot have been learned."""

    def placed(self, places: Array, n_classes: int) -> Any:
        """Return a copy with class i moved to `places[i]`, or left out where that is negative."""


def not_learned() -> ValueError:
    """Return the error of forgetting what the counts show was never learned."""
    return ValueError(
        "X holds more than was learned with these labels, so it cannot be forgotten; nothing was changed. "
        "Give the rows, labels and weights exactly as they were learned."
    )


@dataclass
class Tables:
    """Rows per class, and one or more tables of classes × columns; a missing column is one of zeros."""

    rows: Array
    tables: list[Array]

    def add(self, other: Tables) -> None:
        """Add `other`, in place."""
        self.rows = self.rows + other.rows
        for i, theirs in enumerate(other.tables):
            if theirs.shape[1] > self.tables[i].shape[1]:
                self.tables[i] = widened(self.tables[i], theirs.shape[1])
            self.tables[i][:, : theirs.shape[1]] += theirs

    def minus(self, other: Tables) -> Tables:
        """Return what is left without `other`."""
        wide = [widened(b, a.shape[1]) for a, b in zip(self.tables, other.tables, strict=True)]
        return Tables(
            difference(self.rows, other.rows),
            [difference(a, b) for a, b in zip(self.tables, wide, strict=True)],
        )

    def placed(self, places: Array, n_classes: int) -> Tables:
        """Return a copy with class i moved to `places[i]`, or left out where that is negative."""
        rows, *tables = (placed(table, places, n_classes) for table in (self.rows, *self.tables))
        return Tables(rows, tables)


def placed(table: Array, places: Array, n_classes: int) -> Array:
    """Return a copy with row i moved to `places[i]`, or left out where that is negative."""
    moved = np.zeros((n_classes, *table.shape[1:]))
    moved[places[places >= 0]] = table[places >= 0]
    return moved


def widened(table: Array, width: int) -> Array:
    """Return the table with `width` columns, the added ones 0; ValueError if that would lose a count."""
    if table.shape[1] >= width:
        if table[:, width:].any():
            raise not_learned()
        return table[:, :width]
    return np.pad(table, [(0, 0), (0, width - table.shape[1])])


def difference(whole: Array, part: Array) -> Array:
    """Subtract counts: exact for whole numbers, and free of the dust that fractions leave."""
    left = whole - part
    dust = ROUNDING * whole
    if (left < -dust).any():
        raise not_learned()
    left[left <= dust] = 0.0
    return left


def class_sums(X: Any, codes: Array, weight: Array, n_classes: int) -> Array:
    """Sum the rows of each class; with many classes, without a table of rows × classes."""
    if not sparse.issparse(X):
        return _dense_sums(X, codes, weight, n_classes)
    plain = bool((weight == 1).all())
    if n_classes > FEW_CLASSES:
        return _sparse_sums(X, codes, None if plain else weight, n_classes)
    # Whole numbers times whole numbers spare a copy of X as floats.
    members = np.zeros(
        (len(codes), n_classes), dtype=np.int64 if plain and X.dtype.kind in "biu" else np.float64
    )
    members[np.arange(len(codes)), codes] = weight
    return np.ascontiguousarray((X.T @ members).T, dtype=np.float64)


def _sparse_sums(X: Any, codes: Array, weight: Array | None, n_classes: int) -> Array:
    sums = np.zeros((n_classes, X.shape[1]))
    flat, length = sums.reshape(-1), np.diff(X.indptr)
    cuts = np.unique(np.searchsorted(X.indptr, np.arange(0, max(X.nnz, 1), BLOCK), side="right") - 1).tolist()
    for i, j in zip(cuts, [*cuts[1:], len(codes)], strict=True):
        entries = slice(X.indptr[i], X.indptr[j])
        cells = np.repeat(codes[i:j] * X.shape[1], length[i:j])
        cells += X.indices[entries]
        values = X.data[entries].astype(np.float64, copy=False)
        np.add.at(flat, cells, values if weight is None else values * np.repeat(weight[i:j], length[i:j]))
    return sums


def _dense_sums(X: Array, codes: Array, weight: Array, n_classes: int) -> Array:
    sums = np.zeros((n_classes, X.shape[1]))
    step = max(n_classes, BLOCK // X.shape[1], 1)
    for i in range(0, len(codes), step):
        part = slice(i, i + step)
        rows = np.arange(len(codes[part]))
        members = sparse.csr_array((weight[part], (codes[part], rows)), shape=(n_classes, len(rows)))
        sums += members @ X[part]
    return sums


class Categories(Tables):
    """Tables with a column per category, as many as there are rows for."""

    def minus(self, other: Tables) -> Tables:
        """Return what is left without `other`; categories that came last and are gone, go."""
        left = super().minus(other)
        kept = [np.flatnonzero(table.any(axis=0)) for table in left.tables]
        pairs = zip(left.tables, kept, strict=True)
        return Categories(left.rows, [table[:, : columns.max(initial=-1) + 1] for table, columns in pairs])

    def placed(self, places: Array, n_classes: int) -> Tables:
        """Return a copy with class i moved to `places[i]`, or left out where that is negative."""
        moved = super().placed(places, n_classes)
        return Categories(moved.rows, moved.tables)


def category_counts(column: Array, codes: Array, weight: Array, n_classes: int) -> Array:
    """Count the categories of one column for each class."""
    width = int(column.max()) + 1
    return np.bincount(codes * width + column, weights=weight, minlength=n_classes * width).reshape(
        n_classes, width
    )


def mostly_unseen(counts: Array, alpha: Any) -> bool:
    """Whether it pays to take the logarithm of 0 + alpha only once: for text, nine of ten counts are 0."""
    return bool(np.ndim(alpha) == 0 and alpha > 0 and np.count_nonzero(counts) * 4 < counts.size)


def seen_cells(counts: Array) -> tuple[Array, Array]:
    """Return where counts are not 0, as `np.nonzero` does: in a third of its time on two dimensions."""
    classes, features = np.divmod(np.flatnonzero(counts.ravel() != 0), counts.shape[1])
    return classes, features


def scattered(unseen: Array, seen: tuple[Array, Array], values: Array, n_features: int) -> Array:
    """Return classes × features with `values` at the `seen` cells and each class's `unseen` elsewhere."""
    table = np.empty((n_features, len(unseen))).T
    table[:] = unseen[:, None]
    table[seen] = values
    return table


@dataclass
class Moments:
    """Weight, mean and squared deviations of each group and feature, as Chan, Golub and LeVeque add them.

    The mean is `center + shift`: the center stays that of the first batch, so that what later batches change
    is kept to full precision beside it. With mean 1e9 and variance 1, a thousand single rows learned and half
    of them forgotten leave the variance exact to 1e-12; with the mean in one number it is off by 3e-8.
    """

    weight: Array
    center: Array
    shift: Array
    squares: Array

    @classmethod
    def of(cls, X: Array, codes: Array, weight: Array, n_groups: int) -> Moments:
        """Measure the rows of each group."""
        shape = (n_groups, X.shape[1])
        moments = cls(np.zeros(n_groups), np.zeros(shape), np.zeros(shape), np.zeros(shape))
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(n_groups + 1))
        for group in np.unique(codes):
            rows = order[bounds[group] : bounds[group + 1]]
            moments._measure(group, X[rows], weight[rows])
        return moments

    def _measure(self, group: int, rows: Array, weight: Array) -> None:
        total = weight.sum()
        if total > 0:
            share = weight / total
            center = share @ rows
            deviations = rows - center
            shift = share @ deviations
            deviations *= deviations
            self.weight[group], self.center[group], self.shift[group] = total, center, shift
            self.squares[group] = total * np.maximum(share @ deviations - shift**2, 0.0)

    @property
    def mean(self) -> Array:
        """The mean of each group and feature."""
        return self.center + self.shift

    @property
    def variance(self) -> Array:
        """The variance of each group and feature, 0 where nothing was measured."""
        return self.squares / np.where(self.weight > 0, self.weight, 1.0)[:, None]

    def add(self, other: Moments) -> None:
        """Add `other`, in place, keeping its center where it has one."""
        total = self.weight + other.weight
        share = (self.weight / np.where(total > 0, total, 1.0))[:, None]
        known = (other.weight > 0)[:, None]
        distance = self._distance(other)
        self.squares = self.squares + other.squares + distance**2 * share * other.weight[:, None]
        self.shift = np.where(known, other.shift + distance * share, self.shift)
        self.center = np.where(known, other.center, self.center)
        self.weight = total

    def _distance(self, other: Moments) -> Array:
        """Return how far our means are from the other's, 0 where either has none."""
        both = ((self.weight > 0) & (other.weight > 0))[:, None]
        return np.where(both, (self.center - other.center) + (self.shift - other.shift), 0.0)

    def minus(self, other: Moments) -> Moments:
        """Return what is left without `other`: the addition, solved for one of its terms."""
        weight = difference(self.weight, other.weight)
        left = (weight > 0)[:, None]
        ratio = (other.weight / np.where(weight > 0, weight, 1.0))[:, None] * left
        distance = other._distance(self)
        squares = self.squares - other.squares - distance**2 * ratio * self.weight[:, None]
        # Squares are less certain than counts: each is off by rounding in the values it was made of.
        if (squares < -1e-6 * self.squares - ROUNDING).any():
            raise not_learned()
        squares = np.where(left & (squares > ROUNDING * self.squares), squares, 0.0)
        return Moments(weight, self.center * left, (self.shift - distance * ratio) * left, squares)

    def placed(self, places: Array, n_classes: int) -> Moments:
        """Return a copy with group i moved to `places[i]`, or left out where that is negative."""
        parts = (self.weight, self.center, self.shift, self.squares)
        return Moments(*(placed(part, places, n_classes) for part in parts))


@dataclass
class Normals:
    """The moments of each class, and of all rows alike whatever their weight: the scale of the data."""

    classes: Moments
    scale: Moments

    @property
    def rows(self) -> Array:
        """How many rows (their weights summed) each class has."""
        return self.classes.weight

    def add(self, other: Normals) -> None:
        """Add `other`, in place."""
        self.classes.add(other.classes)
        self.scale.add(other.scale)

    def minus(self, other: Normals) -> Normals:
        """Return what is left without `other`."""
        return Normals(self.classes.minus(other.classes), self.scale.minus(other.scale))

    def placed(self, places: Array, n_classes: int) -> Normals:
        """Return a copy with class i moved to `places[i]`, or left out where that is negative."""
        return Normals(self.classes.placed(places, n_classes), self.scale.placed(np.arange(1), 1))


@dataclass
class Points:
    """The distinct rows of each class with their weights, sorted, so that order leaves no trace."""

    values: Array
    codes: Array
    weight: Array
    n_classes: int

    @property
    def rows(self) -> Array:
        """How many rows (their weights summed) each class has."""
        return np.bincount(self.codes, weights=self.weight, minlength=self.n_classes)

    def add(self, other: Points) -> None:
        """Add `other`, in place."""
        self._collect(self._with(other, 1.0))

    def minus(self, other: Points) -> Points:
        """Return what is left without `other`."""
        left = Points(self.values, self.codes, self.weight, self.n_classes)
        left._collect(left._with(other, -1.0))
        if (left.weight < -ROUNDING).any():
            raise not_learned()
        left._keep(left.weight > ROUNDING)
        return left

    def _with(self, other: Points, sign: float) -> tuple[Array, Array, Array]:
        return (
            np.concatenate([self.values, other.values]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.weight, sign * other.weight]),
        )

    def _collect(self, rows: tuple[Array, Array, Array]) -> None:
        """Sort rows and sum the weights of equal ones."""
        values, codes, weight = rows
        order = np.lexsort((*values.T, codes))
        values, codes, weight = values[order], codes[order], weight[order]
        new = np.ones(len(codes), dtype=bool)
        new[1:] = (codes[1:] != codes[:-1]) | (values[1:] != values[:-1]).any(axis=1)
        starts = np.flatnonzero(new)
        self.values, self.codes = values[starts], codes[starts]
        self.weight = np.add.reduceat(weight, starts) if len(starts) else weight

    def _keep(self, kept: Array) -> None:
        self.values, self.codes, self.weight = self.values[kept], self.codes[kept], self.weight[kept]

    @classmethod
    def of(cls, X: Array, codes: Array, weight: Array, n_classes: int) -> Points:
        """Keep the rows that weigh anything."""
        points = cls(X, codes, weight, n_classes)
        points._collect((X, codes, weight))
        points._keep(points.weight > 0)
        return points

    def placed(self, places: Array, n_classes: int) -> Points:
        """Return a copy with class i moved to `places[i]`, or left out where that is negative."""
        codes = places[self.codes]
        kept = codes >= 0
        return Points(self.values[kept], codes[kept], self.weight[kept], n_classes)
