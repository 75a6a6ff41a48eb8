"""`bayleaf train`: documents in, a model out."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from bayleaf.class_names import name_of
from bayleaf.cli import options
from bayleaf.cli.reading import Reading, counted, size
from bayleaf.cli.shards import NOTE, Shard, check_shard, parsed
from bayleaf.cli.weighing import LEVELS, Kept, chosen_level, kept_for, named, weigh
from bayleaf.cli.weighing import facts as weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from bayleaf.cli.measuring import Measurement
    from bayleaf.corpus import Batch, Corpus
    from bayleaf.model import Model
    from bayleaf.tuning import Tuning


@click.command("train")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", required=True, metavar="MODEL", help="The file to write.")
@click.option("--test", metavar="INPUT", help="Measure on these documents when done.")
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="PART",
    help="Measure on a part, then learn it too: 0.2.",
)
@click.option("--like", metavar="MODEL", help="Take views and settings from this model, to merge them later.")
@click.option(
    "--shard",
    callback=parsed,
    metavar="I/N",
    help="Count part I of N only, for 'merge'; a part that is complete is skipped.",
)
@options.looking
@options.judging
@click.option(
    "--tuning",
    type=click.Choice(LEVELS),
    help="Fit weights on held-out documents: auto (the default for text) to none.",
)
@click.option(
    "--ledger", is_flag=True, help="Remember a hash of each document: 'forget' then refuses any other."
)
@click.option("-y", "--yes", is_flag=True, help="Learn as many classes as there are, without asking.")
@options.labeling
@options.reading
@options.as_json
def train_command(
    inputs: tuple[str, ...],
    output: str,
    test: str | None,
    holdout: float | None,
    like: str | None,
    shard: tuple[int, int] | None,
    tuning: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Learn labeled documents and write a model.

    INPUT is files, folders or patterns; '-' is standard input. TSV (label, tab, text), CSV, JSON lines,
    Parquet, fastText's lines, a folder for each class, mail, FASTA; compressed or not. The model is written
    when all of it is learned: a run that fails or is interrupted leaves an older model as it was.

    Evidence is then weighed as NaiveBayes() does, which keeps the documents in memory: up to 256 MB of them,
    of more a sample, chosen by a hash of the text; a level that is named is worth any memory.

    \b
    Examples:
      bayleaf train messages.tsv -o spam.bayleaf --holdout 0.2
      bayleaf train mail/ham mail/spam -o mail.bayleaf --stemmer english
    """
    from bayleaf.cli.models import check_target, opened
    from bayleaf.cli.views import model_like, new_model, unsaid

    _check_call(inputs, shard, tuning, test, holdout)
    reading = Reading.taken(given)
    level = chosen_level("none" if shard else tuning, given["plain"])
    make = partial(new_model, reading.threads, given)
    model = model_like(like, reading.threads, given) if like else make()
    _check_level(model, level)
    check_target(output, *inputs, *filter(None, [test, like]))
    started = time.perf_counter()
    corpus, kept = opened(reading, inputs, model, labeled=True), kept_for(level)
    if shard and not _taken(shard, corpus, model, output, as_json):
        return
    if kept is not None and not like and unsaid(given):
        model = _looking(make, corpus, reading, level, kept, learned=not holdout)
    elif not holdout:
        learn(model, corpus, reading, kept)
    if holdout:
        measured: Measurement | None = _held_out(model, corpus, reading, holdout, kept_for(level), level)
    else:
        weigh(model, kept, level, reading)
        measured = _tested(model, reading, test) if test else None
    _keep(model, output, measured, as_json, time.perf_counter() - started, inputs[0])


def _check_call(
    inputs: tuple[str, ...],
    shard: tuple[int, int] | None,
    tuning: str | None,
    test: str | None,
    holdout: float | None,
) -> None:
    """Refuse options that do not go together."""
    if shard:
        check_shard(tuning, test, holdout)
    if holdout and "-" in inputs:
        raise click.UsageError(
            "--holdout reads the input twice, which standard input does not allow. Save it to a file."
        )


def _check_level(model: Model, level: Tuning | None) -> None:
    from bayleaf.cli.views import refusing
    from bayleaf.tuning import check_level

    with refusing():
        check_level(model, level)


def _taken(shard: tuple[int, int], corpus: Corpus, model: Model, output: str, as_json: bool) -> bool:
    """Narrow the corpus down to a shard; False, and said, if the output is that shard already."""
    part = Shard.taken(shard, corpus)
    if part.is_complete(output, model):
        told = {"model": output, "skipped": True}
        click.echo(json.dumps(told) if as_json else f"{output}: shard {part} is complete, skipped.")
        return False
    part.note(model)
    return True


def learn(
    model: Model, corpus: Corpus, reading: Reading, kept: Kept | None = None, new_classes: bool = True
) -> None:
    """Count all documents of a corpus, and keep them if weights are to be earned."""
    from bayleaf.cli.models import check_known, documents, labels_for
    from bayleaf.corpus import Numbering

    for batch in reading.batches(corpus):
        if not new_classes:
            found = Numbering()
            found.encode(batch.labels)
            check_known(found.names, model)
        _learn_part(model, documents(model, batch), labels_for(model, batch.labels), kept)


def _looking(
    make: Callable[..., Model], corpus: Corpus, reading: Reading, level: Tuning | None, kept: Kept,
    learned: bool,
) -> Model:  # fmt: skip
    """A model that looks at the documents as NaiveBayes().fit would, which all of them have a say in."""
    from bayleaf.tuning import default_views

    batches = reading.batches(corpus)
    for batch in batches:
        kept.add(batch.texts, batch.labels)
        if not kept.whole:
            break
    model = make(views=default_views(kept.documents if kept.whole else [], level))
    if learned and kept.labels:
        model.learn(kept.documents, kept.labels)
    kept.thin()
    for batch in batches if learned else ():
        _learn_part(model, batch.texts, batch.labels, kept)
    return model


def _tested(model: Model, reading: Reading, test: str) -> Measurement:
    from bayleaf.cli.measuring import Measurement
    from bayleaf.cli.models import documents, opened

    measured = Measurement(model)
    for batch in reading.batches(opened(reading, [test], model, labeled=True)):
        measured.add(documents(model, batch), batch.labels, batch.origin)
    measured.check(test)
    return measured


def _held_out(
    model: Model, corpus: Corpus, reading: Reading, part: float, kept: Kept | None, level: Tuning | None
) -> Measurement:
    """Learn the rest, measure on the part, then learn that too: counts do not mind their order."""
    from bayleaf.cli.measuring import Measurement

    for _, rows, labels in _parts(model, corpus, reading, part, held=False):
        _learn_part(model, rows, labels, kept)
    weigh(model, kept, level, reading)
    measured = Measurement(model.copy())
    for batch, rows, labels in _parts(model, corpus, reading, part, held=True):
        measured.add(rows, labels, batch.origin)
        _learn_part(model, rows, labels, kept)
    measured.check(f"The part of {part:g}")
    weigh(model, kept, level, reading)
    return measured


def _parts(
    model: Model, corpus: Corpus, reading: Reading, part: float, held: bool
) -> Iterator[tuple[Batch, Any, Any]]:
    """Of each batch what is held out, or the rest."""
    from bayleaf.cli.models import documents

    before = 0
    for batch in reading.batches(corpus):
        rows = held_out(before, len(batch), part)
        rows = rows if held else ~rows
        columns = {name: column.take(rows) for name, column in batch.columns.items()}
        taken = replace(batch, columns=columns, labels=batch.labels.take(rows))
        if len(taken):
            yield taken, documents(model, taken), taken.labels
        before += len(batch)


def _learn_part(model: Model, documents: Any, labels: Any, kept: Kept | None) -> None:
    model.learn(documents, labels)
    if kept is not None:
        kept.add(documents, labels)
        kept.thin()


def held_out(before: int, rows: int, part: float) -> NDArray[np.bool_]:
    """Which rows are held out: by a fixed hash of their number, so every run chooses the same."""
    import numpy as np

    number = np.arange(before, before + rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    chosen: NDArray[np.bool_] = (number >> np.uint64(11)).astype(np.float64) < part * 2.0**53
    return chosen


def _keep(
    model: Model, output: str, measured: Measurement | None, as_json: bool, seconds: float, first: str
) -> None:
    from bayleaf.checks import check_priors
    from bayleaf.cli.models import has_terms, n_terms, save, told

    if not model.n_documents and NOTE not in model.notes:
        raise click.ClickException(f"{first} holds no labeled document. No model was written.")
    if NOTE not in model.notes:
        check_priors(model.priors, model.classes)
    terms = n_terms(model)
    if not terms and has_terms(model) and NOTE not in model.notes:
        raise click.ClickException(
            f"{first} holds no term that the model could know. No model was written. Sequences need "
            "--preset dna; see 'bayleaf tokens' for what a text becomes."
        )
    written = save(model, output)
    if as_json:
        facts = {
            "model": output,
            "bytes": written,
            "documents": {name_of(name): count for name, count in model.class_documents.items()},
            "terms": terms,
            "tuning": weights(model),
        }
        told(json.dumps(facts | {"seconds": seconds, "test": measured and measured.to_dict()}), output)
        return
    if measured:
        from bayleaf.cli.show import confusion, console, scores

        show = console()
        show.print(
            *scores(measured.card, measured.names),
            *confusion(measured.card, measured.names, show.width),
            sep="\n",
        )
    documents, classes = (
        counted(model.n_documents, "document"),
        counted(len(model.classes), "class", "classes"),
    )
    parts = [documents, classes, counted(terms, "term"), named(model), size(written)]
    told(f"{output}: {', '.join(filter(None, parts))}.", output)
    if len(model.classes) == 1:
        click.echo(
            f"It knows one class only, {model.classes[0]!r}, and will answer with it always.", err=True
        )
