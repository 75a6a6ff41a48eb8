"""Confusion matrices and reliability diagrams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.metrics import Scorecard
from bayleaf.plots.style import COLORS, MIDTONE, axes_of, plain, text_color
from bayleaf.plots.terms import cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST_WITH_NUMBERS = 24
DARK = 0.7  # the part of a row (its root) above which white reads better than black


def confusion_matrix(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """How many documents of each class (rows) were given each answer (columns).

    `model` is a Model, a NaiveBayes, or any classifier with `predict`. The deeper the color, the larger the
    part of the row; right answers are blue.
    """
    truth, answers = list(y), np.asarray(model.predict(X)).tolist()
    names = _classes(model, truth, answers)
    place = {name: number for number, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), np.int64)
    np.add.at(counts, ([place[name] for name in truth], [place[name] for name in answers]), 1)
    side = min(max(2.2, 0.62 * len(names)), 12.0)
    ax = axes_of(ax, side + 1.4, side + 0.9)
    _draw_cells(ax, counts)
    shown = [cut(str(name)) for name in names]
    ax.set_xticks(range(len(names)), shown, rotation=45 if max(map(len, shown)) > 6 else 0)
    ax.set_yticks(range(len(names)), shown)
    ax.set_xlabel("answer")
    ax.set_ylabel("truth")
    plain(ax)
    return ax


def _classes(model: Any, truth: list[Any], answers: list[Any]) -> list[Any]:
    """The model's classes, and behind them the labels that it does not know."""
    known = getattr(model, "classes_", None)
    names = list(model.classes if known is None else np.asarray(known).tolist())
    return names + sorted(set(truth + answers) - set(names), key=str)


def _draw_cells(ax: Axes, counts: NDArray[np.int64]) -> None:
    """A square for each cell that is not empty, opaque, so that its number can be read on any page."""
    from matplotlib.patches import Rectangle

    share = np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))
    for (row, column), count in np.ndenumerate(counts):
        part = float(share[row, column])
        if count:
            color = _shade(COLORS[0] if row == column else COLORS[1], part)
            ax.add_patch(Rectangle((column - 0.48, row - 0.48), 0.96, 0.96, facecolor=color))
        if len(counts) <= LARGEST_WITH_NUMBERS:
            ink = text_color() if not count else "white" if part > DARK else "#222222"
            ax.text(column, row, f"{count:,}", ha="center", va="center", color=ink)
    ax.set(xlim=(-0.5, len(counts) - 0.5), ylim=(len(counts) - 0.5, -0.5), aspect="equal")


def _shade(color: str, part: float) -> tuple[float, ...]:
    """The color, mixed with white for a small part of the row."""
    from matplotlib.colors import to_rgb

    deep = np.array(to_rgb(color))
    return tuple(((1 - part) * (0.12 * deep + 0.88) + part * deep).tolist())


def reliability(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """How often answers of a confidence are right: on the diagonal, the model knows what it knows.

    `model` is a Model, a NaiveBayes, or any classifier with `predict_proba`. The area of a point grows with
    the documents in it; the line to the diagonal is what confidence is off by. The title gives the expected
    calibration error.
    """
    posterior = model.posterior(X) if hasattr(model, "posterior") else model.predict_proba(X)
    truth = list(y)
    names = _classes(model, truth, [])
    place = {name: number for number, name in enumerate(names)}
    card = Scorecard(np.shape(posterior)[1])
    with np.errstate(divide="ignore"):
        card.add(np.array([place[name] for name in truth]), np.log(np.asarray(posterior, np.float64)))
    confidence, right, documents = np.array(card.reliability()).T
    ax = axes_of(ax, 4.4, 4.4)
    ax.plot([0, 1], [0, 1], color=MIDTONE, linewidth=1, linestyle=(0, (4, 4)))
    ax.vlines(confidence, confidence, right, color=COLORS[0], linewidth=1)
    ax.scatter(confidence, right, 16 + 240 * documents / documents.max(), color=COLORS[0], linewidths=0)
    ax.set(xlim=(-0.02, 1.04), ylim=(-0.02, 1.04), aspect="equal")
    ax.set_xlabel("confidence of the answer")
    ax.set_ylabel("part that is right")
    ax.set_title(f"{card.n:,} documents, calibration error {card.ece:.3f}", loc="left", fontsize="medium")
    plain(ax, "left", "bottom")
    return ax
