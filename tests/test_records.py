"""Rows that are mappings, as lines of JSON are read: the table they make, and what is missing in some."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import NaiveBayes, Window, category, normal, words

RECORDS: list[dict[str, Any]] = [
    {"text": "free prize", "hour": 3, "sender": "a"},
    {"text": "win a prize", "hour": 4},
    {"text": "lunch at noon", "sender": "b"},
    {"hour": 11, "text": "see you at noon", "sender": "b"},
] * 10
LABELS = ["spam", "spam", "ham", "ham"] * 10
VIEWS = {"text": words(), "hour": normal(), "sender": category()}


def test_records_answer_as_the_table_that_they_are() -> None:
    rows, table = NaiveBayes().fit(RECORDS, LABELS), NaiveBayes().fit(pd.DataFrame(RECORDS), LABELS)
    assert list(rows.views_) == ["text", "hour", "sender"]
    np.testing.assert_array_equal(rows.predict_proba(RECORDS), table.predict_proba(pd.DataFrame(RECORDS)))


@pytest.mark.parametrize("record", [{}, {"text": "prize"}, {"hour": 3, "sender": "b"}])
def test_what_a_row_does_not_have_is_missing_however_it_is_asked(record: dict[str, Any]) -> None:
    model = NaiveBayes(views=VIEWS).fit(RECORDS, LABELS)
    whole = {"text": None, "hour": None, "sender": None} | record
    table = {name: [value] for name, value in whole.items()}
    expected = model.predict_proba(table)[0].tolist()
    assert model.predict_proba([record])[0].tolist() == expected
    assert list(model.predict_proba_one(record).values()) == expected
    np.testing.assert_array_equal(model.explain(record).posterior, model.explain(whole).posterior)


def test_no_rows_have_no_answers() -> None:
    assert NaiveBayes().fit(RECORDS, LABELS).predict([]).tolist() == []


def test_a_window_forgets_the_record_that_it_learned() -> None:
    model = NaiveBayes(views=VIEWS, tuning=None)
    window = Window(model, size=2)
    for record, label in zip(RECORDS, LABELS, strict=True):
        window.learn_one(record, label)
    fresh = NaiveBayes(views=VIEWS, tuning=None).partial_fit(RECORDS[-2:], LABELS[-2:])
    assert model.model_.to_bytes() == fresh.model_.to_bytes()


@pytest.mark.parametrize(
    ("X", "error", "sentence"),
    [
        ([{"text": "x"}, "y"], TypeError, "Row 1 of X is 'y', and row 0 is a mapping"),
        ([{}, {}], ValueError, "X has no columns"),
        ([{1: "x"}, {1: "y"}], TypeError, "the name 1. Give columns names that are strings"),
        ({1: ["x", "y"]}, TypeError, "the name 1. Give columns names that are strings"),
    ],
)
def test_what_is_no_table_is_named(X: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        NaiveBayes().fit(X, ["a", "b"])


def test_a_key_that_was_not_learned_is_named() -> None:
    with pytest.raises(ValueError, match=r"\['zz'\] are extra"):
        NaiveBayes().fit(RECORDS, LABELS).predict([{"text": "x", "zz": 1}])
