"""`bayleaf explain`: why a document gets its class."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from bayleaf.class_names import by_name, name_of
from bayleaf.cli import options
from bayleaf.cli.reading import finite

if TYPE_CHECKING:
    from bayleaf.model import Model


@click.command("explain")
@click.argument("model_file", metavar="MODEL")
@click.argument("text", required=False)
@click.option(
    "--class", "label", metavar="CLASS", help="The class to speak for; without it, the most probable one."
)
@click.option("--most", type=click.IntRange(0), default=12, show_default=True, help="How many terms to list.")
@click.option("--html", metavar="FILE", help="Write the colored text as HTML.")
@options.as_json
def explain_command(
    model_file: str, text: str | None, label: str | None, most: int, html: str | None, as_json: bool
) -> None:
    """Show what each term of a text adds to its score.

    TEXT is one document; without it, or as '-', all of standard input is. Terms in blue speak for the class,
    terms in orange against it, and everything listed sums to the score. For a model that looks at the columns
    of a table, TEXT is a row of it as JSON.

    \b
    Examples:
      bayleaf explain spam.bayleaf "Claim your free prize now"
      bayleaf explain spam.bayleaf --html why.html < message.txt
    """
    from bayleaf.cli.models import check_target, load, of_columns, write_file

    if html:
        check_target(html, model_file)
    model = load(model_file)
    given = one_text(text)
    document = _row(given, model, model_file) if of_columns(model) else given
    classes = by_name(model.classes)
    if label is not None and label not in classes:
        listed = ", ".join(repr(name_of(name)) for name in model.classes)
        raise click.ClickException(f"{model_file} has no class {label!r}. Its classes are {listed}.")
    explanation = model.explain(document, None if label is None else classes[label])
    if html:
        from bayleaf.html_page import document as page_of

        page = page_of(f"Why {explanation.label}", [explanation.to_html()])
        write_file(html, page.encode("utf-8", "replace"))
    if as_json:
        click.echo(json.dumps(finite(explanation.to_dict())))
        return
    from bayleaf.cli.show import colored, console, reasons

    shown = [] if of_columns(model) else [colored(explanation), ""]
    console().print(*shown, reasons(explanation, most), sep="\n", end="")


def _row(text: str, model: Model, path: str) -> dict[str, Any]:
    """One row of a table, or the columns of a mail."""
    from bayleaf.cli.models import of_mail

    try:
        row = json.loads(text)
    except ValueError:
        row = None
    if row is None and of_mail(model):
        from bayleaf.text.mail import mail_columns

        return {name: column[0] for name, column in mail_columns([text]).items()}
    if not isinstance(row, dict):
        raise click.ClickException(f'{path} looks at columns. Give a row of them as JSON: {{"size": 3}}.')
    return row


def one_text(argument: str | None) -> str:
    """The text that was given, or all of standard input."""
    if argument is not None and argument != "-":
        if os.path.isfile(argument):
            click.echo(
                f"{argument!r} is read as a text, though it is the name of a file. For what is in it, "
                f"use '< {argument}'.",
                err=True,
            )
        return os.fsencode(argument).decode("utf-8", "replace")
    document = sys.stdin.buffer.read()
    if not document.strip():
        raise click.ClickException("Standard input is empty. Give the text as an argument, or pipe it in.")
    return document.decode("utf-8", "replace")
