"""What results look like in a terminal; color only where it is one and NO_COLOR is not set."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from bayleaf.explain import Explanation
    from bayleaf.labels import Label
    from bayleaf.metrics import Scorecard
    from bayleaf.model import Model

WIDEST_MATRIX = 24


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
        made.add_column(column, justify="left" if number == 0 and first_left else "right")
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


def scores(card: Scorecard, names: Sequence[Label]) -> list[RenderableType]:
    """Overall and by class."""
    from rich.text import Text

    head = Text.assemble(
        ("accuracy ", "dim"), (f"{card.accuracy:.4f}", "bold green"),
        ("   macro F1 ", "dim"), f"{card.macro_f1:.4f}", ("   MCC ", "dim"), f"{card.mcc:.4f}",
        ("   log loss ", "dim"), f"{card.log_loss:.4f}", ("   ECE ", "dim"), f"{card.ece:.4f}",
        ("   documents ", "dim"), f"{card.n:,}",
    )  # fmt: skip
    rows = table("class", "precision", "recall", "F1", "documents")
    columns = (card.precision, card.recall, card.f1)
    for number, name in enumerate(names):
        shown = [f"{column[number]:.4f}" for column in columns]
        rows.add_row(plain(name), *shown, f"{card.support[number]:,}")
    return [head, rows]


def confusion(card: Scorecard, names: Sequence[Label]) -> RenderableType:
    """Truth by row, answer by column; the deeper the color, the larger the part of the row."""
    from rich.text import Text

    if len(names) > WIDEST_MATRIX:
        return _most_confused(card, names)
    matrix = card.confusion
    wide = len(names) > 6
    heads = [str(number + 1) if wide else visible(str(name)) for number, name in enumerate(names)]
    rows = table("true \\ answer", *heads)
    for number, name in enumerate(names):
        total = max(int(matrix[number].sum()), 1)
        cells = [
            _cell(int(count), int(count) / total, number == at) for at, count in enumerate(matrix[number])
        ]
        rows.add_row(Text(f"{number + 1} {visible(str(name))}" if wide else visible(str(name))), *cells)
    return rows


def _cell(count: int, part: float, right: bool) -> Text:
    from rich.text import Text

    if not count:
        return Text("·", "dim")
    depth = int(40 + 160 * part**0.5)
    return Text(str(count), f"white on rgb(0,{depth},60)" if right else f"white on rgb({depth},30,30)")


def _most_confused(card: Scorecard, names: Sequence[Label], most: int = 12) -> RenderableType:
    import numpy as np

    wrong = card.confusion.copy()
    np.fill_diagonal(wrong, 0)
    rows = table("true", "answered", "documents", title=f"Most confused of {len(names)} classes")
    for place in np.argsort(-wrong, axis=None, kind="stable")[:most].tolist():
        truth, answer = divmod(place, len(names))
        if wrong[truth, answer]:
            rows.add_row(plain(names[truth]), plain(names[answer]), f"{wrong[truth, answer]:,}")
    return rows


def top_terms(model: Model, n: int, classes: Sequence[Label] | None = None) -> RenderableType:
    """The terms that speak most for each class, with their log odds."""
    rows = table("class", "terms that speak for it (log odds)")
    rows.columns[1].justify = "left"
    for label in model.classes if classes is None else classes:
        terms = [pair for view in range(len(model.views)) for pair in model.top_terms(label, n, view)]
        best = sorted(terms, key=lambda pair: -pair[1])[:n]
        rows.add_row(plain(label), plain("  ".join(f"{term} {odds:+.2f}" for term, odds in best)))
    return rows


def colored(explanation: Explanation) -> Text:
    """The text, green where it speaks for the label and red where it speaks against it."""
    from rich.text import Text

    shown = Text()
    odds = explanation.odds_of_characters()
    unit = max(map(abs, odds), default=0.0) or 1.0
    for character, value in zip(explanation.text, odds, strict=True):
        strength = value / unit
        depth = int(55 + 150 * abs(strength) ** 0.5)
        color = f"rgb(0,{depth},0)" if strength > 0 else f"rgb({depth},0,0)"
        shown.append(visible(character), None if abs(strength) < 0.02 else f"white on {color}")
    return shown


def reasons(explanation: Explanation, most: int = 12) -> Text:
    """The strongest terms with bars; their sum is the score."""
    from rich.text import Text

    shown = Text()
    for number, line in enumerate(explanation.to_text(most).split("\n")):
        sign = line.rstrip()[-1:] if number else ""
        shown.append(visible(line) + "\n", {"+": "green", "-": "red"}.get(sign, "bold" if not number else ""))
    return shown
