"""`bayleaf paper`: the examples of the paper, step by step, with the fractions."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from bayleaf.cli import options
from bayleaf.cli.paper_steps import SECTIONS, Step
from bayleaf.paper import Line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

DEFAULT = ("toy", "smoothing", "spam")
INDENT = "   "
STYLES = ("", "", "", "bold", "dim")
PAPER = "S. Raschka, Naive Bayes and Text Classification I (arXiv:1410.5329)"


@click.command("paper")
@click.option(
    "--section",
    "names",
    multiple=True,
    type=click.Choice([*SECTIONS, "all"]),
    help="Which example; may be given again. Without it: toy, smoothing and spam.",
)
@click.option("--list", "listing", is_flag=True, help="List the sections and leave it at that.")
@click.option("--pause", is_flag=True, help="Wait for a key after each step, in a terminal.")
@options.as_json
def paper_command(names: Sequence[str], listing: bool, pause: bool, as_json: bool) -> None:
    """Walk through the examples of the paper that bayleaf follows, with the fractions.

    Twelve colored shapes, a yellow square, two documents, five messages: every step is computed from the
    counts, exactly, and stands beside what the paper prints. Nothing is read and nothing is left behind.

    \b
    Examples:
      bayleaf paper --section toy
      bayleaf paper --section spam --json
    """
    from bayleaf.cli.show import console

    if listing:
        _list(as_json)
        return
    chosen = list(dict.fromkeys(names or DEFAULT))
    if "all" in chosen:
        chosen = list(SECTIONS)
    if as_json:
        click.echo(json.dumps([_section(name) for name in chosen], ensure_ascii=False))
        return
    show = console()
    waits = pause and sys.stdout.isatty() and sys.stdin.isatty()
    for name in chosen:
        _walk(show, name, waits)
    show.print(f"The paper: {PAPER}.\nIts other sections: bayleaf paper --list", style="dim", soft_wrap=True)


def _list(as_json: bool) -> None:
    titles = {name: section.title for name, section in SECTIONS.items()}
    if as_json:
        click.echo(json.dumps(titles))
        return
    width = max(map(len, titles))
    click.echo("\n".join(f"{name:<{width}}  {title}" for name, title in titles.items()))


def _walk(show: Console, name: str, waits: bool) -> None:
    section = SECTIONS[name]
    show.rule(f"[bold]{section.title}", align="left")
    for number, step in enumerate(section.steps(), 1):
        show.print()
        _print(show, number, step)
        if waits:
            click.pause(err=True)
    show.print()


def _print(show: Console, number: int, step: Step) -> None:
    from rich.padding import Padding
    from rich.text import Text

    show.print(Text.assemble((f"{number}. {step.title}", "bold"), (f"  ({step.place})", "dim")))
    _say(show, step.say)
    if step.table:
        show.print(Padding(_table(step), (0, 0, 0, len(INDENT) - 1), expand=False))
    for calculation in _lines(step.lines, show.width):
        show.print(calculation, soft_wrap=True)
    if step.answer:
        _say(show, f"→ {step.answer}", "bold green")
    for line in step.code.splitlines():
        show.print(Text(f"{INDENT}>>> {line}", "dim"), soft_wrap=True)


def _say(show: Console, words: str, style: str = "") -> None:
    from textwrap import fill

    from rich.text import Text

    wrapped = fill(words, show.width - 1, initial_indent=INDENT, subsequent_indent=INDENT)
    show.print(Text(wrapped, style), soft_wrap=True)


def _table(step: Step) -> Table:
    from bayleaf.cli.show import plain, table

    head, *rows = step.table
    made = table(*head)
    for column, name in zip(made.columns, head, strict=True):
        column.justify = "left" if name in ("", "class", "message", "word") else "right"
    for row in rows:
        made.add_row(*map(plain, row))
    return made


def _lines(lines: Sequence[Line], width: int) -> Iterator[Text]:
    """Name, calculation, fraction, decimal and what the paper prints: in columns, or below each other."""
    from rich.text import Text

    rows = [_cells(line) for line in lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if len(INDENT) + sum(widths) + sum(map(bool, widths)) <= width:
        for row in rows:
            shown = (f"{cell:<{w}} " if w else "" for cell, w in zip(row, widths, strict=True))
            line = Text.assemble(INDENT, *zip(shown, STYLES, strict=True))
            line.rstrip()
            yield line
        return
    for name, formula, fraction, decimal, printed in rows:
        yield from (
            Text(f"{INDENT}{each}") for each in (name, f"  {formula}", f"  {fraction}") if each.strip()
        )
        yield Text.assemble(f"{INDENT}  ", (decimal, "bold"), (printed, "dim"))


def _cells(line: Line) -> tuple[str, str, str, str, str]:
    exact, decimal = str(line.value), float(line.value)
    shown = f"{decimal:.4g}"
    sign = "=" if float(shown) == decimal else "≈"
    formula = f"= {line.formula}" if line.formula != exact else ""
    fraction = f"= {exact}" if "/" in exact else ""
    return line.name, formula, fraction, f"{sign} {shown}", f"  paper: {line.printed}" if line.printed else ""


def _section(name: str) -> dict[str, Any]:
    steps = [_step(step) for step in SECTIONS[name].steps()]
    return {"section": name, "title": SECTIONS[name].title, "steps": steps}


def _step(step: Step) -> dict[str, Any]:
    head, rows = (step.table[0], step.table[1:]) if step.table else ((), ())
    return {
        "title": step.title,
        "place": step.place,
        "say": step.say,
        "table": [dict(zip(head, row, strict=True)) for row in rows],
        "lines": [
            {"name": line.name, "formula": line.formula, "exact": str(line.value),
             "decimal": float(line.value), "paper": line.printed or None}
            for line in step.lines
        ],
        "answer": step.answer or None,
        "python": step.code or None,
    }  # fmt: skip
