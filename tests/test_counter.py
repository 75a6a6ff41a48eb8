"""TextCounter is CountVectorizer: the same matrices, and scikit-learn's own tests; nothing is copied.

The installed module is loaded a second time under another name while `sklearn.feature_extraction.text` holds
our class, so that its imports, its parametrizations and its tests all speak of ours.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import pickle
import re
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.feature_extraction.tests
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction import text
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

from bayleaf.matrix.text_counter import TextCounter
from strategies import texts

SETTINGS: dict[str, dict[str, Any]] = {
    "words": {},
    "pairs": {"ngram_range": (1, 2)},
    "only triples": {"ngram_range": (3, 3)},
    "letters": {"analyzer": "char", "ngram_range": (1, 3)},
    "letters in words": {"analyzer": "char_wb", "ngram_range": (2, 4)},
    "stop words": {"stop_words": "english", "ngram_range": (1, 2)},
    "frequencies": {"min_df": 2, "max_df": 0.5},
    "most frequent": {"max_features": 50},
    "vocabulary": {"vocabulary": ["the", "of", "the of", "of the", "zebra"], "ngram_range": (1, 2)},
    "binary": {"binary": True, "dtype": np.float64},
    "as written": {"lowercase": False},
    "no accents": {"strip_accents": "unicode"},
    "single letters": {"token_pattern": r"(?u)\b\w+\b"},
    "own pattern": {"token_pattern": r"\d+|(?<=a)\w"},
}

CHECKS_WITHOUT_X = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_get_params_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


def _with_our_class() -> ModuleType:
    (folder,) = sklearn.feature_extraction.tests.__path__
    spec = importlib.util.spec_from_file_location("sklearn_text_on_bayleaf", f"{folder}/test_text.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its functions are pickled by their names
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "CountVectorizer", TextCounter)
        spec.loader.exec_module(module)
    return module


THEIRS = _with_our_class()
for _name in dir(THEIRS):
    # The module tests other classes too; what does not name this one is not about it.
    if _name.startswith("test_") and "CountVectorizer" in inspect.getsource(getattr(THEIRS, _name)):
        # Some make warnings that they do not expect; in scikit-learn's suite those are not errors.
        globals()[f"{_name}_on_ours"] = pytest.mark.filterwarnings("default")(getattr(THEIRS, _name))


def assert_same(ours: Any, theirs: Any) -> None:
    for each in (ours, theirs):
        each.sort_indices()
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    np.testing.assert_array_equal(ours.data, theirs.data)


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_newsgroups_give_scikit_learns_matrix(name: str) -> None:
    path = Path(os.environ.get("BAYLEAF_DATA", "")) / "20ng.train.tsv"
    if not path.is_file():
        pytest.skip("BAYLEAF_DATA names no folder with the corpora")
    lines = path.read_text(encoding="utf-8").split("\n")[:800]
    documents = [line.partition("\t")[2] for line in lines]
    ours, theirs = TextCounter(**SETTINGS[name]), CountVectorizer(**SETTINGS[name])
    assert_same(ours.fit_transform(documents[:600]), theirs.fit_transform(documents[:600]))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert_same(ours.transform(documents[600:]), theirs.transform(documents[600:]))


@pytest.mark.parametrize(
    "name", ["words", "pairs", "letters", "letters in words", "as written", "single letters"]
)
@given(documents=st.lists(texts(), min_size=1, max_size=5))
def test_any_text_gives_scikit_learns_matrix(name: str, documents: list[str]) -> None:
    ours, theirs = TextCounter(**SETTINGS[name]), CountVectorizer(**SETTINGS[name])
    try:
        expected = theirs.fit_transform(documents)
    except ValueError as error:
        with pytest.raises(ValueError, match="^" + re.escape(str(error)) + "$"):
            ours.fit_transform(documents)
        return
    assert_same(ours.fit_transform(documents), expected)
    assert ours.vocabulary_ == theirs.vocabulary_


def test_a_column_of_a_table_can_be_given_as_it_is() -> None:
    table = pd.DataFrame({"text": ["one two", "two three"]})
    assert TextCounter().fit_transform(table["text"]).toarray().tolist() == [[1, 0, 1], [0, 1, 1]]


def test_more_texts_add_columns_behind_the_known_ones() -> None:
    counter = TextCounter().partial_fit(["two one"]).partial_fit(["one three", "zero"])
    assert counter.get_feature_names_out().tolist() == ["one", "two", "three", "zero"]
    assert counter.transform(["three two two"]).toarray().tolist() == [[0, 2, 1, 0]]
    with pytest.raises(ValueError, match="`partial_fit` takes every term"):
        TextCounter(min_df=2).partial_fit(["a"])


def test_it_can_be_cloned_and_pickled() -> None:
    counter = TextCounter(ngram_range=(1, 2)).fit(["one two"])
    assert clone(counter).get_params() == counter.get_params()
    copy = pickle.loads(pickle.dumps(counter))
    assert_same(copy.transform(["two one two"]), counter.transform(["two one two"]))


def test_scikit_learns_checks_of_estimators_pass() -> None:
    with warnings.catch_warnings():
        # It has no checks for texts, and says so; those that need no X are called below.
        warnings.simplefilter("ignore")
        results = check_estimator(TextCounter(), on_fail=None, on_skip=None)
    assert results
    assert [result for result in results if result["status"] != "passed"] == []
    for check in CHECKS_WITHOUT_X:
        getattr(estimator_checks, check)("TextCounter", TextCounter())


def test_its_tags_are_those_of_scikit_learns_class() -> None:
    tags = TextCounter().__sklearn_tags__()
    assert tags == CountVectorizer().__sklearn_tags__()
    assert (tags.input_tags.string, tags.input_tags.two_d_array) == (True, False)


def test_scikit_learn_still_reads_texts_through_the_method_that_the_core_stands_in_for() -> None:
    seen: list[bool] = []

    class Watched(TextCounter):
        def _count_vocab(self, raw_documents: Any, fixed_vocab: bool) -> Any:
            seen.append(fixed_vocab)
            return super()._count_vocab(raw_documents, fixed_vocab)

    Watched().fit(["one two"]).transform(["two"])
    assert seen == [False, True], (
        "scikit-learn does not read texts through CountVectorizer._count_vocab any more: TextCounter is "
        "CountVectorizer now, correct but slow. Give the core another place in it."
    )
    for name, parameters in {
        "_count_vocab": ["raw_documents", "fixed_vocab"],
        "_sort_features": ["X", "vocabulary"],
    }.items():
        theirs = list(inspect.signature(getattr(CountVectorizer, name)).parameters)[1:]
        assert theirs == parameters, f"CountVectorizer.{name} takes {theirs} now; TextCounter overrides it."
