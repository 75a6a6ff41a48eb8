"""Draw lazy against eager as the corpus grows, and write the tables of its page, from what was measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayleaf.plots.style import COLORS, MARKERS, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[1] / "benchmarks" / "lazy.json"
CORPORA = {"imdb": "film reviews", "adult": "a census, six numbers a row"}
Run = dict[str, Any]


@cache
def results() -> dict[str, Any]:
    """What `benchmarks/lazy.py --json` wrote."""
    measured: dict[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    return measured


def per_answer(run: Run) -> float:
    """Milliseconds for one answer."""
    return float(run["predict"]) / int(results()["questions"]) * 1e3


QUANTITIES: dict[str, Callable[[Run], float]] = {
    "time to learn, s": lambda run: float(run["learn"]),
    "time for one answer, ms": per_answer,
    "size of what is learned, MB": lambda run: run["stored"] / 1e6,
    "right answers, %": lambda run: run["accuracy"] * 100,
}


def learners(corpus: str) -> list[str]:
    """Who was measured on a corpus, the lazy one first."""
    return list(dict.fromkeys(run["learner"] for run in results()["runs"] if run["corpus"] == corpus))


def runs_of(corpus: str, learner: str) -> list[Run]:
    """The runs of a learner, from the smallest slice to the largest."""
    return [run for run in results()["runs"] if (run["corpus"], run["learner"]) == (corpus, learner)]


def lazy() -> Figure:
    """Four quantities as two corpora grow: all but the last on logarithmic scales."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        len(CORPORA), len(QUANTITIES), figsize=(12, 5), layout="constrained", sharex="row"
    )
    for row, corpus in zip(axes, CORPORA, strict=True):
        for ax, name in zip(row, QUANTITIES, strict=True):
            _panel(ax, corpus, name)
        row[-1].legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        row[0].set_ylabel(CORPORA[corpus])
    for ax, name in zip(axes[0], QUANTITIES, strict=True):
        ax.set_title(name, fontsize="medium")
    for ax in axes[-1]:
        ax.set_xlabel("documents learned")
    return figure


def _panel(ax: Axes, corpus: str, name: str) -> None:
    for number, learner in enumerate(learners(corpus)):
        runs = runs_of(corpus, learner)
        sizes, values = [run["documents"] for run in runs], [QUANTITIES[name](run) for run in runs]
        ax.plot(sizes, values, color=COLORS[number], marker=MARKERS[number], markersize=4, label=learner)
    ax.set_xscale("log")
    if not name.endswith("%"):
        ax.set_yscale("log")
    largest = [run["documents"] for run in runs_of(corpus, learners(corpus)[0])]
    ax.set_xticks(largest[::2], [f"{size:,}" for size in largest[::2]])
    ax.minorticks_off()
    plain(ax, "left", "bottom")


def table(corpus: str) -> str:
    """The table of a corpus in Markdown: of each quantity the figures of all learners, in their order."""
    order = learners(corpus)
    lines = [
        "| documents | learn, ms | one answer, µs | held, MB | peak, MB | pickle, MB | right, % |",
        "|---|---|---|---|---|---|---|",
    ]
    for runs in zip(*(runs_of(corpus, learner) for learner in order), strict=True):
        columns = [
            [f"{run['learn'] * 1e3:,.0f}" for run in runs],
            [f"{per_answer(run) * 1e3:,.0f}" for run in runs],
            *([f"{run[size] / 1e6:,.1f}" for run in runs] for size in ("held", "added", "stored")),
            [f"{run['accuracy'] * 100:.1f}" for run in runs],
        ]
        cells = [f"{runs[0]['documents']:,}", *(" / ".join(column) for column in columns)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
