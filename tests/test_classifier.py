"""NaiveBayes keeps scikit-learn's contract and the model's promises, for texts, tables and arrays."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayleaf import (
    Model,
    ModelFileError,
    NaiveBayes,
    bins,
    category,
    chars,
    counts,
    flag,
    kernel,
    load,
    normal,
    words,
)

TEXTS = ["win money now", "lunch at noon", "free money win", "team meeting", "money", "noon team"]
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"]
MAIL = pd.DataFrame(
    {
        "subject": TEXTS,
        "sender": ["a.com", "b.org", "a.com", "b.org", None, "b.org"],
        "hour": [3.0, 12.0, np.nan, 10.5, 4.0, 11.0],
        "urgent": [True, False, True, True, True, False],
    }
)


WEIGHTS = "sample weights weigh the evidence and leave the counts alone, so 2 is not two copies"


@parametrize_with_checks(  # type: ignore[untyped-decorator] # scikit-learn is untyped
    [NaiveBayes()],
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": WEIGHTS},
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


def test_iris_leave_one_out_is_143_of_150() -> None:
    X, y = load_iris(return_X_y=True)
    assert round(cross_val_score(NaiveBayes(tuning=None), X, y, cv=LeaveOneOut()).sum()) == 143


def test_numbers_give_the_posterior_of_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    ours, theirs = (
        NaiveBayes(normal(smoothing=0), tuning=None).fit(X, y),
        GaussianNB(var_smoothing=0).fit(X, y),
    )
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-12)
    block = (X * 10).astype(int)
    ours, theirs = (
        NaiveBayes(counts(), alpha=0.3, tuning=None).fit(block, y),
        MultinomialNB(alpha=0.3).fit(block, y),
    )
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(block), theirs.predict_joint_log_proba(block), rtol=1e-12
    )


def test_views_are_chosen_by_what_is_in_a_column() -> None:
    frame = MAIL.assign(kind=pd.Categorical(list("uvwxyz")), count=range(6), code=["a", "b"] * 3)
    model = NaiveBayes().fit(frame, LABELS)
    assert model.views_ == {
        "subject": words(ngrams=2),
        "sender": category(),
        "hour": normal(),
        "urgent": category(),
        "kind": category(values=list("uvwxyz")),
        "count": normal(),
        "code": category(),
    }
    assert NaiveBayes().fit(TEXTS, LABELS).views_ == [words(ngrams=2), chars(3, 5)]
    assert NaiveBayes(tuning=None).fit(TEXTS, LABELS).views_ == [words(ngrams=2)]
    assert NaiveBayes().fit(np.ones((6, 2)), LABELS).views_ == {"x0": normal(), "x1": normal()}
    assert NaiveBayes().fit([["a", 1], ["a", 2], ["b", 3], ["b", None]], [0, 1, 0, 1]).views_ == {
        "x0": category(),
        "x1": normal(),
    }
    assert NaiveBayes(chars(3)).fit(TEXTS, LABELS).views_ == [chars(3)]
    assert NaiveBayes(kernel()).fit(np.ones((6, 1)), LABELS).views_ == {"x0": kernel()}
    assert NaiveBayes(counts()).fit(np.ones((6, 2)), LABELS).views_ == {"counts": counts("x0", "x1")}


def test_a_frame_is_the_same_in_every_library() -> None:
    expected = NaiveBayes().fit(MAIL, LABELS)
    for frame in (
        pl.from_pandas(MAIL),
        pa.Table.from_pandas(MAIL),
        {name: MAIL[name].tolist() for name in MAIL},
    ):
        model = NaiveBayes().fit(frame, LABELS)
        assert model.model_.to_bytes() == expected.model_.to_bytes()
        assert model.predict(frame).tolist() == LABELS
        assert model.feature_names_in_.tolist() == list(MAIL)
        assert np.array_equal(model.predict_proba(frame), expected.predict_proba(MAIL))


def test_texts_are_the_same_in_every_library() -> None:
    expected = NaiveBayes().fit(TEXTS, LABELS)
    for column in (pd.Series(TEXTS), pl.Series(TEXTS), pa.array(TEXTS), np.array(TEXTS), tuple(TEXTS)):
        model = NaiveBayes().fit(column, LABELS)
        assert model.model_.to_bytes() == expected.model_.to_bytes()
        assert np.array_equal(model.predict_log_proba(column), expected.predict_log_proba(TEXTS))


def test_an_explanation_names_the_part_of_each_column_and_sums_to_the_score() -> None:
    model = NaiveBayes().fit(MAIL, LABELS)
    for row in (MAIL.iloc[0], MAIL.iloc[:1], MAIL.iloc[0].to_dict(), MAIL.iloc[0].tolist()):
        explanation = model.explain(row)
        terms = [part.term for part in explanation.parts]
        assert terms[-3:] == ["sender=a.com", "hour=3", "urgent=True"]
        assert {"win", "money now"} <= set(terms)
        total = explanation.log_prior + explanation.bias + sum(part.scores for part in explanation.parts)
        np.testing.assert_allclose(total, model.predict_joint_log_proba(MAIL)[0], rtol=1e-12)


def test_growing_and_forgetting_equal_fitting_what_is_left() -> None:
    model = NaiveBayes().partial_fit(MAIL[:4], LABELS[:4]).partial_fit(MAIL[4:], ["new", "ham"])
    assert model.classes_.tolist() == ["ham", "new", "spam"]
    model.forget(MAIL[4:5], ["new"])
    kept = [0, 1, 2, 3, 5]
    views = model.views_
    fresh = NaiveBayes(views).fit(MAIL.iloc[kept], [LABELS[i] for i in kept])
    assert model.model_.to_bytes() == fresh.model_.to_bytes()
    assert model.classes_.tolist() == ["ham", "spam"]
    with pytest.raises(ValueError, match="Nothing was forgotten"):
        model.forget(MAIL[4:5], ["spam"])


def test_two_halves_merged_are_the_whole() -> None:
    views = {"subject": words(), "sender": category(), "hour": kernel(), "urgent": flag()}
    whole = NaiveBayes(views).fit(MAIL, LABELS)
    one, other = NaiveBayes(views).fit(MAIL[:3], LABELS[:3]), NaiveBayes(views).fit(MAIL[3:], LABELS[3:])
    assert one.merge(other).model_.to_bytes() == whole.model_.to_bytes()
    with pytest.raises(ValueError, match="differently"):
        one.merge(NaiveBayes().fit(TEXTS, LABELS))
    with pytest.raises(TypeError, match="Only another NaiveBayes"):
        one.merge(whole.model_)  # type: ignore[arg-type]


def test_a_label_that_was_not_announced_is_refused_and_named() -> None:
    model = NaiveBayes().partial_fit(["hi", "win"], ["ham", "spam"], classes=["ham", "spam", "other"])
    before = model.model_.to_bytes()
    assert model.classes_.tolist() == ["ham", "other", "spam"]
    with pytest.raises(ValueError, match=r"labels \['Spam'\].*\['ham', 'other', 'spam'\]"):
        model.partial_fit(["win win"], ["Spam"])
    with pytest.raises(ValueError, match=r"`classes` lacks \['other'\]"):
        model.partial_fit(["win win"], ["spam"], classes=["ham", "spam"])
    assert model.model_.to_bytes() == before


def test_weights_of_rows_leave_the_counts_alone_and_move_the_prior() -> None:
    weights = [2, 0, 1, 3.5, 1, 1]
    rows = np.flatnonzero(weights)
    for X in (MAIL, pl.from_pandas(MAIL), pa.Table.from_pandas(MAIL)):
        weighted = NaiveBayes(NaiveBayes().fit(MAIL, LABELS).views_).fit(X, LABELS, sample_weight=weights)
        plain = NaiveBayes(weighted.views_).fit(MAIL.iloc[rows], np.array(LABELS)[rows])
        assert counted(weighted) == counted(plain)
        sums = pd.Series(weights).groupby(np.array(LABELS)).sum()
        prior = np.exp(weighted.explain(MAIL.iloc[0]).log_prior)
        np.testing.assert_allclose(prior, (sums / sums.sum())[weighted.classes_])


def counted(classifier: NaiveBayes) -> list[Any]:
    return [
        {name: array.tolist() for name, array in tally.counts(classifier.model_.order).arrays.items()}
        for tally in classifier.model_.tallies
    ]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1, 1, 1, 1], r"sample_weight\[1\] is -1"),
        ([1, np.inf, 1, 1, 1, 1], r"sample_weight\[1\] is inf"),
        ([1, np.nan, 1, 1, 1, 1], r"sample_weight\[1\] is nan"),
        ([0] * 6, "at least one non-zero"),
        ([1] * 5, r"shape \(5,\); give one weight for each of 6 rows"),
    ],
)
def test_weights_that_cannot_be_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NaiveBayes().fit(TEXTS, LABELS, sample_weight=weights)


def test_priors_and_smoothing_change_without_fitting_again() -> None:
    model = NaiveBayes(tuning=None).fit(TEXTS, LABELS)
    settings: Any = {"priors": {"ham": 0.9, "spam": 0.1}, "alpha": 0.1, "unseen": "smooth"}
    model.set_params(**settings)
    fresh = NaiveBayes(tuning=None, **settings).fit(TEXTS, LABELS)
    assert np.array_equal(model.predict_log_proba(["money new"]), fresh.predict_log_proba(["money new"]))
    with pytest.raises(ValueError, match="priors miss the classes"):
        model.set_params(priors={"ham": 1.0}).predict(["money"])


def test_joint_evidence_and_posterior_belong_together() -> None:
    model = NaiveBayes().fit(MAIL, LABELS)
    joint, evidence = model.predict_joint_log_proba(MAIL), model.log_evidence(MAIL)
    np.testing.assert_allclose(model.predict_log_proba(MAIL), joint - evidence[:, None], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(MAIL).sum(axis=1), 1)
    assert model.score(MAIL, LABELS) == 1.0


def test_an_answer_may_be_unsure() -> None:
    model = NaiveBayes(tuning=None).fit(["a b", "c d", "a a"], ["x", "y", "x"])
    surest = model.predict_proba(["a", "d", "q"]).max(axis=1)
    assert surest[0] > 0.7 > surest[1]
    assert model.predict(["a", "d", "q"], unsure=0.7).tolist() == ["x", None, None]
    assert model.predict(["a", "d", "q"], unsure=0.7, unsure_label="?").tolist() == ["x", "?", "?"]
    with pytest.raises(ValueError, match="`unsure` must be a probability from 0 to 1, got 7"):
        model.predict(["a"], unsure=7)


SETTINGS: list[Callable[[NaiveBayes], Any]] = [
    lambda model: model.set_params(alpha=40.0),
    lambda model: setattr(model, "priors", {"ham": 0.999, "spam": 0.001}),
    lambda model: setattr(model, "priors", "uniform"),
    lambda model: setattr(model, "costs", {"ham": {"spam": 1000.0}}),
    lambda model: setattr(model, "costs", None),
    lambda model: model.set_params(thresholds={"spam": 0.9999}),
    lambda model: model.set_params(thresholds=None, tuning=None),
    lambda model: model.set_params(class_weight={"ham": 50.0}),
    lambda model: model.set_params(class_weight=None, tuning="auto"),
    lambda model: model.model_.configure(alpha=3.0),
    lambda model: model.partial_fit(["win"] * 9 + ["eggs"], ["ham"] * 9 + ["breakfast"]),
    lambda model: model.forget(["eggs"], ["breakfast"]),
    lambda model: model.model_.weigh(False),
    lambda model: model.set_params(threads=2),
]


@pytest.mark.filterwarnings("ignore")
def test_one_text_is_answered_as_one_of_many_whatever_was_set_since() -> None:
    texts = [
        "win a prize now",
        "lunch at noon",
        "win money",
        "see you at lunch",
        "a prize for you",
        "noon",
    ] * 4
    model = NaiveBayes().fit(texts, ["spam", "ham"] * 12)
    asked = ["win a prize", "lunch", "win", "at noon you see", "", "unknown words", "a", "caf\ud800"]
    seen = set()
    for change in [lambda _: None, *SETTINGS]:
        change(model)
        alone = [model.predict([text]).tolist()[0] for text in asked]
        assert alone == [model.predict([text, text]).tolist()[1] for text in asked]
        assert alone == [model.predict([text]).tolist()[0] for text in asked]
        posteriors = np.vstack([model.predict_proba([text]) for text in asked])
        np.testing.assert_array_equal(posteriors, model.predict_proba(asked))
        seen.add(tuple(alone))
    assert len(seen) > 3


def test_each_answer_to_one_text_is_an_array_of_its_own() -> None:
    model = NaiveBayes().fit(["win", "lunch"], ["spam", "ham"])
    model.predict(["win"])[0] = "changed"
    assert model.predict(["win"]).tolist() == ["spam"]


def test_costs_and_thresholds_decide() -> None:
    model = NaiveBayes(tuning=None).fit(["a b", "c d", "a a"], ["x", "y", "x"])
    assert model.predict(["q"]).tolist() == ["x"]
    assert model.set_params(costs={"y": {"x": 2.1}}).predict(["q"]).tolist() == ["y"]
    assert model.set_params(costs={"y": {"x": 1.9}}).predict(["q"]).tolist() == ["x"]
    assert model.set_params(costs=[[0, 1], [2.1, 0]]).predict(["q"]).tolist() == ["y"]
    model.set_params(costs=None, thresholds={"x": 0.7})
    assert model.predict(["q", "a a a"]).tolist() == ["y", "x"]
    with pytest.raises(ValueError, match="Give `costs` or `thresholds`, not both"):
        model.set_params(costs=[[0, 1], [1, 0]]).predict(["q"])
    with pytest.raises(ValueError, match=r"`costs` must be finite numbers.*got shape \(1, 2\)"):
        model.set_params(costs=[[0, 1]], thresholds=None).predict(["q"])
    with pytest.raises(ValueError, match=r"`thresholds` names the class 'z'; the classes are \['x', 'y'\]"):
        model.set_params(costs=None, thresholds={"z": 0.5}).predict(["q"])


@pytest.mark.parametrize("X", [TEXTS, MAIL, MAIL[["hour"]].to_numpy()], ids=["texts", "frame", "array"])
def test_a_saved_model_loads_as_a_fitted_one(X: Any, tmp_path: Path) -> None:
    model = NaiveBayes(costs={"ham": {"spam": 3.0}}, alpha=0.5).fit(X, LABELS)
    model.save(tmp_path / "model.bayleaf")
    found = load(tmp_path / "model.bayleaf")
    assert np.array_equal(found.predict_joint_log_proba(X), model.predict_joint_log_proba(X))
    assert found.predict(X).tolist() == model.predict(X).tolist()
    assert (found.alpha, found.costs, found.classes_.tolist()) == (
        0.5,
        {"ham": {"spam": 3.0}},
        ["ham", "spam"],
    )
    assert Model.load(tmp_path / "model.bayleaf").classes == ["ham", "spam"]
    found.partial_fit(X, LABELS)
    assert found.model_.n_documents == 12
    (tmp_path / "other").write_text("something else")
    with pytest.raises(ModelFileError, match="is not a bayleaf model"):
        load(tmp_path / "other")


def test_a_file_of_a_plain_model_loads_as_a_classifier(tmp_path: Path) -> None:
    views = {"hour": normal(), "sender": category()}
    Model(views).learn(MAIL, LABELS).save(tmp_path / "model.bayleaf")
    assert load(tmp_path / "model.bayleaf").predict(MAIL[["hour", "sender"]]).tolist() == LABELS


def test_clones_and_pickles_are_independent() -> None:
    model = NaiveBayes([words(), chars(3)]).fit(TEXTS, LABELS)
    copied = pickle.loads(pickle.dumps(model))
    with pytest.warns(UserWarning, match="The class 'new' is new"):
        copied.partial_fit(["x"], ["new"])
    assert model.classes_.tolist() == ["ham", "spam"]
    assert clone(model).views == model.views
    with pytest.raises(NotFittedError):
        clone(model).predict(TEXTS)


def test_a_search_and_a_pipeline_take_texts_and_views() -> None:
    grid = {"alpha": [0.1, 1.0], "views": [[words()], [words(), chars(3)], chars(2)]}
    search = GridSearchCV(NaiveBayes(), grid, cv=2).fit(TEXTS * 2, LABELS * 2)
    assert search.predict(["money"]).tolist() == ["spam"]
    pipeline = make_pipeline(FunctionTransformer(lambda X: [text.upper() for text in X]), NaiveBayes())
    assert pipeline.fit(TEXTS, LABELS).predict(["MONEY"]).tolist() == ["spam"]
    search = GridSearchCV(NaiveBayes(), {"views": [normal(), kernel(), bins(2)]}, cv=5)
    assert search.fit(*load_iris(return_X_y=True)).best_score_ > 0.95


def test_html_shows_the_views() -> None:
    assert "words(stemmer=&#x27;porter&#x27;)" in NaiveBayes([words(stemmer="porter")])._repr_html_()


@pytest.mark.parametrize("frame", [MAIL, pl.from_pandas(MAIL), {name: MAIL[name].tolist() for name in MAIL}])
def test_other_columns_are_named_the_missing_and_the_extra(frame: Any) -> None:
    model = NaiveBayes().fit(frame, LABELS)
    wrong = {name: MAIL[name].tolist() for name in ("subject", "urgent")} | {"size": [1] * 6}
    asked: Any = wrong if isinstance(frame, dict) else type(frame)(wrong)
    with pytest.raises(ValueError, match=r"(?s)size.*hour.*sender|sender.*hour.*size"):
        model.predict(asked)


def test_a_table_is_not_a_column_of_texts() -> None:
    with pytest.raises(TypeError, match="look at one column, and X is a table"):
        NaiveBayes([words()]).fit(MAIL, LABELS)
    with pytest.raises(TypeError, match="look at one column, and X is a table"):
        NaiveBayes().fit(TEXTS, LABELS).predict(MAIL)
    with pytest.raises(TypeError, match="The column 'span' of X holds Timedelta"):
        NaiveBayes().fit(MAIL.assign(span=pd.Timedelta("1h")), LABELS)
    with pytest.raises(ValueError, match="unique column names"):
        NaiveBayes().fit(pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), [0, 1])
    with pytest.raises(TypeError, match="X is a single str"):
        NaiveBayes().fit("win", ["spam"])


def test_one_class_only_is_always_the_answer() -> None:
    for X in (TEXTS, MAIL, MAIL[["hour"]].to_numpy()):
        model = NaiveBayes().fit(X, ["only"] * 6)
        assert set(model.predict(X)) == {"only"}
        assert (model.predict_proba(X) == 1).all()
        assert model.explain(X[0] if isinstance(X, list) else X[:1]).against is None


def test_no_rows_are_refused_and_no_questions_have_no_answers() -> None:
    nothing: list[Any] = [[], MAIL[:0], np.zeros((0, 2))]
    for X in nothing:
        with pytest.raises(ValueError, match="nothing to learn"):
            NaiveBayes().fit(X, [])
    assert NaiveBayes().fit(TEXTS, LABELS).predict_proba([]).shape == (0, 2)
    assert NaiveBayes().fit(MAIL, LABELS).predict(MAIL[:0]).shape == (0,)


def test_a_column_of_missing_values_says_nothing() -> None:
    plain = NaiveBayes().fit(MAIL, LABELS)
    wide = MAIL.assign(none=None, nan=np.nan)
    model = NaiveBayes().fit(wide, LABELS)
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(MAIL))
    np.testing.assert_allclose(
        model.predict_proba(wide.assign(none="seen", nan=5.0)), plain.predict_proba(MAIL)
    )


def test_fitting_again_forgets_what_was_there() -> None:
    model = NaiveBayes().fit(MAIL, LABELS)
    model.fit(TEXTS, LABELS)
    assert not hasattr(model, "feature_names_in_")
    assert model.model_.to_bytes() == NaiveBayes().fit(TEXTS, LABELS).model_.to_bytes()
