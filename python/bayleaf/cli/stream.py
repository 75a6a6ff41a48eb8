"""`bayleaf stream`: answer each document of a labeled stream, then learn it."""

from __future__ import annotations

import json
import math
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from bayleaf.cli import options
from bayleaf.cli.progress import ProgressLine
from bayleaf.cli.reading import Reading, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bayleaf.corpus import Batch, Corpus
    from bayleaf.model import Model
    from bayleaf.types import Label

LATEST = 1000
LEAST = 2.0**-52
"""A probability counts at least so much in the log loss, as in `evaluate`."""


@dataclass
class Progressive:
    """How well documents were answered, each before it was learned."""

    documents: int = 0
    asked: int = 0
    right: int = 0
    new: int = 0
    loss: float = 0.0
    latest: deque[bool] = field(default_factory=lambda: deque(maxlen=LATEST))

    def add(self, posterior: Mapping[Label, float], truth: Label) -> None:
        """Count an answer; without one nothing was learned yet. A class new to the model is a mistake."""
        self.documents += 1
        if not posterior:
            return
        self.asked += 1
        is_right = max(posterior, key=posterior.__getitem__) == truth
        self.right += is_right
        self.latest.append(is_right)
        if truth in posterior:
            self.loss -= math.log(max(posterior[truth], LEAST))
        else:
            self.new += 1

    @property
    def accuracy(self) -> float | None:
        """The share of right answers."""
        return self.right / self.asked if self.asked else None

    @property
    def log_loss(self) -> float | None:
        """The mean log loss where the class was known."""
        known = self.asked - self.new
        return self.loss / known if known else None

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {
            "documents": self.documents,
            "asked": self.asked,
            "accuracy": self.accuracy,
            "latest_accuracy": sum(self.latest) / len(self.latest) if self.latest else None,
            "log_loss": self.log_loss,
            "new_classes": self.new,
        }

    def line(self, seconds: float | None = None) -> str:
        """The numbers in a line."""
        if self.accuracy is None:
            return counted(self.documents, "document")
        latest = sum(self.latest) / len(self.latest)
        loss = "" if self.log_loss is None else f"  log loss {self.log_loss:.4f}"
        rate = f"  {self.documents / seconds:,.0f}/s" if seconds else ""
        documents = counted(self.documents, "document")
        return f"{documents}  accuracy {self.accuracy:.4f} (latest {latest:.4f}){loss}{rate}"


@click.command("stream")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-m", "--model", "model_file", metavar="MODEL", help="Begin with this model; else with nothing."
)
@click.option("-o", "--output", metavar="MODEL", help="Write the model when the stream ends.")
@click.option(
    "--window", type=click.IntRange(1), metavar="N", help="Forget all but the latest N documents, for drift."
)
@click.option(
    "--every", type=click.IntRange(1), metavar="N", help="Print the figures after every N documents, too."
)
@options.looking
@options.judging
@options.labeling
@options.reading
@options.as_json
def stream_command(
    inputs: tuple[str, ...],
    model_file: str | None,
    output: str | None,
    window: int | None,
    every: int | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Answer each document of a labeled stream, then learn it.

    INPUT is labeled documents, as for 'train'; '-' is standard input, which may go on for months. Accuracy
    and log loss are those of answers given before the document was learned; a class that was never learned
    until then is a mistake, and left out of the log loss. Ctrl-C ends the stream: its figures are printed
    and its model is written.

    \b
    Examples:
      bayleaf stream messages.tsv
      bayleaf stream messages.tsv --window 500 --every 100 --json -o latest.bayleaf
    """
    from bayleaf.cli.models import check_target, opened

    reading = Reading.taken(given)
    model = _begun(model_file, reading, given)
    if output:
        check_target(output, *inputs)
    corpus = opened(reading, inputs, model, labeled=True, interactive="-" in inputs)
    figures = Progressive()
    interrupted = _run(model, corpus, reading, figures, window, partial(_tell, as_json), every)
    if not figures.documents:
        raise click.ClickException(f"{inputs[0]} holds no labeled document.")
    reading.tell_skipped(corpus)
    if not every or figures.documents % every:
        _tell(as_json, figures)
    if output:
        from bayleaf.cli.models import save

        save(model, output)
        reading.remark(f"Wrote {output}: {counted(model.n_documents, 'document')}.")
    if interrupted:
        reading.remark("Interrupted.")
        raise click.exceptions.Exit(130)


def _begun(model_file: str | None, reading: Reading, given: dict[str, Any]) -> Model:
    from bayleaf.cli.models import load
    from bayleaf.cli.views import new_model, unsaid

    if model_file is None:
        return new_model(reading.threads, given)
    if not unsaid(given) or given["alpha"] is not None:
        raise click.UsageError(
            f"{model_file} says how to look at texts; drop --model or the options for that."
        )
    return load(model_file, reading.threads)


def _run(
    model: Model, corpus: Corpus, reading: Reading, figures: Progressive, window: int | None, tell: Any,
    every: int | None,
) -> bool:  # fmt: skip
    """Test, then learn, to the end of the stream; whether it was ended by Ctrl-C."""
    from bayleaf.streams import Window

    learner = model if window is None else Window(model, size=window)
    line = ProgressLine(reading.quiet)
    try:
        for batch in corpus:
            for x, label in _examples(model, batch):
                figures.add(model.predict_proba_one(x), label)
                learner.learn_one(x, label)
                if every and figures.documents % every == 0:
                    tell(figures)
                line.show(figures.line)
    except KeyboardInterrupt:
        return True
    finally:
        line.end()
    return False


def _examples(model: Model, batch: Batch) -> Iterator[tuple[Any, Label]]:
    """Each document of a batch, as a text or as a mapping of columns, and its class."""
    from bayleaf.cli.models import documents, labels_for
    from bayleaf.labels import as_list

    rows, labels = documents(model, batch), as_list(labels_for(model, batch.labels))
    if isinstance(rows, dict):
        columns = {name: list(column) for name, column in rows.items()}
        texts: Any = ({name: column[i] for name, column in columns.items()} for i in range(len(labels)))
    else:
        texts = iter(rows)
    return zip(texts, labels, strict=True)


def _tell(as_json: bool, figures: Progressive) -> None:
    click.echo(json.dumps(figures.to_dict()) if as_json else figures.line())
