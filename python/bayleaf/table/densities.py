"""Log likelihoods of table columns: category shares, normal densities, bins."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.posterior import log_shares
from bayleaf.table.moments import Moments
from bayleaf.types import Floats

LOG_ROOT_TAU = 0.5 * math.log(2 * math.pi)


def smoothed_log_shares(counts: Floats, totals: Floats, size: int | NDArray[np.intp], alpha: float) -> Floats:
    """log (count + alpha) / (total + alpha size): each class draws one of `size` values from its own bag.

    Without smoothing, a value that a class does not have rules it out; a class without values is ruled out
    by any value.
    """
    with np.errstate(divide="ignore"):
        return log_shares(np.log(counts + alpha), totals + alpha * size)


def normal_curves(moments: Sequence[Moments], smoothing: float) -> tuple[Floats, Floats] | None:
    """Mean and variance of each class, or None if there is no number at all.

    A part `smoothing` of the variance of the whole column is added to each variance. One number has no
    variance: its class gets that of the whole column (with almost 0 it would outweigh all else), and a
    class without numbers the mean as well. A column of one value only gets the variance 1, and tells no
    classes apart.
    """
    whole = sum(moments, Moments())
    if whole.n == 0:
        return None
    means = np.array([(each if each.n else whole).mean for each in moments])
    variances = np.array([(each if each.n > 1 else whole).variance for each in moments])
    return means, np.ones_like(variances) if whole.variance == 0 else variances + smoothing * whole.variance


def log_normal(x: Floats, means: Floats, variances: Floats, power: int = 0) -> Floats:
    """The log density of each number under each curve; one of no width rules out all but its mean.

    The curves are those of the numbers times 2**power.
    """
    wide = np.where(variances > 0, variances, 1.0)
    with np.errstate(over="ignore"):
        distance = np.ldexp(x, power)[:, None] - means
        density: Floats = -0.5 * (distance * distance / wide + np.log(wide)) - LOG_ROOT_TAU
        density += power * math.log(2)
    return np.where((variances > 0) | (distance == 0), density, -np.inf)


def quantile_cuts(values: Floats, table: Floats, number: int) -> Floats:
    """Where to cut so that `number` bins hold about the same number of rows; fewer if values repeat."""
    below = table.sum(axis=1).cumsum()
    wanted = below[-1] * np.arange(1, number) / number
    last = np.unique(np.searchsorted(below, wanted))
    return _between(values, last[last < len(values) - 1])


def _between(values: Floats, last: NDArray[np.intp]) -> Floats:
    """The points halfway between a value and the next."""
    low, high = values[last], values[last + 1]
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)


def entropy_cuts(values: Floats, table: Floats) -> Floats:
    """Where to cut to tell the classes apart, as long as it is worth the description (Fayyad, Irani 1993)."""
    below = np.vstack([np.zeros(table.shape[1]), table.cumsum(axis=0)])
    cuts: list[int] = []
    parts = [(0, len(values))]
    while parts:
        start, end = parts.pop()
        cut = _best_cut(below, start, end)
        if cut is not None:
            cuts.append(cut - 1)
            parts += [(start, cut), (cut, end)]
    return _between(values, np.array(sorted(cuts), np.intp))


def _best_cut(below: Floats, start: int, end: int) -> int | None:
    """The cut of the values from `start` to `end` that leaves the least entropy, if it is worth it."""
    if end - start < 2:
        return None
    whole = below[end] - below[start]
    left = below[start + 1 : end] - below[start]
    right = whole - left
    n, n_left, n_right = whole.sum(), left.sum(axis=1), right.sum(axis=1)
    entropies = _entropy(left), _entropy(right)
    rest = (n_left * entropies[0] + n_right * entropies[1]) / n
    best = int(rest.argmin())
    before = float(_entropy(whole[None])[0])
    kinds = [int((each > 0).sum()) for each in (whole, left[best], right[best])]
    saved = kinds[0] * before - kinds[1] * entropies[0][best] - kinds[2] * entropies[1][best]
    price = (math.log2(n - 1) + _log2_of_splits(kinds[0]) - saved) / n if n > 1 else math.inf
    return start + 1 + best if before - rest[best] > price else None


def _log2_of_splits(kinds: int) -> float:
    """log2 (3**kinds - 2), also where that is no float."""
    return math.log2(3.0**kinds - 2) if kinds < 600 else kinds * math.log2(3.0)


def _entropy(counts: Floats) -> Floats:
    """In bits, of each row."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log2(shares, where=shares > 0, out=np.zeros_like(shares))
    entropy: Floats = -(shares * logs).sum(axis=1)
    return entropy
