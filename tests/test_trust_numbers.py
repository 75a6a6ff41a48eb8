"""Numbers at the limits of floats: finite answers, or an error with a sentence."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from bayleaf import (
    BernoulliNB,
    ComplementNB,
    GaussianNB,
    Model,
    MultinomialNB,
    bins,
    normal,
    words,
)


@pytest.mark.parametrize("alpha", [1.7e308, 1e101, 5e-324, 1e-301])
def test_an_alpha_that_would_make_no_numbers_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match=r"at (most 1e\+100|least 1e-300)"):
        Model(alpha=alpha)
    with pytest.raises(ValueError, match=r"at (most 1e\+100|least 1e-300)"):
        words(alpha=alpha)
    X, y = np.array([[1, 2], [3, 0]]), [0, 1]
    for estimator in (MultinomialNB, BernoulliNB, ComplementNB):
        with pytest.raises(ValueError, match=r"at (most 1e\+100|least 1e-300)"):
            estimator(alpha=alpha).fit(X, y)


@pytest.mark.parametrize("alpha", [1e100, 1e-300])
def test_the_largest_and_the_smallest_alpha_give_finite_answers(alpha: float) -> None:
    model = Model(alpha=alpha).learn(["a b", "c"], ["x", "y"])
    assert np.isfinite(model.log_joint(["a c"])).all()


def test_numbers_whose_squares_are_no_floats_are_refused() -> None:
    with pytest.raises(ValueError, match="1e\\+200"):
        GaussianNB().fit([[1e200], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="1e\\+200"):
        GaussianNB().fit([[2.0], [1.0]], [0, 1]).predict([[1e200]])


def test_two_entries_for_one_cell_of_a_sparse_matrix_are_one_value() -> None:
    parts = (np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3]))
    matrix = sparse.csr_matrix(parts, shape=(2, 3))
    given = BernoulliNB().fit(matrix, [0, 1]).predict_proba(matrix)
    dense = BernoulliNB().fit(matrix.toarray(), [0, 1]).predict_proba(matrix.toarray())
    np.testing.assert_allclose(given, dense, rtol=1e-12)
    assert matrix.nnz == 3, "the matrix that was given has not changed"
    for estimator in (MultinomialNB, ComplementNB):
        given = estimator().fit(matrix, [0, 1]).predict_proba(matrix)
        dense = estimator().fit(matrix.toarray(), [0, 1]).predict_proba(matrix.toarray())
        np.testing.assert_allclose(given, dense, rtol=1e-12)


def test_bins_by_entropy_take_any_number_of_classes() -> None:
    numbers = np.arange(1400.0)
    model = Model({"n": bins(by="entropy")}).learn({"n": numbers}, (numbers % 700).astype(int))
    assert len(model.predict({"n": [3.0]})) == 1


def test_a_density_that_underflows_is_told_apart_from_alpha() -> None:
    model = Model({"n": normal(smoothing=0)}).learn({"n": [1.0, 1.0, 2.0, 2.0]}, ["x", "x", "y", "y"])
    with pytest.warns(UserWarning, match="too far from all that were learned"):
        model.posterior({"n": [5.0]})


@pytest.mark.parametrize("power", [-450, -664, -1000])
def test_numbers_whose_squares_are_0_tell_classes_apart_as_others_do(power: int) -> None:
    chance = np.random.default_rng(0)
    wide = {"n": np.r_[chance.normal(0, 1, 30), chance.normal(3, 1, 30)]}
    narrow = {"n": np.ldexp(wide["n"], power)}
    labels = ["x"] * 30 + ["y"] * 30
    expected = Model({"n": normal()}).learn(wide, labels)
    model = Model({"n": normal()}).learn(narrow, labels)
    assert_allclose(model.posterior(narrow), expected.posterior(wide), atol=1e-12)
    shift = power * np.log(
        2
    )  # the density of a number that is a millionth as large is a million times as high
    assert_allclose(model.log_joint(narrow) + shift, expected.log_joint(wide), atol=1e-9)
    assert_allclose(
        model.loo_log_joint(narrow, labels) + shift, expected.loo_log_joint(wide, labels), atol=1e-9
    )
