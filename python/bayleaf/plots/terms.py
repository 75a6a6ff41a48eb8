"""Bars of log odds: top terms and explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayleaf.plots.style import MIDTONE, axes_of, color_of, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayleaf.explanation import Explanation
    from bayleaf.types import Label

LONGEST = 28
ROW = 0.24


def top_terms(
    model: Any, classes: Sequence[Label] | None = None, n: int = 10, view: int = 0, ax: Axes | None = None
) -> Axes:
    """The terms that speak most for each class, with their log odds against the mean of the others.

    `model` is a Model or a fitted NaiveBayes; `classes` are those to show, all of them by default.
    """
    model = getattr(model, "model_", model)
    shown = list(model.classes if classes is None else classes)
    groups = [model.top_terms(label, n, view) for label in shown]
    rows = sum(map(len, groups)) + len(groups)
    ax = axes_of(ax, 6.0, 0.7 + ROW * rows)
    place, names = 0, list[tuple[int, str]]()
    for label, terms in zip(shown, groups, strict=True):
        color = color_of(model.classes.index(label))
        ax.text(0.0, place, f" {label}", color=color, weight="bold", va="center")
        for row, (term, odds) in enumerate(terms, place + 1):
            ax.barh(row, odds, color=color, height=0.7)
            names.append((row, cut(term)))
        place += len(terms) + 1
    ax.set_yticks([row for row, _ in names], [name for _, name in names])
    ax.set_ylim(place - 0.4, -0.6)
    ax.set_xlabel("log odds against the mean of the other classes")
    plain(ax, "bottom")
    return ax


def explanation(explained: Explanation, most: int = 12, ax: Axes | None = None) -> Axes:
    """What each term adds to the log odds of an answer: bars to the right speak for it, to the left against.

    The bars sum to the last one, exactly: the terms beyond the `most` strongest are one bar.
    """
    rows = _rows(explained, most)
    finite = [abs(odds) for _, odds in rows if np.isfinite(odds)]
    unit = max(finite, default=0.0) or 1.0
    ax = axes_of(ax, 6.0, 0.9 + ROW * len(rows))
    for row, (_, odds) in enumerate(rows):
        color = MIDTONE if row == len(rows) - 1 else color_of(0 if odds > 0 else 1)
        length = float(np.clip(odds, -1.15 * unit, 1.15 * unit))
        ax.barh(row, length, color=color, height=0.7)
        side = ("left", 4) if odds >= 0 else ("right", -4)
        ax.annotate(_signed(odds), (length, row), (side[1], 0), textcoords="offset points",
                    va="center", ha=side[0], fontsize="small")  # fmt: skip
    ax.axhline(len(rows) - 1.5, color=MIDTONE, linewidth=0.8)
    ax.axvline(0, color=MIDTONE, linewidth=0.8)
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.margins(x=0.16)
    against = "" if explained.against is None else f" against {explained.against}"
    ax.set_xlabel(f"log odds of {explained.label}{against}")
    ax.set_title(f"{explained.label}: {explained.probability:.4g}", loc="left")
    plain(ax)
    ax.set_xticks([])
    return ax


def _rows(explained: Explanation, most: int) -> list[tuple[str, float]]:
    rows = [(explained.start, explained.log_odds(explained.log_prior))]
    if explained.bias.any():
        rows.append(("(absent terms)", explained.log_odds(explained.bias)))
    terms = [(cut(term if n == 1 else f"{term} ×{n}"), odds) for term, n, odds in explained.terms()]
    rows += terms[:most]
    if len(terms) > most:
        rows.append((f"({len(terms) - most} more)", sum(odds for _, odds in terms[most:])))
    return [*rows, ("sum", explained.log_odds(explained.log_joint))]


def _signed(odds: float) -> str:
    if not np.isfinite(odds):
        return "+∞" if odds > 0 else "−∞"
    return f"{odds:+.2f}".replace("-", "−")


def cut(name: str) -> str:
    """The name, if it is short enough for a plot, or else its beginning; a dollar sign begins no formula."""
    short = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
    return short.replace("$", r"\$")
