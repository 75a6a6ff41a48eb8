"""Rows of tables left out of the counts: equal to forgetting them, for every view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf import Model, bins, category, counts, date_part, flag, kernel, normal, pairs
from bayleaf.table.leave_one_out import in_turn, left_out

WORDS = st.sampled_from(["red", "green", "blue", None])
NUMBERS = st.sampled_from([-1.5, 0.0, 0.1, 2.0, 2.5, 7.0, 1e6, float("nan")])
DAYS = st.sampled_from(["2026-11-16T23:10", "2026-11-15T00:10", "2026-12-24T01:00", "2027-01-02", None])
COUNTS = st.integers(0, 4)
VIEWS = [
    (category(), WORDS),
    (category(values=["white", "red"]), WORDS),
    (category(alpha=0), WORDS),
    (flag(), st.sampled_from(["yes", "no", None])),
    (normal(), NUMBERS),
    (normal(smoothing=0.1), NUMBERS),
    (kernel(), NUMBERS),
    (kernel("silverman"), NUMBERS),
    (kernel(0.7), NUMBERS),
    (bins(3), NUMBERS),
    (bins(by="entropy"), NUMBERS),
    (counts("a", "b", "c"), st.tuples(COUNTS, COUNTS, COUNTS)),
    (date_part("weekday"), DAYS),
    (date_part("month"), DAYS),
    (date_part("hour", spread=1, alpha=0), DAYS),
    (pairs("a", "b"), st.tuples(WORDS, WORDS)),
    (pairs("a", "b", "c", least=2), st.tuples(WORDS, WORDS, st.sampled_from(["x", "y", None]))),
    (pairs("a", "b", "c", alpha=0), st.tuples(WORDS, WORDS, WORDS)),
]


def column_of(view: Any, raw: list[Any]) -> Any:
    return view.read(list(zip(*raw, strict=True)) if view.columns else raw, "X")


@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize(("view", "values"), VIEWS, ids=[repr(view) for view, _ in VIEWS])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_row_left_out_scores_as_if_it_had_been_forgotten(
    view: Any, values: Any, unseen: Any, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.tuples(values, st.integers(0, 2)), min_size=4, max_size=14))
    column, labels = column_of(view, [value for value, _ in rows]), np.array([c for _, c in rows], np.uint32)
    tally = view.tally()
    tally.add(column, labels, 1)
    order = np.array([2, 0, 1], np.uint32)
    places = np.array([1, 2, 0], np.uint32)[labels]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slow = in_turn(view, tally, order, column, places, None, 0.5, unseen)
        fast = left_out(view, tally, order, column, places, 0.5, unseen)
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)


def test_rows_that_were_not_counted_cannot_be_left_out() -> None:
    order = np.arange(2, dtype=np.uint32)
    labels = np.array([0, 0, 1, 1], np.uint32)
    for view, learned, asked in (
        (category(), ["a", "a", "b", "b"], ["b", "a", "b", "c"]),
        (bins(2), [1.0, 2.0, 3.0, 4.0], [3.0, 2.0, 3.0, 9.0]),
        (kernel(), [1.0, 2.0, 3.0, 4.0], [3.0, 2.0, 3.0, 9.0]),
    ):
        tally: Any = view.tally()
        tally.add(view.read(learned, "X"), labels, 1)
        scores = left_out(view, tally, order, view.read(asked, "X"), labels, 1.0, "ignore")
        assert np.isnan(scores).any(axis=1).tolist() == [True, False, False, True]


def test_a_block_of_another_width_is_refused_in_a_sentence() -> None:
    """Found by the fuzz target `model_file`: NumPy's own words came out."""
    model = Model({"b": counts()}).learn({"b": np.array([[1, 2], [3, 0]])}, ["x", "y"])
    with pytest.raises(ValueError, match=r"The block has 3 columns, and 2 were learned\."):
        model.loo_log_joint({"b": np.array([[1, 2, 3]])}, ["x"])
