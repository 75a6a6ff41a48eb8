"""Naive Bayes for measurements: a normal curve per class and feature, or a density as bumpy as the data."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np

from bayleaf.estimator_base import NaiveBayesBase, checked_priors, class_shares, log, log_sum_exp
from bayleaf.estimator_counts import Array, Moments, Normals, Points

LOG_ROOT_TAU = 0.5 * np.log(2 * np.pi)
# Distances computed at a time: 8 MB.
BLOCK = 2**20
# Bandwidths tried by leave-one-out, as parts of Silverman's.
LOO_FACTORS = np.geomspace(0.1, 4.0, 24)


class _Density(NaiveBayesBase):
    """Priors as for `GaussianNB`: the classes' shares, or given and summing to 1."""

    priors: Any
    class_prior_: Array

    def _derive(self) -> None:
        if self.priors is None:
            self.class_prior_ = class_shares(self.class_count_)
            return
        self.class_prior_ = checked_priors(self.priors, len(self.classes_), "priors")
        if not np.isclose(self.class_prior_.sum(), 1.0):
            raise ValueError(f"The sum of the priors should be 1, got {self.class_prior_.sum()}.")

    def _log_prior(self) -> Array:
        return log(self.class_prior_)

    def _joint(self, X: Array) -> Array:
        joint = np.full((X.shape[0], len(self.classes_)), -np.inf)
        log_prior = self._log_prior()
        for i in np.flatnonzero(np.isfinite(log_prior)):
            joint[:, i] = log_prior[i] + self._log_density(X, int(i))
        return joint

    def _log_density(self, X: Array, i: int) -> Array:
        raise NotImplementedError


class GaussianNB(_Density):
    """Each feature is normal within each class.

    Parameters: `priors`, one per class and summing to 1, in place of the classes' shares; `var_smoothing`
    >= 0, the part of the largest variance of all features that is added to every variance.

    Attributes: `classes_`, `class_count_`, `class_prior_`, `theta_` (means), `var_` (variances) and
    `epsilon_`, what was added to them.
    """

    _smoothing = "var_smoothing"

    theta_: Array
    var_: Array

    def __init__(self, *, priors: Any = None, var_smoothing: Any = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    @classmethod
    def from_parameters(cls, means: Any, variances: Any, *, priors: Any = None, classes: Any = None) -> Self:
        """Return the classifier of given normal curves, an array of classes × features each.

        Learning goes on from there as if each class had been seen once.
        """
        center, squares = (
            np.atleast_2d(np.asarray(values, dtype=np.float64)) for values in (means, variances)
        )
        if center.shape != squares.shape or not np.isfinite(center).all() or not (squares >= 0).all():
            raise ValueError(
                "`means` and `variances` must be arrays of one shape, with finite means and variances >= 0."
            )
        count = len(center)
        names = np.arange(count) if classes is None else np.unique(classes)
        if len(names) != count or (classes is not None and not np.array_equal(names, classes)):
            raise ValueError(f"`classes` must be {count} different labels in sorted order, got {classes}.")
        one = Moments(np.ones(count), center, np.zeros_like(center), squares)
        everything = Moments.of(center, np.zeros(count, dtype=np.intp), np.ones(count), 1)
        model = cls(priors=priors, var_smoothing=0.0)
        model.n_features_in_ = center.shape[1]
        model._become(names, True, Normals(one, everything))
        return model

    def _count(self, X: Array, codes: Array, weight: Array, n_classes: int) -> Normals:
        everything = Moments.of(X, np.zeros(len(codes), dtype=np.intp), np.ones(len(codes)), 1)
        return Normals(Moments.of(X, codes, weight, n_classes), everything)

    def _derive(self) -> None:
        if not isinstance(self.var_smoothing, Real) or not 0 <= float(self.var_smoothing) < np.inf:
            raise ValueError(f"`var_smoothing` must be a number >= 0, got {self.var_smoothing!r}.")
        super()._derive()
        self.epsilon_ = self.var_smoothing * self._counts_.scale.variance.max()
        self.theta_ = self._counts_.classes.mean
        self.var_ = self._counts_.classes.variance + self.epsilon_

    def _log_density(self, X: Array, i: int) -> Array:
        mean, var = self.theta_[i], self.var_[i]
        wide = var > 0
        with np.errstate(over="ignore"):
            squares = (X - mean)[:, wide]
            squares *= squares
            squares /= var[wide]
            density: Array = -0.5 * (np.log(2 * np.pi * var[wide]).sum() + squares.sum(axis=1))
        if not wide.all():
            # A curve of no width: certain at its mean, impossible elsewhere, and impossible wins.
            same = (X[:, ~wide] == mean[~wide]).all(axis=1)
            density = np.where(same & np.isfinite(density), np.inf, -np.inf)
        return density

    def decision_boundaries(self) -> Array:
        """Return, for one feature, the points at which the predicted class changes, in order."""
        if not self.__sklearn_is_fitted__() or self.n_features_in_ != 1:
            raise ValueError("`decision_boundaries` needs a model fitted on one feature.")
        origin = float(self.theta_.mean())
        present = np.flatnonzero((self.class_prior_ > 0) & (self.var_[:, 0] > 0))
        curves = [self._parabola(int(i), origin) for i in present]
        meetings = [_crossings(a, b) for i, a in enumerate(curves) for b in curves[:i]]
        points = np.unique(np.concatenate([np.empty(0), *meetings]))
        if not len(points):
            return points
        probes = np.concatenate([[points[0] - 1.0], (points[1:] + points[:-1]) / 2, [points[-1] + 1.0]])
        winners = np.argmax([np.polyval(curve, probes) for curve in curves], axis=0)
        return np.asarray(points[winners[1:] != winners[:-1]] + origin)

    def _parabola(self, i: int, origin: float) -> Array:
        """Return log P(x, class i) as a polynomial in x - origin."""
        mean, var = self.theta_[i, 0] - origin, self.var_[i, 0]
        constant = np.log(self.class_prior_[i]) - 0.5 * (np.log(2 * np.pi * var) + mean**2 / var)
        return np.array([-0.5 / var, mean / var, constant])


def _crossings(one: Array, other: Array) -> Array:
    """Return where two parabolas meet, without the far root that rounding makes of equal widths."""
    a, b, c = one - other
    if abs(a) <= 1e-12 * abs(one[0]):
        return np.array([-c / b]) if b != 0 else np.empty(0)
    square = b * b - 4 * a * c
    if square <= 0:
        return np.empty(0)
    q = -0.5 * (b + np.copysign(np.sqrt(square), b))
    return np.array([q / a, c / q])


class KernelNB(_Density):
    """Each feature has, within each class, the density that a normal kernel on every seen value gives.

    Parameters: `bandwidth`, the standard deviation of the kernel: a number > 0, or a rule for each class and
    feature: "scott" (σ n^(-1/5)), "silverman" (σ (3n/4)^(-1/5)), or "loo" (the best of 24 around Silverman's
    by the likelihood of each value left out; its time grows with the square of the number of values);
    `priors` as in `GaussianNB`.

    Attributes: `classes_`, `class_count_`, `class_prior_`, `bandwidth_` (classes × features).
    """

    _smoothing = "bandwidth"

    def __init__(self, *, bandwidth: Any = "scott", priors: Any = None) -> None:
        self.bandwidth = bandwidth
        self.priors = priors

    def _count(self, X: Array, codes: Array, weight: Array, n_classes: int) -> Points:
        return Points.of(np.asarray(X, dtype=np.float64), codes, weight, n_classes)

    def _derive(self) -> None:
        super()._derive()
        points, n_classes = self._counts_, len(self.classes_)
        everything = Moments.of(points.values, np.zeros(len(points.codes), dtype=np.intp), points.weight, 1)
        spread = np.sqrt(Moments.of(points.values, points.codes, points.weight, n_classes).variance)
        # A class of one value takes the spread of all classes, and a feature of one value the unit.
        overall = np.sqrt(everything.variance[0])
        spread = np.where(spread > 0, spread, np.where(overall > 0, overall, 1.0))
        self._knots_ = [self._class_knots(i) for i in range(n_classes)]
        self.bandwidth_ = self._bandwidths(spread)

    def _class_knots(self, i: int) -> list[tuple[Array, Array]]:
        """Return the distinct values of each feature in class i, and their weights."""
        member = self._counts_.codes == i
        knots = []
        for column in self._counts_.values[member].T:
            values, inverse = np.unique(column, return_inverse=True)
            weight = np.bincount(inverse, weights=self._counts_.weight[member], minlength=len(values))
            knots.append((values, weight))
        return knots

    def _bandwidths(self, spread: Array) -> Array:
        rule = self.bandwidth
        if isinstance(rule, Real) and 0 < float(rule) < np.inf:
            return np.full(spread.shape, float(rule))
        if rule not in ("scott", "silverman", "loo"):
            raise ValueError(
                f'`bandwidth` must be a number > 0, "scott", "silverman" or "loo", got {rule!r}.'
            )
        count = np.where(self.class_count_ > 0, self.class_count_, 1.0)[:, None]
        widths = spread * (count if rule == "scott" else 0.75 * count) ** -0.2
        if rule == "loo":
            for i, knots in enumerate(self._knots_):
                widths[i] = [_best_width(*knot, width) for knot, width in zip(knots, widths[i], strict=True)]
        return np.asarray(widths)

    def _log_density(self, X: Array, i: int) -> Array:
        if not self.class_count_[i] > 0:
            return np.full(X.shape[0], -np.inf)
        columns = zip(X.T, self._knots_[i], self.bandwidth_[i], strict=True)
        return np.asarray(sum(_log_kernel_density(x, *knots, width) for x, knots, width in columns))


def _log_kernel_density(x: Array, values: Array, weight: Array, width: float) -> Array:
    """Return the log density at each x, in log space: far from all values a density is below 1e-308."""
    density = np.empty(len(x))
    step = max(1, BLOCK // len(values))
    log_weight = np.log(weight / weight.sum()) - np.log(width) - LOG_ROOT_TAU
    for i in range(0, len(x), step):
        terms = np.subtract.outer(x[i : i + step] / width, values / width)
        terms *= terms
        terms *= -0.5
        terms += log_weight
        density[i : i + step] = log_sum_exp(terms)[:, 0]
    return density


def _best_width(values: Array, weight: Array, width: float) -> float:
    """Return the width at which each value is most probable given the others."""
    if len(values) < 2:
        return width
    likelihood = [left_out_log_likelihood(values, weight, width * factor) for factor in LOO_FACTORS]
    return float(width * LOO_FACTORS[int(np.argmax(likelihood))])


def left_out_log_likelihood(values: Array, weight: Array, width: float) -> float:
    """Sum the log densities of all values, each without itself.

    All observations of a value are left out together. Leaving out one lets its twins vouch for it with the
    narrowest kernel there is: on the Pima data, full of zeros, log loss was 0.96 so and is 0.57 now.
    """
    total = 0.0
    step = max(1, BLOCK // len(values))
    for i in range(0, len(values), step):
        part = slice(i, i + step)
        terms = np.subtract.outer(values[part] / width, values / width)
        terms *= terms
        terms *= -0.5
        terms += np.log(weight)
        rows = np.arange(len(terms))
        terms[rows, i + rows] = -np.inf
        density = log_sum_exp(terms)[:, 0] - np.log((weight.sum() - weight[part]) * width) - LOG_ROOT_TAU
        total += float(weight[part] @ density)
    return total
