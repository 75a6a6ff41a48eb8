"""`update`, `forget`, `retune`, `merge` and `prune`: commands that make a model from a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from bayleaf.cli import options
from bayleaf.cli.reading import Reading, finite, size
from bayleaf.cli.weighing import LEVELS, Kept, facts, named, remind, weigh

if TYPE_CHECKING:
    from bayleaf.model import Model

_output = click.option(
    "-o", "--output", metavar="FILE", help="Write the result here, and leave MODEL as it is."
)


@click.command("update")
@click.argument("model_file", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@_output
@options.reading
@options.as_json
def update_command(
    model_file: str, inputs: tuple[str, ...], output: str | None, as_json: bool, **given: Any
) -> None:
    """Learn more labelled documents.

    INPUT is labelled documents, as for 'train'; new terms and new classes are welcome. The
    counts are those that 'train' would have made of everything at once; weights that were earned before stay,
    until 'retune' renews them. A run that fails or is interrupted changes nothing.

    \b
    Examples:
      bayleaf update spam.bayleaf messages.tsv
      printf 'ham\\tSee you at noon\\n' | bayleaf update spam.bayleaf -
    """
    from bayleaf.cli.models import opened
    from bayleaf.cli.train import learn

    reading = Reading.taken(given)
    model, before = _loaded(model_file, output, reading.threads)
    learn(model, opened(reading, inputs, model, labelled=True), reading)
    _keep(model, output or model_file, before, as_json, reading.quiet)


@click.command("forget")
@click.argument("model_file", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@_output
@options.reading
@options.as_json
def forget_command(
    model_file: str, inputs: tuple[str, ...], output: str | None, as_json: bool, **given: Any
) -> None:
    """Take learned documents back, as if they had never been seen.

    INPUT is the same documents with the same labels. If one of them was never learned, the model refuses and
    stays as it was. To correct a label, forget the document under the old one and update with the new one.

    \b
    Examples:
      bayleaf forget spam.bayleaf wrong.tsv
      printf 'spam\\tSee you at noon\\n' | bayleaf forget spam.bayleaf -
    """
    from bayleaf.cli.models import documents, labels_for, opened

    reading = Reading.taken(given)
    model, before = _loaded(model_file, output, reading.threads)
    for batch in reading.batches(opened(reading, inputs, model, labelled=True)):
        try:
            model.forget(documents(model, batch), labels_for(model, batch.labels))
        except ValueError as error:
            reason = str(error).replace("X was", "the input was").replace("X has", "the input has")
            raise click.ClickException(f"{model_file} is as it was: {reason}") from None
    _keep(model, output or model_file, before, as_json, reading.quiet)


@click.command("retune")
@click.argument("model_file", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@_output
@click.option(
    "--tuning", type=click.Choice(LEVELS), help="The level; without it, the one before, or auto of none."
)
@options.reading
@options.as_json
def retune_command(
    model_file: str,
    inputs: tuple[str, ...],
    output: str | None,
    tuning: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Weigh the evidence anew, after 'update', 'forget' or 'merge'.

    INPUT is documents that MODEL has learned, with their labels: all of them at best. They are read into
    memory. The counts stay as they are; '--tuning none' makes the model the textbook again.

    \b
    Examples:
      bayleaf retune spam.bayleaf messages.tsv
      bayleaf retune spam.bayleaf messages.tsv --tuning none -o plain.bayleaf
    """
    from bayleaf.cli.models import check_text, documents, labels_for, opened

    reading = Reading.taken(given)
    model, before = _loaded(model_file, output, reading.threads)
    check_text(model, model_file, "retune")
    level: Any = tuning or (model.judgment.level if model.judgment else "auto")
    if level == "none":
        model.drop_judgment()
    else:
        kept = Kept(None)
        for batch in reading.batches(opened(reading, inputs, model, labelled=True)):
            kept.add(documents(model, batch), labels_for(model, batch.labels))
        weigh(model, kept, level, reading)
    _keep(model, output or model_file, before, as_json, reading.quiet)


@click.command("merge")
@click.argument("model_files", nargs=-1, required=True, metavar="MODEL...")
@click.option("-o", "--output", required=True, metavar="FILE", help="The file to write.")
@options.as_json
def merge_command(model_files: tuple[str, ...], output: str, as_json: bool) -> None:
    """Add up models that were learned apart.

    Each MODEL must look at its documents in the same way. The sum is the model that one run over all of their
    documents would have made; settings that are not counts, and weights, are the first one's.

    \b
    Examples:
      bayleaf merge monday.bayleaf tuesday.bayleaf -o week.bayleaf
      bayleaf merge part-*.bayleaf -o whole.bayleaf
    """
    from bayleaf.cli.models import load

    model, before = _loaded(model_files[0], output, None)
    for path in model_files[1:]:
        try:
            model.merge(load(path))
        except ValueError as error:
            again = f" ('bayleaf train --like {model_files[0]}' does.)" if "Choose one" in str(error) else ""
            raise click.ClickException(
                f"{path} cannot be merged with {model_files[0]}: {error}{again}"
            ) from None
    _keep(model, output, before, as_json)


@click.command("prune")
@click.argument("model_file", metavar="MODEL")
@_output
@click.option("--min-documents", type=click.IntRange(1), default=1, help="Drop terms of fewer documents.")
@click.option("--min-count", type=click.IntRange(1), default=1, help="Drop terms that occur less often.")
@click.option("--max-terms", type=click.IntRange(1), help="Keep so many terms of a view, the most frequent.")
@options.as_json
def prune_command(
    model_file: str,
    output: str | None,
    min_documents: int,
    min_count: int,
    max_terms: int | None,
    as_json: bool,
) -> None:
    """Make a model smaller by dropping rare terms.

    What is dropped is gone: documents that had such a term can no longer be forgotten. Says how many terms
    and occurrences are lost.

    \b
    Examples:
      bayleaf prune spam.bayleaf --min-documents 2
      bayleaf prune spam.bayleaf --max-terms 10000 -o small.bayleaf
    """
    from bayleaf.cli.models import check_text
    from bayleaf.exchange import pruned

    if min_documents == min_count == 1 and max_terms is None:
        raise click.UsageError("Say what to drop: --min-documents, --min-count or --max-terms.")
    model, before = _loaded(model_file, output, None)
    check_text(model, model_file, "prune")
    small = pruned(model, min_documents, min_count, max_terms)
    _keep(small, output or model_file, before, as_json)


def _loaded(path: str, output: str | None, threads: int | None) -> tuple[Model, dict[str, Any]]:
    from bayleaf.cli.models import check_target, load

    model = load(path, threads)
    check_target(output or path)
    return model, _facts(model)


def _facts(model: Model) -> dict[str, Any]:
    from bayleaf.cli.models import n_terms

    counts = [model.counts(view) for view in range(len(model.views))]
    return {
        "documents": model.n_documents,
        "classes": len(model.classes),
        "terms": n_terms(model),
        "occurrences": sum(
            int(each.arrays["occurrences"].sum()) for each in counts if hasattr(each, "n_terms")
        ),
    }


def _keep(model: Model, output: str, before: dict[str, Any], as_json: bool, quiet: bool = False) -> None:
    from bayleaf.cli.models import save

    written, after = save(model, output), _facts(model)
    if as_json:
        told = {"model": output, "bytes": written, "before": before, "after": after, "tuning": facts(model)}
        click.echo(json.dumps(finite(told)))
        return
    changes = [
        f"{after[name]:,} {name} ({after[name] - before[name]:+,})"
        if after[name] != before[name]
        else f"{after[name]:,} {name}"
        for name in before
    ]
    parts = [*changes, named(model), size(written)]
    click.echo(f"{output}: {', '.join(filter(None, parts))}.")
    if not quiet:
        remind(model, output)
