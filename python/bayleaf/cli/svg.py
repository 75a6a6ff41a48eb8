"""Three small plots as SVG: a matrix, a reliability diagram, curves."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

SIDE = 320
MARGIN = 48
COLORS = ("#1b7837", "#762a83", "#2166ac", "#b2182b", "#8c510a", "#01665e", "#c51b7d", "#4d4d4d")


def _figure(width: float, height: float, body: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="system-ui,sans-serif" font-size="11">{body}</svg>'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle", color: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{escape(text)}</text>'


def matrix(counts: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    """A confusion matrix; the deeper the color, the larger the part of the row."""
    n = len(names)
    cell = max(18.0, min(64.0, SIDE / n))
    left = 14 + 6.5 * min(max(map(len, names)), 24)
    parts = []
    for row, name in enumerate(names):
        y = left + row * cell
        parts.append(_text(left - 6, y + cell / 2 + 4, name[:24], "end"))
        x = left + row * cell + cell / 2 + 4
        turned = f"translate({x:.1f},{left - 6:.1f}) rotate(-90)"
        parts.append(f'<text transform="{turned}" fill="#333">{escape(name[:24])}</text>')
        parts += _row(counts[row], row, left, y, cell)
    return _figure(left + n * cell + 4, left + n * cell + 4, "".join(parts))


def _row(counts: Sequence[int], row: int, left: float, y: float, cell: float) -> list[str]:
    total = max(sum(counts), 1)
    parts = []
    for column, count in enumerate(counts):
        x, part = left + column * cell, (count / total) ** 0.5
        color = COLORS[0] if row == column else COLORS[3]
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{cell:.1f}" height="{cell:.1f}" stroke="#ddd" '
            f'fill="{color}" fill-opacity="{part:.3f}"/>'
        )
        if count and cell >= 6.5 * len(str(count)) + 2:
            parts.append(
                _text(x + cell / 2, y + cell / 2 + 4, str(count), color="#fff" if part > 0.6 else "#333")
            )
    return parts


def _axes(across: str, up: str) -> str:
    """A square from 0 to 1."""
    low, high = MARGIN, MARGIN + SIDE
    parts = [f'<rect x="{low}" y="10" width="{SIDE}" height="{SIDE}" fill="none" stroke="#999"/>']
    for tenth in range(0, 11, 2):
        at = SIDE * tenth / 10
        parts.append(_text(low + at, SIDE + 26, f"{tenth / 10:g}"))
        parts.append(_text(low - 6, 14 + SIDE - at, f"{tenth / 10:g}", "end"))
        parts.append(f'<path d="M{low + at:.1f} 10v{SIDE}M{low} {10 + at:.1f}h{SIDE}" stroke="#eee"/>')
    parts.append(_text((low + high) / 2, SIDE + 42, across))
    parts.append(
        f'<text transform="translate(12,{10 + SIDE / 2}) rotate(-90)" text-anchor="middle">{up}</text>'
    )
    return "".join(parts)


def _place(x: float, y: float) -> str:
    return f"{MARGIN + SIDE * x:.1f},{10 + SIDE * (1 - y):.1f}"


def reliability(bins: Sequence[tuple[float, float, int]]) -> str:
    """How often answers of a confidence are right: on the diagonal the model knows what it knows."""
    most = max((count for _, _, count in bins), default=1)
    parts = [_axes("confidence", "part that is right")]
    ends = f"{_place(0, 0)} {_place(1, 1)}"
    parts.append(f'<polyline points="{ends}" fill="none" stroke="#999" stroke-dasharray="4 4"/>')
    for confidence, hits, count in bins:
        x, _, y = _place(confidence, hits).partition(",")
        radius = 3 + 11 * (count / most) ** 0.5
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{radius:.1f}" fill="{COLORS[2]}" fill-opacity="0.6">'
            f"<title>{count} documents, confidence {confidence:.4f}, right {hits:.4f}</title></circle>"
        )
    return _figure(SIDE + MARGIN + 20, SIDE + 52, "".join(parts))


def curves(named: Sequence[tuple[str, Sequence[float], Sequence[float]]]) -> str:
    """Precision over recall, a curve for each class."""
    parts = [_axes("recall", "precision")]
    for number, (name, across, up) in enumerate(named):
        color = COLORS[number % len(COLORS)]
        points = " ".join(_place(x, y) for x, y in zip(across, up, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.8"/>')
        parts.append(_text(MARGIN + 8, SIDE - 4 - 14 * (len(named) - 1 - number), name[:32], "start", color))
    return _figure(SIDE + MARGIN + 20, SIDE + 52, "".join(parts))
