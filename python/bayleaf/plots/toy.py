"""Twelve samples with a color and a shape: small enough to check naive Bayes by counting them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayleaf.paper import TOY
from bayleaf.plots.style import COLORS, MIDTONE, axes_of, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FILLS = {"blue": COLORS[0], "green": COLORS[2], "red": COLORS[1], "yellow": COLORS[4]}
_MARKERS = {"circle": "o", "square": "s"}


def toy_samples(
    samples: Sequence[tuple[str, str, str]] = TOY, new: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Samples of (color, shape, class), a row for each class, and a `new` one of unknown class below.

    Without `samples`, those of the toy example, `bayleaf.paper.TOY`. Colors are blue, green, red and yellow,
    each with its first letter; shapes are circle and square.
    """
    rows: dict[str, list[tuple[str, str]]] = {}
    for color, shape, label in samples:
        rows.setdefault(label, []).append((color, shape))
    if new is not None:
        rows["?"] = [(new[0], new[1])]
    widest = max(map(len, rows.values()), default=1)
    ax = axes_of(ax, 0.6 * widest + 1.2, 0.75 * len(rows) + 0.2)
    for row, (label, own) in enumerate(rows.items()):
        ax.text(-0.9, row, label.replace("-", "−"), ha="center", va="center", fontsize=18, color=MIDTONE)
        for column, (color, shape) in enumerate(own):
            _draw(ax, column, row, color, shape)
    ax.set_xlim(-1.4, widest - 0.4)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xticks([])
    ax.set_yticks([])
    plain(ax)
    return ax


def _draw(ax: Axes, column: int, row: int, color: str, shape: str) -> None:
    for value, known, name in ((color, _FILLS, "color"), (shape, _MARKERS, "shape")):
        if value not in known:
            raise ValueError(f"A {name} must be one of {', '.join(known)}, got {value!r}.")
    ax.plot(column, row, _MARKERS[shape], color=_FILLS[color], markersize=26, markeredgewidth=0)
    ax.text(column, row, color[0], ha="center", va="center", color="white", weight="bold")
