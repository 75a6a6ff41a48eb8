"""L10: judgment that holds: weights of rows, copies, tables, settings after fitting, and what is stale."""

from __future__ import annotations

import warnings
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score

from bayleaf import Model, NaiveBayes, category, load, normal, words
from bayleaf.tuning.examples import Evidence, Examples, normalized
from bayleaf.tuning.scorer import look
from bayleaf.tuning.weighing import together
from strategies import Corpus, corpora

LINES = [
    line.split("\t", 1)
    for line in files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
]
TEXTS, LABELS = [text for _, text in LINES], [label for label, _ in LINES]
A, B = TEXTS[:800], LABELS[:800]
TEST, TRUTH = TEXTS[800:], np.array(LABELS[800:])


def log_loss(classifier: NaiveBayes, X: Any = None) -> float:
    posterior = classifier.predict_log_proba(TEST if X is None else X)
    return float(-posterior[np.arange(len(TRUTH)), np.searchsorted(classifier.classes_, TRUTH)].mean())


def recall(classifier: NaiveBayes, label: str) -> float:
    return float((classifier.predict(TEST) == label)[label == TRUTH].mean())


@pytest.fixture(scope="module")
def spam() -> NaiveBayes:
    return NaiveBayes().fit(A, B)


# Weights


@pytest.mark.parametrize("weight", [2, 5, 0.1, 1e-9])
@pytest.mark.parametrize("tuning", ["auto", "temperature", None])
def test_the_same_weight_for_all_rows_is_no_weight_to_the_last_digit(weight: float, tuning: Any) -> None:
    plain = NaiveBayes(tuning=tuning).fit(A[:200], B[:200])
    weighted = NaiveBayes(tuning=tuning).fit(A[:200], B[:200], sample_weight=[weight] * 200)
    np.testing.assert_array_equal(weighted.predict_log_proba(TEST), plain.predict_log_proba(TEST))


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=20), st.sampled_from([2.0, 4.0, 0.5]))
def test_only_the_ratios_of_weights_matter(weights: list[float], factor: float) -> None:
    scaled = normalized([factor * weight for weight in weights])
    np.testing.assert_array_equal(normalized(weights), scaled)
    assert not len(scaled) or scaled.mean() == pytest.approx(1)


def test_a_heavier_class_is_found_more_often(spam: NaiveBayes) -> None:
    five = NaiveBayes().fit(A, B, sample_weight=np.where(np.array(B) == "spam", 5, 1))
    same = NaiveBayes(class_weight={"spam": 5}).fit(A, B)
    fair = NaiveBayes(class_weight="balanced").fit(A, B)
    assert recall(five, "spam") >= recall(spam, "spam")
    assert recall(fair, "spam") >= recall(spam, "spam")
    np.testing.assert_array_equal(five.predict_log_proba(TEST), same.predict_log_proba(TEST))


def test_fractions_are_weights_and_forgetting_takes_the_same() -> None:
    weights = np.random.default_rng(0).uniform(0, 3, 800).round(1)
    classifier = NaiveBayes(tuning=None).fit(A, B, sample_weight=weights)
    posterior = classifier.predict_log_proba(TEST)
    before = classifier.model_.to_bytes(), posterior
    classifier.partial_fit(TEST, TRUTH, sample_weight=[0.3] * len(TEST))
    classifier.forget(TEST, TRUTH, sample_weight=[0.3] * len(TEST))
    np.testing.assert_array_equal(classifier.predict_log_proba(TEST), before[1])
    assert classifier.model_.to_bytes() == before[0]


def test_the_prior_of_weighted_rows_comes_back_from_a_file(tmp_path: Path) -> None:
    for tuning in (None, "auto"):
        classifier = NaiveBayes(tuning=tuning, class_weight={"spam": 3}).fit(A, B, sample_weight=[0.5] * 800)
        classifier.save(tmp_path / "spam.bayleaf")
        again = load(tmp_path / "spam.bayleaf")
        assert again.class_weight == {"spam": 3}
        np.testing.assert_array_equal(again.predict_log_proba(TEST), classifier.predict_log_proba(TEST))
        again.partial_fit(["hello"], ["ham"], sample_weight=[0.25])
        assert again.forget(["hello"], ["ham"], sample_weight=[0.25]).classes_.tolist() == ["ham", "spam"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("even", "'balanced' or a mapping"),
        ({"spam": -1}, "finite number > 0"),
        ({"Spam": 2}, "'Spam', which is not"),
    ],
)
def test_weights_of_classes_that_cannot_be_are_refused(wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NaiveBayes(class_weight=wrong).fit(A, B)


# Copies and groups


@settings(max_examples=40, deadline=None)
@given(corpora(min_size=4), st.data())
def test_documents_left_out_together_are_scored_by_the_counts_of_the_others(
    corpus: Corpus, data: st.DataObject
) -> None:
    """By hand: log((D - group's + a) / (N - group's terms + aV)) times (1 + log tf) / norm."""
    texts, labels = corpus
    assume(len(set(labels)) > 1)
    groups = data.draw(st.lists(st.integers(0, 3), min_size=len(texts), max_size=len(texts)))
    model = Model([words(ngrams=2)]).learn(texts, labels)
    looked = look(model.tallies[0], model.counts(0), texts, 0.5, 1, 1.0, 1)  # type: ignore[arg-type]
    assume(len(looked.counts))
    y = np.array([model.classes.index(label) for label in labels], np.uint32)
    examples = Examples(
        np.arange(len(y), dtype=np.uint32), y, len(model.classes), groups=np.array(groups, np.uint32)
    )
    evidence = Evidence([looked])
    features = evidence.features(examples, 1, leave_out=True).core
    assert features is not None
    found = features.group_scores(np.zeros(len(looked.counts), np.uint8), 1)[:, 0]
    ends, terms, times = looked.rows.arrays()
    starts = [0, *ends.tolist()]
    for i in range(len(texts)):
        left = looked.counts.table().astype(float)
        for j in np.flatnonzero(np.array(groups) == groups[i]).tolist():
            left[terms[starts[j] : starts[j + 1]], y[j]] -= 1
        own, values = terms[starts[i] : starts[i + 1]], 1 + np.log(times[starts[i] : starts[i + 1]])
        known = left[own].sum(axis=1) > 0
        own, values = own[known], values[known]
        logs = np.log(left[own] + 0.5) - np.log(left.sum(axis=0) + 0.5 * len(left))
        scores = (values[:, None] * logs).sum(axis=0) / np.sqrt((values**2).sum() or 1)
        np.testing.assert_allclose(found[i] - found[i].mean(), scores - scores.mean(), atol=1e-4)


def test_copies_do_not_vouch_for_one_another(spam: NaiveBayes) -> None:
    twice = NaiveBayes().fit(A * 2, B * 2)
    assert log_loss(twice) < 1.15 * log_loss(spam)


def test_groups_and_copies_are_left_out_together() -> None:
    assert together(None, [np.array([3, 1, 3, 2])]).tolist() == [2, 0, 2, 1]
    assert together(["a", "b", "b", "c"], [np.array([1, 1, 2, 3])]).tolist() == [0, 0, 0, 1]
    assert together(["a", "b", "c"], None).tolist() == []
    with pytest.raises(ValueError, match="There are 3 rows and 2 groups"):
        NaiveBayes().fit(["a", "b", "c"], [0, 1, 1], groups=[1, 2])


def test_groups_that_tell_the_label_are_not_evidence() -> None:
    """Each author writes of one class, and signs: without groups the signature is worth as much as a word."""
    random = np.random.default_rng(0)
    authors = random.integers(60, size=600)
    labels = (authors % 2).tolist()
    texts = [
        f"author{author} " + " ".join(f"{'xy'[label]}{i}" for i in random.integers(300, size=2))
        + " " + " ".join(f"common{i}" for i in random.integers(30, size=5))
        for author, label in zip(authors.tolist(), labels, strict=True)
    ]  # fmt: skip
    old, new = authors < 40, authors >= 40
    train = [texts[i] for i in np.flatnonzero(old)], [labels[i] for i in np.flatnonzero(old)]
    test = [texts[i] for i in np.flatnonzero(new)], np.array(labels)[new]

    def loss(groups: Any) -> float:
        posterior = NaiveBayes(words()).fit(*train, groups=groups).predict_log_proba(test[0])
        return float(-posterior[np.arange(len(test[1])), test[1]].mean())

    assert loss(authors[old]) < loss(None)


# Tables


def test_a_frame_with_one_column_of_texts_is_its_column(spam: NaiveBayes) -> None:
    frame = NaiveBayes().fit(pd.DataFrame({"text": A}), B)
    np.testing.assert_array_equal(
        frame.predict_log_proba(pd.DataFrame({"text": TEST})), spam.predict_log_proba(TEST)
    )


def test_one_more_column_does_not_spoil_the_texts(spam: NaiveBayes) -> None:
    def frame(texts: list[str]) -> pd.DataFrame:
        return pd.DataFrame(
            {"text": texts, "length": list(map(len, texts)), "mark": ["!" in t for t in texts]}
        )

    mixed = NaiveBayes().fit(frame(A), B)
    assert mixed.model_.judgment is not None
    assert len(mixed.model_.judgment.views) == len(mixed.model_.views)
    assert log_loss(mixed, frame(TEST)) < 1.1 * log_loss(spam)
    found = mixed.explain(frame(TEST).iloc[0])
    total = found.log_prior + found.bias + sum(part.scores for part in found.parts)
    np.testing.assert_allclose(total, found.log_joint, atol=1e-9)
    again = Model.from_bytes(mixed.model_.to_bytes())
    np.testing.assert_array_equal(again.log_joint(frame(TEST)), mixed.model_.log_joint(frame(TEST)))


@pytest.mark.parametrize("data", [load_iris, load_wine, load_breast_cancer])
def test_tables_of_numbers_are_calibrated(data: Any) -> None:
    X, y = data(return_X_y=True)

    def loss(tuning: Any) -> float:
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        return float(
            -cross_val_score(NaiveBayes(tuning=tuning), X, y, cv=folds, scoring="neg_log_loss").mean()
        )

    assert loss("auto") < loss(None)


def test_what_auto_left_as_counted_is_said() -> None:
    with pytest.warns(UserWarning, match="stays as counted: 60 rows in 30 classes"):
        NaiveBayes().fit({"n": [float(i) for i in range(60)]}, list(range(30)) * 2)


# Settings after fitting


@pytest.mark.parametrize(
    "setting", [{"alpha": 0.1}, {"unseen": "smooth"}, {"tuning": "views"}, {"class_weight": "balanced"}]
)
def test_settings_that_weights_were_earned_with_warn_and_keep_them(setting: dict[str, Any]) -> None:
    classifier = NaiveBayes().fit(A, B)
    before = classifier.predict_log_proba(TEST)
    default = {name: getattr(classifier, name) for name in setting}
    with pytest.warns(UserWarning, match="stays weighed as it was: with .*Call `retune"):
        classifier.set_params(**setting).predict(TEST)
    np.testing.assert_array_equal(classifier.predict_log_proba(TEST), before)
    np.testing.assert_array_equal(classifier.set_params(**default).predict_log_proba(TEST), before)


def test_the_textbook_can_be_asked_for_and_left_again() -> None:
    classifier = NaiveBayes().fit(A, B)
    before = classifier.predict_log_proba(TEST)
    textbook = NaiveBayes(classifier.views_, tuning=None).fit(A, B)
    classifier.set_params(tuning=None)
    np.testing.assert_array_equal(classifier.predict_log_proba(TEST), textbook.predict_log_proba(TEST))
    classifier.set_params(tuning="auto")
    np.testing.assert_array_equal(classifier.predict_log_proba(TEST), before)


def test_an_event_model_set_and_set_back_restores_the_weights() -> None:
    model = Model([words()]).learn(A, B).tune(A, B)
    before = model.log_joint(TEST)
    assert model.configure(event="bernoulli").judgment is None
    np.testing.assert_array_equal(model.configure(event="multinomial").log_joint(TEST), before)


def test_retuning_takes_the_settings_of_now() -> None:
    classifier = NaiveBayes().fit(A, B)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier.set_params(alpha=0.1).retune(A, B).predict(TEST)
    fresh = NaiveBayes(alpha=0.1).fit(A, B)
    np.testing.assert_array_equal(classifier.predict_log_proba(TEST), fresh.predict_log_proba(TEST))


# Stale


def test_a_sliding_window_is_stale(tmp_path: Path) -> None:
    classifier: Any = NaiveBayes().fit(A, B)
    assert not classifier.stale_
    same = int(np.flatnonzero(B[0] == TRUTH)[0])
    classifier.partial_fit([TEST[same]], [B[0]])
    classifier.forget(A[:1], B[:1])
    assert classifier.model_.class_documents == NaiveBayes().fit(A, B).model_.class_documents
    assert classifier.stale_
    classifier.save(tmp_path / "spam.bayleaf")
    assert load(tmp_path / "spam.bayleaf").stale_
    assert Model.load(tmp_path / "spam.bayleaf").stale
    assert not classifier.retune([*A[1:], TEST[same]], [*B[1:], B[0]]).stale_


def test_what_is_learned_and_forgotten_leaves_nothing_stale() -> None:
    classifier: Any = NaiveBayes().fit(A, B)
    before = classifier.model_.to_bytes()
    classifier.partial_fit(TEST, TRUTH)
    assert classifier.stale_
    classifier.forget(TEST[::-1], TRUTH[::-1])
    assert not classifier.stale_
    assert classifier.model_.to_bytes() == before


def test_a_class_that_is_new_to_the_weights_is_named_once() -> None:
    classifier: Any = NaiveBayes().fit(A, B)
    with pytest.warns(UserWarning, match=r"The class 'other' is new, and .* until `retune` is called"):
        classifier.partial_fit(["bonjour le monde"], ["other"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier.partial_fit(["bonsoir le monde"], ["other"])
        classifier.predict(TEST)
        classifier.retune([*A, "bonjour le monde", "bonsoir le monde"], [*B, "other", "other"])
        classifier.partial_fit(["bonne nuit"], ["other"])
        NaiveBayes(tuning="temperature").fit(A, B).partial_fit(["bonjour"], ["other"])
        NaiveBayes(tuning=None).fit(A, B).partial_fit(["bonjour"], ["other"])


def test_a_merged_model_is_stale() -> None:
    model = Model([words()]).learn(A, B).tune(A, B)
    assert model.merge(Model([words()]).learn(TEST[:2], TRUTH[:2])).stale


def test_retuning_with_documents_of_one_class_or_none_of_ours_is_refused() -> None:
    classifier = NaiveBayes().fit(A, B)
    before = classifier.model_.to_bytes()
    hams = [i for i, label in enumerate(B) if label == "ham"]
    with pytest.raises(ValueError, match="no document of the class 'spam'"):
        classifier.retune([A[i] for i in hams], ["ham"] * len(hams))
    with pytest.raises(ValueError, match="never learned"):
        classifier.retune(["zyxwvut abcdefgh", *A[1:]], B)
    assert classifier.model_.to_bytes() == before


def test_views_of_tables_keep_their_weights_beside_categories_and_numbers() -> None:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=np.where(X[:, 0] > 6, "long", "short"))
    views = {"a": normal(), "b": normal(), "c": normal(), "d": normal(), "e": category()}
    classifier = NaiveBayes(views).fit(frame, y)
    judgment = classifier.model_.judgment
    assert judgment is not None
    assert all(len(view.groups) == 1 and view.groups[0] >= 0 for view in judgment.views)
    assert classifier.predict_proba(frame.iloc[:3]).shape == (3, 3)


def test_the_first_batch_does_not_decide_the_views() -> None:
    views = {repr(NaiveBayes().partial_fit(A[:n], B[:n]).views_) for n in (5, 29, 30, 31, 400)}
    assert views == {repr([words(ngrams=2)])}


def test_scikit_learns_users_find_terms_and_decisions(spam: NaiveBayes) -> None:
    odds = spam.decision_function(TEST)
    assert ((odds > 0) == (spam.predict(TEST) == "spam")).all()
    assert len(spam.top_terms("spam", 5)) == 5
    three = NaiveBayes().fit(["a", "b", "c"], [0, 1, 2])
    np.testing.assert_array_equal(three.decision_function(["a"]), three.predict_log_proba(["a"]))


def test_categories_that_pandas_declares_are_possible_before_they_are_seen() -> None:
    sizes = pd.Categorical(["s", "m", "m", "s"], categories=["s", "m", "l"])
    classifier = NaiveBayes().fit(pd.DataFrame({"size": sizes}), [0, 1, 1, 0])
    assert classifier.views_ == {"size": category(values=["s", "m", "l"])}
    joint = classifier.predict_joint_log_proba(pd.DataFrame({"size": ["l"]}))
    np.testing.assert_allclose(joint, np.log([[0.5 / 5, 0.5 / 5]]))
