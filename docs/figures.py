"""Draw every figure of the docs and the README: `python docs/figures.py [FOLDER]`.

The files are the same whenever and wherever they are drawn: no date, no random names, text as text in
whatever sans-serif font the reader has, and numbers rounded to a hundredth of a point, so that the last bit
of a sine does not make another file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

import accuracy_page
import growth
import lessons_page
import results
from bayleaf import GaussianNB, Model, paper, plots, words
from bayleaf.plots.style import MIDTONE

FOLDER = Path(__file__).parent / "figures"
SETTINGS: dict[Any, Any] = {"svg.hashsalt": "bayleaf", "svg.fonttype": "none", "path.simplify": True}
SVG = {"Creator": None, "Date": None, "Format": None, "Type": None}
# Models of counts alone: their figures change with the plots, and not whenever the tuning gets better.
LEARNED = 800
QUESTION = "Claim your free prize now, see you at noon"
# Gray that can be read on white cannot be read on black: who has chosen dark pages gets a lighter one.
LIGHTER = f"[style*='fill: {MIDTONE}']{{fill:#9e9e9e!important}}"
DARK = f"<style>@media(prefers-color-scheme:dark){{{LIGHTER}}}</style>"
# Another minor version may draw the same thing in other words; the group `docs` installs this one.
MATPLOTLIB = "3.11."


@cache
def messages() -> tuple[list[str], list[str]]:
    """The texts and the labels of the bundled corpus."""
    lines = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t", 1) for line in lines]
    return [text for _, text in rows], [label for label, _ in rows]


@cache
def textbook() -> Model:
    """Words of the first 800 messages, as counted."""
    texts, labels = messages()
    return Model(views=[words()]).learn(texts[:LEARNED], labels[:LEARNED])


def first_answer() -> Any:
    """The example of the start page."""
    texts, labels = messages()
    return plots.explanation(Model(views=[words()]).learn(texts, labels).explain(QUESTION))


def unseen() -> tuple[list[str], list[str]]:
    """The messages that were not learned."""
    texts, labels = messages()
    return texts[LEARNED:], labels[LEARNED:]


def regions() -> Any:
    """Petals of iris, and what Gaussian naive Bayes answers where."""
    iris = load_iris()
    petals = iris.data[:, 2:]
    ax = plots.decision_regions(GaussianNB().fit(petals, iris.target), petals, iris.target)
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    return ax


FIGURES: dict[str, Callable[[], Any]] = {
    "model_building": plots.model_building,
    "linear_nonlinear": plots.linear_nonlinear,
    "effect_of_priors": plots.effect_of_priors,
    "toy_samples": plots.toy_samples,
    "toy_new_sample": lambda: plots.toy_samples(new=paper.BLUE_SQUARE),
    "toy_yellow_sample": lambda: plots.toy_samples(new=paper.YELLOW_SQUARE),
    "first_answer": first_answer,
    "top_terms": lambda: plots.top_terms(textbook(), n=8),
    "explanation": lambda: plots.explanation(textbook().explain(QUESTION)),
    "confusion_matrix": lambda: plots.confusion_matrix(textbook(), *unseen()),
    "decision_regions": regions,
    "speed": results.speed,
    "accuracy": results.accuracy,
    "accuracy_time": accuracy_page.against_time,
    "lazy": growth.lazy,
    "teaching": lessons_page.teaching,
    "reliability": lambda: plots.reliability(textbook(), *unseen()),
}


def rounded(svg: str) -> str:
    """The drawing with coordinates of two decimals; what a reader sees as text stays as it is."""
    return re.sub(r"<[^>]*>", lambda tag: re.sub(r"-?\d+\.\d{3,}", _short, tag[0]), svg)


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def draw(name: str, folder: Path) -> Path:
    """Draw one figure into a folder."""
    file = folder / f"{name}.svg"
    with plots.neutral(), mpl.rc_context(SETTINGS):
        made = FIGURES[name]()
        figure = getattr(made, "figure", made)
        figure.savefig(file, metadata=SVG)
        plt.close(figure)
    drawn = rounded(file.read_text("utf-8"))
    file.write_text(drawn.replace(" <defs>", f" {DARK}\n <defs>", 1), "utf-8")
    return file


def main(folder: Path = FOLDER) -> None:
    """Draw them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FIGURES:
        print(draw(name, folder))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
