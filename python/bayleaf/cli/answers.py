"""A model being asked, and its answers as lines of text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from bayleaf.class_names import by_name, name_of
from bayleaf.cli.reading import finite

if TYPE_CHECKING:
    from bayleaf.corpus import Batch
    from bayleaf.model import Model
    from bayleaf.types import Floats, Label

UNSURE = "unsure"
BREAKS = bytes.maketrans(b"\t\n\r", b"   ")
NAMES = ("predicted", "probability", "log_odds", "score", "probabilities", "explanation", "error")
"""What an answer is called beside the keys of a document."""
PREFIX = "bayleaf_"


@dataclass(frozen=True)
class Style:
    """What is written about each document."""

    proba: bool = False
    log_odds: bool = False
    score: str | None = None
    explain: bool = False
    unsure: float | None = None
    keep_text: bool | None = None
    prefix: str | None = None
    as_json: bool = False

    @property
    def numbers(self) -> bool:
        """Whether anything but the answer is asked for."""
        return (
            self.proba or self.log_odds or self.explain or self.score is not None or self.unsure is not None
        )


@dataclass(frozen=True)
class Asked:
    """The answers to a batch: the best class, all log posteriors, the log odds against the next class."""

    best: list[int]
    log_posterior: Floats

    @property
    def probabilities(self) -> Floats:
        """The probability of each class."""
        from bayleaf.posterior import probabilities

        return probabilities(self.log_posterior)

    def odds(self) -> list[float]:
        """The log odds of each answer against the next class."""
        import numpy as np

        if self.log_posterior.shape[1] < 2:
            return [float("inf")] * len(self.best)
        ordered = np.sort(self.log_posterior, axis=1)
        with np.errstate(invalid="ignore"):
            between: list[float] = (ordered[:, -1] - ordered[:, -2]).tolist()
        return between

    def scores(self, number: int) -> list[float]:
        """The log odds of one class against all others together: signed, and fit to rank by."""
        import numpy as np

        others = np.delete(self.log_posterior, number, axis=1)
        with np.errstate(divide="ignore"):
            against = np.logaddexp.reduce(others, axis=1)
        with np.errstate(invalid="ignore"):
            signed: list[float] = (self.log_posterior[:, number] - against).tolist()
        return signed


class Answers:
    """A model being asked, and its answers as lines."""

    def __init__(self, model: Model, style: Style, columns: tuple[str, ...] = ()) -> None:
        self._model = model
        self._style = style
        self._classes: list[Label] = model.classes
        self._names = [_field(name_of(name)) for name in self._classes]
        self._fields = dict(zip(self._classes, self._names, strict=True))
        self._lines = {label: name + b"\n" for label, name in self._fields.items()}
        self._scored = None if style.score is None else self._number(style.score)
        clash = style.prefix is None and any(name in NAMES for name in columns)
        self.prefix = style.prefix if style.prefix is not None else PREFIX if clash else ""

    def _number(self, label: str) -> int:
        classes = by_name(self._classes)
        if label not in classes:
            listed = ", ".join(repr(name_of(name)) for name in self._classes[:12])
            raise click.UsageError(f"The model has no class {label!r}. Its classes are {listed}.")
        return self._classes.index(classes[label])

    def lines(self, batch: Batch) -> Iterator[bytes]:
        """One line for each document, and for each that was left out."""
        lines = self._answered(batch) if len(batch) else iter(())
        return self._with_gaps(lines, batch) if batch.gaps else lines

    def _answered(self, batch: Batch) -> Iterator[bytes]:
        if self._style.as_json:
            return self._json_lines(batch)
        return self._long_lines(batch) if self._style.numbers else self._short_lines(batch)

    def _with_gaps(self, lines: Iterator[bytes], batch: Batch) -> Iterator[bytes]:
        """Answers keep their place: an empty line stands for a document that was left out."""
        done = 0
        for before, reason in batch.gaps:
            while done < before:
                yield next(lines)
                done += 1
            yield _json({f"{self.prefix}error": reason}) + b"\n" if self._style.as_json else b"\n"
        yield from lines

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

    def asked(self, batch: Batch) -> Asked:
        """Ask about a batch."""
        from bayleaf.cli.models import documents

        posterior = self._model.log_posterior(documents(self._model, batch))
        return Asked(posterior.argmax(axis=1).tolist(), posterior)

    def _is_unsure(self, probability: float) -> bool:
        return self._style.unsure is not None and probability < self._style.unsure

    def _long_lines(self, batch: Batch) -> Iterator[bytes]:
        asked, style = self.asked(batch), self._style
        columns: list[Iterable[bytes]] = [self._named(asked)]
        if self._scored is not None:
            columns.append(repr(score).encode() for score in asked.scores(self._scored))
        if style.log_odds:
            columns.append(b"%.4f" % odds for odds in asked.odds())
        if style.proba:
            columns.append(map(self._shares, asked.probabilities.tolist()))
        if style.explain:
            columns.append(map(self._reasons, _strings(batch.texts)))
        columns += (_fields(batch.columns[name]) for name in self._kept(batch))
        return (b"\t".join(row) + b"\n" for row in zip(*columns, strict=True))

    def _named(self, asked: Asked) -> Iterator[bytes]:
        """The answer to each document, or that it is unsure."""
        names = map(self._names.__getitem__, asked.best)
        if self._style.unsure is None:
            return names
        sure = asked.probabilities.max(axis=1).tolist()
        both = zip(names, sure, strict=True)
        return (UNSURE.encode() if self._is_unsure(share) else name for name, share in both)

    def _shares(self, posterior: list[float]) -> bytes:
        return b"\t".join(name + b"=%.6g" % p for name, p in zip(self._names, posterior, strict=True))

    def _reasons(self, text: str, most: int = 6) -> bytes:
        terms = self._model.explain(text).terms()[:most]
        return _field(" ".join(f"{term.replace(' ', '_')}:{odds:+.2f}" for term, _, odds in terms))

    def _json_lines(self, batch: Batch) -> Iterator[bytes]:
        """The document as it was, with the answer behind it."""
        asked = self.asked(batch)
        texts = _strings(batch.texts) if self._style.explain else None
        odds = asked.odds() if self._style.log_odds else None
        scores = asked.scores(self._scored) if self._scored is not None else None
        posterior = asked.probabilities
        records = batch.json_records(without_text=self._style.keep_text is False)
        for row, (record, number) in enumerate(zip(records, asked.best, strict=True)):
            probability = float(posterior[row, number])
            predicted = UNSURE if self._is_unsure(probability) else self._classes[number]
            answer: dict[str, Any] = {"predicted": predicted, "probability": probability}
            if scores:
                answer["score"] = scores[row]
            if odds:
                answer["log_odds"] = odds[row]
            if self._style.proba:
                shares = posterior[row].tolist()
                answer["probabilities"] = dict(zip(map(name_of, self._classes), shares, strict=True))
            if texts:
                answer["explanation"] = self._model.explain(texts[row]).to_dict()["parts"]
            yield self._joined(record, answer, batch, row)

    def _joined(self, record: bytes, answer: dict[str, Any], batch: Batch, row: int) -> bytes:
        named = {f"{self.prefix}{name}": value for name, value in answer.items()}
        if any(f'"{name}"'.encode() in record for name in named):
            taken = next((name for name in json.loads(record) if name in named), None)
            if taken is not None:
                raise click.ClickException(
                    f"{batch.origin(row)} has a key {taken!r} already, where the answer would go. Put "
                    "something before the names of answers with --prefix."
                )
        answered = _json(named)
        return answered + b"\n" if record == b"{}" else record[:-1].rstrip() + b", " + answered[1:] + b"\n"


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(finite(value), ensure_ascii=False).encode("utf-8", "replace")


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
