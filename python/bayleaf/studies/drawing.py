"""The plots of a study as SVG, as wide as a phone; colors come from the page, light or dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 380
LEFT, RIGHT = 44, 12
ROW = 30


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


def figure(height: float, body: str, title: str) -> str:
    """A picture with a name for those who cannot see it."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{body}</svg>"
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" class="{kind}"/>'


def _dot(x: float, y: float, kind: str, said: str, radius: float = 4) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="{kind}">'
        f"<title>{escape(said)}</title></circle>"
    )


def _ruler(across: Scale, height: float, percent: bool = True) -> str:
    parts = []
    for tick in across.ticks():
        shown = f"{100 * tick:g}" if percent else f"{tick:g}"
        parts.append(_line(across(tick), 0, across(tick), height, "grid"))
        parts.append(text(across(tick), height + 13, shown, "small", "middle"))
    return "".join(parts)


@dataclass(frozen=True)
class Mark:
    """One row of a plot: a name, a value, how far it spreads, and whether it is marked."""

    name: str
    value: float
    spread: float
    marked: bool
    shown: str


def whiskers(marks: Sequence[Mark], title: str, percent: bool = True) -> str:
    """A dot and its spread for each row, the name above it."""
    low = min(mark.value - mark.spread for mark in marks)
    high = max(mark.value + mark.spread for mark in marks)
    across = Scale(low, high, RIGHT, WIDTH - RIGHT)
    height = ROW * len(marks)
    parts = [_ruler(across, height, percent)]
    for number, mark in enumerate(marks):
        y, kind = ROW * number + 21, "good" if mark.marked else "other"
        ends = across(mark.value - mark.spread), across(mark.value + mark.spread)
        parts.append(text(RIGHT, y - 8, mark.name))
        parts.append(text(WIDTH - RIGHT, y - 8, mark.shown, "small", "end"))
        parts.append(_line(ends[0], y, ends[1], y, f"bar {kind}"))
        parts.append(_dot(across(mark.value), y, kind, f"{mark.name}: {mark.shown}"))
    return figure(height + 20, "".join(parts), title)


def differences(marks: Sequence[Mark], title: str) -> str:
    """A bar from zero for each row, the name above it; marked ones are real."""
    most = max(max(abs(mark.value) for mark in marks), 1e-6)
    across = Scale(-most, most, RIGHT, WIDTH - RIGHT)
    height = ROW * len(marks)
    parts = [_ruler(across, height), _line(across(0), 0, across(0), height, "axis")]
    for number, mark in enumerate(marks):
        y, kind = ROW * number + 21, "good" if mark.marked else "other"
        parts.append(text(RIGHT, y - 8, mark.name))
        parts.append(text(WIDTH - RIGHT, y - 8, mark.shown, "small", "end"))
        parts.append(_line(across(0), y, across(mark.value), y, f"thick {kind}"))
        parts.append(_dot(across(mark.value), y, kind, f"{mark.name}: {mark.shown}", 3))
    return figure(height + 20, "".join(parts), title)


@dataclass(frozen=True)
class Curve:
    """A named line, its points and how far they spread."""

    name: str
    across: Sequence[float]
    up: Sequence[float]
    spread: Sequence[float]


def curves(lines: Sequence[Curve], title: str, height: float = 250) -> str:
    """Lines over a logarithmic ruler, with bands of one standard deviation."""
    places = [math.log10(max(x, 1)) for line in lines for x in line.across]
    low = min(y - s for line in lines for y, s in zip(line.up, line.spread, strict=True))
    high = max(y + s for line in lines for y, s in zip(line.up, line.spread, strict=True))
    across = Scale(min(places), max(places), LEFT, WIDTH - RIGHT)
    up = Scale(low, high, height, 8)
    parts = [_frame(across, up, height)]
    for number, line in enumerate(lines):
        xs = [across(math.log10(max(x, 1))) for x in line.across]
        both = list(zip(xs, line.up, line.spread, strict=True))
        band = [(x, up(y + s)) for x, y, s in both] + [(x, up(y - s)) for x, y, s in reversed(both)]
        kind = f"line{number % 4}"
        parts.append(f'<polygon points="{_points(band)}" class="band {kind}"/>')
        parts.append(f'<polyline points="{_points([(x, up(y)) for x, y, _ in both])}" class="{kind}"/>')
        parts.append(text(WIDTH - RIGHT - 4, height - 12 - 16 * number, line.name, f"name {kind}", "end"))
    return figure(height + 34, "".join(parts), title)


def _frame(across: Scale, up: Scale, height: float) -> str:
    parts = []
    for tick in up.ticks():
        parts.append(_line(LEFT, up(tick), WIDTH - RIGHT, up(tick), "grid"))
        parts.append(text(LEFT - 5, up(tick) + 4, f"{100 * tick:g}", "small", "end"))
    for power in range(math.ceil(across.low - 1e-9), math.floor(across.high) + 1):
        parts.append(_line(across(power), 8, across(power), height, "grid"))
        parts.append(text(across(power), height + 14, f"{10**power:,}", "small", "middle"))
    parts.append(text((LEFT + WIDTH) / 2, height + 30, "terms", "small", "middle"))
    return "".join(parts)


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def scatter(dots: Sequence[tuple[float, float, bool, str]], names: tuple[str, str], title: str) -> str:
    """A dot for each pair of values, the marked ones above the others."""
    height = 260
    xs, ys = [x for x, _, _, _ in dots], [y for _, y, _, _ in dots]
    across = Scale(0, max(max(xs), 1e-6), LEFT, WIDTH - RIGHT)
    up = Scale(min(ys), max(max(ys), min(ys) + 1e-6), height, 8)
    parts = []
    for tick in up.ticks():
        parts.append(_line(LEFT, up(tick), WIDTH - RIGHT, up(tick), "grid"))
        parts.append(text(LEFT - 5, up(tick) + 4, f"{100 * tick:g}", "small", "end"))
    for tick in across.ticks():
        parts.append(_line(across(tick), 8, across(tick), height, "grid"))
        parts.append(text(across(tick), height + 14, f"{100 * tick:g}", "small", "middle"))
    for x, y, marked, said in sorted(dots, key=lambda dot: dot[2]):
        parts.append(_dot(across(x), up(y), "good" if marked else "other", said, 3.5))
    parts.append(text((LEFT + WIDTH) / 2, height + 30, names[0], "small", "middle"))
    parts.append(f'<text transform="translate(11,{height / 2}) rotate(-90)" class="small" '
                 f'text-anchor="middle">{escape(names[1])}</text>')  # fmt: skip
    return figure(height + 36, "".join(parts), title)
