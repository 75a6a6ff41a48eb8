"""What the classifiers of measurements keep: moments that add and subtract stably, or the values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayleaf.matrix.counts import DENSE_BLOCK, ROUNDING, Array, difference, not_learned, placed


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
        # NumPy sorts numbers of 16 bits many times as fast.
        order = np.argsort(codes.astype(np.min_scalar_type(n_groups)), kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=n_groups))
        for group in np.unique(codes):
            start = ends[group - 1] if group else 0
            moments._measure(group, X, weight, order[start : ends[group]])
        return moments

    def _measure(self, group: int, X: Array, weight: Array, members: Array) -> None:
        """Measure some rows in blocks that a processor keeps at hand: first the mean, then around it."""
        total = weight[members].sum()
        if not total > 0:
            return
        step = max(1, DENSE_BLOCK // X.shape[1])
        parts = [members[i : i + step] for i in range(0, len(members), step)]
        center = sum((weight[rows] / total) @ X[rows] for rows in parts)
        shift, squares = np.zeros_like(center), np.zeros_like(center)
        for rows in parts:
            share, deviations = weight[rows] / total, X[rows] - center
            shift += share @ deviations
            deviations *= deviations
            squares += share @ deviations
        self.weight[group], self.center[group], self.shift[group] = total, center, shift
        self.squares[group] = total * np.maximum(squares - shift**2, 0.0)

    def together(self) -> Moments:
        """Return the moments of all groups as one."""
        whole = Moments(np.zeros(1), *np.zeros((3, 1, self.center.shape[1])))
        for group in np.flatnonzero(self.weight > 0):
            parts = (self.weight, self.center, self.shift, self.squares)
            one = Moments(*(part[group : group + 1] for part in parts))
            one.add(whole)
            whole = one
        return whole

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
