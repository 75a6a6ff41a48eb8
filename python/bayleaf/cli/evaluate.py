"""`bayleaf evaluate`: how good a model is, and where it is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from bayleaf.cli import options
from bayleaf.cli.reading import Reading, finite

if TYPE_CHECKING:
    from bayleaf.cli.measuring import Measurement, Mistake
    from bayleaf.model import Model


@click.command("evaluate")
@click.argument("model_file", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "--worst",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="Mistakes to show, the surest first.",
)
@click.option("--html", metavar="REPORT", help="Write a page with plots, all in one file.")
@options.labeling
@options.reading
@options.as_json
def evaluate_command(
    model_file: str, inputs: tuple[str, ...], worst: int, html: str | None, as_json: bool, **given: Any
) -> None:
    """Compare the answers of a model with the labels of documents.

    INPUT is labeled documents, as for 'train'. A class that the model does not know counts as a mistake.
    Memory does not grow with the input.

    \b
    Examples:
      bayleaf evaluate spam.bayleaf messages.tsv
      bayleaf evaluate spam.bayleaf messages.tsv --worst 10 --html report.html
    """
    from bayleaf.cli.measuring import Measurement
    from bayleaf.cli.models import check_target, documents, load, opened

    reading = Reading.taken(given)
    if html:
        check_target(html, model_file, *inputs)
    model = load(model_file, reading.threads)
    measured = Measurement(model, worst)
    for batch in reading.batches(opened(reading, inputs, model, labeled=True)):
        measured.add(documents(model, batch), batch.labels, batch.origin)
    measured.check(inputs[0])
    if html:
        _write_report(html, model_file, inputs, measured)
        reading.remark(f"Wrote {html}.")
    if as_json:
        click.echo(
            json.dumps(finite(measured.to_dict() | {"mistakes": list(map(_as_dict, measured.mistakes))}))
        )
    else:
        _show(measured)


def _write_report(path: str, model_file: str, inputs: tuple[str, ...], measured: Measurement) -> None:
    from bayleaf.cli.models import write_file
    from bayleaf.cli.report import page

    write_file(path, page(model_file, inputs, measured).encode("utf-8", "replace"))


def _as_dict(mistake: Mistake) -> dict[str, Any]:
    import math

    return {
        "origin": mistake.origin,
        "text" if isinstance(mistake.document, str) else "row": mistake.document,
        "label": mistake.truth,
        "predicted": mistake.answer,
        "probability": math.exp(mistake.log_posterior),
    }


def _show(measured: Measurement) -> None:
    from bayleaf.cli.show import confusion, console, scores

    show = console()
    show.print(
        *scores(measured.card, measured.names),
        *confusion(measured.card, measured.names, show.width),
        sep="\n",
    )
    if measured.mistakes:
        show.rule("[bold]The surest mistakes", align="left")
    for mistake in measured.mistakes:
        _show_mistake(show, measured.model, mistake)


def _show_mistake(show: Any, model: Model, mistake: Mistake, longest: int = 400) -> None:
    from rich.text import Text

    from bayleaf.cli.show import colored, reasons, visible

    explanation = model.explain(mistake.document, mistake.answer)
    head = f"{mistake.origin}: {mistake.truth}, taken for {mistake.answer}"
    text = colored(explanation)
    if len(text) > longest:
        text = text[:longest] + Text(" …")
    show.print(Text(visible(head), "bold"), text, reasons(explanation, 6), sep="\n")
