"""What a new user gives the estimators: missing labels, dates, texts; named, or taken as meant."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayleaf import Model, NaiveBayes, category, kernel, normal, words
from bayleaf.matrix import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    KernelNB,
    MultinomialNB,
)

MATRIX = [MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB, GaussianNB, KernelNB]
X = np.array([[1, 0], [2, 1], [0, 3], [1, 2]])
TEXTS = ["a b", "b c", "c d", "d e"]
LABELS = ["a", "a", "b", "b"]

WITHOUT_ONE = {
    "None": ["a", None, "b", "b"],
    "NaN": np.array(["a", np.nan, "b", "b"], object),
    "NaN among numbers": [1, np.nan, 0, 0],
    "pandas' NA": pd.Series(["a", pd.NA, "b", "b"], dtype="string"),
    "a category": pd.Categorical(["a", None, "b", "b"]),
    "pandas' integers": pd.array([1, None, 2, 2], dtype="Int64"),
    "Polars": pl.Series(["a", None, "b", "b"]),
    "Arrow": pa.array(["a", None, "b", "b"]),
}


@pytest.mark.parametrize("kind", sorted(WITHOUT_ONE))
@pytest.mark.parametrize("model", [*MATRIX, NaiveBayes])
def test_a_missing_label_is_named_by_its_row(model: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=r"y\[1\] is .*Leave out the rows without a label, or name it\."):
        model().fit(X, WITHOUT_ONE[kind])


SAME = {
    "tuple": tuple(LABELS),
    "array": np.array(LABELS),
    "objects": np.array(LABELS, object),
    "Series with another index": pd.Series(LABELS, index=[9, 7, 5, 3]),
    "pandas' strings": pd.Series(LABELS, dtype="string"),
    "Categorical": pd.Categorical(LABELS),
    "Series of categories": pd.Series(LABELS, dtype="category"),
    "Polars": pl.Series(LABELS),
    "Polars' categories": pl.Series(LABELS, dtype=pl.Categorical),
    "Arrow": pa.array(LABELS),
    "Arrow in pieces": pa.chunked_array([LABELS[:1], LABELS[1:]]),
}


@pytest.mark.parametrize("kind", sorted(SAME))
@pytest.mark.parametrize("model", [MultinomialNB, GaussianNB, NaiveBayes])
def test_labels_mean_the_same_in_every_library(model: Any, kind: str) -> None:
    fitted = model().fit(X, SAME[kind])
    assert fitted.classes_.tolist() == ["a", "b"]
    assert fitted.predict(X).tolist() == model().fit(X, LABELS).predict(X).tolist()


@pytest.mark.parametrize("model", [MultinomialNB, GaussianNB, NaiveBayes])
def test_integers_of_pandas_stay_integers(model: Any) -> None:
    classes = model().fit(X, pd.array([1, 1, 2, 2], dtype="Int64")).classes_
    assert classes.dtype.kind == "i"
    assert classes.tolist() == [1, 2]


def test_numbers_among_strings_stay_numbers_or_are_refused() -> None:
    mixed = ["a", 1, "b", 2]
    assert NaiveBayes().fit(TEXTS, mixed).classes_.tolist() == [1, 2, "a", "b"]
    for model in MATRIX:
        with pytest.raises(ValueError, match="The labels are strings in one place and numbers in another"):
            model().fit(X, mixed)


DATES = {
    "array": np.array([["2020-01-01", "2020-01-02"]] * 4, dtype="datetime64[D]"),
    "durations": np.ones((4, 2), dtype="timedelta64[s]"),
    "pandas": pd.DataFrame({"day": pd.date_range("2020", periods=4), "size": [1, 2, 3, 4]}),
    "Polars": pl.DataFrame({"day": [datetime.date(2020, 1, 1)] * 4}),
}


@pytest.mark.parametrize("kind", sorted(DATES))
@pytest.mark.parametrize("model", MATRIX)
def test_dates_are_not_taken_for_numbers(model: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=rf"X holds dates or times .*{model.__name__} takes numbers"):
        model().fit(DATES[kind], LABELS)
    with pytest.raises(ValueError, match="X holds dates or times"):
        model().fit(X, LABELS).predict(DATES["array"])


@pytest.mark.parametrize(
    "texts",
    [
        [["x", "y"]] * 4,
        np.array([["x", "y"]] * 4),
        pd.DataFrame({"p": pd.Series(LABELS, dtype="string")}),
        pd.DataFrame({"p": pd.Series(LABELS, dtype="category")}),
        pl.DataFrame({"p": LABELS}),
    ],
)
def test_names_of_categories_are_refused_with_the_remedy(texts: Any) -> None:
    with pytest.raises(ValueError, match=r"numbered from 0.*OrdinalEncoder does, or use NaiveBayes"):
        CategoricalNB().fit(texts, LABELS)


@pytest.mark.parametrize("texts", [iter(TEXTS), set(TEXTS), (text for text in TEXTS)])
def test_texts_without_an_order_are_refused(texts: Any) -> None:
    with pytest.raises(TypeError, match=r"which has no order or can be read only once. Give a list"):
        NaiveBayes().fit(texts, LABELS)


def test_a_column_of_texts_and_numbers_is_refused_unless_it_is_a_category() -> None:
    table = {"d": ["a", 1, "b", 2]}
    with pytest.raises(TypeError, match=r"'d' of X holds texts and numbers.*category\(\) takes both"):
        NaiveBayes().fit(table, LABELS)
    assert NaiveBayes({"d": category()}).fit(table, LABELS).predict({"d": ["1"]}).tolist() == ["a"]


@pytest.mark.parametrize("value", [10**400, -(10**400), np.inf, 1e200])
@pytest.mark.parametrize("view", [normal(), kernel()])
def test_a_number_beyond_all_bounds_is_named_by_its_row(view: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=r"The column 'd' of X has .* in row 1; numbers must be finite"):
        NaiveBayes({"d": view}).fit({"d": [1, value, 2, 3]}, LABELS)


def test_texts_where_a_table_was_learned_are_refused() -> None:
    table = NaiveBayes().fit({"text": TEXTS, "size": [1, 2, 3, 4]}, LABELS)
    with pytest.raises(
        TypeError, match=r"one column of texts, and a table with the columns \['text', 'size'\]"
    ):
        table.predict(TEXTS)


FRAMES = {
    "pandas' strings": lambda: pd.DataFrame({"q": pd.array(["x", "y"] * 3, dtype="string")}),
    "pandas' Arrow strings": lambda: pd.DataFrame({"q": pd.array(["x", "y"] * 3, dtype="string[pyarrow]")}),
    "pandas' categories": lambda: pd.DataFrame({"q": pd.Categorical(["x", "y"] * 3)}),
    "objects": lambda: pd.DataFrame({"q": np.array(["x", "y"] * 3, object)}, index=range(6, 0, -1)),
    "Polars": lambda: pl.DataFrame({"q": ["x", "y"] * 3}),
    "Polars' categories": lambda: pl.DataFrame({"q": pl.Series(["x", "y"] * 3, dtype=pl.Categorical)}),
    "Arrow": lambda: pa.table({"q": ["x", "y"] * 3}),
    "Arrow's dictionary": lambda: pa.table({"q": pa.array(["x", "y"] * 3).dictionary_encode()}),
    "Arrow's long strings": lambda: pa.table({"q": pa.array(["x", "y"] * 3, pa.large_string())}),
    "Arrow's views": lambda: pa.table({"q": pa.array(["x", "y"] * 3, pa.string_view())}),
}


@pytest.mark.parametrize("kind", sorted(FRAMES))
def test_strings_that_repeat_are_categories_whatever_their_type(kind: str) -> None:
    model = NaiveBayes().fit(FRAMES[kind](), ["a", "b"] * 3)
    declared = ("x", "y") if kind == "pandas' categories" else ()
    assert model.views_ == {"q": category(values=declared)}
    assert model.predict(FRAMES[kind]()).tolist() == ["a", "b"] * 3


def test_rows_of_unequal_length_are_named_and_words_are_to_be_joined() -> None:
    tokens = [["free", "prize"], ["hello", "there"], ["lunch"], ["free", "prize"]]
    with pytest.raises(ValueError, match=r"Row 2 of X has 1 values, and row 0 has 2\. .*' '\.join\(row\)"):
        NaiveBayes().fit(tokens, LABELS)


def test_a_table_for_one_column_is_told_its_own_columns() -> None:
    table = pd.DataFrame({"body": TEXTS, "n": range(4)})
    with pytest.raises(TypeError, match=r"columns \['body', 'n'\]\. Give one of them, X\['body'\]"):
        NaiveBayes(views=[words()]).fit(table, LABELS)
    with pytest.raises(TypeError, match=r"Give one of them, X\['body'\]"):
        Model([words()]).learn(table, LABELS)


def test_a_frame_whose_rows_are_not_here_yet_is_to_be_collected() -> None:
    for learn in (NaiveBayes().fit, Model({"text": words()}).learn):
        with pytest.raises(TypeError, match=r"X is a LazyFrame, .* Give what X\.collect\(\) gives\."):
            learn(pl.LazyFrame({"text": TEXTS}), LABELS)


def test_texts_of_which_none_is_there_are_missing_texts() -> None:
    with pytest.raises(TypeError, match=r"Document 0 is None \(NoneType\), not a string"):
        NaiveBayes().fit([None, None], ["a", "b"])
    with pytest.raises(TypeError, match=r"Document 0 is None \(NoneType\), not a string"):
        NaiveBayes().learn_one(None, "a")
