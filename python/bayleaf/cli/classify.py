"""`bayleaf classify`: documents in, an answer for each out, as they come."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from bayleaf.cli import options
from bayleaf.cli.reading import Reading, finite

if TYPE_CHECKING:
    from bayleaf.corpus import Batch
    from bayleaf.model import Model
    from bayleaf.types import Floats, Label

UNSURE = "unsure"
BREAKS = bytes.maketrans(b"\t\n\r", b"   ")


@click.command("classify")
@click.argument("model_file", metavar="MODEL")
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
@click.option("--proba", is_flag=True, help="Add the probability of each class: spam=0.98.")
@click.option("--log-odds", is_flag=True, help="Add the log odds of the answer against the next class.")
@click.option("--explain", is_flag=True, help="Add the terms that decided, with their log odds.")
@click.option(
    "--unsure",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Answer 'unsure' where the best class has a probability below P.",
)
@click.option("--keep-text", is_flag=True, help="Write the text too, behind the other columns.")
@options.reading
@options.as_json
def classify_command(model_file: str, inputs: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Answer with the class of each document.

    INPUT is files, folders or patterns, or standard input, where each line is answered as it comes. A line of
    output has the answer, what options add, and the input's other columns (a label, an id, a path), separated
    by tabs; a tab or line break inside one of them is written as a space.

    \b
    Examples:
      echo "claim your free prize" | bayleaf classify spam.bayleaf
      bayleaf classify spam.bayleaf messages.tsv --proba --unsure 0.9
    """
    from bayleaf.cli.models import load, of_columns, opened

    reading = Reading.taken(given)
    style = Style(as_json=as_json, **given)
    model = load(model_file, reading.threads)
    if style.explain and of_columns(model):
        raise click.ClickException(
            f"{model_file} looks at columns; 'bayleaf explain' explains a row of them."
        )
    names = inputs or ("-",)
    piped = "-" in names
    if piped:
        _widen_pipe()
    corpus = opened(reading, names, model, labeled=False, interactive=piped)
    out = sys.stdout.buffer
    answers = Answers(model, style)
    for batch in reading.batches(corpus):
        out.write(b"".join(answers.lines(batch)))
        if piped:
            out.flush()
    out.flush()


@dataclass(frozen=True)
class Style:
    """What is written about each document."""

    proba: bool
    log_odds: bool
    explain: bool
    unsure: float | None
    keep_text: bool
    as_json: bool


class Answers:
    """A model being asked, and its answers as lines."""

    def __init__(self, model: Model, style: Style) -> None:
        self._model = model
        self._style = style
        self._classes: list[Label] = model.classes
        self._names = [_field(str(name)) for name in self._classes]
        self._fields = dict(zip(self._classes, self._names, strict=True))
        self._lines = {label: name + b"\n" for label, name in self._fields.items()}

    def lines(self, batch: Batch) -> Iterator[bytes]:
        """One line for each document."""
        if self._style.as_json:
            return self._json_lines(batch)
        if self._style.proba or self._style.log_odds or self._style.explain or self._style.unsure is not None:
            return self._long_lines(batch)
        return self._short_lines(batch)

    def _short_lines(self, batch: Batch) -> Iterator[bytes]:
        from bayleaf.cli.models import documents

        answers = self._model.predict(documents(self._model, batch)).tolist()
        columns = [_fields(batch.columns[name]) for name in self._kept(batch)]
        if not columns:
            return map(self._lines.__getitem__, answers)
        rows = zip(map(self._fields.__getitem__, answers), *columns, strict=True)
        return (b"\t".join(row) + b"\n" for row in rows)

    def _kept(self, batch: Batch) -> list[str]:
        others = [name for name in batch.columns if name not in batch.text_columns]
        return [*others, *batch.text_columns] if self._style.keep_text else others

    def _asked(self, batch: Batch) -> tuple[list[int], Floats, Floats]:
        """The best class of each document, all probabilities, and the log odds against the next class."""
        import numpy as np

        from bayleaf.cli.models import documents

        posterior = self._model.log_posterior(documents(self._model, batch))
        best = posterior.argmax(axis=1)
        ordered = np.sort(posterior, axis=1)
        with np.errstate(invalid="ignore"):
            odds = ordered[:, -1] - ordered[:, -2] if posterior.shape[1] > 1 else np.full(len(best), np.inf)
        return best.tolist(), np.exp(posterior), odds

    def _named(self, best: int, probability: float) -> bytes:
        unsure = self._style.unsure is not None and probability < self._style.unsure
        return UNSURE.encode() if unsure else self._names[best]

    def _long_lines(self, batch: Batch) -> Iterator[bytes]:
        best, posterior, odds = self._asked(batch)
        columns = [_fields(batch.columns[name]) for name in self._kept(batch)]
        texts = _strings(batch.texts) if self._style.explain else None
        for row, number in enumerate(best):
            fields = [self._named(number, float(posterior[row, number]))]
            if self._style.log_odds:
                fields.append(b"%.4f" % odds[row])
            if self._style.proba:
                fields += [
                    name + b"=%.6g" % p for name, p in zip(self._names, posterior[row].tolist(), strict=True)
                ]
            if texts:
                fields.append(self._reasons(texts[row]))
            yield b"\t".join([*fields, *(column[row] for column in columns)]) + b"\n"

    def _reasons(self, text: str, most: int = 6) -> bytes:
        terms = self._model.explain(text).terms()[:most]
        return _field(" ".join(f"{term.replace(' ', '_')}:{odds:+.2f}" for term, _, odds in terms))

    def _json_lines(self, batch: Batch) -> Iterator[bytes]:
        best, posterior, odds = self._asked(batch)
        names = self._kept(batch)
        columns = [_strings(batch.columns[name]) for name in names]
        texts = _strings(batch.texts) if self._style.explain else None
        for row, number in enumerate(best):
            probability = float(posterior[row, number])
            unsure = self._style.unsure is not None and probability < self._style.unsure
            answer: dict[str, Any] = {name: column[row] for name, column in zip(names, columns, strict=True)}
            answer |= {"predicted": UNSURE if unsure else self._classes[number], "probability": probability}
            if self._style.log_odds:
                answer["log_odds"] = float(odds[row])
            if self._style.proba:
                answer["probabilities"] = dict(
                    zip(map(str, self._classes), posterior[row].tolist(), strict=True)
                )
            if texts:
                answer["explanation"] = self._model.explain(texts[row]).to_dict()["parts"]
            yield json.dumps(finite(answer), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _widen_pipe() -> None:
    """Let more lines wait in the pipe: 64 KiB at a time cost a third more than 1 MiB."""
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import fcntl

        fcntl.fcntl(sys.stdin.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)


def _strings(column: Any) -> list[str]:
    from bayleaf.corpus.batches import strings

    return strings(column)


def _field(text: str) -> bytes:
    return text.encode("utf-8", "replace").translate(BREAKS)


def _fields(column: Any) -> list[bytes]:
    """A column as fields of a line."""
    if hasattr(column, "starts"):
        bounds = zip(column.starts.tolist(), column.ends.tolist(), strict=True)
        buffer = column.buffer
        return [buffer[start:end].translate(BREAKS) for start, end in bounds]
    return [_field(text or "") for text in _strings(column)]
