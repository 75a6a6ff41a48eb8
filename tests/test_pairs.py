"""Columns two by two: averaged one-dependence estimators from counts alone, equal to their definition."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayleaf
from bayleaf import Model, NaiveBayes, category, normal, pairs
from test_tables import uci

Row = tuple[str | None, ...]
VALUE = st.sampled_from(["a", "b", "c", None])
ROW = st.tuples(VALUE, VALUE, VALUE)
COLUMNS = ("x", "y", "z")


def table(rows: list[Row]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}


def by_definition(rows: list[Row], asked: Row, alpha: Fraction) -> Fraction:
    """The likelihood of a row in the class of these rows, whose columns know the values a, b and c."""
    present = [i for i, value in enumerate(asked) if value is not None]

    def share(value: int, given: list[Row]) -> Fraction:
        having = [row for row in given if row[value] is not None]
        return (sum(row[value] == asked[value] for row in having) + alpha) / (len(having) + 3 * alpha)

    total = Fraction(0)
    for parent in present:
        product = share(parent, rows)
        for child in present:
            if child != parent:
                product *= share(child, [row for row in rows if row[parent] == asked[parent]])
        total += product
    return total / len(present) if present else Fraction(1)


@given(
    st.lists(ROW, max_size=8), st.lists(ROW, max_size=8), ROW, st.sampled_from([Fraction(1), Fraction(1, 4)])
)
def test_the_score_is_the_mean_over_the_parents_of_the_definition(
    one: list[Row], other: list[Row], asked: Row, alpha: Fraction
) -> None:
    known: list[Row] = [("a", "a", "a"), ("b", "b", "b"), ("c", "c", "c")]
    one, other = one + known, other + known
    model = Model({"all": pairs(*COLUMNS)}, alpha=float(alpha))
    model.learn(table(one + other), ["one"] * len(one) + ["other"] * len(other))
    found = model.log_joint(table([asked]))[0]
    for score, rows in zip(found, (one, other), strict=True):
        expected = by_definition(rows, asked, alpha) * Fraction(len(rows), len(one + other))
        assert score == pytest.approx(math.log(expected), rel=1e-12)


@pytest.mark.filterwarnings("ignore:1 of 1 documents are impossible")
@given(
    st.lists(st.tuples(ROW, st.sampled_from("pq")), min_size=1, max_size=10), ROW, st.sampled_from([0, 0.5])
)
def test_what_the_values_add_sums_to_the_score(rows: list[tuple[Row, str]], asked: Row, alpha: float) -> None:
    model = Model({"all": pairs(*COLUMNS)}, alpha=alpha)
    model.learn(table([row for row, _ in rows]), [label for _, label in rows])
    parts = model.explain(dict(zip(COLUMNS, asked, strict=True))).parts
    prior = np.log([count / model.n_documents for count in model.class_documents.values()])
    total = prior + sum((part.scores for part in parts), np.zeros(len(prior)))
    np.testing.assert_allclose(total, model.log_joint(table([asked]))[0], rtol=1e-9, atol=1e-9)
    assert [part.term for part in parts] == [
        f"{name}={value}" for name, value in zip(COLUMNS, asked, strict=True) if value is not None
    ]


@pytest.mark.parametrize(
    ("file", "right", "rows"), [("house-votes-84", 410, 435), ("agaricus-lepiota", 8122, 8124)]
)
def test_house_votes_and_mushrooms_left_out_one_by_one_are_as_right_as_published(
    file: str, right: int, rows: int
) -> None:
    """94.3 and 99.98 %."""
    lines = uci(f"{file}.data")
    X = {f"c{i}": [line[i] for line in lines] for i in range(1, len(lines[0]))}
    y = np.array([line[0] for line in lines])
    model = Model({"all": pairs(*X)}).learn(X, y)
    answers = np.array(model.classes)[model.loo_log_joint(X, y).argmax(axis=1)]
    assert (len(y), (answers == y).sum()) == (rows, right)


def xor(rows: int) -> tuple[pd.DataFrame, Any]:
    """Two columns that say everything together, and nothing alone."""
    draw = np.random.default_rng(0).integers(0, 2, (rows, 3))
    frame = pd.DataFrame({"p": draw[:, 0], "q": draw[:, 1], "r": draw[:, 2]}).replace({0: "no", 1: "yes"})
    return frame.assign(size=draw.sum(axis=1) * 1.0), np.where(draw[:, 0] ^ draw[:, 1], "odd", "even")


def test_what_only_two_columns_together_say_is_learned_with_pairs_alone() -> None:
    X, y = xor(400)
    together = NaiveBayes(pairs=True, tuning=None).fit(X.drop(columns="size"), y)
    assert together.views_ == {"pairs": pairs("p", "q", "r")}
    assert together.score(X.drop(columns="size"), y) == 1
    assert NaiveBayes(tuning=None).fit(X.drop(columns="size"), y).score(X.drop(columns="size"), y) < 0.7


def test_pairs_of_categories_stand_beside_other_columns_and_can_be_weighed_forgotten_and_kept(
    tmp_path: Any,
) -> None:
    X, y = xor(120)
    found = NaiveBayes(pairs=True).fit(X, y)
    assert found.views_ == {"pairs": pairs("p", "q", "r"), "size": normal()}
    assert found.model_.judgment is not None
    found.save(tmp_path / "model")
    again = bayleaf.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(X), found.predict_proba(X))
    before = found.model_.to_bytes()
    found.partial_fit(X[:9], y[:9]).forget(X[:9], y[:9])
    assert found.model_.to_bytes() == before
    merged = NaiveBayes(found.views_, tuning=None).fit(X[:50], y[:50])
    merged.merge(NaiveBayes(found.views_, tuning=None).fit(X[50:], y[50:]))
    whole = NaiveBayes(found.views_, tuning=None).fit(X, y)
    assert merged.model_.to_bytes() == whole.model_.to_bytes()


def test_the_pairs_of_all_columns_of_an_array_need_no_names() -> None:
    X, y = xor(60)
    found = NaiveBayes(pairs(), tuning=None).fit(X[["p", "q"]].to_numpy(), y)
    assert found.views_ == {"pairs": pairs("x0", "x1")}
    assert found.score(X[["p", "q"]].to_numpy(), y) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pairs("a"), "names one column"),
        (lambda: pairs("a", "a"), "different strings"),
        (lambda: pairs("a", "b", least=0), "`least` must be a whole number >= 1, got 0"),
        (lambda: pairs("a", "b", alpha=-1), "alpha"),
        (lambda: Model([pairs()]).learn([["a"]], ["x"]), "name two or more"),
        (lambda: NaiveBayes(pairs=True).fit(["some", "texts"], ["a", "b"]), "needs a table"),
        (lambda: NaiveBayes(pairs=True).fit({"a": [1.0, 2.0]}, ["a", "b"]), "needs a table with two"),
    ],
)
def test_what_cannot_be_paired_is_refused_with_the_remedy(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_rows_that_were_not_learned_as_pairs_are_not_forgotten() -> None:
    X = table([("a", "a", "a"), ("b", "b", None)])
    model = Model({"all": pairs(*COLUMNS)}).learn(X, ["p", "p"])
    before = model.to_bytes()
    for row in [("a", "b", "a"), ("a", "a", None), (None, "a", "a"), ("d", "a", "a")]:
        with pytest.raises(ValueError, match="Nothing was forgotten"):
            model.forget(table([row]), ["p"])
    assert model.to_bytes() == before


def test_a_name_of_a_column_is_never_taken_for_the_pairs() -> None:
    X = {"pairs": ["a", "b", "a", "b"], "other": ["c", "c", "d", "d"], "third": [1.0, 2.0, 3.0, 4.0]}
    views = {"pairs": category(), "other": category(), "third": normal()}
    found = NaiveBayes(views, pairs=True, tuning=None).fit(X, ["x", "x", "y", "y"])
    assert found.views_ == {"pairs_": pairs("pairs", "other"), "third": normal()}
