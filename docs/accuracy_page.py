"""Make the tables of accuracy from what was measured: `python docs/accuracy_page.py`.

`benchmarks/accuracy.py --json docs/accuracy.json` measures, and `docs/figures.py` draws the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayleaf.plots.style import COLORS, MARKERS, MIDTONE, axes_of, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOCS = Path(__file__).parent
START, END = "<!-- {}: written by docs/accuracy_page.py -->\n", "<!-- end of {} -->\n"
OURS = {
    "bayleaf": "bayleaf, as it comes",
    "richest": "richest views",
    "views": "weights of views",
    "temperature": "one temperature",
    "textbook": "textbook",
}
PEERS = {
    "LinearSVC": "LinearSVC",
    "LogisticRegression": "logistic regression",
    "fastText": "fastText",
    "MultinomialNB": "MultinomialNB",
    "ComplementNB": "ComplementNB",
}
NAMES = OURS | PEERS
Measured = dict[str, Any]


@cache
def measured() -> dict[tuple[str, str], Measured]:
    """What was measured, by corpus and classifier."""
    found = json.loads((DOCS / "accuracy.json").read_text("utf-8"))
    return {(each["corpus"], each["classifier"]): each for each in found}


def corpora() -> list[str]:
    """The corpora on which all classifiers were measured."""
    known = dict.fromkeys(corpus for corpus, _ in measured())
    return [corpus for corpus in known if all((corpus, name) in measured() for name in NAMES)]


def table(cell: Callable[[Measured], str]) -> str:
    """One row a corpus, one column a classifier."""
    cells = [[corpus, *(cell(measured()[corpus, name]) for name in NAMES)] for corpus in corpora()]
    lines = [["corpus", *NAMES.values()], ["---"] * (len(NAMES) + 1), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(name: str, digits: int) -> Callable[[Measured], str]:
    """A cell with this number, or nothing."""
    return lambda each: "" if each[name] is None else f"{each[name]:.{digits}f}"


def seconds(each: Measured) -> str:
    """A cell with the seconds to train and to predict."""
    return f"{each['train_seconds']:.2g} / {each['predict_seconds']:.2g}"


def mean(name: str) -> float:
    """The mean accuracy of a classifier."""
    return float(sum(measured()[corpus, name]["accuracy"] for corpus in corpora()) / len(corpora()))


def means() -> str:
    """The mean accuracy of all, on one line."""
    return "Means: " + ", ".join(f"{shown} {mean(name):.2f}" for name, shown in NAMES.items()) + ".\n"


def presets() -> str:
    """The corpora that have a preset of their own."""
    lines = ["| corpus | preset | accuracy | macro F1 | train / predict s |\n", "|---|---|---|---|---|\n"]
    for corpus, preset in (("languages", "language"), ("taxa", "dna")):
        each = measured()[corpus, "bayleaf"]
        lines.append(
            f"| {corpus} | {preset} | {each['accuracy']:.2f} | {each['macro_f1']:.3f} | {seconds(each)} |\n"
        )
    return "".join(lines)


def summary() -> str:
    """The default beside two linear classifiers: accuracy, log loss, calibration error."""
    lines = ["| corpus | earned weights | LinearSVC | logistic regression |\n", "|---|---|---|---|\n"]
    for corpus in corpora():
        ours, svc, lr = (measured()[corpus, name] for name in ("bayleaf", "LinearSVC", "LogisticRegression"))
        own = f"{ours['accuracy']:.2f} / {ours['log_loss']:.3f} / {ours['calibration_error']:.3f}"
        other = f"{lr['accuracy']:.2f} / {lr['log_loss']:.3f} / {lr['calibration_error']:.3f}"
        lines.append(f"| {corpus} | {own} | {svc['accuracy']:.2f} | {other} |\n")
    return "".join(lines)


def parts() -> dict[str, tuple[str, str]]:
    """Of each generated part its page and its text."""
    page = "benchmarks.md"
    return {
        "accuracy": (page, table(number("accuracy", 2)) + "\n" + means()),
        "log loss": (page, table(number("log_loss", 3))),
        "calibration": (page, table(number("calibration_error", 3))),
        "macro F1": (page, table(number("macro_f1", 3))),
        "seconds": (page, table(seconds)),
        "presets": (page, presets()),
        "results": ("tuning.md", summary()),
    }


def shown(name: str, page: str) -> str:
    """A part as its page has it."""
    return (DOCS / page).read_text("utf-8").partition(START.format(name))[2].partition(END.format(name))[0]


def write() -> None:
    """Put all parts into their pages."""
    for name, (page, text) in parts().items():
        before, start, rest = (DOCS / page).read_text("utf-8").partition(START.format(name))
        _, end, after = rest.partition(END.format(name))
        (DOCS / page).write_text(before + start + text + end + after, "utf-8")


def against_time() -> Axes:
    """The mean accuracy of each classifier against the seconds that it trains for on all corpora together."""
    ax = axes_of(None, 6.2, 3.8)
    for name, label in NAMES.items():
        time = sum(measured()[corpus, name]["train_seconds"] for corpus in corpora())
        place = 0 if name in OURS else 1
        ax.plot(time, mean(name), MARKERS[place], color=COLORS[place], markersize=7)
        below = name in ("MultinomialNB", "temperature", "fastText")
        ax.annotate(label, (time, mean(name)), (0, -13 if below else 7), textcoords="offset points",
                    ha="center", fontsize="small")  # fmt: skip
    ax.set_xscale("log")
    ax.margins(0.16, 0.12)
    ax.grid(color=MIDTONE, alpha=0.2)
    ax.set_xlabel("seconds to train on all ten corpora")
    ax.set_ylabel("mean test accuracy, %")
    plain(ax, "left", "bottom")
    return ax


if __name__ == "__main__":
    write()
