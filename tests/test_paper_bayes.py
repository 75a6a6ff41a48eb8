"""Sections 1 to 2.5 of the paper: Bayes' theorem, likelihoods, priors and the evidence, number by number."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import GaussianNB, Model, category, flag, normal, paper, words
from cli_process import messages

FIRST, SECOND = paper.MEANS
LIKELIHOOD = st.floats(1e-9, 1.0)
PRIOR = st.floats(0.01, 0.99)


def hello_world(event: str = "flags") -> Model:
    """500 documents, 100 of them spam: 20 of these have 'hello', 2 have 'world'. The paper says no more."""
    ham = paper.N_DOCUMENTS - paper.N_SPAM
    hello = [i < paper.HELLO for i in range(paper.N_SPAM)] + [False] * ham
    world = [i < paper.WORLD for i in range(paper.N_SPAM)] + [False] * ham
    labels = ["spam"] * paper.N_SPAM + ["ham"] * ham
    if event == "flags":
        table = {"hello": hello, "world": world}
        return Model({"hello": flag(), "world": flag()}, alpha=0).learn(table, labels)
    texts = [" ".join(["hello"] * a + ["world"] * b) for a, b in zip(hello, world, strict=True)]
    return Model([words(event=event)], alpha=0).learn(texts, labels)  # type: ignore[arg-type]


def curves(prior: float) -> GaussianNB:
    variance = paper.SIGMA**2
    return GaussianNB.from_parameters(
        [[FIRST], [SECOND]], [[variance], [variance]], priors=[prior, 1 - prior], classes=["blue", "green"]
    )


# --- 1 and 2.1: the flow, and what is linear ---------------------------------------------------------------


def test_a_model_learned_from_labeled_messages_labels_new_ones() -> None:
    rows = messages()
    train, test = rows[:800], rows[800:]
    model = Model([words()]).learn([text for _, text in train], [label for label, _ in train])
    answers = model.predict([text for _, text in test])
    right = sum(answer == label for answer, (label, _) in zip(answers, test, strict=True))
    often = max(model.class_documents, key=model.class_documents.__getitem__)
    assert right > 0.9 * len(test) > sum(label == often for label, _ in test)


@given(st.lists(st.sampled_from(["win", "money", "now", "lunch"]), max_size=6), st.data())
def test_the_log_odds_of_words_are_linear_in_their_counts(asked: list[str], data: Any) -> None:
    more = data.draw(st.lists(st.sampled_from(["win", "money", "now", "lunch"]), max_size=6))
    model = Model([words()]).learn(*_messages())
    log_odds = [np.diff(model.log_joint([" ".join(each)]))[0, 0] for each in ([], asked, more, asked + more)]
    nothing, one, other, both = log_odds
    assert both == pytest.approx(one + other - nothing, abs=1e-12)


def _messages() -> tuple[list[str], list[str]]:
    return [text for _, text in paper.MESSAGES], [label for label, _ in paper.MESSAGES]


def ring(n: int = 200) -> tuple[Any, list[str]]:
    """A disc inside a ring: no straight line parts them."""
    random = np.random.default_rng(0)
    angle, radius = (
        random.uniform(0, 2 * np.pi, 2 * n),
        np.repeat([1.0, 4.0], n) * random.uniform(0.8, 1.2, 2 * n),
    )
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1), ["disc"] * n + ["ring"] * n


def corners(n: int = 100) -> tuple[Any, list[str]]:
    """Two classes on opposite corners of a square: each feature by itself says nothing."""
    random = np.random.default_rng(0)
    centers = np.array([[-1, -1], [1, 1], [-1, 1], [1, -1]]).repeat(n, axis=0)
    return centers + random.normal(scale=0.3, size=centers.shape), ["same"] * 2 * n + ["mixed"] * 2 * n


def test_where_only_the_pair_of_features_tells_neighbors_do_well_and_naive_bayes_guesses() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    X, y = corners()
    assert KNeighborsClassifier(5).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.98
    assert GaussianNB().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) == pytest.approx(0.5, abs=0.15)


def test_normal_curves_of_different_width_are_not_linear_and_part_a_ring_from_its_disc() -> None:
    X, y = ring()
    assert GaussianNB().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.98


# --- 2.2: posterior probabilities --------------------------------------------------------------------------


@given(st.floats(0.01, 10), PRIOR)
def test_the_posterior_is_the_likelihood_times_the_prior_divided_by_the_evidence(
    alpha: float, prior: float
) -> None:
    model = Model([category()], alpha=alpha).learn(["free", "other", "free"], ["spam", "spam", "ham"])
    model.configure(priors={"spam": prior, "ham": 1 - prior})
    spam, ham = (1 + alpha) / (2 + 2 * alpha), (1 + alpha) / (1 + 2 * alpha)
    evidence = spam * prior + ham * (1 - prior)
    expected = [ham * (1 - prior) / evidence, spam * prior / evidence]
    np.testing.assert_allclose(model.posterior(["free"])[0], expected)


def glucose() -> GaussianNB:
    """Curves for two measurements, before and after breakfast. They are invented: the paper gives none."""
    means, sigmas = [[130, 200], [90, 120]], np.array([[30, 50], [10, 25]])
    return GaussianNB.from_parameters(
        means, sigmas**2, priors=[0.1, 0.9], classes=["diabetes", "not-diabetes"]
    )


def test_the_posterior_of_diabetes_can_be_asked_for_90_and_145_mg_dl() -> None:
    model = glucose()
    (posterior,) = model.predict_proba([[90, 145]])
    by_hand = 0.1 * paper.density(90, 130, 30) * paper.density(145, 200, 50)
    other = 0.9 * paper.density(90, 90, 10) * paper.density(145, 120, 25)
    assert posterior[0] == pytest.approx(by_hand / (by_hand + other), rel=1e-12)


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=5))
def test_the_answer_is_the_class_of_the_highest_posterior(priors: list[float]) -> None:
    classes = [f"class {number}" for number in range(len(priors))]
    model = Model([category()]).learn(["same"] * len(classes), classes)
    total = math.fsum(priors)
    model.configure(priors={name: prior / total for name, prior in zip(classes, priors, strict=True)})
    (posterior,) = model.posterior(["same"])
    assert model.predict(["same"])[0] == classes[int(posterior.argmax())]


def test_a_person_has_diabetes_if_its_posterior_is_at_least_that_of_no_diabetes() -> None:
    model = glucose()
    assert model.predict([[90, 145], [130, 200]]).tolist() == ["not-diabetes", "diabetes"]
    even = Model([category()]).learn(["x", "x"], ["diabetes", "not-diabetes"])
    assert even.posterior(["x"]).tolist() == [[0.5, 0.5]]
    assert even.predict(["x"]).tolist() == ["diabetes"]


def test_of_real_measurements_a_glucose_of_90_speaks_against_diabetes_and_one_of_145_for_it() -> None:
    # Means and standard deviations of 763 women of the Pima data, 266 of them with diabetes.
    prior = 266 / 763
    women = GaussianNB.from_parameters(
        [[110.64], [142.32]], [[24.75**2], [29.54**2]], priors=[1 - prior, prior]
    )
    posterior = women.predict_proba([[90], [145]])[:, 1]
    assert posterior == pytest.approx([0.117, 0.540], abs=0.001)
    assert women.decision_boundaries()[-1] == pytest.approx(142.0, abs=0.1)


# --- 2.3: class-conditional probabilities ------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_a_fair_coin_lands_on_heads_with_probability_0_5_however_often_it_was_flipped(
    before: list[bool],
) -> None:
    flips = {f"flip {number}": [side] for number, side in enumerate([*before, True])}
    coin = Model(dict.fromkeys(flips, flag()), alpha=0)
    coin.learn({name: [True, False] for name in flips}, ["coin", "coin"])
    last = list(flips)[-1]
    without = coin.log_joint(flips | {last: [None]})
    assert np.exp(coin.log_joint(flips) - without)[0, 0] == pytest.approx(0.5)


@given(st.sampled_from(paper.COLORS[:3]), st.sampled_from(paper.SHAPES), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_likelihood_of_a_pattern_is_the_product_over_its_features(
    color: str, shape: str, alpha: float
) -> None:
    X = {"color": [s.color for s in paper.TOY], "shape": [s.shape for s in paper.TOY]}
    y = [s.label for s in paper.TOY]
    one = {"color": [color], "shape": [shape]}
    both = Model(dict.fromkeys(X, category()), alpha=alpha, priors="uniform").learn(X, y).log_joint(one)
    each = [Model({name: category()}, alpha=alpha, priors="uniform").learn(X, y).log_joint(one) for name in X]
    np.testing.assert_allclose(np.exp(both) * 2, np.exp(each[0]) * 2 * np.exp(each[1]) * 2)


def test_the_maximum_likelihood_estimate_is_a_frequency() -> None:
    model = hello_world().configure(priors="uniform")
    joint = np.exp(model.log_joint({"hello": [True, None], "world": [None, True]}))[:, 1]
    expected = [Fraction(paper.HELLO, paper.N_SPAM), Fraction(paper.WORLD, paper.N_SPAM)]
    np.testing.assert_allclose(2 * joint, list(map(float, expected)))


def test_hello_world_given_spam_is_hello_given_spam_times_world_given_spam() -> None:
    parts = hello_world().explain({"hello": True, "world": True}, "spam").parts
    hello, world = (part.scores[1] for part in parts)
    assert hello_world().log_joint({"hello": [True], "world": [True]})[0, 1] == pytest.approx(
        math.log(paper.N_SPAM / paper.N_DOCUMENTS) + hello + world
    )
    assert [np.exp(hello), np.exp(world)] == pytest.approx([0.2, 0.02])


@pytest.mark.parametrize("model", [hello_world(), hello_world("bernoulli")], ids=["flags", "words"])
def test_hello_world_given_spam_is_20_100_times_2_100_0_004(model: Model) -> None:
    exact = Fraction(20, 100) * Fraction(2, 100)
    assert exact == Fraction("0.004") == paper.Line("", (paper.Share(20, 100), paper.Share(2, 100))).value
    document: Any = {"hello": [True], "world": [True]} if len(model.views) == 2 else ["Hello World"]
    prior = model.class_documents["spam"] / model.n_documents
    assert np.exp(model.log_joint(document))[0, 1] / prior == pytest.approx(float(exact), rel=1e-12)


def test_with_all_words_of_a_class_below_the_line_hello_world_would_be_20_22_times_2_22() -> None:
    model = hello_world("multinomial")
    likelihood = np.exp(model.log_joint(["Hello World"]))[0, 1] / 0.2
    assert likelihood == pytest.approx(float(Fraction(20, 22) * Fraction(2, 22)), rel=1e-12)


def test_after_peanut_butter_is_more_likely_than_its_share_of_all_documents() -> None:
    texts = ["peanut butter", "peanut butter cake", "peanut allergy", "bread", "cake", "bread cake"]
    peanut = [text for text in texts if "peanut" in text]
    alone = Fraction(sum("butter" in text for text in texts), len(texts))
    given_peanut = Fraction(sum("butter" in text for text in peanut), len(peanut))
    assert given_peanut == 2 * alone
    # Naive Bayes multiplies the shares, and so gives the pair half of what it has.
    model = Model([words(event="bernoulli")], alpha=0).learn(texts, ["food"] * len(texts))
    p = {
        word: Fraction(sum(word in text.split() for text in texts), len(texts))
        for word in " ".join(texts).split()
    }
    absent = math.prod(1 - share for word, share in p.items() if word not in ("peanut", "butter"))
    pair = np.exp(model.log_joint(["peanut butter"]))[0, 0] / float(absent)
    assert pair == pytest.approx(float(p["peanut"] * alone)) == pytest.approx(float(Fraction(2, 6)) / 2)


# --- 2.4: prior probabilities ------------------------------------------------------------------------------


def test_100_spam_messages_of_500_are_a_prior_of_1_5() -> None:
    prior = np.exp(hello_world().explain({"hello": None, "world": None}).log_prior)
    assert dict(zip(["ham", "spam"], prior, strict=True)) == pytest.approx(
        {"ham": 400 / 500, "spam": 100 / 500}
    )


@given(st.integers(1, 50), st.integers(1, 50))
def test_the_prior_of_a_class_is_its_part_of_all_samples(spam: int, ham: int) -> None:
    model = Model([words()]).learn(["hi"] * (spam + ham), ["spam"] * spam + ["ham"] * ham)
    assert model.posterior([""])[0, 1] == pytest.approx(float(Fraction(spam, spam + ham)))


@given(st.integers(1, 50), st.integers(1, 50))
def test_the_prior_of_ham_is_1_minus_the_prior_of_spam(spam: int, ham: int) -> None:
    model = Model([words()]).learn(["hi"] * (spam + ham), ["spam"] * spam + ["ham"] * ham)
    of_ham, of_spam = np.exp(model.explain("").log_prior)
    assert of_ham == pytest.approx(1 - of_spam)


@given(LIKELIHOOD, LIKELIHOOD)
def test_with_uniform_priors_the_likelihoods_alone_decide(low: float, high: float) -> None:
    curve = GaussianNB.from_parameters([[low], [high + 1]], [[1], [1]], priors=[0.5, 0.5])
    x = np.linspace(-2, 4, 25)[:, None]
    likelihoods = [[paper.density(v, low), paper.density(v, high + 1)] for v in x[:, 0]]
    clear = [abs(math.log(a / b)) > 1e-9 for a, b in likelihoods]
    assert curve.predict(x)[clear].tolist() == [
        int(b > a) for a, b in likelihoods if abs(math.log(a / b)) > 1e-9
    ]


@pytest.mark.parametrize(("x", "label"), [(FIRST, 0), (SECOND, 1)])
def test_the_density_at_a_classs_own_mean_is_about_0_4(x: float, label: int) -> None:
    density = np.exp(curves(0.5).predict_joint_log_proba([[x]]))[0, label] / 0.5
    assert round(density, 1) == 0.4
    assert density == pytest.approx(1 / math.sqrt(2 * math.pi)) == pytest.approx(paper.density(x, x))


@pytest.mark.parametrize(("x", "label"), [(SECOND, 0), (FIRST, 1)])
def test_the_density_at_the_other_classs_mean_is_below_0_001(x: float, label: int) -> None:
    density = np.exp(curves(0.5).predict_joint_log_proba([[x]]))[0, label] / 0.5
    assert density < 0.001
    assert density == pytest.approx(6.08e-9, rel=1e-3)


def test_samples_of_mean_4_and_10_with_sigma_1_are_learned_as_such() -> None:
    random = np.random.default_rng(0)
    x = np.concatenate([random.normal(mean, paper.SIGMA, 2000) for mean in paper.MEANS])
    model = Model([normal()]).learn(x, ["blue"] * 2000 + ["green"] * 2000)
    for moments, mean in zip(model.counts().moments, paper.MEANS, strict=True):
        assert moments.mean == pytest.approx(mean, abs=0.1)
        assert math.sqrt(moments.variance) == pytest.approx(paper.SIGMA, abs=0.05)


def test_with_priors_of_0_5_the_boundary_is_in_the_middle_where_the_densities_are_equal() -> None:
    (boundary,) = curves(0.5).decision_boundaries()
    assert boundary == 7.0 == paper.boundary(0.5) == (FIRST + SECOND) / 2
    assert paper.density(boundary, FIRST) == paper.density(boundary, SECOND)


@given(st.floats(0.501, 0.999))
def test_a_prior_above_0_5_moves_the_boundary_towards_the_other_class(prior: float) -> None:
    (boundary,) = curves(prior).decision_boundaries()
    assert 7 < boundary == pytest.approx(paper.boundary(prior), rel=1e-12)
    assert curves(1 - prior).decision_boundaries()[0] == pytest.approx(14 - boundary)


def test_a_prior_of_0_9_moves_the_boundary_by_log_9_by_6_to_7_366() -> None:
    (boundary,) = curves(0.9).decision_boundaries()
    assert boundary == pytest.approx(7 + math.log(9) / 6, rel=1e-12)
    assert round(boundary, 3) == 7.366


def test_a_message_of_words_as_likely_in_ham_as_in_spam_is_ham_in_9_of_10_cases() -> None:
    model = Model([words()]).learn(["the meeting", "the prize"], ["ham", "spam"])
    model.configure(priors={"ham": 0.9, "spam": 0.1})
    np.testing.assert_allclose(model.posterior(["the the the"]), [[0.9, 0.1]])
    assert model.predict(["the the the"]).tolist() == ["ham"]


# --- 2.5: the evidence -------------------------------------------------------------------------------------


def test_the_evidence_is_the_sum_of_the_joint_over_a_class_and_its_complement() -> None:
    model = Model([words()]).learn(*_messages())
    joint = np.exp(model.log_joint([paper.QUESTION]))[0]
    assert np.exp(model.log_evidence([paper.QUESTION])) == pytest.approx(joint[0] + joint[1])


@given(st.text("ab ", max_size=8))
def test_what_is_not_one_of_three_classes_is_the_other_two_weighted_by_their_priors(text: str) -> None:
    model = Model([words()]).learn(["a a b", "b", "a b b", "a"], ["x", "y", "z", "z"])
    joint, prior = np.exp(model.log_joint([text]))[0], np.array([0.25, 0.25, 0.5])
    likelihood = joint / prior
    complement = (likelihood[1] * prior[1] + likelihood[2] * prior[2]) / (1 - prior[0])
    evidence = likelihood[0] * prior[0] + complement * (1 - prior[0])
    assert np.exp(model.log_evidence([text]))[0] == pytest.approx(evidence)


@given(st.text("ab ", max_size=12))
def test_dividing_by_the_evidence_does_not_change_the_decision(text: str) -> None:
    model = Model([words()]).learn(["a a b", "b b a"], ["x", "y"])
    joint = model.log_joint([text])
    divided = joint - model.log_evidence([text])[:, None]
    np.testing.assert_allclose(divided, model.log_posterior([text]), atol=1e-12)
    assert (joint[0, 0] > joint[0, 1]) == (divided[0, 0] > divided[0, 1])
