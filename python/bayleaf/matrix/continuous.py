"""Gaussian and kernel naive Bayes for measurements."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np

from bayleaf.columns import LARGEST
from bayleaf.matrix.base import NaiveBayesBase, checked_priors, class_shares, log
from bayleaf.matrix.counts import DENSE_BLOCK, Array
from bayleaf.matrix.moments import Moments, Normals, Points
from bayleaf.table.kernels import bandwidth, log_kernel, spread


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

    def _prepare(self, X: Any) -> Any:
        X = super()._prepare(X)
        most = np.abs(X).max(initial=0)
        if most > LARGEST:
            raise ValueError(f"X holds {most:g}, whose square is no float. Scale X to at most {LARGEST:g}.")
        return X

    def _count(self, X: Array, codes: Array, weight: Array, n_classes: int) -> Normals:
        classes = Moments.of(X, codes, weight, n_classes)
        plain = classes if (weight == 1).all() else Moments.of(X, codes, np.ones(len(codes)), n_classes)
        return Normals(classes, plain.together())

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
        if wide.all():
            return _log_curves(X, mean, var)
        # A curve of no width: certain at its mean, impossible elsewhere, and impossible wins.
        same = (X[:, ~wide] == mean[~wide]).all(axis=1)
        return np.where(same & np.isfinite(_log_curves(X[:, wide], mean[wide], var[wide])), np.inf, -np.inf)

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


def _log_curves(X: Array, mean: Array, var: Array) -> Array:
    """Return the sum of the log densities of each row, in blocks that a processor keeps at hand."""
    squares = np.empty(len(X))
    step = max(1, DENSE_BLOCK // max(X.shape[1], 1))
    with np.errstate(over="ignore"):
        for i in range(0, len(X), step):
            deviations = X[i : i + step] - mean
            deviations *= deviations
            deviations /= var
            deviations.sum(axis=1, out=squares[i : i + step])
    return np.asarray(-0.5 * (np.log(2 * np.pi * var).sum() + squares))


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
    by the likelihood of each value left out, together with all that are equal to it); `priors` as in
    `GaussianNB`.

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
        rule = self.bandwidth
        if isinstance(rule, Real) and 0 < float(rule) < np.inf:
            rule = float(rule)
        elif rule not in ("scott", "silverman", "loo"):
            raise ValueError(
                f'`bandwidth` must be a number > 0, "scott", "silverman" or "loo", got {rule!r}.'
            )
        points = self._counts_
        # A class of one value takes the spread of all classes, and a feature of one value the unit.
        overall = [spread(*_distinct(column, points.weight)) for column in points.values.T]
        self._knots_ = [self._class_knots(i) for i in range(len(self.classes_))]
        self.bandwidth_ = np.array(
            [
                [bandwidth(rule, *own, every) for own, every in zip(knots, overall, strict=True)]
                for knots in self._knots_
            ]
        )

    def _class_knots(self, i: int) -> list[tuple[Array, Array]]:
        """Return the distinct values of each feature in class i, and their weights."""
        member = self._counts_.codes == i
        weight = self._counts_.weight[member]
        return [_distinct(column, weight) for column in self._counts_.values[member].T]

    def _log_density(self, X: Array, i: int) -> Array:
        if not self.class_count_[i] > 0:
            return np.full(X.shape[0], -np.inf)
        columns = zip(X.T, self._knots_[i], self.bandwidth_[i], strict=True)
        return np.asarray(sum(log_kernel(x, *knots, width) for x, knots, width in columns))


def _distinct(column: Array, weight: Array) -> tuple[Array, Array]:
    """Return the distinct values of a feature, sorted, and the weight of each."""
    values, inverse = np.unique(column, return_inverse=True)
    return values, np.bincount(inverse, weights=weight, minlength=len(values))
