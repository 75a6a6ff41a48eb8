"""Views of table columns: exact counts, and the likelihoods of the textbook."""

from __future__ import annotations

import datetime
import math
import os
import pickle
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import strategies  # noqa: F401 # loads the profile
from bayleaf import (
    Model,
    ModelFileError,
    bins,
    category,
    chars,
    counts,
    date_part,
    flag,
    kernel,
    normal,
    pairs,
    words,
)
from bayleaf.table.densities import entropy_cuts, quantile_cuts
from bayleaf.table.moments import SCALE, MomentTally

Rows = list[tuple[Any, ...]]
VIEWS: dict[str, Any] = {
    "text": words(),
    "sender": category(),
    "urgent": flag(),
    "hour": normal(),
    "size": kernel(),
    "age": bins(3),
    "marks": counts("links", "images"),
    "sent": [date_part("weekday"), date_part("hour")],
    "both": pairs("sender", "urgent", "links"),
}
COLUMNS = ("text", "sender", "urgent", "hour", "size", "age", "links", "images", "sent")
DATES = [datetime.datetime(2026, 11, 16, 23, 10), datetime.date(2026, 12, 24), "2027-01-02T00:30"]
NUMBERS = st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from([0.0, -0.0, 5e-324, 1e9, 0.1, 3]))
ROWS = st.tuples(
    st.sampled_from(["", "win money", "lunch", None]),
    st.sampled_from(["a.com", "b.org", "", "ü", 3, 3.0, None, math.nan]),
    st.sampled_from([True, False, "yes", "No", 1, 0.0, None]),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.integers(0, 5),
    st.integers(0, 5),
    st.sampled_from([None, *DATES]),
    st.sampled_from(["ham", "spam", "other"]),
)
TABLES = st.lists(ROWS, min_size=1, max_size=12)


def columns(rows: Rows) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}


def learned(rows: Rows) -> Model:
    return Model(VIEWS).learn(columns(rows), [row[-1] for row in rows])


@given(TABLES, st.randoms())
def test_any_order_of_the_rows_gives_the_same_bytes(rows: Rows, random: Any) -> None:
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert learned(shuffled).to_bytes() == learned(rows).to_bytes()


@given(TABLES, TABLES)
def test_two_parts_merged_give_the_bytes_of_the_whole(one: Rows, other: Rows) -> None:
    assert learned(one).merge(learned(other)).to_bytes() == learned(one + other).to_bytes()


@given(TABLES, TABLES)
def test_forgetting_restores_the_bytes(kept: Rows, passing: Rows) -> None:
    model = learned(kept + passing)
    model.forget(columns(passing), [row[-1] for row in passing])
    assert model.to_bytes() == learned(kept).to_bytes()


@given(TABLES)
def test_a_file_and_a_pickle_give_the_same_bits(rows: Rows) -> None:
    model = learned(rows)
    expected = model.log_joint(columns(rows))
    for other in (Model.from_bytes(model.to_bytes()), pickle.loads(pickle.dumps(model)), model.copy()):
        assert other.to_bytes() == model.to_bytes()
        assert np.array_equal(other.log_joint(columns(rows)), expected)


FAR = ("", "a.com", True, 0.0, None, None, 0, 0, None, "ham")


@pytest.mark.filterwarnings("ignore:.* impossible in every class")
@given(TABLES, ROWS)
@example([FAR, FAR, (*FAR[:3], 1e-301, *FAR[4:])], (*FAR[:3], 1.0, *FAR[4:]))
def test_the_parts_of_an_explanation_sum_to_the_score(rows: Rows, asked: tuple[Any, ...]) -> None:
    model = learned(rows)
    explanation = model.explain(dict(zip(COLUMNS, asked, strict=False)))
    total = explanation.log_prior + explanation.bias + sum(part.scores for part in explanation.parts)
    np.testing.assert_allclose(total, model.log_joint(columns([asked]))[0], rtol=1e-9, atol=1e-9)
    assert explanation.posterior.sum() == pytest.approx(1)
    for part in explanation.parts:
        assert 0 <= part.start <= part.end <= len(explanation.text)


@pytest.mark.parametrize("column", ["sender", "urgent", "size", "age"])
def test_a_value_that_was_not_learned_is_refused_and_nothing_changes(column: str) -> None:
    row = ("win", "a.com", True, 1.0, 2.0, 3.0, 1, 0, DATES[0], "spam")
    model = learned([row, ("lunch", "b.org", False, 5.0, 6.0, 7.0, 0, 2, None, "ham")])
    before = model.to_bytes()
    asked = columns([row])
    asked[column] = [{"sender": "c.net", "urgent": False}.get(column, 99.0)]
    with pytest.raises(
        ValueError, match=rf"in the column '{column}'.*learned as 'spam'.*Nothing was forgotten"
    ):
        model.forget(asked, ["spam"])
    assert model.to_bytes() == before


def test_numbers_whose_sums_cannot_have_been_learned_are_refused() -> None:
    model = Model([normal()]).learn([1.0, 2.0], ["a", "a"])
    before = model.to_bytes()
    with pytest.raises(ValueError, match="Nothing was forgotten"):
        model.forget([7.0], ["a"])
    with pytest.raises(ValueError, match="more documents of the class 'a' than were learned"):
        model.forget([1.0, 2.0, 1.0], ["a"] * 3)
    assert model.to_bytes() == before


@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=20))
def test_moments_are_those_of_exact_fractions(numbers: list[float]) -> None:
    tally = MomentTally()
    tally.add(np.array(numbers), np.zeros(len(numbers), np.uint32))
    (moments,) = tally.counts(np.zeros(1, np.uint32)).moments
    exact = [Fraction(number) for number in numbers]
    mean = sum(exact) / len(exact)
    variance = sum((each - mean) ** 2 for each in exact) / len(exact)
    assert moments.sum == sum(exact) * 2**SCALE
    assert (moments.mean, moments.variance) == (float(mean), float(variance))


def test_the_variance_of_numbers_around_a_billion_is_exact() -> None:
    x = 1e9 + np.random.default_rng(0).normal(size=100_000)
    model = Model([normal(smoothing=0)]).learn(x, ["a"] * len(x))
    (moments,) = model.counts().moments
    exact = [Fraction(each) for each in x[:1000].tolist()]
    assert moments.variance == pytest.approx((x - 1e9).var(), rel=1e-12)
    half = Model([normal()]).learn(x, ["a"] * len(x)).forget(x[1000:], ["a"] * (len(x) - 1000))
    mean = sum(exact) / 1000
    assert half.counts().moments[0].variance == float(sum((each - mean) ** 2 for each in exact) / 1000)


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xy")), min_size=1, max_size=15),
    st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 10)]),
    st.sampled_from("abcde"),
)
def test_category_is_the_smoothed_share_of_the_definition(
    rows: list[tuple[str, str]], alpha: Fraction, asked: str
) -> None:
    values, labels = [value for value, _ in rows], [label for _, label in rows]
    model = Model([category()], alpha=float(alpha), unseen="smooth").learn(values, labels)
    seen, distinct = Counter(rows), len(set(values))
    for label, score in zip(model.classes, model.log_joint([asked])[0], strict=True):
        n = labels.count(str(label))
        share = (seen[asked, str(label)] + alpha) / (n + alpha * distinct)
        assert score == pytest.approx(math.log(Fraction(n, len(rows)) * share), rel=1e-12)


def test_the_yellow_square_of_the_paper_is_impossible_without_smoothing_and_possible_with_it() -> None:
    shapes = ["square"] * 9 + ["circle"] * 3
    colors = ["blue"] * 3 + ["blue"] * 2 + ["green"] * 4 + ["blue"] * 1 + ["green"] * 2
    labels = ["+"] * 7 + ["-"] * 5
    X = {"color": colors, "shape": shapes}
    views = {"color": category(values=["yellow"]), "shape": category()}
    yellow = {"color": ["yellow"], "shape": ["square"]}
    model = Model(views, alpha=0).learn(X, labels)
    assert np.isneginf(model.log_joint(yellow)).all()
    with pytest.warns(UserWarning, match="impossible in every class"):
        posterior = model.posterior(yellow)
    np.testing.assert_allclose(posterior, [[7 / 12, 5 / 12]])
    model.configure(alpha=1)
    expected = [
        7 / 12 * (0 + 1) / (7 + 3) * (7 + 1) / (7 + 2),
        5 / 12 * (0 + 1) / (5 + 3) * (2 + 1) / (5 + 2),
    ]
    np.testing.assert_allclose(np.exp(model.log_joint(yellow)[0]), expected)


def test_a_value_never_seen_is_ignored_or_smoothed() -> None:
    model = Model([category()]).learn(["a", "a", "b"], ["x", "x", "y"])
    np.testing.assert_allclose(model.posterior(["new"]), [[2 / 3, 1 / 3]])
    model.configure(unseen="smooth")
    np.testing.assert_allclose(np.exp(model.log_joint(["new"])), [[2 / 3 * 1 / 4, 1 / 3 * 1 / 3]])


def test_flag_is_the_bernoulli_model_with_both_sides_smoothed() -> None:
    model = Model([flag()]).learn([True, "yes", 1, None, "no"], ["a", "a", "a", "a", "b"])
    expected = [[4 / 5 * 4 / 5, 1 / 5 * 1 / 3], [4 / 5 * 1 / 5, 1 / 5 * 2 / 3]]
    np.testing.assert_allclose(np.exp(model.log_joint(["TRUE", 0])), expected)


def test_normal_is_the_density_of_the_textbook() -> None:
    model = Model([normal(smoothing=0)]).learn([1.0, 3.0, 10.0, 14.0], ["a", "a", "b", "b"])
    density = [
        math.exp(-((4 - mean) ** 2) / (2 * var)) / math.sqrt(2 * math.pi * var)
        for mean, var in [(2, 1), (12, 4)]
    ]
    np.testing.assert_allclose(np.exp(model.log_joint([4.0])[0]), [0.5 * each for each in density])


def test_a_class_with_one_number_has_the_width_of_the_column_and_one_without_numbers_its_curve() -> None:
    model = Model([normal()]).learn([1.0, 2.0, 6.0, None, 5.0, 5.0], ["a", "a", "a", "b", "c", "c"])
    model.learn([4.0], ["d"])
    assert np.isfinite(model.log_joint([4.0])).all()
    scores = dict(zip(model.classes, model.log_joint([100.0])[0], strict=True))
    assert scores["d"] > scores["c"]
    assert scores["b"] > scores["c"]


def test_kernel_is_the_mean_of_the_kernels() -> None:
    model = Model([kernel(2.0)]).learn([1.0, 1.0, 5.0], ["a"] * 3)
    kernels = [math.exp(-((3 - x) ** 2) / 8) / math.sqrt(8 * math.pi) for x in (1, 1, 5)]
    assert model.log_joint([3.0])[0, 0] == pytest.approx(math.log(sum(kernels) / 3))
    assert np.isfinite(model.log_joint([1e6]))


def test_the_bandwidth_can_be_chosen_again_from_the_same_counts() -> None:
    x = np.random.default_rng(1).normal(size=60).tolist()
    labels = ["a", "b"] * 30
    model = Model([kernel()]).learn(x, labels)
    for rule in ("silverman", "loo", 0.5):
        fresh = Model([kernel(rule)]).learn(x, labels)
        assert np.array_equal(model.configure(bandwidth=rule).log_joint(x), fresh.log_joint(x))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 6))
def test_quantiles_hold_about_the_same_number_of_rows(numbers: list[int], number: int) -> None:
    values, n = np.unique(np.array(numbers, float), return_counts=True)
    cuts = quantile_cuts(values, n[:, None].astype(float), number)
    sizes = np.bincount(np.searchsorted(cuts, numbers), minlength=len(cuts) + 1)
    assert len(sizes) <= number
    assert sizes.min() > 0
    assert sizes.max() < len(numbers) / number + n.max()


def test_entropy_cuts_where_the_classes_part_and_not_in_noise() -> None:
    values = np.arange(40.0)
    parted = np.stack([values < 15, values >= 15], axis=1).astype(float)
    assert entropy_cuts(values, parted).tolist() == [14.5]
    assert entropy_cuts(values, np.ones((40, 2))).tolist() == []
    model = Model({"x": bins(by="entropy")}).learn({"x": values.tolist()}, np.where(values < 15, "a", "b"))
    assert [part.term for part in model.explain({"x": 3}).parts] == ["x<=14.5"]
    np.testing.assert_allclose(np.exp(model.log_joint({"x": [20]})), [[15 / 40 * 1 / 17, 25 / 40 * 26 / 27]])


def test_counts_are_the_multinomial_model() -> None:
    model = Model([counts()]).learn(np.array([[2, 1, 0], [0, 0, 3], [0, 1, 1]]), ["a", "b", "b"])
    a = [math.log(each) for each in (3 / 6, 2 / 6, 1 / 6)]
    b = [math.log(each) for each in (1 / 8, 2 / 8, 5 / 8)]
    expected = [math.log(1 / 3) + a[0] * 2 + a[2], math.log(2 / 3) + b[0] * 2 + b[2]]
    np.testing.assert_allclose(model.log_joint(np.array([[2, 0, 1]]))[0], expected)
    with pytest.raises(ValueError, match="2 columns, and 3 were learned"):
        model.log_joint(np.array([[1, 1]]))


@pytest.mark.parametrize("view", [category(), flag(), normal(), kernel(), bins()])
def test_missing_values_say_nothing_and_are_counted(view: Any) -> None:
    X = [1, 0, None, math.nan, 1]
    model = Model([view]).learn(X, ["a", "b", "a", "b", "b"])
    np.testing.assert_allclose(model.posterior([None]), [[2 / 5, 3 / 5]])
    assert model.counts().missing.tolist() == [1, 1]
    nothing = Model([view], unseen="smooth").learn([None, None], ["a", "b"])
    np.testing.assert_allclose(nothing.posterior([1, None]), [[0.5, 0.5]] * 2)


def test_a_damaged_file_of_a_table_says_so() -> None:
    good = learned([("win", "a.com", True, 1.0, 2.0, 3.0, 1, 0, DATES[0], "spam")] * 3).to_bytes()
    start = 8 + int.from_bytes(good[:8], "little")
    refused = 0
    for at in range(start, len(good)):
        damaged = good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :]
        try:
            Model.from_bytes(damaged)
        except ModelFileError:
            refused += 1
    assert refused > (len(good) - start) // 3


def test_a_column_may_have_several_views_whose_scores_add() -> None:
    X, y = {"body": ["win money", "lunch", "money"], "hour": [3, 12, 4]}, ["spam", "ham", "spam"]
    model = Model({"body": [words(), chars(2)], "hour": normal()}).learn(X, y)
    assert repr(model).startswith("Model({'body': [words(), chars(shortest=2, longest=2)], 'hour': normal()}")
    single = [Model({name: view}).learn(X, y) for name, view in model.views]
    prior = np.log([1 / 3, 2 / 3])
    expected = prior + sum(each.log_joint(X) - prior for each in single)
    np.testing.assert_allclose(model.log_joint(X), expected, rtol=1e-12)
    assert Model.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
    assert {part.view for part in model.explain({"body": "win", "hour": 3}).parts} == {
        "body: words", "body: chars", "hour: normal",
    }  # fmt: skip


def test_the_strongest_values_of_a_class_are_listed() -> None:
    model = learned(
        [
            ("win", "a.com", True, 1.0, 2.0, 3.0, 3, 0, None, "spam"),
            ("x", "b", False, 5, 6, 7, 0, 2, None, "ham"),
        ]
    )
    assert model.top_terms("spam", 1, view=1)[0][0] == "a.com"
    assert model.top_terms("spam", 1, view=6)[0][0] == "links"
    with pytest.raises(ValueError, match="Numbers have a density instead of terms"):
        model.top_terms("spam", view=3)


def uci(name: str) -> list[list[str]]:
    folder = Path(os.environ.get("BAYLEAF_DATA") or "?")
    paths = [
        path for path in (folder / "uci" / name, folder.parent / "shared/data/uci" / name) if path.is_file()
    ]
    if not paths:
        pytest.skip(f"{name} of the UCI repository is not beside BAYLEAF_DATA.")
    return [line.split(",") for line in paths[0].read_text().split()]


def left_out_answers(rows: list[list[str]], step: int = 1) -> float:
    """The share of every `step`-th row whose class is found by a model that has learned all the others."""
    labels = [row[0] for row in rows]
    X = {f"v{i}": [None if row[i] == "?" else row[i] for row in rows] for i in range(1, len(rows[0]))}
    model = Model(dict.fromkeys(X, category()), threads=1).learn(X, labels)
    right = 0
    for i in range(0, len(rows), step):
        row = {name: column[i : i + 1] for name, column in X.items()}
        model.forget(row, labels[i : i + 1])
        right += model.predict(row)[0] == labels[i]
        model.learn(row, labels[i : i + 1])
    return right / len(range(0, len(rows), step))


def test_house_votes_leave_one_out_with_missing_votes_left_out() -> None:
    assert left_out_answers(uci("house-votes-84.data")) == 392 / 435


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (normal(), [0.117, 0.540]),
        (kernel(), [0.116, 0.499]),
        (bins(), [0.111, 0.459]),
        (bins(by="entropy"), [0.077, 0.471]),
    ],
)
def test_diabetes_given_a_glucose_of_90_and_of_145_is_what_the_docs_say(
    view: Any, expected: list[float]
) -> None:
    rows = uci("pima-indians-diabetes.data")
    glucose = [float(row[1]) or None for row in rows]
    model = Model([view]).learn(glucose, [row[8] for row in rows])
    assert sum(model.counts().missing) == 5
    np.testing.assert_allclose(model.posterior([90, 145])[:, 1], expected, atol=5e-4)


def test_mushrooms_leave_one_out_on_every_eighth() -> None:
    rows = [["?missing?" if value == "?" else value for value in row] for row in uci("agaricus-lepiota.data")]
    assert left_out_answers(rows, step=8) == pytest.approx(0.956, abs=0.005)
