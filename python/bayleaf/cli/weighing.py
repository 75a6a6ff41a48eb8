"""Tuning in the commands that train: documents kept in memory, progress, summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayleaf.cli.progress import ProgressLine
from bayleaf.cli.reading import Reading
from bayleaf.cli.wording import stale, tuned

if TYPE_CHECKING:
    from bayleaf.model import Model
    from bayleaf.tuning import Tuning

LEVELS = ("auto", "terms", "views", "temperature", "none")
MOST_BYTES = 256 << 20
"""Learning takes memory for terms only; weighing needs the documents. So many of them are kept unasked."""


class Kept:
    """The documents of a run, in memory: texts, or columns of a table; with `most` bytes, a sample of them.

    The sample is chosen by a hash of the text: it does not depend on the order of the documents.
    """

    def __init__(self, most: int | None) -> None:
        self.labels: list[Any] = []
        self.seen = 0
        self._columns: dict[str, list[Any]] = {}
        self._most, self._bytes, self._limit = most, 0, HASHES

    @property
    def documents(self) -> Any:
        """The documents that are here."""
        texts = set(self._columns) <= {""}
        return self._columns.get("", []) if texts else self._columns

    @property
    def whole(self) -> bool:
        """Whether all documents are here, and may stay."""
        return self._limit == HASHES and not self._too_many

    @property
    def _too_many(self) -> bool:
        if self._most is None:
            return False
        return self._bytes > self._most

    def add(self, documents: Any, labels: Any) -> None:
        """Keep documents that are learned, or those of them that the sample has."""
        from bayleaf.corpus.batches import strings
        from bayleaf.labels import as_list

        rows = dict(documents) if isinstance(documents, dict) else {"": strings(documents)}
        names = as_list(labels)
        self.seen += len(names)
        rows, names = _chosen(rows, names, self._limit)
        self.labels += names
        for name, column in rows.items():
            self._columns.setdefault(name, []).extend(column)
        self._bytes += _size(rows)

    def thin(self) -> None:
        """Leave half of the documents out, as often as they are too many."""
        while self._too_many:
            self._limit //= 2
            self._columns, self.labels = _chosen(self._columns, self.labels, self._limit)
            self._bytes = _size(self._columns)


HASHES = 1 << 32


def _size(columns: dict[str, Any]) -> int:
    return sum(len(each) for column in columns.values() for each in column if isinstance(each, str))


def _chosen(columns: dict[str, Any], labels: list[Any], limit: int) -> tuple[dict[str, Any], list[Any]]:
    """The documents whose hash is below a limit."""
    import zlib

    if limit == HASHES:
        return columns, labels
    rows = zip(*columns.values(), strict=True)
    kept = [zlib.crc32("\n".join(map(str, row)).encode("utf-8", "replace")) < limit for row in rows]
    chosen = {
        name: [each for each, keep in zip(column, kept, strict=True) if keep]
        for name, column in columns.items()
    }
    return chosen, [label for label, keep in zip(labels, kept, strict=True) if keep]


def chosen_level(given: str | None, plain: bool) -> Tuning | None:
    """The level that `--tuning` names; without it, "auto" as in NaiveBayes()."""
    if plain and given not in (None, "none"):
        raise click.UsageError(f"--plain is the textbook; drop one of --plain and --tuning {given}.")
    if given is None:
        return None if plain else "auto"
    level: Any = given
    return None if given == "none" else level


def kept_for(level: Tuning | None) -> Kept | None:
    """Where documents are kept for this level: a level that was asked for is worth any memory."""
    return None if level is None else Kept(MOST_BYTES if level == "auto" else None)


def weigh(model: Model, kept: Kept | None, level: Tuning | None, reading: Reading) -> None:
    """Earn weights with the documents that were kept."""
    if kept is None:
        return
    if not kept.whole:  # said even if quiet: the model is another one than that of all documents
        click.echo(
            f"The documents are more than {MOST_BYTES >> 20} MB: weights are earned on a sample of "
            f"{len(kept.labels):,} of {kept.seen:,}, chosen by a hash of the text. With --tuning terms all "
            "are kept in memory.",
            err=True,
        )
    from bayleaf.tuning import worth_tuning

    if level != "auto" or worth_tuning(model):
        line = ProgressLine(reading.quiet)
        try:
            model.tune(
                kept.documents,
                kept.labels,
                level,
                lambda step: line.show(lambda _: f"Weighing the evidence: {step}"),
            )
        finally:
            line.end()
    else:
        model.drop_judgment()


def named(model: Model) -> str:
    """How the evidence is weighed, in words; nothing for the textbook."""
    return tuned(model.judgment.level if model.judgment else None, model.stale) + _unlabeled(model)


def of_names(model: Model) -> str:
    """What the names of classes were found to be worth, in words; nothing if they have no say."""
    weight = 0.0 if model.judgment is None else model.judgment.names
    return f", words of class names weigh {weight:.2g} (1 before looking)" if weight else ""


def _unlabeled(model: Model) -> str:
    """What was decided about texts without a label."""
    found = None if model.judgment is None else model.judgment.unlabeled
    if found is None:
        return ""
    verdict = "help" if found.helps else "do not help and are left out"
    losses = f"log loss of held-out documents {found.loss:.3g} without, {found.loss_with:.3g} with"
    return f", {found.documents:,} texts without a label {verdict} ({losses})"


def facts(model: Model) -> dict[str, Any] | None:
    """How the evidence is weighed, for machines."""
    judged = model.judgment
    if judged is None:
        return None
    penalty = judged.penalty if judged.penalty < float("inf") else None
    found = {
        "level": judged.level,
        "stale": model.stale,
        "penalty": penalty,
        "log_loss": judged.loss,
        "names": judged.names,
    }
    other = judged.unlabeled
    if other is None:
        return found
    told = {"documents": other.documents, "helps": other.helps, "log_loss": other.loss}
    return {**found, "unlabeled": {**told, "log_loss_with": other.loss_with}}


def remind(model: Model, path: str) -> None:
    """Say that weights were earned on other documents than the model now has."""
    if model.stale:
        strangers = model.judgment.strangers(model.classes) if model.judgment else []
        click.echo(stale(path, next(iter(strangers), None)), err=True)
