"""Several labels for a row: each judged as by a model of its own, from one count."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn import metrics
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.preprocessing import MultiLabelBinarizer

from bayleaf import Model, MultiLabel, NaiveBayes, category, chars, counts, date_part, normal, pairs, words
from bayleaf.multilabel import relabeled

TAGS = {
    "sport": ["goal", "match", "team"],
    "money": ["bank", "price", "market"],
    "rain": ["cloud", "wet", "storm"],
}


def corpus(rows: int, seed: int = 0) -> tuple[list[str], Any]:
    rng = np.random.default_rng(seed)
    Y = (rng.random((rows, 3)) < 0.4).astype(int)
    other = ["the", "a", "of", "and", "then", "very"]
    texts = [
        " ".join(
            [
                *(rng.choice(TAGS[tag]) for tag, has in zip(TAGS, row, strict=True) if has for _ in range(2)),
                *rng.choice(other, 5),
            ]
        )
        for row in Y
    ]
    return texts, pd.DataFrame(Y, columns=list(TAGS))


def test_each_label_is_judged_as_by_an_estimator_of_its_own() -> None:
    X, Y = corpus(200)
    found = MultiLabel().fit(X, Y)
    assert found.classes_.tolist() == ["sport", "money", "rain"]
    assert found.model_.n_documents == 200
    for number, name in enumerate(TAGS):
        alone = NaiveBayes().fit(X, Y[name].to_numpy())
        assert found.estimators_[number].model_.to_bytes() == alone.model_.to_bytes()
        np.testing.assert_array_equal(found.predict_proba(X)[:, number], alone.predict_proba(X)[:, 1])
        np.testing.assert_array_equal(found.predict(X)[:, number], alone.predict(X))


def test_a_relabeled_model_has_the_bytes_of_one_that_learned_these_labels() -> None:
    frame = pd.DataFrame(
        {"a": ["x", "y", "x", None] * 5, "b": ["p", "q"] * 10, "n": np.arange(20.0), "k": range(20)}
    )
    frame["text"] = ["one two", "two three"] * 10
    frame["day"] = pd.date_range("2026", periods=20)
    views: Any = {
        "text": [words(), chars(2)], "n": normal(), "two": pairs("a", "b"), "sum": counts("k"),
        "day": date_part("weekday"), "a": category(),
    }  # fmt: skip
    labels = [f"{i % 4}" for i in range(20)]
    merged = relabeled(Model(views).learn(frame, labels), lambda label: int(label) % 2)
    assert merged.to_bytes() == Model(views).learn(frame, [int(label) % 2 for label in labels]).to_bytes()


def test_scikit_learns_metrics_take_what_it_predicts() -> None:
    X, Y = corpus(300)
    test, T = corpus(100, seed=1)
    found = MultiLabel().fit(X, Y)
    answers, probabilities = found.predict(test), found.predict_proba(test)
    assert answers.shape == probabilities.shape == T.shape
    assert metrics.f1_score(T, answers, average="micro") > 0.95
    assert metrics.hamming_loss(T, answers) < 0.05
    assert metrics.average_precision_score(T, probabilities) > 0.95
    assert metrics.label_ranking_average_precision_score(T, found.decision_function(test)) > 0.95
    assert metrics.roc_auc_score(T, probabilities) > 0.95
    assert found.score(test, T) == metrics.accuracy_score(T, answers)
    assert "micro avg" in metrics.classification_report(T, answers, zero_division=0)


def test_frames_arrays_lists_and_sparse_matrices_mean_the_same() -> None:
    X, Y = corpus(60)
    expected = MultiLabel(NaiveBayes(tuning=None)).fit(X, Y).predict_proba(X)
    lists = [[name for name in TAGS if row[name]] for _, row in Y.iterrows()]
    made = MultiLabelBinarizer(classes=list(TAGS)).fit_transform(lists)
    for same in (Y.to_numpy(), Y.to_numpy().tolist(), Y.astype(bool), csr_matrix(Y.to_numpy()), made):
        np.testing.assert_array_equal(
            MultiLabel(NaiveBayes(tuning=None)).fit(X, same).predict_proba(X), expected
        )


def test_lists_and_sets_of_names_mean_the_matrix_of_their_labels_in_order() -> None:
    X, Y = corpus(60)
    lists = [[name for name in TAGS if row[name]] for _, row in Y.iterrows()]
    expected = MultiLabel(NaiveBayes(tuning=None)).fit(X, Y[sorted(TAGS)])
    for same in (lists, [set(names) for names in lists], pd.Series([tuple(names) for names in lists])):
        found = MultiLabel(NaiveBayes(tuning=None)).fit(X, same)
        assert found.classes_.tolist() == sorted(TAGS)
        np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
        found.partial_fit(X[:3], [["rain"], [], ["sport"]]).forget(X[:3], [["rain"], [], ["sport"]])
        np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


def test_it_can_be_cloned_searched_and_cross_validated() -> None:
    X, Y = corpus(90)
    search = GridSearchCV(MultiLabel(NaiveBayes()), {"estimator__tuning": ["auto", None]}, cv=3)
    search.fit(np.array(X, object), Y.to_numpy())
    assert search.best_score_ > 0.5
    crossed = cross_val_predict(
        clone(MultiLabel()), np.array(X, object), Y.to_numpy(), method="predict_proba", cv=3
    )
    assert crossed.shape == Y.shape


def test_numbers_are_taken_as_by_other_classifiers() -> None:
    X, Y = make_multilabel_classification(120, 12, n_classes=4, random_state=0)
    found = MultiLabel(NaiveBayes(views=counts())).fit(X, Y)
    assert found.classes_.tolist() == [0, 1, 2, 3]
    assert metrics.f1_score(Y, found.predict(X), average="samples", zero_division=0) > 0.6


def parts(found: MultiLabel) -> list[Any]:
    return [found, *found.estimators_]


def test_rows_are_learned_and_forgotten_under_all_their_labels() -> None:
    X, Y = corpus(80)
    found = MultiLabel(NaiveBayes(tuning=None)).fit(X[:60], Y[:60])
    before = [each.model_.to_bytes() for each in parts(found)]
    found.partial_fit(X[60:], Y[60:])
    whole = MultiLabel(NaiveBayes(found.estimators_[0].views_, tuning=None)).fit(X, Y)
    assert [each.model_.to_bytes() for each in found.estimators_] == [
        each.model_.to_bytes() for each in whole.estimators_
    ]
    found.forget(X[60:], Y[60:])
    assert [each.model_.to_bytes() for each in parts(found)] == before
    with pytest.raises(ValueError, match="Nothing was forgotten"):
        found.forget(["never learned"], [[1, 1, 1]])
    assert [each.model_.to_bytes() for each in parts(found)] == before


def test_a_label_that_all_rows_or_none_have_is_always_answered_so() -> None:
    X, Y = corpus(40)
    found = MultiLabel().fit(X, Y.assign(all=1, none=0))
    assert found.predict(["goal"])[0, 3:].tolist() == [1, 0]
    assert found.predict_proba(["goal"])[0, 3:].tolist() == [1.0, 0.0]


def test_an_answer_for_a_label_has_its_reasons_and_a_copy_answers_alike() -> None:
    X, Y = corpus(100)
    found = MultiLabel().fit(X, Y)
    explanation = found.explain("a match of the team", "sport")
    assert explanation.label == 1
    assert {"match", "team"} & {part.term for part in explanation.parts}
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict_proba(X), found.predict_proba(X))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, Y: MultiLabel().fit(X, Y["sport"]), "indicator matrix, a row for each row"),
        (lambda X, Y: MultiLabel().fit(X, Y * 2), "Y holds 2; an indicator matrix holds 0 and 1"),
        (lambda X, Y: MultiLabel().fit(X, Y).partial_fit(X, Y[["sport"]]), "Y has 1 columns, and 3 labels"),
        (lambda X, Y: MultiLabel().fit(X, Y).explain("goal", "snow"), "There is no label 'snow'"),
        (lambda X, Y: MultiLabel().fit(X, Y).partial_fit(X[:1], [["snow"]]), "'snow', which was not learned"),
        (lambda X, _: MultiLabel().fit(X[:2], [["rain"], [3]]), "the label 3; in lists"),
        (
            lambda X, _: NaiveBayes().fit(X[:2], [["rain"], ["rain", "sport"]]),
            r"is \['rain'\]: a row has one",
        ),
        (lambda X, Y: NaiveBayes().fit(X, Y), r"use MultiLabel\(NaiveBayes\(\)\)"),
    ],
)
def test_what_is_no_indicator_matrix_is_refused_with_the_remedy(call: Any, message: str) -> None:
    X, Y = corpus(20)
    with pytest.raises(ValueError, match=message):
        call(X, Y)
