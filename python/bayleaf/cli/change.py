"""`update`, `forget`, `relabel`, `retune`, `merge` and `prune`: commands that make a model from a model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from bayleaf.class_names import by_name
from bayleaf.cli import options
from bayleaf.cli.reading import Reading, finite
from bayleaf.cli.weighing import LEVELS, Kept, facts, named, remind, weigh
from bayleaf.cli.wording import changed

if TYPE_CHECKING:
    from bayleaf.model import Model

_output = click.option(
    "-o", "--output", metavar="FILE", help="Write the result here, and leave MODEL as it is."
)
_no_wait = click.option(
    "--no-wait", is_flag=True, help="Fail if another command is changing the model, instead of waiting."
)
_new_class = click.option("--new-class", is_flag=True, help="Let labels in that are new to the model.")


@click.command("update")
@click.argument("model_file", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@_output
@_new_class
@_no_wait
@options.labeling
@options.reading
@options.as_json
def update_command(
    model_file: str,
    inputs: tuple[str, ...],
    output: str | None,
    new_class: bool,
    no_wait: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Learn more labeled documents.

    INPUT is labeled documents, as for 'train'; new terms are welcome, new classes with --new-class. The
    counts are those that 'train' would have made of everything at once; weights that were earned before stay,
    until 'retune' renews them. A run that fails or is interrupted changes nothing; two at once wait for each
    other.

    \b
    Examples:
      bayleaf update spam.bayleaf messages.tsv
      printf 'See you at noon\\n' | bayleaf update spam.bayleaf --label ham -
    """
    from bayleaf.cli.models import opened
    from bayleaf.cli.train import learn

    reading = Reading.taken(given)
    with _changing(model_file, output, inputs, reading, no_wait, as_json) as change:
        model = change.model
        learn(model, opened(reading, inputs, model, labeled=True), reading, new_classes=new_class)


@click.command("forget")
@click.argument("model_file", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@_output
@_no_wait
@options.labeling
@options.reading
@options.as_json
def forget_command(
    model_file: str, inputs: tuple[str, ...], output: str | None, no_wait: bool, as_json: bool, **given: Any
) -> None:
    """Take learned documents back, as if they had never been seen.

    INPUT is the same documents with the same labels. If a term of one of them was not learned so often with
    its label, the model refuses and stays as it was; one trained with --ledger refuses every document that
    was not learned with that label. To correct a label, see 'relabel'.

    \b
    Examples:
      bayleaf forget spam.bayleaf wrong.tsv
      printf 'spam\\tSee you at noon\\n' | bayleaf forget spam.bayleaf -
    """
    from bayleaf.cli.models import documents, labels_for, opened

    reading = Reading.taken(given)
    with _changing(model_file, output, inputs, reading, no_wait, as_json) as change:
        model = change.model
        for batch in reading.batches(opened(reading, inputs, model, labeled=True)):
            _forget(model, documents(model, batch), labels_for(model, batch.labels), model_file)


@click.command("relabel")
@click.argument("model_file", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--from", "old", required=True, metavar="CLASS", help="The class they were learned as.")
@click.option("--to", "new", required=True, metavar="CLASS", help="The class that they are.")
@_output
@_new_class
@_no_wait
@options.reading
@options.as_json
def relabel_command(
    model_file: str,
    inputs: tuple[str, ...],
    old: str,
    new: str,
    output: str | None,
    new_class: bool,
    no_wait: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Correct the label of documents that were learned with a wrong one.

    INPUT is the documents; labels in it are not read. All of them are forgotten as one class and learned as
    the other, or, if one of them cannot be forgotten, none.

    \b
    Examples:
      bayleaf relabel spam.bayleaf --from spam --to ham mistakes.txt
      printf 'See you at noon\\n' | bayleaf relabel spam.bayleaf --from spam --to ham -
    """
    from bayleaf.cli.models import check_known, documents, opened

    reading = Reading.taken(given)
    with _changing(model_file, output, inputs, reading, no_wait, as_json) as change:
        model = change.model
        classes = by_name(model.classes)
        check_known([old] if new_class else [old, new], model, model_file)
        for batch in reading.batches(opened(reading, inputs, model, labeled=False)):
            rows = documents(model, batch)
            _forget(model, rows, [classes[old]] * len(batch), model_file)
            model.learn(rows, [classes.get(new, new)] * len(batch))


def _forget(model: Model, rows: Any, labels: Any, model_file: str) -> None:
    try:
        model.forget(rows, labels)
    except ValueError as error:
        reason = str(error).replace("X was", "the input was").replace("X has", "the input has")
        raise click.ClickException(f"{model_file} is as it was: {reason}") from None


@click.command("retune")
@click.argument("model_file", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@_output
@click.option(
    "--tuning", type=click.Choice(LEVELS), help="The level; without it, the one before, or auto of none."
)
@_no_wait
@options.labeling
@options.reading
@options.as_json
def retune_command(
    model_file: str,
    inputs: tuple[str, ...],
    output: str | None,
    tuning: str | None,
    no_wait: bool,
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
    with _changing(model_file, output, inputs, reading, no_wait, as_json) as change:
        model = change.model
        check_text(model, model_file, "retune")
        level: Any = tuning or (model.judgment.level if model.judgment else "auto")
        if level == "none":
            model.drop_judgment()
            return
        kept = Kept(None)
        for batch in reading.batches(opened(reading, inputs, model, labeled=True)):
            kept.add(documents(model, batch), labels_for(model, batch.labels))
        weigh(model, kept, level, reading)


@click.command("merge")
@click.argument("model_files", nargs=-1, required=True, metavar="MODEL...")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The file to write; it may be one of them."
)
@_no_wait
@options.quiet
@options.as_json
def merge_command(
    model_files: tuple[str, ...], output: str, no_wait: bool, quiet: bool, as_json: bool
) -> None:
    """Add up models that were learned apart.

    Each MODEL must look at its documents in the same way. The sum is the model that one run over all of their
    documents would have made; settings that are not counts, and weights, are the first one's. Of the shards
    of 'train --shard' it says which are missing, and none counts twice.

    \b
    Examples:
      bayleaf merge monday.bayleaf tuesday.bayleaf -o week.bayleaf
      bayleaf merge part-*.bayleaf -o whole.bayleaf
    """
    from bayleaf.cli.models import load
    from bayleaf.cli.shards import Parts

    reading = Reading.plain(quiet)
    with _changing(model_files[0], output, (), reading, no_wait, as_json) as change:
        model, parts = change.model, Parts()
        parts.add(model, model_files[0])
        for path in model_files[1:]:
            more = load(path)
            parts.add(more, path)
            try:
                model.merge(more)
            except ValueError as error:
                again = (
                    f" ('bayleaf train --like {model_files[0]}' does.)" if "Choose one" in str(error) else ""
                )
                raise click.ClickException(
                    f"{path} cannot be merged with {model_files[0]}: {error}{again}"
                ) from None
        parts.note(model)


@click.command("prune")
@click.argument("model_file", metavar="MODEL")
@_output
@click.option("--min-documents", type=click.IntRange(1), default=1, help="Drop terms of fewer documents.")
@click.option("--min-count", type=click.IntRange(1), default=1, help="Drop terms that occur less often.")
@click.option("--max-terms", type=click.IntRange(1), help="Keep so many terms of a view, the most frequent.")
@_no_wait
@options.quiet
@options.as_json
def prune_command(
    model_file: str,
    output: str | None,
    min_documents: int,
    min_count: int,
    max_terms: int | None,
    no_wait: bool,
    quiet: bool,
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
    reading = Reading.plain(quiet)
    with _changing(model_file, output, (), reading, no_wait, as_json) as change:
        check_text(change.model, model_file, "prune")
        change.model = pruned(change.model, min_documents, min_count, max_terms)


@dataclass
class Change:
    """A model that is being changed, or what takes its place."""

    model: Model


@contextmanager
def _changing(
    path: str, output: str | None, inputs: Sequence[str], reading: Reading, no_wait: bool, as_json: bool
) -> Iterator[Change]:
    """The model in a file, to be changed: it is read and written under the lock of what is written."""
    from bayleaf.cli.locking import locked
    from bayleaf.cli.models import check_target, load

    target = output or path
    check_target(target, *inputs)
    with locked(target, not no_wait, reading.remark):
        change = Change(load(path, reading.threads))
        before = _facts(change.model)
        yield change
        _keep(change.model, target, before, as_json, reading.quiet)


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
    from bayleaf.cli.models import save, told

    written, after = save(model, output), _facts(model)
    if as_json:
        facts_of = {
            "model": output,
            "bytes": written,
            "before": before,
            "after": after,
            "tuning": facts(model),
        }
        told(json.dumps(finite(facts_of)), output)
        return
    told(changed(output, before, after, named(model), written), output)
    if not quiet:
        remind(model, output)
