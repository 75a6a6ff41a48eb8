"""Terminal output; color only in a terminal, and only if NO_COLOR is not set."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayleaf.class_names import name_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from bayleaf.explanation import Explanation
    from bayleaf.metrics import Scorecard
    from bayleaf.model import Model
    from bayleaf.types import Label

RIGHT, WRONG = "rgb(31,131,196)", "rgb(213,94,0)"
"""Blue and orange, which color-blind readers tell apart: for and against, right and wrong."""
WIDEST_MATRIX = 24
MOST_CLASSES = 40
MATRIX_HEAD = "true \\ answer"


def console(stderr: bool = False) -> Console:
    """A terminal to write to, or a file that gets plain text."""
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Pipe(file=sys.stderr if stderr else sys.stdout, highlight=False, soft_wrap=False)


def table(*columns: str, title: str | None = None, first_left: bool = True) -> Table:
    """A table whose first column is names and whose other columns are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for number, column in enumerate(columns):
        made.add_column(plain(column), justify="left" if number == 0 and first_left else "right")
    return made


def plain(value: Any) -> Text:
    """A value as it is: square brackets in a term are not markup."""
    from rich.text import Text

    return Text(visible(str(value)))


def visible(text: str) -> str:
    """Text from a corpus without what would move the cursor or change the terminal."""
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def tail(name: object, longest: int = 31) -> str:
    """A name that fits into a column; what tells long names apart is mostly at their end."""
    text = name_of(name)
    return text if len(text) <= longest else "…" + text[1 - longest :]


def scores(card: Scorecard, names: Sequence[Label]) -> list[RenderableType]:
    """Overall and by class."""
    from rich.text import Text

    head = Text.assemble(
        ("accuracy ", "dim"), (f"{card.accuracy:.4f}", f"bold {RIGHT}"),
        ("   macro F1 ", "dim"), f"{card.macro_f1:.4f}", ("   MCC ", "dim"), f"{card.mcc:.4f}",
        ("   log loss ", "dim"), f"{card.log_loss:.4f}", ("   ECE ", "dim"), f"{card.ece:.4f}",
        ("   documents ", "dim"), f"{card.n:,}",
    )  # fmt: skip
    columns = (card.precision, card.recall, card.f1)
    chosen = list(range(len(names)))
    title = None
    if len(chosen) > MOST_CLASSES:
        chosen = sorted(chosen, key=lambda number: (card.f1[number], -card.support[number]))[:MOST_CLASSES]
        title = f"Of {len(names)} classes the {MOST_CLASSES} with the lowest F1"
    rows = table("class", "precision", "recall", "F1", "documents", title=title)
    for number in chosen:
        shown = [f"{column[number]:.4f}" for column in columns]
        rows.add_row(plain(tail(names[number])), *shown, f"{card.support[number]:,}")
    return [head, rows]


def confusion(card: Scorecard, names: Sequence[Label], width: int = 80) -> list[RenderableType]:
    """Truth by row, answer by column; the deeper the color, the larger the part of the row.

    Numbers where they fit into the width, else shades and a list of what was confused most.
    """
    if len(names) > WIDEST_MATRIX:
        return [_most_confused(card, names)]
    longest = max(len(visible(name_of(name))) for name in names)
    cells = len(names) * (3 + max(len(str(card.confusion.max())), min(longest, 12)))
    if max(longest, 13) + cells <= width:
        return [_numbers(card, names)]
    return [_shades(card, names), _most_confused(card, names)]


def _numbers(card: Scorecard, names: Sequence[Label]) -> RenderableType:
    rows = table(MATRIX_HEAD, *(visible(name_of(name))[:12] for name in names))
    for number, name in enumerate(names):
        counts = card.confusion[number].tolist()
        total = max(sum(counts), 1)
        cells = [_cell(count, count / total, number == at) for at, count in enumerate(counts)]
        rows.add_row(plain(name), *cells)
    return rows


def _cell(count: int, part: float, right: bool) -> Text:
    from rich.text import Text

    return Text(str(count), _depth(part, right)) if count else Text("·", "dim")


def _depth(part: float, right: bool) -> str:
    depth = int(40 + 160 * part**0.5)
    return f"white on rgb(0,{depth},60)" if right else f"white on rgb({depth},30,30)"


def _shades(card: Scorecard, names: Sequence[Label]) -> Text:
    """Two characters a cell: how much of the row it is; a column has the letter of its row."""
    from string import ascii_lowercase as letters

    from rich.text import Text

    longest = min(max(len(visible(name_of(name))) for name in names), 26)
    shown = Text(MATRIX_HEAD.ljust(longest + 4), "bold", no_wrap=True)
    shown.append("".join(f" {letter}" for letter in letters[: len(names)]) + "\n")
    for number, name in enumerate(names):
        counts = card.confusion[number].tolist()
        total = max(sum(counts), 1)
        shown.append(f"{letters[number]}  {visible(name_of(name))[:longest]:<{longest}} ", "")
        for at, count in enumerate(counts):
            shown.append(_shade(count / total), RIGHT if number == at else WRONG)
        shown.append("\n")
    return shown


def _shade(part: float) -> str:
    if part < 0.01:
        return " ·" if part else "  "
    return "░▒▓█"[min(3, int(4 * part**0.5))] * 2


def _most_confused(card: Scorecard, names: Sequence[Label], most: int = 12) -> RenderableType:
    import numpy as np

    wrong = card.confusion.copy()
    np.fill_diagonal(wrong, 0)
    rows = table("true", "answered", "documents", title=f"Most confused of {len(names)} classes")
    for place in np.argsort(-wrong, axis=None, kind="stable")[:most].tolist():
        truth, answer = divmod(place, len(names))
        if wrong[truth, answer]:
            pair = plain(tail(names[truth])), plain(tail(names[answer]))
            rows.add_row(*pair, f"{wrong[truth, answer]:,}")
    return rows


def views_with_terms(model: Model) -> list[int]:
    """The views that count something with a name; a number has a density instead."""
    return [number for number, (_, view) in enumerate(model.views) if view.kind not in ("normal", "kernel")]


def top_terms(model: Model, n: int, classes: Sequence[Label] | None = None) -> RenderableType:
    """The terms that speak most for each class, with their log odds; of the only class, the most frequent."""
    alone = len(model.classes) == 1
    rows = table("class", "its terms (log probability)" if alone else "terms that speak for it (log odds)")
    rows.columns[1].justify = "left"
    for label in model.classes if classes is None else classes:
        terms = [pair for view in views_with_terms(model) for pair in model.top_terms(label, n, view)]
        best = sorted(terms, key=lambda pair: -pair[1])[:n]
        rows.add_row(plain(label), plain("  ".join(f"{term} {odds:+.2f}" for term, odds in best)))
    return rows


def colored(explanation: Explanation, longest: int = 20_000) -> Text:
    """The text, blue where it speaks for the label, orange where against it; of a long one the start."""
    from rich.text import Text

    from bayleaf.explanation import runs

    shown = Text()
    odds = explanation.odds_of_characters()
    unit = max(map(abs, odds), default=0.0) or 1.0
    for run, value in runs(explanation.text[:longest], odds[:longest]):
        strength = value / unit
        depth = 0.25 + 0.75 * abs(strength) ** 0.5
        red, green, blue = (31, 131, 196) if strength > 0 else (213, 94, 0)
        color = f"rgb({int(depth * red)},{int(depth * green)},{int(depth * blue)})"
        shown.append(visible(run), None if abs(strength) < 0.02 else f"white on {color}")
    rest = len(explanation.text) - longest
    if rest > 0:
        shown.append(f" … and {rest:,} more characters; --html has them all.", "dim")
    return shown


def reasons(explanation: Explanation, most: int = 12) -> Text:
    """The strongest terms with bars; their sum is the score."""
    from rich.text import Text

    shown = Text()
    for number, line in enumerate(explanation.to_text(most).split("\n")):
        sign = line.rstrip()[-1:] if number else ""
        colors = {"+": "rgb(31,131,196)", "-": "rgb(213,94,0)"}
        shown.append(visible(line) + "\n", colors.get(sign, "bold" if not number else ""))
    return shown
