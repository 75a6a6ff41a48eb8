"""Exact leave-one-out scores of the columns of a table: each row under the counts without itself.

What a row adds to the counts is one value of one class, so that what changes without it is recomputed for
each distinct pair of a value and a class, not for each row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import Coded
from bayleaf.table import kernels
from bayleaf.table.counts import BlockTally, ValueCounts, ValueTally
from bayleaf.table.dates import DatePart
from bayleaf.table.densities import entropy_cuts, log_normal, quantile_cuts, smoothed_log_shares
from bayleaf.table.moments import SCALE, Moments, MomentTally
from bayleaf.table.pairs import Pairs
from bayleaf.table.views import Bins, CountsView, Kernel, Named, Normal, knots
from bayleaf.types import Classes, Floats, Unseen
from bayleaf.view import View, taken

NumberPairs = tuple[Floats, NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]


def left_out(
    view: View, tally: Any, order: Classes, column: Any, labels: Classes, alpha: float, unseen: Unseen
) -> Floats:
    """The log likelihood of each row in each class under the counts without it; NaN if it was not counted.

    `labels` are places in `order`. The bandwidth that `kernel("loo")` chose stays, because it was chosen with
    every value left out.
    """
    own = getattr(view, "alpha", None)
    alpha = alpha if own is None else own
    if isinstance(view, Normal):
        return _normal(tally, order, column, labels, view.smoothing)
    if isinstance(view, Kernel):
        return _kernel(view, tally, order, column, labels)
    if isinstance(view, Bins):
        return _bins(view, tally.counts(order), column, labels, alpha)
    if isinstance(view, CountsView):
        return _block(tally, order, column, labels, alpha)
    if isinstance(view, Pairs | DatePart):
        scorer: Any = view.compile(tally, order, alpha, unseen)
        found: Floats = scorer.left_out(column, labels)
        return found
    if isinstance(view, Named):
        return _categories(tally, order, column, labels, view.values, alpha, unseen == "smooth")
    return in_turn(view, tally, order, column, labels, None, alpha, unseen)


def _categories(
    tally: ValueTally, order: Classes, column: Coded, labels: Classes,
    announced: tuple[str, ...], alpha: float, smooth: bool,
) -> Floats:  # fmt: skip
    counts = tally.counts(order)
    table = _table(counts)
    place = {value: i for i, value in enumerate(counts.values)}
    found = np.array([*(place.get(value, -1) for value in column.values), -1])[column.codes]
    scores = np.zeros((len(column), len(order)))
    there = np.flatnonzero(found >= 0)
    value, label = found[there], labels[there]
    left = table[value]
    left[np.arange(len(there)), label] -= 1
    totals = np.tile(counts.totals, (len(there), 1))
    totals[np.arange(len(there)), label] -= 1
    known = {*announced}
    extra = len(known.difference(counts.values))
    is_announced = np.array([name in known for name in counts.values], bool)
    gone = (left.sum(axis=1) == 0) & ~is_announced[value]
    size = len(counts.values) + extra - gone
    shares = smoothed_log_shares(left, totals, size[:, None], alpha)
    if not smooth:
        shares[gone] = 0.0
    shares[size == 0] = 0.0
    scores[there] = shares
    scores[there[table[value, label] == 0]] = np.nan
    scores[(column.codes >= 0) & (found < 0)] = np.nan
    return scores


def _table(counts: ValueCounts) -> Floats:
    """Values by classes."""
    table = np.zeros((len(counts.values), counts.n_classes))
    table[counts.value, counts.class_] = counts.count
    return table


def _pairs(column: Floats, labels: Classes) -> NumberPairs:
    """The distinct pairs of a number and a class, the pair of each row, and which rows have a number."""
    present = ~np.isnan(column)
    numbers, number = np.unique(column[present], return_inverse=True)
    pairs, place = np.unique(np.stack([number, labels[present].astype(np.intp)]), axis=1, return_inverse=True)
    return numbers[pairs[0]], pairs[1], place.reshape(-1), present


def _by_pair(
    column: Floats, labels: Classes, classes: int, score: Callable[[Floats, NDArray[np.intp]], Floats]
) -> Floats:
    numbers, label, place, present = _pairs(column, labels)
    scores = np.zeros((len(column), classes))
    if len(numbers):
        scores[present] = score(numbers, label)[place]
    return scores


def _normal(tally: MomentTally, order: Classes, column: Floats, labels: Classes, smoothing: float) -> Floats:
    moments = tally.counts(order).moments
    power = sum(moments, Moments()).power
    moments = [each.scaled(power) for each in moments]
    whole = sum(moments, Moments())

    def score(numbers: Floats, label: NDArray[np.intp]) -> Floats:
        each = [_one(number).scaled(power) for number in numbers.tolist()]
        others = [whole - one for one in each]
        mine = [moments[c] - one for c, one in zip(label.tolist(), each, strict=True)]
        return _curves_without(moments, others, mine, label, numbers, smoothing, power)

    return _by_pair(column, labels, len(order), score)


def _one(number: float) -> Moments:
    top, bottom = number.as_integer_ratio()
    units = (top << SCALE) // bottom
    return Moments(1, units, units * units)


def _curves_without(
    moments: list[Moments], others: list[Moments], mine: list[Moments], label: NDArray[np.intp],
    numbers: Floats, smoothing: float, power: int,
) -> Floats:  # fmt: skip
    """The log density of each number where its class, and the whole column, lack it.

    The moments are those of the numbers times 2**power.
    """
    rows = np.arange(len(numbers))
    impossible = np.array(
        [not (left.possible and rest.possible) for left, rest in zip(mine, others, strict=True)]
    )
    empty = np.array([rest.n <= 0 for rest in others])
    whole_mean, whole_variance = _mean_and_variance(others)
    means, variances = _mean_and_variance(moments)
    sizes = np.tile([each.n for each in moments], (len(numbers), 1))
    sizes[rows, label] -= 1
    all_means, all_variances = np.tile(means, (len(numbers), 1)), np.tile(variances, (len(numbers), 1))
    all_means[rows, label], all_variances[rows, label] = _mean_and_variance(mine)
    all_means = np.where(sizes > 0, all_means, whole_mean[:, None])
    all_variances = np.where(sizes > 1, all_variances, whole_variance[:, None])
    all_variances = np.where(
        whole_variance[:, None] == 0, 1.0, all_variances + smoothing * whole_variance[:, None]
    )
    scores = log_normal(numbers, all_means, all_variances, power)
    scores[empty] = 0.0
    scores[impossible] = np.nan
    return scores


def _mean_and_variance(moments: list[Moments]) -> tuple[Floats, Floats]:
    usable = [each if each.n > 0 and each.possible else Moments(1) for each in moments]
    return np.array([each.mean for each in usable]), np.array([each.variance for each in usable])


def _kernel(view: Kernel, tally: ValueTally, order: Classes, column: Floats, labels: Classes) -> Floats:
    """All classes but its own see a row as before, as long as they have numbers of their own."""
    counts = tally.counts(order)
    own = [knots(counts, number) for number in range(len(order))]
    if any(len(values) < 2 for values, _ in own):
        return in_turn(view, tally, order, column, labels)
    scores = view.compile(tally, order, 1.0, "ignore").scores(column)
    whole: Any = np.bincount(counts.value, counts.count)

    def left(numbers: Floats, label: NDArray[np.intp]) -> Floats:
        found = np.empty((len(numbers), 1))
        for number, (values, weights) in enumerate(own):
            rows = np.flatnonzero(label == number)
            found[rows, 0] = _density_without(view, values, weights, numbers[rows], (counts.values, whole))
        return found

    own_scores = _by_pair(column, labels, 1, left)[:, 0]
    present = ~np.isnan(column)
    scores[np.flatnonzero(present), labels[present]] = own_scores[present]
    scores[np.isnan(scores).any(axis=1)] = np.nan
    return scores


def _density_without(
    view: Kernel, values: Floats, weights: Floats, numbers: Floats, whole: tuple[Floats, Floats]
) -> Floats:
    """The log density of each number under the kernels of its class without one of its observations."""
    place = np.searchsorted(values, numbers)
    found = np.full(len(numbers), np.nan)
    known = np.flatnonzero((place < len(values)) & (values[np.minimum(place, len(values) - 1)] == numbers))
    chosen = kernels.bandwidth(view.bandwidth, values, weights, 0.0) if view.bandwidth == "loo" else None
    for row in known.tolist():
        rest = weights.copy()
        rest[place[row]] -= 1
        kept = rest > 0
        points, masses = values[kept], rest[kept]
        width = chosen or kernels.bandwidth(
            view.bandwidth, points, masses, _spread_without(whole, numbers[row])
        )
        found[row] = kernels.log_kernel(numbers[row : row + 1], points, masses, width)[0]
    return found


def _spread_without(whole: tuple[Floats, Floats], number: float) -> float:
    values, weights = whole
    rest = weights.copy()
    rest[np.searchsorted(values, number)] -= 1
    return kernels.spread(values[rest > 0], rest[rest > 0])


def _bins(view: Bins, counts: ValueCounts, column: Floats, labels: Classes, alpha: float) -> Floats:
    """The bins move when a row is left out; quantiles depend on its value alone, entropy on its class too."""
    table, classes = _table(counts), counts.n_classes
    values = counts.values

    def score(numbers: Floats, label: NDArray[np.intp]) -> Floats:
        found = np.full((len(numbers), classes), np.nan)
        place = np.searchsorted(values, numbers)
        for row, (at, own) in enumerate(zip(place.tolist(), label.tolist(), strict=True)):
            if at < len(values) and values[at] == numbers[row] and table[at, own] > 0:
                table[at, own] -= 1
                found[row] = _bin_shares(view, values, table, numbers[row], alpha)
                table[at, own] += 1
        return found

    return _by_pair(column, labels, classes, score)


def _bin_shares(view: Bins, values: Floats, table: Floats, number: float, alpha: float) -> Floats:
    there = table.any(axis=1)
    if not there.any():
        return np.zeros(table.shape[1])
    if view.by == "entropy":
        cuts = entropy_cuts(values[there], table[there])
    else:
        cuts = quantile_cuts(values[there], table[there], view.number)
    bin_ = int(np.searchsorted(cuts, number))
    inside = np.searchsorted(cuts, values) == bin_
    return smoothed_log_shares(table[inside].sum(axis=0), table.sum(axis=0), len(cuts) + 1, alpha)


def _block(
    tally: BlockTally, order: Classes, column: NDArray[np.int64], labels: Classes, alpha: float
) -> Floats:
    sums = tally.counts(order).sums
    if column.shape[1] != sums.shape[1]:
        raise ValueError(f"The block has {column.shape[1]} columns, and {sums.shape[1]} were learned.")
    block = column.astype(np.float64)
    logs = smoothed_log_shares(sums.T, sums.sum(axis=1), sums.shape[1], alpha)
    impossible = np.isneginf(logs)
    scores: Floats = block @ np.where(impossible, 0.0, logs)
    scores[(block > 0) @ impossible.astype(float) > 0] = -np.inf
    left = sums[labels] - block
    own = smoothed_log_shares(left, left.sum(axis=1, keepdims=True), sums.shape[1], alpha)
    rows = np.arange(len(labels))
    scores[rows, labels] = np.where(block > 0, block * np.where(block > 0, own, 0.0), 0.0).sum(axis=1)
    scores[(left < 0).any(axis=1)] = np.nan
    return scores


def in_turn(
    view: View, tally: Any, order: Classes, column: Any, labels: Classes, groups: Any = None,
    alpha: float = 1.0, unseen: Unseen = "ignore",
) -> Floats:  # fmt: skip
    """Take back, score and count again, one group after the other: exact for every view, and slow.

    It works on a copy of the counts, because others may ask the model meanwhile.
    """
    tally, order = view.restore(tally.counts(order).arrays), np.arange(len(order), dtype=np.uint32)
    scores = np.zeros((len(labels), len(order)))
    keys = np.arange(len(labels)) if groups is None else np.asarray(groups)
    by_group = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[by_group], append=keys.max(initial=0) + 1)) + 1
    for rows in np.split(by_group, ends[:-1]):
        if len(rows):
            some, classes = taken(column, rows), order[labels[rows]]
            tally.subtract(some, classes)
            try:
                scores[rows] = view.compile(tally, order, alpha, unseen).scores(some, 1)
            finally:
                tally.add(some, classes, 1)
    return scores
