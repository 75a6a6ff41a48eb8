"""Kernel densities: the fast sums are the definition's, in the bulk, in gaps and far away."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayleaf.table.kernels import bandwidth, left_out, log_kernel, spread

SHAPES = {
    "one hump": lambda rng, n: rng.normal(size=n),
    "two humps, far apart": lambda rng, n: rng.normal(size=n) + 40 * rng.integers(2, size=n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "around a billion": lambda rng, n: 1e9 + rng.normal(size=n),
    "orders of magnitude": lambda rng, n: np.exp(5 * rng.normal(size=n)),
    "repeated values": lambda rng, n: rng.normal(size=n).round(2),
}


def by_definition(x: Any, values: Any, weights: Any, width: float) -> Any:
    """One point at a time, all values, summed without rounding."""
    logs = []
    for point in x:
        terms = np.log(weights) - 0.5 * ((point - values) / width) ** 2
        top = terms.max()
        logs.append(top + math.log(math.fsum(np.exp(terms - top))))
    return np.array(logs) - math.log(weights.sum() * width * math.sqrt(2 * math.pi))


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("narrowed", [1.0, 0.05, 0.0005])
@pytest.mark.parametrize("heaviest", [1, 10**9])
def test_many_values_give_the_density_of_the_definition(shape: str, narrowed: float, heaviest: int) -> None:
    rng = np.random.default_rng(len(shape))
    values, weights = np.unique(SHAPES[shape](rng, 3000), return_counts=True)
    weights = weights * rng.choice([1.0, heaviest], len(weights))
    width = narrowed * bandwidth("scott", values, weights, 1.0)
    x = rng.choice(values, 3000) + width * rng.normal(size=3000)
    x = np.concatenate([x, np.linspace(values[0] - 60 * width, values[-1] + 60 * width, 100)])
    asked = rng.choice(len(x), 150, replace=False)
    expected = by_definition(x[asked], values, weights, width)
    assert_allclose(log_kernel(x, values, weights, width)[asked], expected, rtol=1e-12, atol=1e-12)


@given(
    st.lists(st.integers(-8, 8).map(lambda n: n * 10.0 ** (n // 3)), min_size=1, max_size=12),
    st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=12),
    st.sampled_from([1e-3, 0.3, 5.0]),
)
def test_few_values_give_the_density_of_the_definition(numbers: Any, x: Any, width: float) -> None:
    values, weights = np.unique(numbers, return_counts=True)
    asked = np.array(x)
    expected = by_definition(asked, values, weights, width)
    assert_allclose(log_kernel(asked, values, weights.astype(float), width), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("factor", [0.1, 1.0, 4.0])
def test_left_out_is_the_density_given_all_other_values(shape: str, factor: float) -> None:
    rng = np.random.default_rng(3)
    values, weights = np.unique(SHAPES[shape](rng, 1500), return_counts=True)
    width = factor * bandwidth("silverman", values, weights.astype(float), 1.0)
    total = 0.0
    for i, (value, weight) in enumerate(zip(values, weights, strict=True)):
        others = np.arange(len(values)) != i
        total += weight * by_definition([value], values[others], weights[others], width)[0]
    assert left_out(values, weights.astype(float), width) == pytest.approx(total, rel=1e-11)


def test_one_value_has_no_spread_however_often_it_comes() -> None:
    assert spread(np.array([0.1]), np.array([3.0])) == 0.0
    assert bandwidth("scott", np.array([0.1]), np.array([32.0]), 4.0) == 2.0
