"""Columns read alike from every library, and what cannot be read is named with its column and row."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayleaf import Model, NaiveBayes, bins, category, counts, flag, kernel, normal
from bayleaf.columns import as_flags, as_numbers, as_values


def test_a_column_is_the_same_in_every_library() -> None:
    values, numbers = ["a", None, "b", "a"], [1.5, None, 3.0, 2.0]
    makers: list[Callable[[list[Any]], Any]] = [
        pd.Series, pl.Series, pa.array, list, tuple,
        lambda x: pa.chunked_array([x]), lambda x: np.array(x, object),
    ]  # fmt: skip
    for make in makers:
        coded = as_values(make(values), "X")
        assert [None if code < 0 else coded.values[code] for code in coded.codes] == values
        np.testing.assert_array_equal(as_numbers(make(numbers), "X"), [1.5, math.nan, 3.0, 2.0])
    category_values = as_values(pd.Series(pd.Categorical(values)), "X")
    assert category_values.codes.tolist() == [0, -1, 1, 0]
    assert as_values([pd.NA, pd.NaT, np.datetime64("NaT"), None], "X").codes.tolist() == [-1] * 4
    assert as_values([1, 1.0, "1", True], "X").values == ["1", "True"]
    assert as_flags(["Y", "off"], "X").values == ["yes", "no"]


@pytest.mark.parametrize(
    ("view", "column", "message"),
    [
        (normal(), ["a"], "The column 'c' of X has 'a' in row 0, which is not a number"),
        (category(), ["a", ["b"]], r"The column 'c' of X has \['b'\] in row 1, which is not one value"),
        (flag(), [{}], "The column 'c' of X has {} in row 0, which is not one value"),
        (normal(), [1.0, math.inf], "has inf in row 1; numbers must be finite"),
        (kernel(), [1e200], r"has 1e\+200 in row 0"),
        (bins(), [datetime.date(2026, 1, 1)], r"date\(2026, 1, 1\) in row 0, which is not a number"),
        (flag(), ["maybe"], "has 'maybe'; flag\\(\\) takes yes or no"),
        (counts("c"), [1, -1], "has -1 in row 1; counts\\(\\) takes whole numbers >= 0"),
        (counts("c"), [0.5], "has 0.5 in row 0"),
        (counts("c"), [math.nan], "has nan in row 0"),
        (counts("c"), [2**52] * 1100, "more than 2\\*\\*62"),
        (normal(), np.zeros((2, 2)), "must have one dimension"),
    ],
)
def test_what_a_view_cannot_take_is_named_with_its_column_and_row(
    view: Any, column: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Model({"c": view}).learn({"c": column}, ["a"] * len(column))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: normal(smoothing=-1), "`smoothing` must be a finite number >= 0, got -1"),
        (lambda: kernel("wide"), "`bandwidth` must be a number > 0, 'scott'"),  # type: ignore[arg-type]
        (lambda: bins(0), "`number` of bins must be a whole number from 1 to 100000, got 0"),
        (lambda: bins(by="size"), "`by` must be 'quantiles' or 'entropy'"),  # type: ignore[arg-type]
        (lambda: category(alpha=-1), "`alpha` is a pseudo-count"),
        (lambda: category(values=["a", "a"]), "`values` must be different strings"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_row_of_a_frame_is_explained() -> None:
    frame = pd.DataFrame({"hour": [1.0, 2.0, 9.0], "sender": ["a", "b", "b"], "more": [0, 0, 0]})
    model = Model({"hour": normal(), "sender": category()}).learn(frame, ["x", "x", "y"])
    assert [part.term for part in model.explain(frame.iloc[2]).parts] == ["hour=9", "sender=b"]


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"different lengths: \[2, 1\]"):
        Model({"a": normal(), "b": category()}).learn({"a": [1, 2], "b": ["x"]}, ["k", "l"])


def test_sentences_are_text_however_often_each_occurs_and_names_are_categories() -> None:
    sentences = ["win a free prize now", "see you at noon then", "cheap pills for you", "lunch on friday?"]
    agreed = ["Strongly agree", "Agree", "Neither agree nor disagree", "Disagree"]
    for times in (1, 2, 20):
        frame = pd.DataFrame({"text": sentences * times, "answer": agreed * times, "size": range(4 * times)})
        found = NaiveBayes().fit(frame, ["spam", "ham"] * 2 * times)
        views: Any = found.views_
        assert "words" in str(views["text"])
        assert ("category" in str(views["answer"])) == (times > 1)
    asked = pd.DataFrame({"text": ["a free prize"], "answer": ["Agree"], "size": [3]})
    assert found.predict(asked).tolist() == ["spam"]
