"""Settings of views in a grid search, and the names of features, as users of scikit-learn expect them."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from bayleaf import NaiveBayes, bins, category, chars, date_part, normal, pairs, top, words

LINES = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()[:120]
B, A = map(list, zip(*(line.split("\t", 1) for line in LINES), strict=True))


def test_a_grid_search_changes_the_settings_of_views() -> None:
    grid = {"views__0__ngrams": [1, (1, 2)], "views__0__alpha": [0.1, 1.0], "views__1__longest": [3, 4]}
    search = GridSearchCV(NaiveBayes([words(), chars(3, 3)], tuning=None), grid, cv=2).fit(A, B)
    best = search.best_params_
    assert best.keys() == grid.keys()
    assert search.best_estimator_.views[1] == chars(3, best["views__1__longest"])
    assert search.best_estimator_.views_[0].alpha == best["views__0__alpha"]


def test_in_a_pipeline_and_in_a_table_views_have_the_names_of_their_columns() -> None:
    X = pd.DataFrame({"text": A, "length": [len(text) for text in A]})
    steps = Pipeline([("judge", NaiveBayes({"text": words(), "length": bins(4)}, tuning=None))])
    grid = {"judge__views__length__number": [2, 8], "judge__views__text__stemmer": [None, "porter"]}
    search = GridSearchCV(steps, grid, cv=2).fit(X, B)
    assert search.best_estimator_["judge"].views["length"].number in (2, 8)


@pytest.mark.parametrize(
    ("views", "setting", "value", "expected"),
    [
        (words(), "views__ngrams", 3, words(3)),
        ([words()], "views__lower", False, [words(lower=False)]),
        ([words()], "views__0__stop_words", "english", [words(stop_words="english")]),
        ([words(stop_words="english")], "views__0__stop_words", top(5), [words(stop_words=top(5))]),
        (
            {"a": words(), "b": normal()},
            "views__b__smoothing",
            0.1,
            {"a": words(), "b": normal(smoothing=0.1)},
        ),
        ({"a": [words(), chars(2)]}, "views__a__1__longest", 3, {"a": [words(), chars(2, 3)]}),
        ({"p": pairs("x", "y")}, "views__p__least", 3, {"p": pairs("x", "y", least=3)}),
        ({"d": date_part("hour")}, "views__d__spread", 0.2, {"d": date_part("hour", spread=0.2)}),
    ],
)
def test_a_setting_makes_a_new_view_and_leaves_the_old_one(
    views: Any, setting: str, value: Any, expected: Any
) -> None:
    given = NaiveBayes(views)
    changed = clone(given).set_params(**{setting: value})
    assert changed.views == expected
    assert given.views == views
    assert changed.get_params()[setting] == changed.get_params(deep=True)[setting]
    assert setting not in changed.get_params(deep=False)
    assert repr(clone(changed).views) == repr(expected)


def test_every_parameter_that_is_named_can_be_set_to_what_it_is() -> None:
    given = NaiveBayes({"a": words(2, stemmer="porter"), "b": category(), "c": [bins(), normal()]})
    params = given.get_params()
    assert {"views__a__stemmer", "views__b__alpha", "views__c__0__by", "tuning"} <= params.keys()
    assert clone(given).set_params(**params).views == given.views


def test_what_is_no_parameter_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no parameter 'views__0__colour': choose from"):
        NaiveBayes([words()]).set_params(views__0__colour=1)
    with pytest.raises(ValueError, match="give `views`, which are None"):
        NaiveBayes().set_params(views__alpha=1)
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        NaiveBayes().set_params(colour=1)
    with pytest.raises(ValueError, match="`ngrams` must go from 1"):
        NaiveBayes([words()]).set_params(views__ngrams=99)


def test_features_have_names() -> None:
    texts = NaiveBayes([words(), chars(3)], tuning=None).fit(["free lunch", "no prize"], ["a", "b"])
    names = texts.get_feature_names_out().tolist()
    assert {"words__free", "words__lunch", "chars__fre"} <= set(names)
    assert len(names) == len(set(names))
    X = pd.DataFrame(
        {"who": ["x", "y", "x"], "size": [1.0, 2.0, 3.0], "day": pd.date_range("2026-11-16", periods=3)}
    )
    table = NaiveBayes({"who": category(), "size": normal(), "day": date_part("weekday")}).fit(
        X, ["a", "b", "a"]
    )
    assert table.feature_names_in_.tolist() == ["who", "size", "day"]
    assert table.n_features_in_ == 3
    assert table.get_feature_names_out().tolist() == [
        "who=x", "who=y", "size", "day=Monday", "day=Tuesday", "day=Wednesday",
    ]  # fmt: skip
    both = NaiveBayes({"p": pairs("who", "size")}, tuning=None).fit(X, ["a", "b", "a"])
    assert both.get_feature_names_out().tolist() == ["who=x", "who=y", "size=1", "size=2", "size=3"]
    assert isinstance(np.asarray(names)[0], str)
