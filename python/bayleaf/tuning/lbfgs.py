"""The smallest value of a smooth convex function of many numbers: L-BFGS with a line search.

Sums go through `einsum` and not through BLAS: its threads spin on busy processors (five times slower when
measured) and may add in another order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from bayleaf.types import Floats

Function = Callable[[Floats], tuple[float, Floats]]

ENOUGH_DECREASE, ENOUGH_FLATNESS = 1e-3, 0.9
MOST_TRIALS = 20


def dot(left: Floats, right: Floats) -> float:
    """The inner product, always added in the same order."""
    return float(np.einsum("i,i->", left, right))


def minimize(
    function: Function,
    start: Floats,
    *,
    tolerance: float,
    most: int,
    memory: int = 10,
    first: float = np.inf,
) -> tuple[Floats, float]:
    """Where `function` (value and gradient) is smallest, and its value there.

    Stops when an iteration gains less than `tolerance` (of the value, if that is above 1), or after `most`
    of them. The first step is `first` times the gradient, at most of length 1.
    """
    at = start
    value, slope = function(at)
    steps: deque[tuple[Floats, Floats, float]] = deque(maxlen=memory)
    for _ in range(most):
        direction = _direction(slope, steps)
        downhill = dot(direction, slope)
        if not downhill < 0:
            break
        length = 1.0 if steps else min(first, 1.0 / np.sqrt(-downhill))
        found = _search(function, at, value, downhill, direction, length)
        if found is None:
            break
        length, new_value, new_slope = found
        step = length * direction
        change = new_slope - slope
        along = dot(step, change)
        if along > 1e-14 * dot(change, change):
            steps.append((step, change, along))
        gain = value - new_value
        at, value, slope = at + step, new_value, new_slope
        if gain <= tolerance * max(abs(value), 1.0):
            break
    return at, value


def _direction(slope: Floats, steps: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Downhill, bent by what the last steps say of the curvature (the two loops of Nocedal)."""
    direction = -slope
    factors = []
    for step, change, along in reversed(steps):
        factor = dot(step, direction) / along
        direction -= factor * change
        factors.append(factor)
    if steps:
        _, change, along = steps[-1]
        direction *= along / dot(change, change)
    for (step, change, along), factor in zip(steps, reversed(factors), strict=True):
        direction += (factor - dot(change, direction) / along) * step
    return direction


def _search(
    function: Function, at: Floats, value: float, downhill: float, direction: Floats, first: float
) -> tuple[float, float, Floats] | None:
    """A step along `direction` that gains enough and leaves the slope flat enough (the Wolfe conditions)."""
    low, high, length = 0.0, np.inf, first
    best: tuple[float, float, Floats] | None = None
    for _ in range(MOST_TRIALS):
        here, slope = function(at + length * direction)
        rise = dot(slope, direction)
        if not here <= value + ENOUGH_DECREASE * length * downhill:
            high = length
        elif rise < ENOUGH_FLATNESS * downhill:
            low, best = length, (length, here, slope)
        else:
            return length, here, slope
        length = _next(low, high, length, here - value, downhill)
    return best


def _next(low: float, high: float, length: float, gained: float, downhill: float) -> float:
    """Where the parabola through what is known is lowest, kept well inside the bracket."""
    bend = gained - downhill * length
    guess = -downhill * length * length / (2 * bend) if bend > 0 and np.isfinite(bend) else np.inf
    if np.isinf(high):
        return float(min(max(guess, 2 * length), 8 * length))
    width = high - low
    return float(min(max(guess, low + 0.1 * width), low + 0.6 * width))
