"""Draw how many labels it takes, and write the table of its page, as `benchmarks/teach.py` measured it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayleaf.plots.style import COLORS, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[1] / "benchmarks" / "teach.json"
ORDERS = {"random": "random order", "ask": "the page's order"}
SHARE = 0.9


@cache
def results() -> list[dict[str, Any]]:
    """What `benchmarks/teach.py labels --json` wrote."""
    measured: list[dict[str, Any]] = json.loads(RESULTS.read_text("utf-8"))
    return measured


def table() -> str:
    """Labels until 90 % of the full accuracy: medians over the draws."""
    lines = [
        "| corpus | accuracy with all labels | 90 % of it | labels, random order | labels, page's order |",
        "|---|---|---|---|---|",
    ]
    for row in results():
        medians = " | ".join(f"{np.median(row['labels'][order]):.0f}" for order in ORDERS)
        full = row["accuracy"]
        lines.append(f"| {row['corpus']} | {full:.1f} | {SHARE * full:.1f} | {medians} |")
    return "\n".join(lines) + "\n"


def teaching() -> Figure:
    """Accuracy by number of labels, a line for each draw, and the bar."""
    from matplotlib import pyplot as plt

    rows = results()
    figure, axes = plt.subplots(1, len(rows), figsize=(3 * len(rows), 3), layout="constrained", squeeze=False)
    for ax, row in zip(axes[0], rows, strict=True):
        for (order, name), color in zip(ORDERS.items(), COLORS, strict=False):
            for number, points in enumerate(row["curves"][order]):
                labels, reached = zip(*points, strict=True)
                ax.plot(labels, reached, color=color, label=name if number == 0 else None)
        ax.axhline(SHARE * row["accuracy"], color="gray", linestyle=":")
        ax.set_xscale("log")
        most = max(points[-1][0] for curves in row["curves"].values() for points in curves)
        ticks = [
            labels for labels in ((20, 30, 40) if most < 100 else (20, 100, 500, 2000)) if labels <= most
        ]
        ax.set_xticks(ticks, [str(labels) for labels in ticks])
        ax.set_xticks([], minor=True)
        ax.set_title(row["corpus"])
        ax.set_xlabel("labels")
        plain(ax, "left", "bottom")
    axes[0][0].set_ylabel("right answers, %")
    axes[0][-1].legend()
    return figure
