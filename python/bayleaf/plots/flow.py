"""A flow diagram of how a classifier is trained and used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayleaf.plots.style import COLORS, MIDTONE, axes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Column, row, title, what it means in bayleaf, color.
_STEPS = (
    (0, 0, "labeled texts", "label ⇥ text", MIDTONE),
    (1, 0, "training part", "to learn from", COLORS[0]),
    (2, 0, "analyze", "text → tokens", COLORS[0]),
    (3, 0, "count", "tokens → counts", COLORS[0]),
    (3, 1, "tune", "leave one out", COLORS[0]),
    (0, 1, "test part", "seen only once", COLORS[1]),
    (2, 1, "model", "counts → weights", COLORS[2]),
    (1, 1, "evaluate", "accuracy, log loss", COLORS[1]),
    (1, 2, "new text", "no label", MIDTONE),
    (2, 2, "classify", "score → posterior", COLORS[2]),
    (3, 2, "answer", "class and reasons", COLORS[2]),
)
_ARROWS = (
    ((0, 0), (1, 0)),
    ((1, 0), (2, 0)),
    ((2, 0), (3, 0)),
    ((3, 0), (3, 1)),
    ((3, 1), (2, 1)),
    ((0, 0), (0, 1)),
    ((0, 1), (1, 1)),
    ((2, 1), (1, 1)),
    ((2, 1), (2, 2)),
    ((1, 2), (2, 2)),
    ((2, 2), (3, 2)),
)
_ARROW: dict[str, object] = {"arrowstyle": "-|>", "color": MIDTONE, "shrinkA": 1, "shrinkB": 1}
_WIDTH, _HEIGHT = 0.8, 0.58


def model_building(ax: Axes | None = None) -> Axes:
    """From labeled texts to an answer: what is learned, what is tested, what is asked."""
    from matplotlib.patches import FancyBboxPatch

    ax = axes_of(ax, 6.2, 3.2)
    for (x, y), (to_x, to_y) in _ARROWS:
        gap_x = _WIDTH / 2 * ((to_x > x) - (to_x < x))
        gap_y = _HEIGHT / 2 * ((to_y > y) - (to_y < y))
        ax.annotate("", (to_x - gap_x, to_y - gap_y), (x + gap_x, y + gap_y), arrowprops=_ARROW)
    for x, y, title, meaning, color in _STEPS:
        corner = (x - _WIDTH / 2, y - _HEIGHT / 2)
        box = FancyBboxPatch(corner, _WIDTH, _HEIGHT, boxstyle="round,pad=0,rounding_size=0.07",
                             facecolor=(color, 0.07), edgecolor=color)  # fmt: skip
        ax.add_patch(box)
        ax.text(x, y - 0.1, title, ha="center", va="center", weight="bold", fontsize=9)
        ax.text(x, y + 0.13, meaning, ha="center", va="center", fontsize=8.5)
    ax.set(xlim=(-0.45, 3.45), ylim=(2.35, -0.35))
    ax.set_axis_off()
    return ax
