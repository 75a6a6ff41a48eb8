"""The densities: normal curves that add and subtract, the boundaries between them, and kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.naive_bayes as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gaussian_kde, norm
from sklearn.datasets import load_iris

from bayleaf.matrix import GaussianNB, KernelNB
from bayleaf.table.kernels import FACTORS

SEVENTHS = st.integers(-1000, 1000).map(lambda value: value / 7)


# Moments


@given(
    X=hnp.arrays(np.float64, (12, 3), elements=SEVENTHS),
    y=hnp.arrays(np.int64, 12, elements=st.integers(0, 3)),
    weight=hnp.arrays(np.float64, 12, elements=st.sampled_from([0.1, 1.0, 2.5])),
    weighted=st.booleans(),
)
@settings(max_examples=100)
def test_gaussian_equals_scikit_learn(X: Any, y: Any, weight: Any, weighted: bool) -> None:
    X[0] += [1.0, 50.0, 400.0]
    arguments = (X, y, weight) if weighted else (X, y)
    ours = GaussianNB(var_smoothing=1e-3).fit(*arguments)
    theirs = reference.GaussianNB(var_smoothing=1e-3).fit(*arguments)
    for name in ("classes_", "class_count_", "class_prior_", "theta_", "var_", "epsilon_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12, atol=1e-13)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-11)


@pytest.mark.parametrize("name", ["theta_", "var_", "epsilon_", "class_prior_"])
@pytest.mark.parametrize("mean", [0.0, 1e9])
def test_rows_learned_one_by_one_and_half_of_them_forgotten_leave_the_other_half(
    name: str, mean: float
) -> None:
    rng = np.random.default_rng(1)
    X, y = mean + rng.normal(size=(1000, 2)), rng.integers(3, size=1000)
    model = GaussianNB()
    for i in range(1000):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    for i in rng.permutation(500):
        model.forget(X[i : i + 1], y[i : i + 1])
    expected = GaussianNB().fit(X[500:], y[500:])
    assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-12, atol=1e-13)


def test_models_of_far_data_merge_as_if_fitted_at_once() -> None:
    rng = np.random.default_rng(2)
    X, y = 1e9 + rng.normal(size=(400, 1)), np.arange(400) % 2
    X[200:] += 1000.0
    merged = GaussianNB().fit(X[:200], y[:200]).merge(GaussianNB().fit(X[200:], y[200:]))
    exact = [np.var(np.array(X[y == label, 0] - 1e9)) for label in (0, 1)]
    assert_allclose(merged.var_[:, 0] - merged.epsilon_, exact, rtol=1e-12)


def test_the_smoothing_is_of_all_that_was_learned_not_of_the_last_batch() -> None:
    X, y = np.array([[0.0], [100.0], [1.0], [101.0], [50.0], [50.0]]), [0, 1, 0, 1, 0, 1]
    model = GaussianNB(var_smoothing=0.1).partial_fit(X[:4], y[:4]).partial_fit(X[4:], y[4:])
    assert_allclose(model.epsilon_, 0.1 * X.var(), rtol=1e-15)
    assert_allclose(model.var_, GaussianNB(var_smoothing=0.1).fit(X, y).var_, rtol=1e-14)


def test_iris_left_out_one_by_one_by_forgetting_is_classified_right_143_times() -> None:
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    right = 0
    for i in range(150):
        row, label = X[i : i + 1], y[i : i + 1]
        right += int(model.forget(row, label).predict(row)[0] == label[0])
        model.partial_fit(row, label)
    assert right == 143


def test_a_curve_of_no_width_is_certain_at_its_mean_and_impossible_elsewhere() -> None:
    model = GaussianNB(var_smoothing=0).fit([[1.0, 0.0], [1.0, 1.0], [1.0, 5.0], [3.0, 6.0]], [0, 0, 1, 1])
    assert_array_equal(model.predict_proba([[1.0, 5.5], [3.0, 0.5]]), [[1.0, 0.0], [0.0, 1.0]])
    constant = GaussianNB().fit([[2.0], [2.0], [2.0]], [0, 1, 1])
    with pytest.warns(UserWarning, match="A larger `var_smoothing` avoids it"):
        assert_allclose(constant.predict_proba([[2.0]]), [[1 / 3, 2 / 3]])


# Boundaries: the one-dimensional picture, classes at 4 and 10 with sigma 1


def test_equal_priors_put_the_boundary_in_the_middle_and_unequal_ones_move_it() -> None:
    def boundary(prior: float) -> Any:
        model = GaussianNB.from_parameters([[4.0], [10.0]], [[1.0], [1.0]], priors=[prior, 1 - prior])
        return model.decision_boundaries()

    assert_allclose(boundary(0.5), [7.0], rtol=1e-15)
    assert_allclose(boundary(0.9), [7.0 + np.log(9) / 6], rtol=1e-15)
    assert_allclose(boundary(0.1), [7.0 - np.log(9) / 6], rtol=1e-15)
    assert len(boundary(1.0)) == 0


def test_a_model_fitted_on_symmetric_data_has_the_same_boundary() -> None:
    X = np.array([3.0, 5.0, 9.0, 11.0])[:, None]
    assert_allclose(GaussianNB(var_smoothing=0).fit(X, [0, 0, 1, 1]).decision_boundaries(), [7.0], rtol=1e-15)
    assert_allclose(GaussianNB().fit(X + 1e9, [0, 0, 1, 1]).decision_boundaries(), [7.0 + 1e9], rtol=1e-15)


@given(
    means=st.lists(st.integers(-20, 20), min_size=2, max_size=5),
    variances=st.lists(st.sampled_from([0.25, 1.0, 2.0, 9.0]), min_size=5, max_size=5),
    weights=st.lists(st.integers(1, 9), min_size=5, max_size=5),
)
@settings(max_examples=200)
def test_the_decision_changes_at_the_boundaries_and_nowhere_else(
    means: Any, variances: Any, weights: Any
) -> None:
    count = len(means)
    priors = np.array(weights[:count]) / sum(weights[:count])
    model = GaussianNB.from_parameters(
        np.reshape(means, (-1, 1)), np.reshape(variances[:count], (-1, 1)), priors=priors
    )
    boundaries = model.decision_boundaries()
    grid = np.linspace(-60, 60, 4001)
    grid = grid[np.abs(np.subtract.outer(grid, boundaries)).min(axis=1, initial=1.0) > 1e-6]
    labels = model.predict(grid[:, None])
    regions = np.searchsorted(boundaries, grid)
    for region in np.unique(regions):
        assert len(set(labels[regions == region])) == 1
    for left in np.unique(regions)[:-1]:
        sides = [set(labels[regions == side]) for side in (left, left + 1)]
        assert not sides[1] or sides[0] != sides[1]


def test_a_wide_class_surrounds_a_narrow_one() -> None:
    model = GaussianNB.from_parameters([[0.0], [0.0]], [[1.0], [4.0]])
    edge = np.sqrt(np.log(4) / (1 - 1 / 4))
    assert_allclose(model.decision_boundaries(), [-edge, edge], rtol=1e-14)


def test_boundaries_need_one_feature_and_parameters_must_fit() -> None:
    with pytest.raises(ValueError, match="needs a model fitted on one feature"):
        GaussianNB().fit([[1.0, 2.0], [3.0, 4.0]], [0, 1]).decision_boundaries()
    with pytest.raises(ValueError, match="must be arrays of one shape"):
        GaussianNB.from_parameters([[1.0]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="2 different labels in sorted order"):
        GaussianNB.from_parameters([[1.0], [2.0]], [[1.0], [1.0]], classes=["b", "a"])


# Kernels


def two_bumps(n_rows: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(-3, 1, n_rows), rng.normal(3, 1, n_rows), rng.normal(0, 0.5, 2 * n_rows)])
    return X[:, None], np.repeat(["outside", "inside"], 2 * n_rows)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_the_density_equals_that_of_scipy_at_the_same_bandwidth(rule: str) -> None:
    X, y = two_bumps()
    model = KernelNB(bandwidth=rule, priors=[0.5, 0.5]).fit(X, y)
    grid = np.linspace(-6, 6, 25)
    for i, label in enumerate(model.classes_):
        members = X[y == label, 0]
        expected = gaussian_kde(members, bw_method=rule)
        # Scott's and Silverman's rules here take the variance of the values, SciPy's that of a sample.
        factor = expected.factor * members.std() / members.std(ddof=1)
        assert_allclose(model.bandwidth_[i, 0], expected.factor * members.std(), rtol=1e-12)
        density = gaussian_kde(members, bw_method=factor)(grid)
        assert_allclose(np.exp(model.predict_joint_log_proba(grid[:, None])[:, i]), 0.5 * density, rtol=1e-10)


def test_kernels_see_two_bumps_where_one_normal_curve_does_not() -> None:
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(center, 0.5, 60) for center in (-3, 3, 0, 6)])[:, None]
    y = np.repeat([0, 1], 120)
    assert GaussianNB().fit(X, y).score(X, y) < 0.8
    assert KernelNB().fit(X, y).score(X, y) > 0.95


@given(
    weight=hnp.arrays(np.int64, 8, elements=st.integers(1, 4)), rule=st.sampled_from(["scott", "loo", 0.7])
)
@settings(max_examples=30)
def test_a_weight_is_as_many_rows(weight: Any, rule: Any) -> None:
    X, y = np.arange(16.0).reshape(8, 2) ** 1.5, np.arange(8) % 2
    weighted = KernelNB(bandwidth=rule).fit(X, y, weight)
    repeated = KernelNB(bandwidth=rule).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighted.predict_joint_log_proba(X), repeated.predict_joint_log_proba(X), rtol=1e-10)


def test_the_order_and_the_batches_of_rows_leave_no_trace() -> None:
    X, y = two_bumps()
    shuffled = np.random.default_rng(0).permutation(len(y))
    whole, parts = KernelNB().fit(X, y), KernelNB().fit(X[shuffled[:100]], y[shuffled[:100]])
    parts.partial_fit(X[shuffled[100:]], y[shuffled[100:]])
    assert_array_equal(parts.predict_joint_log_proba(X), whole.predict_joint_log_proba(X))


def test_leaving_one_out_chooses_the_width_that_brute_force_finds_best() -> None:
    X, _ = two_bumps(15)
    values = np.round(X[:30, 0], 1)
    chosen = KernelNB(bandwidth="loo").fit(values[:, None], np.zeros(30)).bandwidth_[0, 0]
    silverman = KernelNB(bandwidth="silverman").fit(values[:, None], np.zeros(30)).bandwidth_[0, 0]

    def likelihood(width: float) -> float:
        left_out = [norm.pdf(value, values[values != value], width).mean() for value in values]
        return float(np.log(left_out).sum())

    best = max(silverman * FACTORS, key=likelihood)
    assert_allclose(chosen, best, rtol=1e-12)
    assert chosen < silverman


def test_far_from_all_values_the_nearest_class_still_wins() -> None:
    model = KernelNB(bandwidth=0.1).fit([[0.0], [1.0]], ["left", "right"])
    assert_array_equal(model.predict([[-1e4], [1e4]]), ["left", "right"])


def test_many_rows_are_scored_as_one_by_one() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(2500, 1)), rng.integers(2, size=2500)
    model = KernelNB().fit(X, y)
    single = np.concatenate([model.predict_joint_log_proba(X[i : i + 1]) for i in range(0, 2500, 100)])
    assert_allclose(model.predict_joint_log_proba(X)[::100], single, rtol=1e-13)


def test_a_class_of_one_value_takes_the_width_of_all() -> None:
    model = KernelNB().fit([[0.0, 5.0], [4.0, 5.0], [2.0, 5.0]], [0, 0, 1])
    assert_allclose(model.bandwidth_, [[2.0 * 2**-0.2, 2**-0.2], [np.sqrt(8 / 3), 1.0]], rtol=1e-12)
