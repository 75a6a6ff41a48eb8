"""The plots of `bayleaf evaluate --html`: a matrix, a reliability diagram, curves."""

from __future__ import annotations

from collections.abc import Sequence

from bayleaf import svg
from bayleaf.svg import LEFT, RIGHT, TOP, WIDTH, Scale

SIDE = WIDTH - LEFT - RIGHT
LETTER = 6.5


def matrix(counts: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    """A confusion matrix; the deeper the color, the larger the part of the row."""
    cell = max(18.0, min(64.0, SIDE / len(names)))
    left = 14 + LETTER * min(max(map(len, names)), 24)
    parts = []
    for row, name in enumerate(names):
        at = left + row * cell
        parts.append(svg.text(left - 6, at + cell / 2 + 4, name[:24], anchor="end"))
        parts.append(svg.turned(at + cell / 2 + 4, left - 6, name[:24]))
        parts += _row(counts[row], row, left, at, cell)
    side = left + len(names) * cell + 4
    return svg.figure(side, "".join(parts), "confusion matrix", max(side, WIDTH))


def _row(counts: Sequence[int], row: int, left: float, y: float, cell: float) -> list[str]:
    total = max(sum(counts), 1)
    parts = []
    for column, count in enumerate(counts):
        x, part = left + column * cell, (count / total) ** 0.5
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{cell:.1f}" height="{cell:.1f}" '
            f'class="{"right" if row == column else "wrong"}" fill-opacity="{part:.3f}"/>'
        )
        if count and cell >= LETTER * len(str(count)) + 2:
            kind = "deep" if part > 0.6 else ""
            parts.append(svg.text(x + cell / 2, y + cell / 2 + 4, str(count), kind, "middle"))
    return parts


def _square(across: str, up: str) -> tuple[Scale, Scale, str]:
    """The scales of a square from 0 to 1, and its axes."""
    height = TOP + SIDE
    right, above = Scale(0, 1, LEFT, WIDTH - RIGHT), Scale(0, 1, height, TOP)
    ticks = [(tick, f"{tick:g}") for tick in right.ticks()]
    return right, above, svg.across_axis(right, height, ticks, across) + svg.up_axis(above, height, name=up)


def reliability(bins: Sequence[tuple[float, float, int]]) -> str:
    """How often answers of a confidence are right: on the diagonal the model knows what it knows."""
    most = max((count for _, _, count in bins), default=1)
    across, up, axes = _square("confidence", "part that is right")
    parts = [axes, svg.line(across(0), up(0), across(1), up(1), "diagonal")]
    for confidence, hits, count in bins:
        said = f"{count} documents, confidence {confidence:.4f}, right {hits:.4f}"
        radius = 3 + 11 * (count / most) ** 0.5
        parts.append(svg.dot(across(confidence), up(hits), "part", said, round(radius, 1)))
    return svg.figure(TOP + SIDE + 36, "".join(parts), "reliability diagram")


def curves(named: Sequence[tuple[str, Sequence[float], Sequence[float]]]) -> str:
    """Precision over recall, a curve for each class."""
    across, up, axes = _square("recall", "precision")
    parts = [axes]
    for number, (name, recall, precision) in enumerate(named):
        kind = f"line{number % svg.COLORS}"
        places = [(across(x), up(y)) for x, y in zip(recall, precision, strict=True)]
        parts.append(svg.polyline(places, kind))
        y = TOP + SIDE - 8 - 14 * (len(named) - 1 - number)
        parts.append(svg.text(LEFT + 8, y, name[:32], kind))
    return svg.figure(TOP + SIDE + 36, "".join(parts), "precision and recall")
