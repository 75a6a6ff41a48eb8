"""Section 2.6 of the paper: twelve colored shapes, a blue square and a yellow one, number by number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, NaiveBayes, category, paper
from bayleaf.paper import BLUE_SQUARE, COLORS, SHAPES, TOY, YELLOW_SQUARE, Sample, toy_prior, toy_shares

X = {"color": [sample.color for sample in TOY], "shape": [sample.shape for sample in TOY]}
Y = [sample.label for sample in TOY]
VIEWS = {"color": category(values=COLORS), "shape": category(values=SHAPES)}
CLASSES = ["+", "-"]


def toy(alpha: float = 0) -> Model:
    return Model(VIEWS, alpha=alpha).learn(X, Y)


def row(sample: Sample) -> dict[str, list[str]]:
    return {"color": [sample.color], "shape": [sample.shape]}


def likelihood(sample: Sample, label: str, alpha: Fraction = Fraction(0)) -> Fraction:
    color, shape = toy_shares(sample, label, alpha)
    return color.value * shape.value


def of_model(sample: Sample, alpha: float = 0) -> list[float]:
    """P(x, +) and P(x, -) by bayleaf."""
    joint: list[float] = np.exp(toy(alpha).log_joint(row(sample)))[0].tolist()
    return joint


# --- the data ----------------------------------------------------------------------------------------------


def test_the_toy_data_set_has_12_samples_of_2_classes_and_2_features() -> None:
    assert len(TOY) == 12 == toy().n_documents
    assert toy().classes == CLASSES
    assert len(toy().views) == 2


def test_a_sample_is_a_color_of_4_and_a_shape_of_2() -> None:
    assert COLORS == ("blue", "green", "red", "yellow")
    assert SHAPES == ("circle", "square")
    assert {sample.color for sample in TOY} == set(COLORS) - {"yellow"}
    assert {sample.shape for sample in TOY} == set(SHAPES)


@given(st.permutations(range(7)), st.permutations(range(5)))
def test_no_number_depends_on_which_of_a_classs_colors_goes_with_which_shape(
    plus: list[int], minus: list[int]
) -> None:
    order = plus + [7 + number for number in minus]
    paired = {"color": [X["color"][number] for number in order], "shape": X["shape"]}
    other = Model(VIEWS).learn(paired, Y)
    for sample in (BLUE_SQUARE, YELLOW_SQUARE):
        assert other.log_joint(row(sample)).tolist() == toy(1).log_joint(row(sample)).tolist()


# --- 2.6.1: maximum-likelihood estimates -------------------------------------------------------------------


@pytest.mark.parametrize(("label", "fraction", "printed"), [("+", "7/12", "0.58"), ("-", "5/12", "0.42")])
def test_the_priors_are_7_12_0_58_and_5_12_0_42(label: str, fraction: str, printed: str) -> None:
    exact = toy_prior(label).value
    assert (exact, f"{float(exact):.2f}") == (Fraction(fraction), printed)
    prior = np.exp(toy().explain(BLUE_SQUARE._asdict()).log_prior)[CLASSES.index(label)]
    assert prior == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(
    ("label", "color", "shape"), [("+", "3/7", "5/7"), ("-", "3/5", "3/5")], ids=["plus", "minus"]
)
def test_blue_and_square_are_3_7_and_5_7_of_plus_and_3_5_and_3_5_of_minus(
    label: str, color: str, shape: str
) -> None:
    exact = [share.value for share in toy_shares(BLUE_SQUARE, label)]
    assert exact == [Fraction(color), Fraction(shape)]
    parts = toy().explain(BLUE_SQUARE._asdict()).parts
    estimated = [np.exp(part.scores[CLASSES.index(label)]) for part in parts]
    assert estimated == pytest.approx(list(map(float, exact)), rel=1e-12)


@pytest.mark.parametrize(("label", "fraction", "printed"), [("+", "15/49", "0.31"), ("-", "9/25", "0.36")])
def test_the_likelihoods_of_the_blue_square_are_0_31_and_0_36(
    label: str, fraction: str, printed: str
) -> None:
    exact = likelihood(BLUE_SQUARE, label)
    assert (exact, f"{float(exact):.2f}") == (Fraction(fraction), printed)
    joint = of_model(BLUE_SQUARE)[CLASSES.index(label)]
    assert joint / float(toy_prior(label).value) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("label", "fraction", "printed"), [("+", "5/28", "0.18"), ("-", "3/20", "0.15")])
def test_likelihood_times_prior_is_0_18_for_plus_and_0_15_for_minus(
    label: str, fraction: str, printed: str
) -> None:
    exact = likelihood(BLUE_SQUARE, label) * toy_prior(label).value
    assert (exact, f"{float(exact):.2f}") == (Fraction(fraction), printed)
    assert of_model(BLUE_SQUARE)[CLASSES.index(label)] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("label", CLASSES)
def test_the_rounded_factors_of_the_paper_give_the_same_two_digits(label: str) -> None:
    factors = likelihood(BLUE_SQUARE, label), toy_prior(label).value
    rounded = [round(float(factor), 2) for factor in factors]
    assert rounded in ([0.31, 0.58], [0.36, 0.42])
    assert round(rounded[0] * rounded[1], 2) == round(float(factors[0] * factors[1]), 2)


def test_what_the_paper_calls_posteriors_sums_to_the_evidence_of_23_70_and_not_to_1() -> None:
    joint = [likelihood(BLUE_SQUARE, label) * toy_prior(label).value for label in CLASSES]
    assert sum(joint) == Fraction(23, 70)
    assert np.exp(toy().log_evidence(row(BLUE_SQUARE))) == pytest.approx(23 / 70)
    posterior = [each / sum(joint) for each in joint]
    assert posterior == [Fraction(25, 46), Fraction(21, 46)]
    np.testing.assert_allclose(toy().posterior(row(BLUE_SQUARE))[0], list(map(float, posterior)))


# --- 2.6.2: classification ---------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [toy(), NaiveBayes(VIEWS, alpha=0, tuning=None).fit(X, Y)])
def test_since_0_18_is_more_than_0_15_the_blue_square_is_plus(model: Model | NaiveBayes) -> None:
    plus, minus = of_model(BLUE_SQUARE)
    assert plus > minus
    assert list(model.predict(row(BLUE_SQUARE))) == ["+"]


def test_a_tie_between_plus_and_minus_is_plus() -> None:
    model = Model([category()]).learn(["blue", "blue"], ["-", "+"])
    assert model.posterior(["blue"]).tolist() == [[0.5, 0.5]]
    assert model.predict(["blue"]).tolist() == ["+"]


def test_with_equal_priors_the_blue_square_is_minus() -> None:
    model = toy().configure(priors="uniform")
    assert model.predict(row(BLUE_SQUARE)).tolist() == ["-"]
    plus, minus = (likelihood(BLUE_SQUARE, label) for label in CLASSES)
    np.testing.assert_allclose(
        model.posterior(row(BLUE_SQUARE))[0], [float(each / (plus + minus)) for each in (plus, minus)]
    )


# --- 2.6.3: additive smoothing -----------------------------------------------------------------------------


@pytest.mark.parametrize("label", CLASSES)
def test_without_smoothing_the_yellow_square_is_0_in_both_classes(label: str) -> None:
    assert likelihood(YELLOW_SQUARE, label) * toy_prior(label).value == 0
    assert of_model(YELLOW_SQUARE)[CLASSES.index(label)] == 0


def test_a_sample_that_is_impossible_everywhere_gets_the_prior_and_a_warning() -> None:
    with pytest.warns(UserWarning, match="impossible in every class"):
        posterior = toy().posterior(row(YELLOW_SQUARE))
    np.testing.assert_allclose(posterior, [[7 / 12, 5 / 12]])


@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(1, 2), Fraction(1)], ids=str)
@pytest.mark.parametrize("sample", [BLUE_SQUARE, YELLOW_SQUARE], ids=["blue", "yellow"])
def test_alpha_below_1_is_lidstones_and_alpha_1_laplaces_smoothing(sample: Sample, alpha: Fraction) -> None:
    n = {"+": 7, "-": 5}
    counts = {"+": (3 if sample.color == "blue" else 0, 5), "-": (3 if sample.color == "blue" else 0, 3)}
    exact = []
    for label in CLASSES:
        color, shape = counts[label]
        by_hand = (color + alpha) / (n[label] + 4 * alpha) * (shape + alpha) / (n[label] + 2 * alpha)
        assert by_hand == likelihood(sample, label, alpha)
        exact.append(by_hand * Fraction(n[label], 12))
    assert of_model(sample, float(alpha)) == pytest.approx(list(map(float, exact)), rel=1e-12)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
def test_with_smoothing_the_yellow_square_is_plus_as_it_should_be(alpha: float) -> None:
    assert toy(alpha).predict(row(YELLOW_SQUARE)).tolist() == ["+"]


@given(st.fractions(0, 3), st.sampled_from(CLASSES))
def test_the_smoothed_shares_of_the_4_colors_sum_to_1_only_if_d_is_the_number_of_colors(
    alpha: Fraction, label: str
) -> None:
    assert sum(toy_shares(Sample(color, "square"), label, alpha)[0].value for color in COLORS) == 1
    n = {"+": 7, "-": 5}[label]
    features = len(BLUE_SQUARE) - 1
    with_features = sum(
        paper.Share(sum(s.color == color for s in TOY if s.label == label), n, alpha, features).value
        for color in COLORS
    )
    assert with_features == (n + 4 * alpha) / (n + 2 * alpha)
    assert (with_features == 1) == (alpha == 0)


def test_the_second_line_of_the_zero_posteriors_has_the_prior_of_plus_and_the_first_that_of_minus() -> None:
    printed = [("first class", "0.42"), ("second class", "0.58")]
    ours = [f"{float(toy_prior(label).value):.2f}" for label in CLASSES]
    assert [value for _, value in printed] == ours[::-1]
