"""Parts of plots as SVG, as wide as a phone; colors come from the page (`html_page`), light or dark."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

WIDTH = 380
LEFT, RIGHT, TOP = 44, 12, 8
COLORS = 8
"""The page has so many colors for lines, as the classes line0, line1, …"""


@dataclass(frozen=True)
class Scale:
    """From values to places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        part = (value - self.low) / (self.high - self.low or 1.0)
        return self.start + part * (self.end - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        """Round numbers, about so many of them."""
        raw = (self.high - self.low) / about or 1.0
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * each for each in (1, 2, 5, 10) if power * each >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [round(n * step, 10) for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


def figure(height: float, body: str, title: str, width: float = WIDTH) -> str:
    """A picture with a name for screen readers."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{body}</svg>"
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def turned(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words at a place, read from below."""
    place = f"translate({x:.1f},{y:.1f}) rotate(-90)"
    return f'<text transform="{place}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" class="{kind}"/>'


def dot(x: float, y: float, kind: str, said: str, radius: float = 4) -> str:
    """A dot that says what it is."""
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="{kind}">'
        f"<title>{escape(said)}</title></circle>"
    )


def polyline(places: Iterable[tuple[float, float]], kind: str) -> str:
    """A line through places."""
    return f'<polyline points="{_points(places)}" class="{kind}"/>'


def polygon(places: Iterable[tuple[float, float]], kind: str) -> str:
    """An area within places."""
    return f'<polygon points="{_points(places)}" class="{kind}"/>'


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def across_axis(scale: Scale, height: float, ticks: Iterable[tuple[float, str]], name: str = "") -> str:
    """Lines from the top to the bottom at ticks, what they are below them, and the name of the axis."""
    parts = []
    for tick, shown in ticks:
        parts.append(line(scale(tick), TOP, scale(tick), height, "grid"))
        parts.append(text(scale(tick), height + 14, shown, "small", "middle"))
    if name:
        parts.append(text((LEFT + WIDTH) / 2, height + 30, name, "small", "middle"))
    return "".join(parts)


def up_axis(scale: Scale, height: float, unit: float = 1.0, name: str = "") -> str:
    """Lines from the left to the right at ticks, what they are beside them, and the name of the axis."""
    parts = []
    for tick in scale.ticks():
        parts.append(line(LEFT, scale(tick), WIDTH - RIGHT, scale(tick), "grid"))
        parts.append(text(LEFT - 5, scale(tick) + 4, f"{unit * tick:g}", "small", "end"))
    if name:
        parts.append(turned(11, height / 2, name, "small", "middle"))
    return "".join(parts)
