"""What all plots share: colors, axes without ornament, a style for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colors, those that stand out on white and on black alike: without yellow and black, and
# with a lighter blue, whose contrast is 4.1 to white and 4.5 to the dark of common pages.
COLORS = ("#1f83c4", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "^", "D", "v", "P")
# Contrast 4.2 and 4.4.
MIDTONE = "#757575"

NEUTRAL = {
    "axes.edgecolor": MIDTONE,
    "axes.facecolor": "none",
    "axes.labelcolor": MIDTONE,
    "axes.titlecolor": MIDTONE,
    "figure.facecolor": "none",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "legend.labelcolor": MIDTONE,
    "savefig.facecolor": "none",
    "text.color": MIDTONE,
    "xtick.color": MIDTONE,
    "ytick.color": MIDTONE,
}


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        return import_module("matplotlib.pyplot")
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] != "matplotlib":
            raise
        message = 'For plots the package matplotlib is needed. Install it: pip install "bayleaf[plots]"'
        raise ModuleNotFoundError(message, name="matplotlib") from error


@contextmanager
def neutral() -> Iterator[None]:
    """Draw for light and dark pages: a transparent ground, and a gray that can be read on both."""
    with pyplot().rc_context(NEUTRAL):
        yield


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes given, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    made: Axes = pyplot().subplots(figsize=(width, height), layout="constrained")[1]
    return made


def plain(ax: Axes, *kept: str) -> None:
    """Leave only these sides of the frame."""
    for name, spine in ax.spines.items():
        spine.set_visible(name in kept)
    if "bottom" not in kept:
        ax.tick_params(bottom=False)
    if "left" not in kept:
        ax.tick_params(left=False)


def text_color() -> Any:
    """The color of text in this session."""
    return pyplot().rcParams["text.color"]


def color_of(number: int) -> str:
    """The color of a class; after the last, the first again."""
    return COLORS[number % len(COLORS)]
