"""scikit-learn's numbers, and its own tests of naive Bayes run on bayleaf's classes; nothing is copied.

The installed module is loaded a second time under another name while `sklearn.naive_bayes` holds our classes,
so that its imports, its parametrizations and its tests all speak of ours.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sklearn.naive_bayes
import sklearn.naive_bayes as reference
import sklearn.tests
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils import _array_api

from bayleaf import matrix
from matrix_samples import Sample, samples

# Tests that cannot apply; they are run all the same and must fail, so that the list cannot grow stale.
# docs/estimators.md has the same list with the same reasons.
NOT_APPLICABLE = {
    "test_gnb": "the message about a label outside `classes` is ours: it names the remedy",
    "test_gnb_check_update_with_no_data": "calls a private function, GaussianNB._update_mean_variance",
    "test_NB_partial_fit_no_first_classes": "`classes` may be left out, and then classes may grow",
    "test_discretenb_provide_prior": "expects a failed fit to have changed classes_; ours changes nothing",
    "test_alpha_vector": "the messages about a negative alpha and one of the wrong length are ours",
}


def _with_our_classes() -> ModuleType:
    (folder,) = sklearn.tests.__path__
    spec = importlib.util.spec_from_file_location(
        "sklearn_naive_bayes_on_bayleaf", f"{folder}/test_naive_bayes.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        for name in sklearn.naive_bayes.__all__:
            patch.setattr(sklearn.naive_bayes, name, getattr(matrix, name))
        # We compute in NumPy; arrays of other libraries are not promised, so that test runs for NumPy's.
        namespaces = [
            case for case in _array_api.yield_namespace_device_dtype_combinations() if case[0] == "numpy"
        ]
        patch.setattr(_array_api, "yield_namespace_device_dtype_combinations", lambda: namespaces)
        spec.loader.exec_module(module)
    return module


THEIRS = _with_our_classes()
TESTS = {name: test for name, test in vars(THEIRS).items() if name.startswith("test_")}
for _name, _reason in NOT_APPLICABLE.items():
    TESTS[_name] = pytest.mark.xfail(reason=_reason, strict=True)(TESTS[_name])
globals().update(TESTS)


@pytest.fixture(autouse=True)
def array_api_is_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.fixture(params=range(3))
def global_random_seed(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(params=[np.float64])
def global_dtype(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_the_tests_of_scikit_learn_speak_of_our_classes() -> None:
    ours = {getattr(matrix, name) for name in sklearn.naive_bayes.__all__}
    assert set(THEIRS.ALL_NAIVE_BAYES_CLASSES) == ours
    assert sklearn.naive_bayes.GaussianNB not in ours


def test_every_test_that_cannot_apply_is_in_the_documentation_with_its_reason() -> None:
    page = (Path(__file__).parent.parent / "docs" / "estimators.md").read_text(encoding="utf-8")
    for name, reason in NOT_APPLICABLE.items():
        assert f"| `{name}` | {reason} |" in page


# scikit-learn's numbers


def assert_same_numbers(ours: Any, theirs: Any, X: Any) -> None:
    assert_array_equal(ours.classes_, theirs.classes_)
    for name in ("class_count_", "class_log_prior_", "feature_count_", "feature_all_", "n_categories_"):
        if hasattr(theirs, name):
            assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    # Theirs adds alpha before it takes the class's own counts away: (0.001 + 15) - 15 is off by 5e-13 of it.
    lost = 1e-14 / np.min(theirs.alpha) if isinstance(theirs, sklearn.naive_bayes.ComplementNB) else 0.0
    for name in ("feature_log_prob_", "category_count_"):
        for mine, other in zip(getattr(ours, name, []), getattr(theirs, name, []), strict=True):
            assert_allclose(mine, other, rtol=1e-12, atol=1e-15 + lost)
    joint = theirs.predict_joint_log_proba(X)
    most = lost * float(X.sum(axis=1).max())
    assert_allclose(ours.predict_joint_log_proba(X), joint, rtol=1e-12, atol=1e-13 + most)
    # A posterior is a difference of joint scores: it is known as exactly as they are.
    size = 1e-12 * max(1.0, np.abs(joint[np.isfinite(joint)]).max())
    assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-12, atol=size)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=2 * size)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"])
@given(
    sample=samples(),
    alpha=st.sampled_from([1e-3, 0.1, 0.5, 1, 10.0]),
    prior=st.sampled_from(["fitted", "uniform", "given"]),
    weighted=st.booleans(),
    as_sparse=st.booleans(),
    option=st.booleans(),
)
@settings(max_examples=100)
def test_counting_models_equal_scikit_learn(
    name: str, sample: Sample, alpha: float, prior: str, weighted: bool, as_sparse: bool, option: bool
) -> None:
    X, y, weight = sample
    assume(not (name == "ComplementNB" and option and X.shape[1] == 1))  # 0/0 in scikit-learn
    n_classes = len(set(y.tolist()))
    given_prior = (np.arange(n_classes) + 1.0) / np.arange(n_classes + 1).sum() if prior == "given" else None
    params: dict[str, Any] = {"alpha": alpha, "fit_prior": prior == "fitted", "class_prior": given_prior}
    options: dict[str, dict[str, Any]] = {
        "ComplementNB": {"norm": option},
        "BernoulliNB": {"binarize": 1.0 * option},
        "CategoricalNB": {"min_categories": 5 if option else None},
    }
    params |= options.get(name, {})
    if as_sparse and name != "CategoricalNB":
        X = sparse.csr_array(X)
    arguments = (X, y, weight) if weighted else (X, y)
    ours = getattr(matrix, name)(**params).fit(*arguments)
    assert_same_numbers(ours, getattr(reference, name)(**params).fit(*arguments), X)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
@pytest.mark.parametrize("n_classes", [3, 40])
def test_large_sparse_and_dense_counts_equal_scikit_learn(name: str, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random(3000, 400, density=0.1, format="csr", random_state=0)
    X.data = np.ceil(3 * X.data)
    X = sparse.vstack([X[:17], sparse.csr_matrix((183, 400)), X[200:]], format="csr")
    y, weight = rng.integers(n_classes, size=3000), rng.random(3000)
    for kind in (np.float32, np.int8, np.int64):
        rows = X.astype(kind)
        theirs = getattr(reference, name)().fit(rows, y, weight)
        assert_same_numbers(getattr(matrix, name)().fit(rows, y, weight), theirs, rows)
        assert_same_numbers(getattr(matrix, name)().fit(rows.toarray(), y, weight), theirs, rows)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_where_most_features_were_never_seen_the_numbers_equal_those_of_scikit_learn(
    name: str, alpha: float
) -> None:
    rng = np.random.default_rng(1)
    X = sparse.csr_array(rng.poisson(0.02, size=(60, 500)))
    y = rng.integers(7, size=60)
    theirs = getattr(reference, name)(alpha=alpha).fit(X, y)
    assert_same_numbers(getattr(matrix, name)(alpha=alpha).fit(X, y), theirs, X)


@pytest.fixture(scope="module")
def newsgroups() -> Sample:
    from sklearn.feature_extraction.text import CountVectorizer

    folder = os.environ.get("BAYLEAF_DATA")
    if not folder:
        pytest.skip("BAYLEAF_DATA does not name the folder with 20ng.train.tsv")
    lines = Path(folder, "20ng.train.tsv").read_text(encoding="utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return CountVectorizer().fit_transform(texts), np.array(labels), None


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_on_twenty_newsgroups_the_numbers_equal_those_of_scikit_learn(name: str, newsgroups: Sample) -> None:
    X, y, _ = newsgroups
    assert_same_numbers(getattr(matrix, name)().fit(X, y), getattr(reference, name)().fit(X, y), X[::20])
