"""`bayleaf study`: which event model, words, stems, n-grams and weights suit a corpus."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from bayleaf.cli import options
from bayleaf.cli.progress import ProgressLine
from bayleaf.cli.reading import Reading, finite

if TYPE_CHECKING:
    from bayleaf.studies import Study

_GRID = [
    ("event", "bernoulli, multinomial"),
    ("weighting", "tf, binary, normalized, log, tf-idf"),
    ("ngrams", "Words in a row: 1, 1-2; letters: letters:3-4 inside words, across:4"),
    ("stop-words", "none, a language, top:50"),
    ("normalizer", "none, porter, lemmas, stems:german, lemmas:german"),
]


def _choices(command: Any) -> Any:
    """The options that choose the grid; each can be given several times."""
    for name, choices in reversed(_GRID):
        said = f"{choices}; again for more. Without it, the default grid."
        command = click.option(f"--{name}", multiple=True, metavar="CHOICE", help=said)(command)
    return command


@click.command("study")
@click.argument("inputs", nargs=-1, required=True, metavar="CORPUS...")
@_choices
@click.option("--alpha", type=float, multiple=True, help="Smoothing, above 0; again for more.  [default: 1]")
@click.option("--folds", type=click.IntRange(2), default=10, show_default=True, help="Number of folds.")
@click.option(
    "--priors",
    default="empirical",
    show_default=True,
    metavar="HOW",
    help="Class priors: empirical, uniform, or ham=0.8,spam=0.2.",
)
@click.option("--positive", metavar="LABEL", help="The class to be caught; of two, spam or the rarer one.")
@click.option(
    "--by",
    type=click.Choice(["accuracy", "mcc", "macro-f1", "log-loss"]),
    default="accuracy",
    show_default=True,
    help="Metric to rank by.",
)
@click.option(
    "--curve", is_flag=True, help="Also measure growing vocabularies of the most informative words."
)
@click.option(
    "--rival",
    "rivals",
    multiple=True,
    type=click.Choice(["default", "logistic", "svm"]),
    help="Also measure the tuned default, or scikit-learn's logistic regression or SVM; again for more.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the folds.")
@click.option("--top", type=click.IntRange(1), default=12, show_default=True, help="Combinations to show.")
@click.option("--csv", "csv_file", metavar="FILE", help="Write all combinations as a table.")
@click.option("--html", "html_file", metavar="FILE", help="Write a page with plots, all in one file.")
@options.reading
@options.as_json
def study_command(
    inputs: tuple[str, ...],
    top: int,
    csv_file: str | None,
    html_file: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compare event models, stop words, stems, n-grams and weights by cross-validation.

    CORPUS is labeled documents, as for 'train'; it is held in memory. The texts are counted once for each
    way to look at them, and each fold is taken out of the counts, so that a thousand models take seconds.
    What is not significantly different from the best combination is marked as a tie.

    \b
    Examples:
      bayleaf study messages.tsv --html study.html --csv study.csv
      bayleaf study messages.tsv --ngrams 1 --rival default --rival logistic --by log-loss
    """
    from bayleaf.cli.models import check_target

    for path in filter(None, (csv_file, html_file)):
        check_target(path, *inputs)
    reading = Reading.taken(given)
    found = _studied(reading, inputs, given)
    _write(reading, found, inputs, csv_file, html_file)
    if as_json:
        click.echo(json.dumps(finite(found.to_dict())))
        return
    from bayleaf.cli.show_study import show

    show(found, top)


def _studied(reading: Reading, inputs: tuple[str, ...], given: dict[str, Any]) -> Study:
    from bayleaf.cli.views import priors_of, refusing
    from bayleaf.studies import study

    texts, labels = _documents(reading, inputs)
    chosen = {
        "events": "event", "weightings": "weighting", "ngrams": "ngrams", "stop_words": "stop_words",
        "normalizers": "normalizer", "alphas": "alpha",
    }  # fmt: skip
    line = ProgressLine(reading.quiet)
    with refusing():
        try:
            return study(
                texts,
                labels,
                **{name: given[option] or None for name, option in chosen.items()},
                folds=given["folds"],
                priors=priors_of(given["priors"]),
                positive=given["positive"],
                by=given["by"].replace("-", "_"),
                curve=given["curve"],
                rivals=list(dict.fromkeys(given["rivals"])),
                seed=given["seed"],
                threads=reading.threads,
                progress=lambda done, total: line.show(lambda _: f"{done} of {total} combinations"),
            )
        finally:
            line.end()


def _documents(reading: Reading, inputs: tuple[str, ...]) -> tuple[list[str], list[str]]:
    from bayleaf.corpus.batches import strings

    texts: list[str] = []
    labels: list[str] = []
    for batch in reading.batches(reading.open(inputs, labeled=True)):
        texts += strings(batch.texts)
        labels += strings(batch.labels)
    if not texts:
        raise click.ClickException(f"{inputs[0]} holds no documents.")
    return texts, labels


def _write(
    reading: Reading, found: Study, inputs: tuple[str, ...], csv_file: str | None, html_file: str | None
) -> None:
    from bayleaf.cli.models import write_file

    title = f"Study of {', '.join(map(os.path.basename, inputs))}"
    for path, make in ((csv_file, found.to_csv), (html_file, lambda: found.to_html(title))):
        if path:
            write_file(path, make().encode("utf-8", "replace"))
            reading.remark(f"Wrote {path}.")
