"""Plots show the numbers of the model, and the figures of the docs are drawn by the code as it is."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.patches import Rectangle
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix

import figures
from bayleaf import GaussianNB, Model, NaiveBayes, paper, plots, words
from bayleaf.plots.terms import cut

TEXTS = ["win a prize now", "free prize", "lunch at noon", "see you at noon", "lunch now?", "costs $5 and $6"]
LABELS = ["spam", "spam", "ham", "ham", "ham", "other"]
MODEL = Model(views=[words()]).learn(TEXTS, LABELS)
# Points in the plane, the two classes left and right of a line.
X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.where(X[:, 0] > 0.2, "right", "left")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def bars(ax: Axes) -> list[float]:
    return [bar.get_width() for bar in ax.patches if isinstance(bar, Rectangle)]


def names(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def written(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


INTO_AXES: list[Callable[[Axes | None], Axes]] = [
    lambda ax: plots.top_terms(MODEL, ax=ax),
    lambda ax: plots.explanation(MODEL.explain("win lunch"), ax=ax),
    lambda ax: plots.confusion_matrix(MODEL, TEXTS, LABELS, ax=ax),
    lambda ax: plots.reliability(MODEL, TEXTS, LABELS, ax=ax),
    lambda ax: plots.effect_of_priors(ax=ax),
    lambda ax: plots.toy_samples(ax=ax),
    lambda ax: plots.decision_regions(GaussianNB().fit(X, Y), X, Y, steps=20, ax=ax),
    lambda ax: plots.model_building(ax=ax),
]


@pytest.mark.parametrize("draw", INTO_AXES)
def test_a_plot_is_drawn_into_the_axes_given_or_into_a_figure_of_its_own(
    draw: Callable[[Axes | None], Axes],
) -> None:
    _, ax = plt.subplots()
    figures = plt.get_fignums()
    assert draw(ax) is ax
    assert plt.get_fignums() == figures
    own = draw(None)
    assert own is not ax
    assert own.figure.number == plt.get_fignums()[-1]  # type: ignore[union-attr]
    own.figure.canvas.draw()


def test_the_bars_of_top_terms_are_the_models_log_odds() -> None:
    ax = plots.top_terms(MODEL, n=3)
    expected = [pair for label in MODEL.classes for pair in MODEL.top_terms(label, 3)]
    assert bars(ax) == [odds for _, odds in expected]
    assert names(ax) == [term for term, _ in expected]
    assert [text.strip() for text in written(ax)] == MODEL.classes


def test_top_terms_takes_a_classifier_and_some_of_its_classes() -> None:
    classifier = NaiveBayes(views=[words()], tuning=None).fit(TEXTS, LABELS)
    ax = plots.top_terms(classifier, classes=["spam"], n=2)
    assert names(ax) == [term for term, _ in classifier.model_.top_terms("spam", 2)]


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(["win", "a", "prize", "now", "free", "lunch", "at", "noon"]), max_size=12),
    st.integers(0, 6),
    st.sampled_from(["multinomial", "bernoulli"]),
)
def test_the_bars_of_an_explanation_sum_to_the_last_one(tokens: list[str], most: int, event: Any) -> None:
    model = Model(views=[words(event=event)]).learn(TEXTS, LABELS)
    explained = model.explain(" ".join(tokens))
    ax = plots.explanation(explained, most=most)
    *parts, total = bars(ax)
    plt.close("all")
    assert names(ax)[-1] == "sum"
    assert sum(parts) == pytest.approx(total, abs=1e-9)
    assert total == pytest.approx(explained.log_odds(explained.log_joint), abs=1e-9)
    assert len(parts) <= most + 3


def test_evidence_that_rules_a_class_out_has_a_bar_too() -> None:
    ax = plots.explanation(Model(alpha=0).learn(["a", "b"], ["x", "y"]).explain("a"))
    assert "+∞" in written(ax)
    assert all(map(math.isfinite, bars(ax)))


def test_a_dollar_sign_in_a_term_is_no_formula() -> None:
    _, ax = plt.subplots()
    ax.set_title(cut("$x^2$ and $"))
    ax.figure.canvas.draw()
    assert len(cut("a" * 100)) < 30
    plots.explanation(Model(views=[words(tokenizer="whitespace")]).learn(TEXTS, LABELS).explain("$5 and $6"))


def test_the_confusion_matrix_has_scikit_learns_numbers() -> None:
    right = [*LABELS[:-1], "spam"]
    ax = plots.confusion_matrix(MODEL, TEXTS, right)
    answers = MODEL.predict(TEXTS)
    counts = confusion_matrix(right, answers, labels=MODEL.classes)
    assert written(ax) == [str(count) for count in counts.ravel()]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("answer", "truth")


def test_a_label_that_the_model_does_not_know_gets_a_row_of_its_own() -> None:
    ax = plots.confusion_matrix(MODEL, TEXTS[:2], ["spam", "news"])
    assert names(ax) == [*MODEL.classes, "news"]
    assert written(ax)[-4:] == ["0", "0", "1", "0"]


def test_points_of_a_reliability_diagram_are_means_of_confidence_and_success() -> None:
    classifier = LogisticRegression().fit(X, Y)
    ax = plots.reliability(classifier, X, Y)
    posterior = classifier.predict_proba(X)
    confidence, hits = posterior.max(axis=1), classifier.predict(X) == Y
    bins = np.ceil(confidence * 15)
    expected = [(confidence[bins == b].mean(), hits[bins == b].mean()) for b in np.unique(bins)]
    points = np.asarray(ax.collections[-1].get_offsets())
    assert points == pytest.approx(np.array(expected))


def joint(x: float, mean: float, sigma: float, prior: float) -> float:
    return math.log(prior) - 0.5 * ((x - mean) / sigma) ** 2 - math.log(sigma)


MEAN, SIGMA, PRIOR = (
    st.integers(low, high).map(lambda thousandths: thousandths / 1000)
    for low, high in ((-20_000, 20_000), (200, 5_000), (1, 999))
)


@settings(max_examples=20)
@given(st.tuples(MEAN, MEAN), st.tuples(SIGMA, SIGMA), PRIOR)
def test_below_the_curves_each_strip_is_the_class_that_is_more_probable_there(
    means: tuple[float, float], sigmas: tuple[float, float], prior: float
) -> None:
    ax = plots.effect_of_priors(means, sigmas, (prior,), samples=1)
    plt.close("all")
    strips = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
    low, high = ax.get_xlim()
    assert sum(bar.get_width() for bar in strips) == pytest.approx(high - low)
    for x in np.linspace(low, high, 101)[1:-1]:
        odds = joint(x, means[0], sigmas[0], prior) - joint(x, means[1], sigmas[1], 1 - prior)
        over = next(bar for bar in strips if bar.get_x() <= x <= bar.get_x() + bar.get_width())
        assert abs(odds) < 1e-6 or same_color(over.get_facecolor(), plots.COLORS[0 if odds > 0 else 2])


def test_the_border_of_the_paper_is_7_and_moves_to_7_37_for_a_prior_of_nine_tenths() -> None:
    legend = plots.effect_of_priors().get_legend()
    assert legend
    assert [text.get_text() for text in legend.get_texts()][2:] == [
        "P(ω₁) = 0.5: x = 7.00",
        f"P(ω₁) = 0.9: x = {7 + math.log(9) / 6:.2f}",
    ]


def test_a_class_that_is_the_answer_everywhere_has_no_border() -> None:
    legend = plots.effect_of_priors((0, 0), (1, 1.1), (0.01,)).get_legend()
    assert legend
    assert legend.get_texts()[-1].get_text() == "P(ω₁) = 0.01: no border"


@pytest.mark.parametrize(
    ("means", "sigmas", "prior", "said"),
    [
        ((0, math.nan), (1, 1), 0.5, "`means`"),
        ((0, 1), (1, 0), 0.5, "`sigmas`"),
        ((0, 1), (1, 1), 1.0, "between 0 and 1"),
    ],
)
def test_classes_that_are_not_normal_are_refused(means: Any, sigmas: Any, prior: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        plots.effect_of_priors(means, sigmas, (prior,))


def test_the_toy_figure_shows_every_sample_once() -> None:
    ax = plots.toy_samples(new=paper.YELLOW_SQUARE)
    shapes = Counter(line.get_marker() for line in ax.lines)
    assert shapes == {"s": 9, "o": 4}
    letters = Counter(text.get_text() for text in ax.texts)
    assert letters == {"+": 1, "−": 1, "?": 1, "b": 6, "g": 3, "r": 3, "y": 1}


def test_a_toy_sample_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="A shape must be one of circle, square, got 'star'"):
        plots.toy_samples([("blue", "star", "+")])


def test_a_point_lies_in_the_region_of_its_answer() -> None:
    classifier = LogisticRegression().fit(X, Y)
    ax = plots.decision_regions(classifier, X, Y)
    left, right = (region.get_paths() for region in ax.collections)
    clear = X[np.abs(classifier.decision_function(X)) > 0.2]
    for point, answer in zip(clear, classifier.predict(clear), strict=True):
        assert any(path.contains_point(point) for path in left) == (answer == "left")
        assert any(path.contains_point(point) for path in right) == (answer == "right")


def test_regions_need_two_features() -> None:
    with pytest.raises(ValueError, match="two features, got shape"):
        plots.decision_regions(GaussianNB(), np.zeros((4, 3)), [0, 1, 0, 1])


def test_naive_bayes_solves_the_linear_problem_and_guesses_at_the_other() -> None:
    titles = [ax.get_title(loc="left") for ax in plots.linear_nonlinear().axes]
    right = [int(cast("re.Match[str]", re.search(r"(\d+)% right", title))[1]) for title in titles]
    linear, neighbors, chessboard, chessboard_neighbors = right
    assert min(linear, neighbors, chessboard_neighbors) > 95
    assert 30 < chessboard < 70


def test_neutral_colors_end_with_the_block() -> None:
    before = dict(mpl.rcParams)
    with plots.neutral():
        ax = plots.toy_samples()
        assert ax.figure.get_facecolor() == (0.0, 0.0, 0.0, 0.0)
    assert dict(mpl.rcParams) == before


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_matplotlib_is_loaded_by_the_first_plot_and_not_before() -> None:
    seen = "import sys; print('matplotlib' in sys.modules, 'sklearn' in sys.modules)"
    done = run(f"import bayleaf; bayleaf.plots.top_terms\n{seen}\nbayleaf.plots.toy_samples()\n{seen}")
    assert done.stdout.split("\n")[:2] == ["False False", "True False"], done.stderr


def test_without_matplotlib_the_error_says_how_to_get_it() -> None:
    done = run("import sys; sys.modules['matplotlib'] = None; from bayleaf import plots; plots.toy_samples()")
    assert 'pip install "bayleaf[plots]"' in done.stderr.splitlines()[-1]


# Coordinates move with the last bits of other processors; names, colors and the order of things do not.
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


@pytest.mark.parametrize("name", figures.FIGURES)
def test_the_committed_figure_is_what_the_code_draws(name: str, tmp_path: Path) -> None:
    if not mpl.__version__.startswith(figures.MATPLOTLIB):
        pytest.skip(f"The figures were drawn by matplotlib {figures.MATPLOTLIB}, this is {mpl.__version__}.")
    drawn = figures.draw(name, tmp_path).read_text("utf-8")
    kept = (figures.FOLDER / f"{name}.svg").read_text("utf-8")
    remedy = "Run docs/figures.py, look at the figure, commit it."
    assert NUMBER.sub("#", drawn) == NUMBER.sub("#", kept), remedy
    numbers = [[float(number) for number in NUMBER.findall(svg)] for svg in (drawn, kept)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.05), remedy


def test_every_figure_in_the_folder_is_drawn_by_the_script() -> None:
    kept = {file.stem for file in figures.FOLDER.glob("*.svg")}
    assert kept == {*figures.FIGURES, "terminal_explain"}
