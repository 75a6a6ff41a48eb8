"""Sections 3.3 to 4.2 of the paper: Bernoulli, multinomial, tf-idf, normal curves, by hand and exactly."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from bayleaf import GaussianNB, KernelNB, Model, bins, kernel, normal, paper, words
from bayleaf.paper import MESSAGES, QUESTION, Corpus

TEXTS, LABELS = [text for _, text in MESSAGES], [label for label, _ in MESSAGES]
CLASSES = ["ham", "spam"]
CORPUS = Corpus()
QUESTIONS = st.lists(st.sampled_from(CORPUS.vocabulary), max_size=6)


def learned(event: str = "multinomial", tf: str = "count", alpha: float = 1) -> Model:
    return Model([words(event=event, tf=tf)], alpha=alpha).learn(TEXTS, LABELS)  # type: ignore[arg-type]


def by_oracle(event: str = "multinomial", tf: str = "count", alpha: Fraction = Fraction(1)) -> oracle.Oracle:
    return oracle.Oracle([text.split() for text in TEXTS], LABELS, event=event, tf=tf, alpha=alpha)


def joint(model: Model, text: str) -> list[float]:
    values: list[float] = np.exp(model.log_joint([text]))[0].tolist()
    return values


# --- 3.3: Bernoulli ----------------------------------------------------------------------------------------


def test_the_vector_of_a_message_has_1_for_a_word_that_occurs_and_0_for_one_that_does_not() -> None:
    model = learned("bernoulli")
    assert joint(model, "win win win lunch") == pytest.approx(joint(model, "lunch win"), rel=1e-14)
    assert CORPUS.vocabulary == ["for", "lunch", "money", "now", "prize", "win"]
    assert [int(word in QUESTION.split()) for word in CORPUS.vocabulary] == [0, 1, 0, 0, 0, 1]


@given(QUESTIONS)
def test_bernoulli_trials_multiply_p_for_words_present_and_1_minus_p_for_words_absent(
    asked: list[str],
) -> None:
    for label, value in zip(CLASSES, joint(learned("bernoulli"), " ".join(asked)), strict=True):
        p = {word: CORPUS.bernoulli(word, label).value for word in CORPUS.vocabulary}
        trials = [p[word] ** b * (1 - p[word]) ** (1 - b) for word in p for b in [int(word in asked)]]
        exact = math.prod(trials) * CORPUS.prior(label).value
        assert value == pytest.approx(float(exact), rel=1e-12)
        assert value == pytest.approx(
            math.exp(by_oracle("bernoulli").log_joint(asked)[CLASSES.index(label)]), rel=1e-12
        )


@pytest.mark.parametrize(
    ("word", "label", "by_hand"),
    [
        ("win", "spam", Fraction(2 + 1, 2 + 2)),
        ("win", "ham", Fraction(0 + 1, 3 + 2)),
        ("lunch", "spam", Fraction(0 + 1, 2 + 2)),
        ("lunch", "ham", Fraction(3 + 1, 3 + 2)),
    ],
)
def test_bernoullis_estimate_adds_1_to_the_documents_with_the_word_and_2_to_all_of_the_class(
    word: str, label: str, by_hand: Fraction
) -> None:
    assert CORPUS.bernoulli(word, label).value == by_hand == by_oracle("bernoulli").probability(word, label)
    with_word, without = joint(learned("bernoulli"), word), joint(learned("bernoulli"), "")
    odds = with_word[CLASSES.index(label)] / without[CLASSES.index(label)]
    assert odds == pytest.approx(float(by_hand / (1 - by_hand)), rel=1e-12)


def test_the_estimate_with_1_and_2_is_not_the_maximum_likelihood_which_is_2_of_2() -> None:
    unsmoothed = learned("bernoulli", alpha=0)
    assert joint(unsmoothed, "lunch")[CLASSES.index("spam")] == 0
    assert by_oracle("bernoulli", alpha=Fraction(0)).probability("win", "spam") == Fraction(2, 2)
    assert CORPUS.bernoulli("win", "spam").value == Fraction(3, 4)


# --- 3.4.1: term frequency and the multinomial model -------------------------------------------------------


def test_the_normalized_term_frequency_is_the_count_divided_by_the_length() -> None:
    assert paper.frequency("win", ["win", "win", "prize"]) == Fraction(2, 3)
    shares = {word: paper.frequency(word, QUESTION.split()) for word in set(QUESTION.split())}
    assert shares == by_oracle(tf="normalized").values(QUESTION.split())
    scores = Counter[str]()
    weight = {}
    for part in learned(tf="normalized").explain(QUESTION).parts:
        scores[part.term] += part.scores[0]
        weight[part.term] = float(math.log(CORPUS.normalized(part.term, "ham").value))
    assert {word: scores[word] / weight[word] for word in scores} == pytest.approx(
        {word: float(share) for word, share in shares.items()}
    )


@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(1)], ids=["lidstone", "laplace"])
@pytest.mark.parametrize(
    ("word", "label", "count", "total"),
    [("win", "spam", 3, 6), ("win", "ham", 0, 8), ("lunch", "spam", 0, 6), ("lunch", "ham", 3, 8)],
)
def test_the_multinomial_estimate_adds_alpha_to_the_count_and_alpha_v_to_the_sum(
    word: str, label: str, count: int, total: int, alpha: Fraction
) -> None:
    by_hand = (count + alpha) / (total + alpha * 6)
    assert CORPUS.multinomial(word, label, alpha).value == by_hand
    assert by_oracle(alpha=alpha).probability(word, label) == by_hand
    model = learned(alpha=float(alpha))
    number = CLASSES.index(label)
    assert joint(model, word)[number] / joint(model, "")[number] == pytest.approx(float(by_hand), rel=1e-12)


@given(QUESTIONS, st.sampled_from(CLASSES))
def test_the_likelihood_of_a_text_is_the_product_over_its_words_repeated_ones_repeatedly(
    asked: list[str], label: str
) -> None:
    exact = math.prod(CORPUS.multinomial(word, label).value for word in asked) * CORPUS.prior(label).value
    number = CLASSES.index(label)
    assert joint(learned(), " ".join(asked))[number] == pytest.approx(float(exact), rel=1e-12)
    assert math.exp(by_oracle().log_joint(asked)[number]) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("word", CORPUS.vocabulary)
@pytest.mark.parametrize("label", CLASSES)
def test_normalized_frequencies_can_stand_in_the_multinomial_estimate(word: str, label: str) -> None:
    exact = CORPUS.normalized(word, label).value
    assert exact == by_oracle(tf="normalized").probability(word, label)
    model, number = learned(tf="normalized"), CLASSES.index(label)
    assert joint(model, word)[number] / joint(model, "")[number] == pytest.approx(float(exact), rel=1e-12)


def test_win_win_lunch_is_spam_to_the_multinomial_model_and_ham_to_bernoullis() -> None:
    assert learned().predict([QUESTION]).tolist() == ["spam"]
    assert learned("bernoulli").predict([QUESTION]).tolist() == ["ham"]


# --- 3.4.2: tf-idf -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "having"), [("for", 2), ("lunch", 3), ("money", 2), ("now", 3), ("prize", 1), ("win", 2)]
)
def test_the_inverse_document_frequency_is_the_log_of_all_documents_by_those_with_the_term(
    word: str, having: int
) -> None:
    assert CORPUS.idf(word) == pytest.approx(math.log(5 / having))
    assert by_oracle(tf="tf-idf").idf(word) == pytest.approx(math.log(5 / having))
    part = learned(tf="tf-idf", alpha=1).explain(word).parts[0]
    mass = {term: _weighted(term, "ham") for term in CORPUS.vocabulary}
    weight = math.log((mass[word] + 1) / (sum(mass.values()) + 6))
    assert part.scores[0] / weight == pytest.approx(math.log(5 / having))


def _weighted(word: str, label: str) -> float:
    """The sum of tf-idf over the messages of a class."""
    return sum(float(paper.frequency(word, message)) * CORPUS.idf(word) for message in CORPUS.of(label))


@given(QUESTIONS)
def test_tf_idf_is_the_normalized_term_frequency_times_the_idf(asked: list[str]) -> None:
    scores = learned(tf="tf-idf").log_joint([" ".join(asked)])[0]
    for label, score in zip(CLASSES, scores, strict=True):
        mass = {word: _weighted(word, label) for word in CORPUS.vocabulary}
        total = sum(mass.values()) + len(mass)
        by_hand = math.log(CORPUS.prior(label).value) + sum(
            float(paper.frequency(word, asked)) * CORPUS.idf(word) * math.log((mass[word] + 1) / total)
            for word in set(asked)
        )
        assert score == pytest.approx(by_hand, abs=1e-12)
    np.testing.assert_allclose(scores, by_oracle(tf="tf-idf").log_joint(asked), atol=1e-12)


def test_a_word_of_every_document_has_an_idf_of_0_and_no_say() -> None:
    model = Model([words(tf="tf-idf")]).learn(["the prize", "the lunch"], ["spam", "ham"])
    np.testing.assert_allclose(model.posterior(["the the"]), [[0.5, 0.5]])
    assert not model.explain("the").parts[0].scores.any()


# --- 4.1: continuous variables -----------------------------------------------------------------------------


def iris() -> tuple[Any, Any]:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def test_iris_has_widths_and_lengths_of_petals_and_sepals_in_centimeters() -> None:
    from sklearn.datasets import load_iris

    names = load_iris().feature_names
    assert sorted(names) == [
        f"{part} {size} (cm)" for part in ("petal", "sepal") for size in ("length", "width")
    ]


@given(st.floats(-5, 15), st.integers(0, 2), st.integers(0, 3))
def test_the_density_of_a_measurement_is_the_normal_curve_of_its_classs_mean_and_sigma(
    x: float, number: int, feature: int
) -> None:
    X, y = iris()
    model = Model([normal(smoothing=0)], priors="uniform").learn(X[:, feature], y)
    own = X[y == model.classes[number], feature]
    mean, sigma = own.mean(), math.sqrt(((own - own.mean()) ** 2).sum() / len(own))
    by_hand = math.log(paper.density(x, mean, sigma) or 5e-324) if abs(x - mean) < 30 * sigma else None
    score = model.log_joint([x])[0, number] + math.log(3)
    assert score == pytest.approx(
        by_hand or -((x - mean) ** 2) / (2 * sigma**2) - math.log(sigma * math.sqrt(2 * math.pi)), rel=1e-9
    )


def test_the_likelihood_of_an_iris_is_the_product_of_its_four_densities() -> None:
    X, y = iris()
    views = {name: normal(smoothing=0) for name in ("sl", "sw", "pl", "pw")}
    table = dict(zip(views, X.T, strict=True))
    model = Model(views).learn(table, y)
    for number, label in enumerate(model.classes):
        own = X[y == label]
        densities = [paper.density(x, m, s) for x, m, s in zip(X[0], own.mean(0), own.std(0), strict=True)]
        assert np.exp(model.log_joint({name: [x] for name, x in zip(views, X[0], strict=True)}))[
            0, number
        ] == pytest.approx(math.prod(densities) / 3, rel=1e-9)


def left_out(estimator: Any) -> int:
    """How many irises are named by a model of the 149 others."""
    X, y = iris()
    rest = ~np.eye(len(y), dtype=bool)
    return sum(estimator.fit(X[keep], y[keep]).predict(X[~keep])[0] == y[~keep][0] for keep in rest)


def test_gaussian_naive_bayes_names_143_of_150_irises_left_out() -> None:
    assert left_out(GaussianNB()) == 143


def test_gaussian_kernels_name_144_of_150_irises_left_out() -> None:
    assert left_out(KernelNB()) == 144


@pytest.mark.parametrize("view", [bins(3), bins(by="entropy"), kernel()], ids=repr)
def test_discretized_features_and_kernels_serve_for_continuous_ones(view: Any) -> None:
    X, y = iris()
    names = ("sl", "sw", "pl", "pw")
    model = Model(dict.fromkeys(names, view)).learn(dict(zip(names, X[::2].T, strict=True)), y[::2])
    assert (model.predict(dict(zip(names, X[1::2].T, strict=True))) == y[1::2]).mean() > 0.9


# --- 4.2: eager and lazy -----------------------------------------------------------------------------------


def test_once_learned_the_training_data_are_not_needed_and_the_size_does_not_grow_with_them() -> None:
    once, often = (Model([words()]).learn(TEXTS * times, LABELS * times) for times in (1, 1000))
    assert len(often.to_bytes()) < 2 * len(once.to_bytes())
    kept = Model.from_bytes(often.to_bytes())
    assert kept.log_joint(TEXTS).tolist() == often.log_joint(TEXTS).tolist()


def test_the_nearest_neighbors_decide_by_majority() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    lazy = KNeighborsClassifier(3).fit([[0.0], [1.0], [2.0], [9.0]], ["a", "b", "b", "a"])
    assert lazy.predict([[0.4]]).tolist() == ["b"]
    assert lazy.kneighbors([[0.4]], return_distance=False).tolist() == [[0, 1, 2]]
