"""The plots of a study as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bayleaf import svg
from bayleaf.svg import LEFT, RIGHT, WIDTH, Scale

ROW = 30


def _ruler(across: Scale, height: float, percent: bool = True) -> str:
    unit = 100 if percent else 1
    return svg.across_axis(across, height, [(tick, f"{unit * tick:g}") for tick in across.ticks()])


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
        parts.append(svg.text(RIGHT, y - 8, mark.name))
        parts.append(svg.text(WIDTH - RIGHT, y - 8, mark.shown, "small", "end"))
        parts.append(svg.line(ends[0], y, ends[1], y, f"bar {kind}"))
        parts.append(svg.dot(across(mark.value), y, kind, f"{mark.name}: {mark.shown}"))
    return svg.figure(height + 20, "".join(parts), title)


def differences(marks: Sequence[Mark], title: str) -> str:
    """A bar from zero for each row, the name above it; marked ones are real."""
    most = max(max(abs(mark.value) for mark in marks), 1e-6)
    across = Scale(-most, most, RIGHT, WIDTH - RIGHT)
    height = ROW * len(marks)
    parts = [_ruler(across, height), svg.line(across(0), 0, across(0), height, "axis")]
    for number, mark in enumerate(marks):
        y, kind = ROW * number + 21, "good" if mark.marked else "other"
        parts.append(svg.text(RIGHT, y - 8, mark.name))
        parts.append(svg.text(WIDTH - RIGHT, y - 8, mark.shown, "small", "end"))
        parts.append(svg.line(across(0), y, across(mark.value), y, f"thick {kind}"))
        parts.append(svg.dot(across(mark.value), y, kind, f"{mark.name}: {mark.shown}", 3))
    return svg.figure(height + 20, "".join(parts), title)


@dataclass(frozen=True)
class Curve:
    """A named line, its points and how far they spread."""

    name: str
    across: Sequence[float]
    up: Sequence[float]
    spread: Sequence[float]


def curves(lines: Sequence[Curve], title: str, height: float = 250) -> str:
    """Lines over a logarithmic ruler, with bands of one standard deviation."""
    places = [math.log10(max(x, 1)) for curve in lines for x in curve.across]
    low = min(y - s for curve in lines for y, s in zip(curve.up, curve.spread, strict=True))
    high = max(y + s for curve in lines for y, s in zip(curve.up, curve.spread, strict=True))
    across = Scale(min(places), max(places), LEFT, WIDTH - RIGHT)
    up = Scale(low, high, height, 8)
    parts = [_frame(across, up, height)]
    for number, curve in enumerate(lines):
        xs = [across(math.log10(max(x, 1))) for x in curve.across]
        both = list(zip(xs, curve.up, curve.spread, strict=True))
        band = [(x, up(y + s)) for x, y, s in both] + [(x, up(y - s)) for x, y, s in reversed(both)]
        kind = f"line{number % svg.COLORS}"
        parts.append(svg.polygon(band, f"band {kind}"))
        parts.append(svg.polyline([(x, up(y)) for x, y, _ in both], kind))
        parts.append(
            svg.text(WIDTH - RIGHT - 4, height - 12 - 16 * number, curve.name, f"name {kind}", "end")
        )
    return svg.figure(height + 34, "".join(parts), title)


def _frame(across: Scale, up: Scale, height: float) -> str:
    powers = range(math.ceil(across.low - 1e-9), math.floor(across.high) + 1)
    ticks = [(power, f"{10**power:,}") for power in powers]
    return svg.up_axis(up, height, 100) + svg.across_axis(across, height, ticks, "terms")


def scatter(dots: Sequence[tuple[float, float, bool, str]], names: tuple[str, str], title: str) -> str:
    """A dot for each pair of values, the marked ones above the others."""
    height = 260
    xs, ys = [x for x, _, _, _ in dots], [y for _, y, _, _ in dots]
    across = Scale(0, max(max(xs), 1e-6), LEFT, WIDTH - RIGHT)
    up = Scale(min(ys), max(max(ys), min(ys) + 1e-6), height, 8)
    ticks = [(tick, f"{100 * tick:g}") for tick in across.ticks()]
    parts = [svg.up_axis(up, height, 100, names[1]), svg.across_axis(across, height, ticks, names[0])]
    for x, y, marked, said in sorted(dots, key=lambda dot: dot[2]):
        parts.append(svg.dot(across(x), up(y), "good" if marked else "other", said, 3.5))
    return svg.figure(height + 36, "".join(parts), title)
