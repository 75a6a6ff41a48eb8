"""A study gives the scores of models learned without each fold, and says which differences are real."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
from fractions import Fraction
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.feature_selection import mutual_info_classif
from sklearn.naive_bayes import MultinomialNB

from bayleaf import Model, Study, study
from bayleaf.metrics import Scorecard
from bayleaf.studies import Combination, _task
from bayleaf.studies.comparing import corrected_t, mcnemar
from bayleaf.studies.counting import Counted
from bayleaf.studies.curves import information_gain, sizes
from bayleaf.studies.folding import Fold
from bayleaf.studies.grid import EVENTS, NGRAMS, STOP_WORDS, WEIGHTINGS, grid
from bayleaf.studies.judging import measures
from bayleaf.studies.running import Task, answer
from bayleaf.types import Floats
from cli_process import messages
from outline import Outline
from strategies import Corpus, corpora

DATA = Path(os.environ.get("BAYLEAF_DATA") or "?")
SMALL: dict[str, Any] = {
    "ngrams": ["1", "letters:3"],
    "stop_words": ["none", "top:50"],
    "normalizers": ["none"],
}


def studied(task: Task, combination: Combination) -> Floats:
    """The log joint of every document, by subtraction of its fold."""
    counted = Counted(combination.looking.view(), task.split, len(task.classes))
    joint = np.empty((len(task.classes), len(task.split.truth)))
    for number in range(task.split.n_folds):
        fold = Fold(counted, number, (combination.top,) if combination.top else ())
        answer(fold, combination, task.log_prior(fold), joint[:, fold.documents])
    return joint.T


def refitted(task: Task, combination: Combination) -> Floats:
    """The same from scratch: for each fold a new model that reads all other documents."""
    split, labels = task.split, [task.classes[number] for number in task.split.truth.tolist()]
    joint = np.full((len(labels), len(task.classes)), -np.inf)
    for number in range(split.n_folds):
        test = split.documents(number)
        train = [i for i in range(len(labels)) if not test.start <= i < test.stop]
        model = Model([combination.view()], priors=task.priors)
        model.learn([split.texts[i] for i in train], [labels[i] for i in train])
        places = [task.classes.index(label) for label in model.classes]
        joint[test, places] = model.log_joint(split.texts[test])
    return joint


def combinations() -> st.SearchStrategy[Combination]:
    choices = st.builds(
        Combination,
        st.sampled_from(EVENTS),
        st.sampled_from([each for each in WEIGHTINGS if each != "log"]),
        st.sampled_from([*NGRAMS, "across:2"]),
        st.sampled_from([*STOP_WORDS, "top:1", "top:3"]),
        st.sampled_from(["none", "porter"]),
        st.sampled_from([1.0, 0.1, 1e-3]),
    )
    return choices.map(lambda each: grid(*([getattr(each, name)] for name in Combination.__annotations__))[0])


@given(corpora(min_size=4, max_size=14), combinations(), st.integers(2, 4), st.integers(0, 3))
def test_a_fold_taken_out_of_the_counts_leaves_the_model_that_never_saw_it(
    corpus: Corpus, combination: Combination, folds: int, seed: int
) -> None:
    texts, labels = corpus
    if len(set(labels)) > 1:
        task = _task(texts, labels, folds, seed, "empirical", None)
        expected = refitted(task, combination)
        np.testing.assert_allclose(studied(task, combination), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:The class")
@given(corpora(min_size=4, max_size=10), st.sampled_from(["accuracy", "log_loss"]))
def test_a_study_of_any_small_corpus_has_finite_measures_and_a_page(corpus: Corpus, by: str) -> None:
    texts, labels = corpus
    if len(set(labels)) > 1:
        found = study(texts, labels, ngrams=["1", "letters:3"], stop_words=["none", "top:2"],
                      normalizers=["none"], folds=3, by=by, curve=True)  # fmt: skip
        assert all(np.isfinite(values).all() for each in found.results for values in each.measures.values())
        assert Outline(found.to_html()).open == []
        assert all(0 <= each.p_folds <= 1 and 0 <= each.p_answers <= 1 for each in found.comparisons)


def test_a_corpus_without_a_single_word_is_guessed_by_the_prior() -> None:
    found = study([""] * 6, [0, 1, 1, 0, 1, 1], folds=2, ngrams=["1"], stop_words=["none", "top:2"],
                  normalizers=["none"], curve=True)  # fmt: skip
    assert {each.mean("accuracy") for each in found.results} == {4 / 6}
    assert [(point.terms, point.accuracy) for point in found.curve] == [(0, 4 / 6)] * 2
    assert Outline(found.to_html()).open == []


def test_texts_may_come_as_a_column_of_a_table() -> None:
    texts, labels = bundled()
    chosen: dict[str, Any] = {"ngrams": ["1"], "stop_words": ["none"], "normalizers": ["none"], "folds": 3}
    expected = study(texts, labels, **chosen).best.measures
    for column, classes in (
        (pandas.Series(texts), pandas.Series(labels)),
        (pandas.Series(texts, dtype="string"), np.array(labels)),
        (polars.Series(texts), polars.Series(labels)),
        (pyarrow.array(texts), pyarrow.array(labels)),
        (np.array(texts, object), labels),
        (iter(texts), tuple(labels)),
    ):
        found = study(column, classes, **chosen).best.measures
        assert all((found[name] == values).all() for name, values in expected.items())


@cache
def bundled() -> tuple[list[str], list[str]]:
    rows = messages()
    return [text for _, text in rows], [label for label, _ in rows]


@cache
def small_study() -> Study:
    return study(*bundled(), **SMALL, curve=True)


@cache
def sms() -> tuple[list[str], list[str]]:
    paths = [DATA / f"sms.{part}.tsv" for part in ("train", "test")]
    if not all(path.is_file() for path in paths):
        pytest.skip("needs sms.train.tsv and sms.test.tsv in the folder BAYLEAF_DATA names")
    lines = [line for path in paths for line in path.read_text("utf-8").removesuffix("\n").split("\n")]
    pairs = [line.split("\t", 1) for line in lines]
    return [text for _, text in pairs], [label for label, _ in pairs]


def five_at_random() -> list[Combination]:
    """Five combinations of the default grid; which ones changes with the grid alone."""
    candidates = [each for each in grid() if each.weighting != "log"]
    return random.Random(len(candidates)).sample(candidates, 5)


@pytest.mark.parametrize("combination", five_at_random(), ids=str)
def test_five_combinations_of_the_sms_study_score_as_if_refitted(combination: Combination) -> None:
    task = _task(*sms(), 10, 0, "empirical", None)
    expected = refitted(task, combination)
    np.testing.assert_allclose(studied(task, combination), expected, rtol=1e-9, atol=1e-9)
    counted, answers = measures(task.split, np.ascontiguousarray(expected.T), None)
    found = study(*sms(), **_only(combination))
    assert (found.best.answers == answers).all()
    for name, values in counted.items():
        np.testing.assert_allclose(found.best.measures[name], values, rtol=1e-9)


def _only(given: Combination) -> dict[str, Any]:
    """The grid of one combination."""
    names = {"event": "events", "weighting": "weightings", "normalizer": "normalizers", "alpha": "alphas"}
    return {names.get(name, name): [value] for name, value in vars(given).items()}


def test_the_weighting_log_is_the_sublinear_one_of_scikit_learn() -> None:
    texts, labels = bundled()
    combination = Combination(weighting="log")
    task = _task(texts, labels, 5, 0, "empirical", None)
    joint = studied(task, combination)
    tokens = combination.view().tokens
    for number in range(5):
        test = task.split.documents(number)
        train = [i for i in range(len(texts)) if not test.start <= i < test.stop]
        counter = CountVectorizer(analyzer=tokens)
        damped = TfidfTransformer(norm=None, use_idf=False, sublinear_tf=True)
        X = damped.fit_transform(counter.fit_transform([task.split.texts[i] for i in train]))
        model = MultinomialNB().fit(X, task.split.truth[train])
        asked = damped.transform(counter.transform(task.split.texts[test]))
        np.testing.assert_allclose(joint[test], model.predict_joint_log_proba(asked), rtol=1e-9)


def test_uniform_priors_are_those_of_a_model() -> None:
    texts, labels = bundled()
    task = _task(texts, labels, 4, 1, "uniform", None)
    np.testing.assert_allclose(studied(task, Combination()), refitted(task, Combination()), rtol=1e-9)


@given(st.integers(2, 5), st.integers(1, 40), st.integers(0, 2**16))
def test_the_measures_of_a_fold_are_those_of_a_scorecard(n_classes: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = [*range(n_classes), *rng.integers(0, n_classes, 2 * n).tolist()]
    task = _task(["x"] * len(labels), labels, 2, seed, "empirical", None)
    joint = rng.normal(0, 3, (n_classes, len(labels)))
    found, _ = measures(task.split, joint, None)
    posterior = joint - np.log(np.exp(joint).sum(axis=0))
    for fold in range(2):
        card, test = Scorecard(n_classes), task.split.documents(fold)
        card.add(task.split.truth[test], posterior[:, test].T)
        for name, values in found.items():
            assert values[fold] == pytest.approx(getattr(card, name), rel=1e-9, abs=1e-12), name


@given(st.lists(st.integers(1, 4), min_size=8, max_size=60), st.integers(2, 6), st.integers(0, 9))
def test_every_document_is_in_one_fold_and_every_fold_has_its_part_of_every_class(
    labels: list[int], folds: int, seed: int
) -> None:
    if len(set(labels)) > 1:
        split = _task([str(i) for i in range(len(labels))], labels, folds, seed, "empirical", None).split
        assert sorted(split.texts, key=int) == [str(i) for i in range(len(labels))]
        for number in np.unique(split.truth):
            parts = np.bincount(split.fold[split.truth == number], minlength=folds)
            assert parts.max() - parts.min() <= 1
        assert np.ptp(np.bincount(split.fold, minlength=folds)) <= 1


def test_blocked_and_caught_are_parts_of_the_other_class_and_of_the_positive_one() -> None:
    found = study(*bundled(), events=["multinomial"], weightings=["tf"], ngrams=["1"], folds=5,
                  stop_words=["none"], normalizers=["none"])  # fmt: skip
    answers, truth = found.best.answers, found.truth
    assert (found.positive, found.classes) == ("spam", ["ham", "spam"])
    fold = slice(0, len(truth) // 5 + 1)
    ham, spam = truth[fold] == 0, truth[fold] == 1
    assert found.best.measures["blocked"][0] == (answers[fold] == 1)[ham].mean()
    assert found.best.measures["caught"][0] == (answers[fold] == 1)[spam].mean()


def test_a_study_does_not_depend_on_threads() -> None:
    one, two = (study(*bundled(), **SMALL, threads=threads) for threads in (1, 2))
    without_seconds = [
        {name: value for name, value in row.items() if "seconds" not in name}
        for found in (one, two)
        for row in found.rows()
    ]
    half = len(without_seconds) // 2
    assert without_seconds[:half] == without_seconds[half:]


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12))
def test_the_corrected_t_test_is_the_plain_one_with_a_larger_variance(differences: list[float]) -> None:
    values = np.array(differences)
    k = len(values)
    if values.std() > 1e-6:
        plain = ttest_1samp(values, 0)
        larger = np.sqrt((1 / k) / (1 / k + 1 / (k - 1)))
        from scipy.stats import t

        expected = 2 * t.sf(abs(plain.statistic) * larger, k - 1)
        assert corrected_t(values) == pytest.approx(expected, rel=1e-6)
    assert corrected_t(np.zeros(k)) == 1
    assert corrected_t(np.ones(k)) == 0


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 5))
def test_mcnemar_is_the_exact_two_sided_test_of_a_fair_coin(b: int, c: int, both: int) -> None:
    first = np.array([True] * (b + both) + [False] * c, np.bool_)
    second = np.array([False] * b + [True] * (both + c), np.bool_)
    tail = sum((Fraction(comb(b + c, k), 2 ** (b + c)) for k in range(min(b, c) + 1)), Fraction())
    assert mcnemar(first, second) == pytest.approx(float(min(Fraction(1), 2 * tail)))


def test_the_best_is_a_tie_with_itself_and_a_hopeless_combination_is_not() -> None:
    found = small_study()
    assert found.ties[0] is found.best
    assert found.comparisons[0].difference == 0
    worst = found.results[-1]
    assert worst.mean("accuracy") < found.best.mean("accuracy") - 0.1
    assert worst not in found.ties


def test_effects_pair_combinations_that_differ_in_one_factor_alone() -> None:
    found = small_study()
    mean = {result.combination: result.mean("accuracy") for result in found.results}
    effect = next(each for each in found.effects if (each.factor, each.choice) == ("ngrams", "letters:3"))
    pairs = [
        mean[Combination(event, weighting, "letters:3")] - mean[Combination(event, weighting, "1")]
        for event, weighting in [("bernoulli", "binary"), *(("multinomial", each) for each in WEIGHTINGS)]
    ]
    assert (effect.against, effect.pairs) == ("1", 6)
    assert effect.mean == pytest.approx(np.mean(pairs))
    assert effect.median == pytest.approx(np.median(pairs))
    assert effect.wins == sum(pair > 0 for pair in pairs)
    events = next(each for each in found.effects if each.factor == "event")
    assert (events.choice, events.against, events.pairs) == ("multinomial", "bernoulli", 3)


def test_information_gain_is_the_mutual_information_of_term_and_class() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 6)) < rng.random(6), rng.integers(0, 3, 80)
    documents = np.array([X[y == number].sum(axis=0) for number in range(3)])
    expected = mutual_info_classif(X, y, discrete_features=True)
    np.testing.assert_allclose(information_gain(documents, np.bincount(y)), expected, atol=1e-12)


def test_the_curve_ends_where_the_whole_vocabulary_is() -> None:
    found = small_study()
    whole = {point.event: point for point in found.curve}
    for event, weighting in (("bernoulli", "binary"), ("multinomial", "tf")):
        plain = next(r for r in found.results if r.combination == Combination(event, weighting))
        assert whole[event].accuracy == pytest.approx(plain.mean("accuracy"), abs=1e-12)
        assert whole[event].macro_f1 == pytest.approx(plain.mean("macro_f1"), abs=1e-12)


def test_sizes_of_vocabularies_grow_to_the_whole() -> None:
    assert sizes(8754) == [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 8754]
    assert sizes(7) == [7]


def test_the_default_grid_has_at_least_sixty_combinations_that_mean_something() -> None:
    every = grid()
    assert len(every) == len(set(every)) >= 60
    assert {each.weighting for each in every if each.event == "bernoulli"} == {"binary"}
    letters = [each for each in every if each.ngrams.startswith("letters")]
    assert {(each.stop_words, each.normalizer) for each in letters} == {("none", "none")}


def test_many_classes_are_studied_without_a_positive_one() -> None:
    texts, labels = bundled()
    three = ["long" if len(text) > 120 else label for text, label in zip(texts, labels, strict=True)]
    found = study(texts, three, **SMALL, folds=3, by="mcc")
    assert found.positive is None
    assert found.measures == ["accuracy", "mcc", "macro_f1", "log_loss"]
    means = [result.mean("mcc") for result in found.results]
    assert means == sorted(means, reverse=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"folds": 1}, "`folds` must be a whole number >= 2, got 1"),
        ({"folds": 2000}, r"`folds` is 2000, more than there are documents \(956\)"),
        ({"ngrams": ["three"]}, "`ngrams` takes words in a row.*got 'three'"),
        ({"ngrams": "1"}, r"Write \['1'\]"),
        ({"ngrams": []}, "`ngrams` is empty"),
        ({"weightings": ["idf"]}, "`weightings` must be .*got 'idf'"),
        ({"normalizers": ["stemmer"]}, "`normalizers` are .*got 'stemmer'"),
        ({"stop_words": ["klingon"]}, "'klingon' is not a language"),
        ({"alphas": [0]}, "`alpha` must be above 0 in a study"),
        ({"by": "speed"}, "`by` must be .*got 'speed'"),
        ({"positive": "eggs"}, "no class 'eggs' to be `positive`"),
        ({"priors": {"ham": 1.0}}, "miss the classes"),
    ],
)
def test_a_wrong_value_is_refused_with_a_sentence(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        study(*bundled(), **settings)


def test_one_class_is_nothing_to_study() -> None:
    with pytest.raises(ValueError, match="one class only"):
        study(["a", "b", "c"], ["x", "x", "x"], folds=2)


def test_a_class_in_fewer_documents_than_folds_is_named() -> None:
    texts, labels = ["a b", "b c", "c d", "d e", "e f", "f g"], ["x", "x", "x", "y", "y", "z"]
    with pytest.warns(UserWarning, match=r"The class 'z' has fewer documents \(1\) .* \(3\) \(and 1 more"):
        study(texts, labels, folds=3, ngrams=["1"], weightings=["tf"], stop_words=["none"])


def test_rows_frame_and_csv_say_the_same() -> None:
    found = small_study()
    rows = found.rows()
    table = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [float(row["accuracy"]) for row in table] == [row["accuracy"] for row in rows]
    assert found.to_frame()["mcc_sd"].tolist() == [row["mcc_sd"] for row in rows]
    assert json.loads(json.dumps(found.to_dict()))["models"] == len(rows) * 10


def test_the_page_is_one_file_with_four_plots_that_fetches_and_runs_nothing() -> None:
    page = small_study().to_html("a < b & c")
    outline = Outline(page)
    assert outline.open == []
    assert outline.foreign == []
    assert outline.seen.count("svg") == 4
    assert not {"script", "link", "img", "iframe"} & set(outline.seen)
    assert "url(" not in page
    assert "a &lt; b &amp; c" in page
    assert "prefers-color-scheme:dark" in page
    assert outline.seen.count("tr") == 2 + len(small_study().results) + len(small_study().effects)
    assert "nan" not in re.sub(r"<[^>]*>", " ", page).lower()
