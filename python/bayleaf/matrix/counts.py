"""What the matrix classifiers count: values that add, subtract and find their class's new place.

NumPy and SciPy's sparse matrices only; nothing here knows a model or a parameter.
"""

from __future__ import annotations

from collections.abc import Callable
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
# Up to this many, sums of dense rows are a product of dense matrices.
SOME_CLASSES = 32
# Numbers of a dense matrix handled at a time: half a megabyte, which a processor keeps at hand.
DENSE_BLOCK = 2**16


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
    # Floats need no copy, so that only the table of members has to be small.
    plain = X.dtype == np.float64 and n_classes <= SOME_CLASSES
    step = max(1, DENSE_BLOCK // (n_classes if plain else X.shape[1]), 0 if plain else n_classes)
    for i in range(0, len(codes), step):
        part = slice(i, i + step)
        rows = np.arange(len(codes[part]))
        members: Any = sparse.csr_array((weight[part], (codes[part], rows)), shape=(n_classes, len(rows)))
        if n_classes <= SOME_CLASSES:
            members = members.toarray()
        sums += members @ X[part].astype(np.float64, copy=False)
    return sums


def products(X: Any, weights: Array, look: Callable[[Array], None] | None = None) -> Array:
    """Multiply the rows of X by those of the weights; `look` sees all values, while they are at hand.

    No copy of a dense X as floats is made. With few classes, a product with one class at a time is a third
    faster; of a sparse X, to the same bits.
    """
    if not sparse.issparse(X):
        return _dense_products(X, weights, look)
    if look is not None:
        look(X.data)
    if len(weights) > FEW_CLASSES or X.nnz < X.shape[1]:
        return np.asarray(X @ weights.T)
    values = X.data.astype(np.float64, copy=False)
    rows = sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
    scores = np.empty((X.shape[0], len(weights)))
    for i, weight in enumerate(weights):
        scores[:, i] = rows @ weight
    return scores


def _dense_products(X: Array, weights: Array, look: Callable[[Array], None] | None) -> Array:
    scores = np.empty((X.shape[0], len(weights)))
    step = max(1, DENSE_BLOCK // X.shape[1])
    for i in range(0, X.shape[0], step):
        if look is not None:
            look(X[i : i + step])
        rows, part = X[i : i + step].astype(np.float64, copy=False), scores[i : i + step]
        if len(weights) > FEW_CLASSES:
            np.matmul(rows, weights.T, out=part)
            continue
        for j, weight in enumerate(weights):
            part[:, j] = rows @ weight
    return scores


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
