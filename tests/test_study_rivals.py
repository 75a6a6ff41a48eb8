"""Studies against rivals: the tuned default and other estimators, folds by group, and the best made anew."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bayleaf import NaiveBayes, study, words
from bayleaf.studies.counting import split

LINES = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()[:240]
B, A = map(list, zip(*(line.split("\t", 1) for line in LINES), strict=True))
SMALL: dict[str, Any] = {
    "events": ["multinomial"], "weightings": ["tf"], "ngrams": ["1"], "stop_words": ["none"],
    "normalizers": ["none"], "folds": 4,
}  # fmt: skip


def test_a_rival_that_does_the_same_has_the_same_measures() -> None:
    same = make_pipeline(CountVectorizer(analyzer=words().tokens), MultinomialNB())
    found = study(A, B, rivals={"scikit-learn": same}, **SMALL)
    ours, theirs = sorted(found.results, key=lambda result: result.number)
    assert (str(ours.combination), str(theirs.combination)) == ("multinomial, tf, 1", "scikit-learn")
    for measure in ("accuracy", "mcc", "macro_f1", "log_loss"):
        np.testing.assert_allclose(ours.measures[measure], theirs.measures[measure], rtol=1e-9)
    assert ours.answers.tolist() == theirs.answers.tolist()
    assert [row["event"] for row in found.rows()] == [str(each.combination.event) for each in found.results]


def test_the_tuned_default_and_a_linear_machine_stand_beside_the_grid() -> None:
    svm = make_pipeline(TfidfVectorizer(), LinearSVC())
    found = study(A, B, rivals={"earned": "default", "svm": svm}, by="log_loss", **SMALL)
    assert {str(each.combination) for each in found.results} == {"multinomial, tf, 1", "earned", "svm"}
    assert str(found.best.combination) == "earned"
    best = found.best.estimator()
    assert isinstance(best, NaiveBayes)
    assert best.fit(A, B).score(A, B) > 0.9
    page = found.to_html()
    assert "earned" in page
    assert len(found.effects) == 0


def test_the_best_combination_is_made_anew_as_an_estimator() -> None:
    found = study(
        A, B, events=["bernoulli", "multinomial"], weightings=["tf", "tf-idf"], folds=3, priors="uniform",
        ngrams=["1", "letters:3"], stop_words=["none", "top:20"], normalizers=["none"],
    )  # fmt: skip
    for result in found.results:
        fold = np.flatnonzero(np.arange(len(A)) % 2)
        made = result.estimator().fit([A[i] for i in fold], [B[i] for i in fold])
        assert made.views_ == [result.combination.view()]
        assert made.priors == "uniform"
    logs = study(A, B, weightings=["log"], **{name: SMALL[name] for name in SMALL if name != "weightings"})
    with pytest.raises(ValueError, match='"log" has no estimator'):
        logs.best.estimator()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=12, max_size=60), st.integers(2, 4))
def test_the_texts_of_a_group_are_in_one_fold_and_no_fold_is_empty(rows: list[Any], folds: int) -> None:
    groups, truth = [group for group, _ in rows], np.array([label for _, label in rows])
    assume(len(set(groups)) >= folds)
    made = split(list(range(len(rows))), truth, folds, 0, groups)
    fold_of: dict[int, set[int]] = {}
    for row, fold in zip(made.order.tolist(), made.fold.tolist(), strict=True):
        fold_of.setdefault(groups[row], set()).add(fold)
    assert all(len(own) == 1 for own in fold_of.values())
    assert np.bincount(made.fold, minlength=folds).min() > 0
    assert sorted(made.texts) == list(range(len(rows)))


def test_copies_in_other_folds_flatter_a_model_and_groups_do_not() -> None:
    X, y = A[:80] * 2, B[:80] * 2
    names = list(range(80)) * 2
    copied = study(X, y, **SMALL).best.mean("log_loss")
    grouped = study(X, y, groups=names, **SMALL).best.mean("log_loss")
    assert grouped > copied


def test_an_estimator_without_probabilities_answers_by_its_label() -> None:
    class Always:
        def fit(self, X: Any, y: Any) -> Always:  # noqa: ARG002
            self.answer = max(set(y), key=y.count)
            return self

        def predict(self, X: Any) -> Any:
            return np.array([self.answer] * len(X))

    found = study(A, B, rivals=[Always()], **SMALL)
    rival = next(each for each in found.results if str(each.combination) == "Always")
    assert rival.mean("accuracy") == pytest.approx(B.count("ham") / len(B), abs=0.02)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"rivals": "default"}, TypeError, "`rivals` is a mapping"),
        ({"rivals": ["oracle"]}, ValueError, "got 'oracle'"),
        ({"rivals": [3]}, TypeError, "has `fit` and `predict`"),
        ({"rivals": [NaiveBayes(), NaiveBayes()]}, ValueError, "Two rivals have one name"),
        ({"groups": [1, 2]}, ValueError, "there are 2 groups"),
        ({"groups": [1] * len(A)}, ValueError, "more than there are groups"),
    ],
)
def test_what_is_no_rival_or_group_is_refused(wrong: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        study(A, B, **SMALL, **wrong)
