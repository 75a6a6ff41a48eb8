"""The matrix classifiers: the contract, the laws of counting, maximum likelihood, and what is refused."""

from __future__ import annotations

import doctest
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.naive_bayes as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from bayleaf import matrix
from bayleaf.matrix import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    KernelNB,
    MultinomialNB,
)
from matrix_samples import Sample, learned, samples

COUNTING = [MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]
SPARSE = [MultinomialNB, ComplementNB, BernoulliNB]
EVERY = [*COUNTING, GaussianNB, KernelNB]
ANNOUNCED = r"y has the labels \['Spam'\], which are not among the classes \['ham', 'spam'\] given at first\."

# The contract


@pytest.mark.parametrize("model", EVERY)
def test_every_check_of_scikit_learn_passes(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model(), on_fail=None, on_skip=None)
    assert len(results) > 50
    assert [result for result in results if result["status"] != "passed"] == []


def test_every_public_name_and_parameter_is_documented_by_examples_that_work() -> None:
    path = Path(__file__).parent.parent / "docs" / "estimators.md"
    page = path.read_text(encoding="utf-8")
    assert {model.__name__ for model in EVERY} == set(matrix.__all__)
    for model in EVERY:
        assert all(f"`{name}`" in page for name in (model.__name__, *model().get_params()))
    assert doctest.testfile(str(path), module_relative=False).failed == 0


# Counts add, subtract and merge


@pytest.mark.parametrize("model", COUNTING)
@given(sample=samples(), cut=st.integers(1, 11))
@settings(max_examples=40)
def test_two_batches_or_two_models_merged_equal_one_fit(model: Any, sample: Sample, cut: int) -> None:
    X, y, weight = sample
    cut = min(cut, len(y) - 1)
    whole = learned(model().fit(X, y, weight))
    batches = model().partial_fit(X[:cut], y[:cut], sample_weight=weight[:cut])
    rest = model().fit(X[cut:], y[cut:], weight[cut:])
    assert learned(clone(batches).merge(batches).merge(rest)) == whole
    assert learned(batches.partial_fit(X[cut:], y[cut:], sample_weight=weight[cut:])) == whole


@pytest.mark.parametrize("model", [*COUNTING, KernelNB])
@given(sample=samples(), extra=samples())
@settings(max_examples=40)
def test_forgetting_what_was_learned_last_restores_everything(
    model: Any, sample: Sample, extra: Sample
) -> None:
    width = min(sample[0].shape[1], extra[0].shape[1])
    X, y, weight = sample
    fitted = model().fit(X[:, :width], y, weight)
    before = learned(fitted)
    more = (extra[0][:, :width], extra[1])
    fitted.partial_fit(*more, sample_weight=extra[2])
    assert learned(fitted.forget(*more, sample_weight=extra[2])) == before


@pytest.mark.parametrize("model", EVERY)
def test_forgetting_all_leaves_a_model_that_was_never_fitted(model: Any) -> None:
    X, y = np.array([[0, 1], [2, 0], [1, 1]]), [0, 1, 1]
    assert learned(model().fit(X, y).forget(X, y)) == {}


@pytest.mark.parametrize("model", EVERY)
def test_an_announced_class_stays_when_its_rows_are_forgotten(model: Any) -> None:
    X, y = np.array([[0, 1], [2, 0], [1, 1], [2, 1]]), np.array([0, 1, 1, 1])
    fitted = model().partial_fit(X, y, classes=[0, 1]).forget(X[:1], y[:1])
    assert_array_equal(fitted.classes_, [0, 1])
    assert_array_equal(fitted.class_count_, [0, 3])


@pytest.mark.parametrize("model", EVERY)
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[9, 9]], [1], "cannot be forgotten; nothing was changed"),
        ([[0, 1], [0, 1]], [0, 0], "cannot be forgotten; nothing was changed"),
        ([[0, 1]], [7], r"labels \[7\], which were never learned"),
        ([[0, 1, 1]], [0], "3 features"),
    ],
)
def test_forgetting_what_was_not_learned_is_refused_and_changes_nothing(
    model: Any, X: Any, y: Any, message: str
) -> None:
    fitted = model().fit([[0, 1], [2, 0], [1, 1]], [0, 1, 1])
    before = learned(fitted)
    if model is BernoulliNB and X == [[9, 9]]:
        X = [[9, 9], [9, 9]]
        y = [1, 1]
    with pytest.raises(ValueError, match=message):
        fitted.forget(X, y)
    assert learned(fitted) == before


def test_fractional_weights_leave_no_dust_behind() -> None:
    rng = np.random.default_rng(3)
    X, weight = rng.random((50, 4)), rng.random(50)
    y = np.arange(50) % 2
    fitted = MultinomialNB(alpha=0).fit(X[:40], y[:40], weight[:40])
    counts = fitted.feature_count_.copy()
    fitted.partial_fit(X[40:], y[40:] + 5, sample_weight=weight[40:])
    fitted.forget(X[40:], y[40:] + 5, sample_weight=weight[40:])
    assert_array_equal(fitted.feature_count_, counts)


@pytest.mark.parametrize("model", EVERY)
def test_merging_refuses_other_models_other_features_and_other_classes(model: Any) -> None:
    X, y = np.array([[0, 1], [2, 0], [1, 1]]), ["a", "b", "b"]
    closed = model().partial_fit(X, y, classes=["a", "b"])
    before = learned(closed)
    with pytest.raises(TypeError, match="Only another"):
        closed.merge(reference.GaussianNB())
    with pytest.raises(ValueError, match="The features differ"):
        closed.merge(model().fit(X[:, :1], y))
    with pytest.raises(ValueError, match=r"`other` has the labels \['c'\]"):
        closed.merge(model().fit(X, ["a", "b", "c"]))
    assert learned(closed) == before


def test_merging_refuses_counts_made_with_another_threshold() -> None:
    X, y = [[0, 1], [2, 0]], [0, 1]
    with pytest.raises(ValueError, match=r"`binarize` decides what is counted, but it is 0.0 here and 1.0"):
        BernoulliNB().fit(X, y).merge(BernoulliNB(binarize=1.0).fit(X, y))


# Classes


@pytest.mark.parametrize("model", EVERY)
def test_a_label_that_was_not_announced_is_refused_and_named(model: Any) -> None:
    fitted = model().partial_fit([[0, 1], [1, 0]], ["ham", "spam"], classes=["ham", "spam"])
    before = learned(fitted)
    with pytest.raises(ValueError, match=ANNOUNCED):
        fitted.partial_fit([[1, 1]], ["Spam"])
    with pytest.raises(ValueError, match=ANNOUNCED):
        model().partial_fit([[1, 1]], ["Spam"], classes=["ham", "spam"])
    assert learned(fitted) == before


@pytest.mark.parametrize("model", EVERY)
def test_classes_that_were_not_announced_may_come_later(model: Any) -> None:
    X, y = np.array([[0, 3], [3, 0], [1, 1], [0, 2]]), ["m", "z", "a", "m"]
    grown = model().partial_fit(X[:2], y[:2]).partial_fit(X[2:], y[2:])
    assert_array_equal(grown.classes_, ["a", "m", "z"])
    assert_allclose(
        grown.predict_joint_log_proba(X), model().fit(X, y).predict_joint_log_proba(X), rtol=1e-12
    )


@pytest.mark.parametrize("model", EVERY)
def test_announcing_classes_later_closes_the_set_and_must_agree_with_it(model: Any) -> None:
    fitted = model().fit([[0, 1], [1, 0]], [0, 1]).partial_fit([[1, 1]], [1], classes=[0, 1, 2])
    assert_array_equal(fitted.classes_, [0, 1, 2])
    for classes in ([0, 1], [0, 1, 2, 3]):
        with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
            fitted.partial_fit([[1, 1]], [1], classes=classes)
    with pytest.raises(ValueError, match=r"labels \[4\]"):
        fitted.partial_fit([[1, 1]], [4])


@pytest.mark.parametrize("model", EVERY)
def test_numbers_are_not_taken_for_strings(model: Any) -> None:
    fitted = model().fit([[0, 1], [1, 0]], ["1", "2"])
    with pytest.raises(ValueError, match="strings in one place and numbers in another"):
        fitted.partial_fit([[1, 1]], [1])


@pytest.mark.parametrize("model", EVERY)
def test_one_class_alone_is_certain(model: Any) -> None:
    assert_array_equal(model().fit([[0, 1], [1, 0]], ["only", "only"]).predict_proba([[1, 1]]), [[1.0]])


# Maximum likelihood: alpha = 0


def exact_posterior(X: Any, y: Any, row: Any) -> list[Fraction] | None:
    """Multinomial naive Bayes from the definition, unsmoothed, in fractions; None if all is ruled out."""
    joint = []
    for label in sorted(set(y)):
        members = [x for x, of in zip(X, y, strict=True) if of == label]
        totals = [sum(int(x[t]) for x in members) for t in range(len(row))]
        score = Fraction(len(members), len(y))
        for times, count in zip(row, totals, strict=True):
            score *= Fraction(count, max(sum(totals), 1)) ** int(times)
        joint.append(score)
    return [score / sum(joint) for score in joint] if sum(joint) else None


@given(sample=samples(), as_sparse=st.booleans())
@settings(max_examples=100)
def test_without_smoothing_the_posterior_is_exact_maximum_likelihood(sample: Sample, as_sparse: bool) -> None:
    X, y, _ = sample
    fitted = MultinomialNB(alpha=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        posterior = fitted.predict_proba(sparse.csr_array(X[::-1]) if as_sparse else X[::-1])
    for row, values in zip(X[::-1], posterior, strict=True):
        expected = exact_posterior(X, y, row)
        prior = fitted.class_count_ / len(y)
        assert_allclose(values, prior if expected is None else np.array(expected, dtype=float), rtol=1e-9)


@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB, CategoricalNB])
def test_where_every_class_is_ruled_out_the_prior_decides_with_a_warning(model: Any) -> None:
    fitted = model(alpha=0).fit([[1, 0], [0, 1], [0, 1]], ["a", "b", "b"])
    assert_array_equal(fitted.predict_joint_log_proba([[1, 1]]), [[-np.inf, -np.inf]])
    with pytest.warns(UserWarning, match="their posterior is the prior. A larger `alpha` avoids it"):
        assert_allclose(fitted.predict_proba([[1, 1]]), [[1 / 3, 2 / 3]])
    with pytest.warns(UserWarning, match="1 row"):
        assert fitted.predict([[1, 1]]) == ["b"]


def test_without_smoothing_absence_can_rule_a_class_out_too() -> None:
    fitted = BernoulliNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [1, 1]], [0, 0, 1, 1])
    assert_allclose(fitted.predict_proba([[0, 1], [1, 0]]), [[0.0, 1.0], [1.0, 0.0]])
    assert_allclose(fitted.predict_proba([[1, 1]]), [[0.5, 0.5]])


def test_without_smoothing_a_term_no_other_class_has_makes_its_class_certain() -> None:
    fitted = ComplementNB(alpha=0).fit([[2, 1, 0], [0, 1, 2]], ["a", "b"])
    assert_array_equal(fitted.predict_proba([[1, 5, 0], [0, 0, 1]]), [[1.0, 0.0], [0.0, 1.0]])
    with pytest.warns(UserWarning, match="make several certain"):
        assert_array_equal(fitted.predict_proba([[1, 0, 1]]), [[0.5, 0.5]])


@pytest.mark.parametrize("model", COUNTING)
@pytest.mark.parametrize("norm", [False, True])
def test_no_smoothing_is_the_limit_of_little_smoothing(model: Any, norm: bool) -> None:
    X, y = np.array([[2, 1, 0], [1, 1, 2], [0, 1, 1], [1, 0, 3]]), [0, 0, 1, 1]
    options = {"norm": norm} if model is ComplementNB else {}
    none = model(alpha=0, **options).fit(X, y).predict_proba(X[:1])
    assert_allclose(none, model(alpha=1e-300, **options).fit(X, y).predict_proba(X[:1]), atol=2e-3)


def test_a_rare_absence_is_not_lost_to_rounding() -> None:
    """log(1 - p), as scikit-learn has it, is wrong in the fifth digit here; from the counts it is exact."""
    X, y = np.ones((1000, 1)), np.arange(1000) % 2
    joint = BernoulliNB(alpha=1e-10).fit(X, y).predict_joint_log_proba([[0]])
    assert_allclose(joint, np.log(0.5) + np.log(1e-10) - np.log(500 + 2e-10), rtol=1e-15)


# What is refused


@pytest.mark.parametrize("model", COUNTING)
@pytest.mark.parametrize("alpha", [-0.5, float("nan"), float("inf"), "auto", None])
def test_alpha_must_be_a_pseudo_count(model: Any, alpha: Any) -> None:
    with pytest.raises(
        ValueError, match=f"`alpha` is a pseudo-count and must be a number >= 0, got {alpha!r}"
    ):
        model(alpha=alpha).fit([[0, 1], [1, 0]], [0, 1])


@pytest.mark.parametrize("model", SPARSE)
def test_alpha_may_be_given_for_each_feature_and_for_all_of_them(model: Any) -> None:
    X, y, alpha = [[0, 3], [1, 1], [2, 0]], [0, 1, 1], [0.5, 2.0]
    expected = {
        MultinomialNB: [[0.5 / 5.5, 5 / 5.5], [3.5 / 6.5, 3 / 6.5]],
        ComplementNB: [[6.5 / 3.5, 6.5 / 3], [5.5 / 0.5, 5.5 / 5]],
        BernoulliNB: [[0.5 / 2, 3 / 5], [2.5 / 3, 3 / 6]],
    }
    assert_allclose(np.exp(model(alpha=alpha).fit(X, y).feature_log_prob_), expected[model], rtol=1e-12)
    with pytest.raises(ValueError, match=r"one for each of the 2 features, got an array of shape \(3,\)"):
        model(alpha=[1.0, 1.0, 1.0]).fit(X, y)


X_GOOD, Y_GOOD = [[0, 1], [1, 0], [1, 1]], [0, 1, 1]
REFUSED = [
    (
        MultinomialNB(),
        [[0, -1], [1, 0], [1, 1]],
        None,
        r"Negative values in data passed to MultinomialNB \(input X\)",
    ),
    (ComplementNB(), [[0, -1], [1, 0], [1, 1]], None, "Negative values"),
    (CategoricalNB(), [[0, -1], [1, 0], [1, 1]], None, "Negative values"),
    (CategoricalNB(alpha=np.ones(2)), X_GOOD, None, "`alpha` must be one number, got an array"),
    (CategoricalNB(min_categories=0), X_GOOD, None, "'min_categories' should be integers >= 1"),
    (
        BernoulliNB(binarize=None),
        [[0, 2], [1, 0], [1, 1]],
        None,
        "X must hold 0 and 1 where `binarize` is None",
    ),
    (BernoulliNB(binarize=-1.0), X_GOOD, None, "`binarize` must be None or a number >= 0, got -1.0"),
    (MultinomialNB(class_prior=[1.0]), X_GOOD, None, "Number of priors must match number of classes"),
    (MultinomialNB(class_prior=[1.5, -0.5]), X_GOOD, None, "Priors must be non-negative"),
    (GaussianNB(var_smoothing=-1), X_GOOD, None, "`var_smoothing` must be a number >= 0, got -1"),
    (KernelNB(bandwidth="wide"), X_GOOD, None, "`bandwidth` must be a number > 0"),
    (KernelNB(bandwidth=0), X_GOOD, None, "`bandwidth` must be a number > 0"),
    (KernelNB(priors=[0.5, 0.6]), X_GOOD, None, "The sum of the priors should be 1, got 1.1"),
    *[
        (model(), *case)
        for model in EVERY
        for case in [
            ([[0, np.nan], [1, 0], [1, 1]], None, "NaN"),
            (np.empty((0, 2)), None, "0 sample"),
            (X_GOOD, [1, 1], "one weight for each of the 3 rows"),
            (X_GOOD, [1, 1, -1], "`sample_weight` must be >= 0, got -1.0. Use `forget`"),
            (X_GOOD, [1e308, 1e308, 1e308], "too large"),
        ]
    ],
]


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize(("model", "X", "weight", "message"), REFUSED)
def test_bad_input_is_refused_and_changes_nothing(model: Any, X: Any, weight: Any, message: str) -> None:
    fitted = clone(model)
    vars(fitted).update(vars(type(model)().fit(X_GOOD, Y_GOOD)) | model.get_params())
    before = learned(fitted)
    for attempt in (fitted.fit, fitted.partial_fit):
        with pytest.raises(ValueError, match=message):
            attempt(X, Y_GOOD[: len(X)], sample_weight=weight)
    assert learned(fitted) == before


def test_a_category_beyond_those_known_is_named() -> None:
    fitted = CategoricalNB().fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(ValueError, match="category 7 in column 1, which has 2 categories"):
        fitted.predict([[0, 7]])
    assert_allclose(
        CategoricalNB(min_categories=8).fit([[0], [1]], [0, 1]).predict_proba([[7]]), [[0.5, 0.5]]
    )


def test_a_smaller_batch_keeps_the_categories_known_before() -> None:
    fitted = CategoricalNB().partial_fit([[4], [0]], [0, 1]).partial_fit([[1]], [0])
    assert_array_equal(fitted.n_categories_, [5])


@pytest.mark.parametrize("model", [MultinomialNB, ComplementNB])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_counts_that_are_not_finite_are_refused_though_x_is_looked_through_once(
    model: Any, alpha: float, value: float, form: Any
) -> None:
    X, y = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]), [0, 1]
    fitted = model(alpha=alpha).fit(form(X), y)
    X[0, 2] = value
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        model(alpha=alpha).fit(form(X), y)
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        fitted.predict(form(X))


@pytest.mark.parametrize("n_classes", [2, 4, 5, 40])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_sums_and_scores_do_not_depend_on_how_many_classes_and_what_numbers_there_are(
    n_classes: int, kind: Any, form: Any
) -> None:
    rng = np.random.default_rng(n_classes)
    X, y = rng.poisson(0.7, (300, 30)).astype(kind), np.arange(300) % n_classes
    ours = MultinomialNB().fit(form(X), y)
    theirs = reference.MultinomialNB().fit(X.astype(float), y)
    assert_array_equal(ours.feature_count_, theirs.feature_count_)
    expected = theirs.predict_joint_log_proba(X.astype(float))
    assert_allclose(ours.predict_joint_log_proba(form(X)), expected, rtol=1e-12)
