"""Draw what was measured, from the tables on the pages, so that a figure never says anything else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bayleaf.plots.style import COLORS, MARKERS, MIDTONE, axes_of, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOCS = Path(__file__).parent
README = DOCS.parent / "README.md"
RATIO = re.compile(r"(?P<part>1/)?(?P<low>[\d.]+)(?: to (?P<high>[\d.]+))?(?: ×)?(?P<slower> the time)?")
Row = tuple[str, str, float, float]


def table(page: Path, heading: str) -> str:
    """The first table below a heading."""
    below = page.read_text("utf-8").partition(f"\n{heading}\n")[2]
    found = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    if found is None:
        raise ValueError(f"There is no table below {heading!r} in {page.name}.")
    return found[0]


def rows(page: Path, heading: str) -> list[dict[str, str]]:
    """The cells of that table, by the names of its columns."""
    lines = table(page, heading).replace("`", "").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def speeds() -> list[Row]:
    """Work, peer, and how many times as fast (or as small), at the least and at the most."""
    found = []
    for row in rows(README, "## How fast"):
        work, against = row["work"], row["against"]
        for number, ratio in enumerate(row["ratio"].split(";")):
            match = RATIO.match(ratio.strip())
            if match:
                low, high = float(match["low"]), float(match["high"] or match["low"])
                ends = (1 / high, 1 / low) if match["slower"] else (low, high)
                found.append((_one(work, number), _one(against, number), *ends))
    return found


def _one(cell: str, number: int) -> str:
    """What a ratio is about: the second part of "memory, words; letters" is "memory, letters"."""
    parts = [part.strip() for part in cell.split(";")]
    if number == 0 or len(parts) == 1:
        return parts[0]
    before, comma, _ = parts[0].rpartition(", ")
    return f"{before}{comma}{parts[number]}"


def speed() -> Axes:
    """How many times as fast as its peer, on a logarithmic scale; left of the line, bayleaf is slower."""
    found = speeds()
    ax = axes_of(None, 6.2, 0.8 + 0.4 * len(found))
    for row, (_, _, low, high) in enumerate(found):
        color = COLORS[0] if low >= 1 else COLORS[1]
        ax.barh(row, low - 1, 0.5, 1, color=color)
        ax.barh(row, high - low, 0.5, low, color=color, alpha=0.5)
        times = _times(low) if low == high else f"{_times(low)} to {_times(high)}"
        ax.annotate(f"{times} ×", (max(high, 1), row), (5, 0), textcoords="offset points", va="center",
                    fontsize="small")  # fmt: skip
    ax.axvline(1, color=MIDTONE, linewidth=1)
    ax.set_xscale("log")
    ax.set_xlim(0.9 * min(1.0, *(row[2] for row in found)), 1.9 * max(row[3] for row in found))
    ax.set_xticks([1, 10], ["1", "10"])
    ax.minorticks_off()
    names = [f"{_short(work)}\nagainst {_short(peer)}" for work, peer, *_ in found]
    ax.set_yticks(range(len(found)), names, fontsize="small")
    ax.set_ylim(len(found) - 0.4, -0.6)
    ax.set_xlabel("times as fast, or as small, as the peer")
    plain(ax, "bottom")
    return ax


def _times(ratio: float) -> str:
    """A ratio with two digits, or all of a larger number."""
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.2g}"


def _short(name: str) -> str:
    """A name without what the table says besides."""
    return re.split(r"'s |, (?:\d+ MB|on text)| on the same", name)[0]


def accuracy() -> Axes:
    """The default against two linear classifiers, on ten corpora."""
    found = rows(DOCS / "tuning.md", "## Results")
    names = ("earned weights", "LinearSVC", "logistic regression")
    ax = axes_of(None, 6.0, 0.9 + 0.3 * len(found))
    for number, name in enumerate(names):
        values = [float(row[name].split("/")[0]) for row in found]
        ax.plot(values, range(len(found)), MARKERS[number], color=COLORS[number], label=name, markersize=7,
                zorder=4 - number)  # fmt: skip
    ax.set_yticks(range(len(found)), [row["corpus"] for row in found])
    ax.set_ylim(len(found) - 0.4, -0.6)
    ax.grid(axis="y", color=MIDTONE, alpha=0.25)
    ax.set_xlabel("test accuracy, %")
    ax.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.46, -0.14), fontsize="small")
    plain(ax, "bottom")
    return ax
