"""Dates in tables: weekday, hour and month around a circle, the same from every library."""

from __future__ import annotations

import datetime
import math
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayleaf
from bayleaf import Model, NaiveBayes, category, date_part, normal
from bayleaf.table.dates import NAMES

MOMENTS: list[Any] = [
    datetime.datetime(2026, 11, 16, 9, 30),
    None,
    datetime.datetime(1969, 12, 31, 23, 59, 59),
    datetime.datetime(2024, 2, 29, 0, 0),
]
BINS = {"weekday": [0, -1, 2, 3], "hour": [9, -1, 23, 0], "month": [10, -1, 11, 1]}
MAKERS: dict[str, Any] = {
    "list": list,
    "tuple": tuple,
    "objects": lambda x: np.array(x, object),
    "datetime64": lambda x: np.array(x, "datetime64[s]"),
    "pandas": lambda x: pd.Series(x, dtype="datetime64[ns]"),
    "pandas in a zone": lambda x: pd.Series(x, dtype="datetime64[us]").dt.tz_localize("Asia/Tokyo"),
    "pandas objects": lambda x: pd.Series(x, dtype=object),
    "pandas on Arrow": lambda x: pd.Series(x, dtype="timestamp[us][pyarrow]"),
    "polars": pl.Series,
    "polars in a zone": lambda x: pl.Series(x).dt.replace_time_zone("Asia/Tokyo"),
    "arrow": lambda x: pa.array(x, pa.timestamp("us")),
    "chunked arrow": lambda x: pa.chunked_array([pa.array(x, pa.timestamp("ms"))]),
    "ISO": lambda x: [None if each is None else each.isoformat() for each in x],
    "mail": lambda x: [None if each is None else each.strftime("%a, %d %b %Y %H:%M:%S +0900") for each in x],
}


@pytest.mark.parametrize("kind", sorted(MAKERS))
@pytest.mark.parametrize("part", sorted(BINS))
def test_a_date_falls_into_the_same_bin_in_every_library(kind: str, part: Any) -> None:
    assert date_part(part).read(MAKERS[kind](MOMENTS), "X").codes.tolist() == BINS[part]


@given(st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)))
def test_numpy_and_python_agree_on_every_moment(moment: datetime.datetime) -> None:
    for part in ("weekday", "hour", "month"):
        view = date_part(part)
        array = np.array([moment], "datetime64[us]")
        assert view.read(array, "X").codes.tolist() == view.read([moment], "X").codes.tolist()


def test_the_hour_is_that_of_the_own_zone() -> None:
    evening = datetime.datetime(2026, 7, 1, 23, 0, tzinfo=ZoneInfo("America/New_York"))
    assert date_part("hour").read([evening], "X").codes.tolist() == [23]


@pytest.mark.parametrize(
    ("column", "parts"),
    [
        (pd.Series(pd.date_range("2026", periods=4, freq="h")), ["weekday", "hour", "month"]),
        (pl.Series([datetime.date(2026, 1, day) for day in (1, 2, 3, 4)]), ["weekday", "month"]),
        (pl.Series([datetime.datetime(2026, 1, day) for day in (1, 2, 3, 4)]), ["weekday", "hour", "month"]),
        (pa.array([datetime.date(2026, 1, day) for day in (1, 2, 3, 4)]), ["weekday", "month"]),
        (np.array(["2026-01-01"] * 4, "datetime64[D]"), ["weekday", "month"]),
        (np.array(["2026-01"] * 4, "datetime64[M]"), ["month"]),
        ([datetime.date(2026, 1, 1)] * 3 + [None], ["weekday", "month"]),
        ([datetime.datetime(2026, 1, 1)] * 3 + [pd.NaT], ["weekday", "hour", "month"]),
    ],
)
def test_a_column_of_dates_gets_a_view_for_each_part_that_it_has(column: Any, parts: list[Any]) -> None:
    X = {"sent": column, "size": [1.0, 2.0, 3.0, 4.0]}
    found = NaiveBayes().fit(X, ["a", "a", "b", "b"]).views_
    expected = [date_part(part) for part in parts]
    assert found == {"sent": expected if len(expected) > 1 else expected[0], "size": normal()}


def test_frames_of_pandas_polars_and_arrow_give_the_same_model() -> None:
    rng = np.random.default_rng(0)
    start = np.datetime64("2026-01-01T00:00", "us")
    sent = start + rng.integers(0, 365 * 24, 200) * np.timedelta64(1, "h")
    y = np.where((sent.astype("datetime64[h]").astype(int) % 24) < 6, "night", "day")
    sent[7] = np.datetime64("NaT")
    frame = pd.DataFrame({"sent": sent, "size": rng.normal(size=200)})
    frames = [
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        {"sent": sent, "size": frame["size"]},
    ]
    found = [NaiveBayes().fit(each, y) for each in frames]
    assert len({model.model_.to_bytes() for model in found}) == 1
    assert found[0].score(frame, y) > 0.95
    for model, each in zip(found, frames, strict=True):
        np.testing.assert_array_equal(model.predict_proba(each), found[0].predict_proba(frame))


def test_dates_in_an_array_are_a_table_and_not_numbers() -> None:
    days = np.array(["2026-11-14", "2026-11-15", "2026-11-16", "2026-11-17"] * 3, "datetime64[D]")
    y = ["end", "end", "week", "week"] * 3
    found = NaiveBayes(tuning=None).fit(days[:, None], y)
    assert found.score(days[:, None], y) == 1
    rows = [[day, 1.0] for day in days.tolist()]
    assert NaiveBayes(tuning=None).fit(rows, y).score(rows, y) == 1


def test_midnight_is_beside_23_and_december_beside_january() -> None:
    hours = [datetime.datetime(2026, 1, 1, hour) for hour in (23, 23, 23, 12)]
    model = Model([date_part("hour")]).learn(hours, ["late", "late", "late", "noon"])
    assert model.predict([datetime.datetime(2026, 1, 1, 0)]).tolist() == ["late"]
    alone = Model([date_part("hour", spread=0)]).learn(hours, ["late", "late", "late", "noon"])
    np.testing.assert_allclose(
        np.exp(alone.log_joint([datetime.datetime(2026, 1, 1, 0)])), [[3 / 4 * 1 / 27, 1 / 4 * 1 / 25]]
    )
    shares = np.exp(model.log_joint([datetime.datetime(2026, 1, 1, hour) for hour in range(24)]))
    np.testing.assert_allclose(shares.sum(axis=0), [3 / 4, 1 / 4])
    np.testing.assert_allclose(
        shares[[22, 23, 0], 0], [3 / 4 * (share + 1) / 27 for share in (0.75, 1.5, 0.75)]
    )


def test_without_spread_a_weekday_is_a_category() -> None:
    days = [datetime.date(2026, 11, day) for day in (2, 3, 4, 5, 6, 7, 8, 9, 10)]
    names = [NAMES["weekday"][day.weekday()] for day in days]
    y = ["a", "b", "a", "b", "a", "b", "a", "a", "b"]
    dated = Model([date_part("weekday")]).learn(days, y)
    named = Model([category()]).learn(names, y)
    np.testing.assert_allclose(dated.log_joint(days), named.log_joint(names), rtol=1e-12)


def test_an_explanation_names_the_date_and_its_parts(tmp_path: Any) -> None:
    X = pd.DataFrame({"sent": pd.date_range("2026-11-02 03:00", periods=60, freq="31h")})
    y = np.where(X["sent"].dt.hour < 8, "spam", "ham")
    found = NaiveBayes().fit(X, y)
    explanation = found.explain(X.iloc[0])
    assert explanation.text == "sent=2026-11-02 03:00:00"
    assert [part.term for part in explanation.parts] == ["sent=Monday", "sent=03h", "sent=November"]
    assert found.top_terms("spam", 1, view=1)[0][0] < "08h"
    found.save(tmp_path / "model")
    again = bayleaf.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), found.predict_proba(X))
    assert [view for view, _ in found.explain({"sent": None}).views()] == []


def test_dates_can_be_weighed_forgotten_and_set_anew() -> None:
    X = pd.DataFrame({"sent": pd.date_range("2026-11-02 03:00", periods=90, freq="31h")})
    y = np.where(X["sent"].dt.hour < 8, "spam", "ham")
    found = NaiveBayes().fit(X[:60], y[:60])
    before = found.model_.to_bytes()
    found.partial_fit(X[60:], y[60:]).forget(X[60:], y[60:])
    assert found.model_.to_bytes() == before
    with pytest.raises(ValueError, match="in the column 'sent'"):
        found.forget(X[:1], ["ham"])
    anew = Model({"sent": date_part("hour")}).learn(X, y).configure(spread=0.1)
    assert math.isclose(
        anew.log_joint(X[:1])[0, 0],
        Model({"sent": date_part("hour", spread=0.1)}).learn(X, y).log_joint(X[:1])[0, 0],
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: date_part("year"), "`part` must be 'weekday', 'hour' or 'month', got 'year'"),  # type: ignore[arg-type]
        (lambda: date_part("hour", spread=2), "`spread` must be a number from 0 to 1"),
        (lambda: date_part("hour", alpha=-1), "alpha"),
        (
            lambda: date_part("hour").read(["soon"], "The column 'sent' of X"),
            "'sent' of X has 'soon' in row 0",
        ),
        (lambda: date_part("hour").read([None, 3], "X"), "has 3 in row 1, which is not a date"),
        (lambda: date_part("hour").read([""], "X"), "has '' in row 0"),
        (lambda: date_part("hour").read("2026-01-01", "X"), "single str"),
    ],
)
def test_what_is_no_date_is_refused_with_its_row(make: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make()
