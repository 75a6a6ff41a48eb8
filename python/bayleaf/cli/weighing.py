"""Tuning in the commands that train: documents kept in memory, progress, summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayleaf.cli.progress import ProgressLine
from bayleaf.cli.reading import Reading, size

if TYPE_CHECKING:
    from bayleaf.model import Model
    from bayleaf.tuning import Tuning

LEVELS = ("auto", "terms", "views", "temperature", "none")
MOST_BYTES = 256 << 20
"""Learning takes memory for terms only; weighing needs the documents. So many of them are kept unasked."""


class Kept:
    """The documents of a run, in memory: texts, or the columns of a table; with `most` bytes, not more."""

    def __init__(self, most: int | None) -> None:
        self.documents: Any = []
        self.labels: list[Any] = []
        self.whole = True
        self._most, self._bytes = most, 0

    def add(self, documents: Any, labels: Any) -> None:
        """Keep documents that are learned; `whole` tells whether all of them are still here."""
        from bayleaf.corpus.batches import strings
        from bayleaf.labels import as_list

        if not self.whole:
            return
        if isinstance(documents, dict):
            self.documents = self.documents or {name: [] for name in documents}
            for name, column in documents.items():
                self._extend(self.documents[name], column)
        else:
            self._extend(self.documents, strings(documents))
        self.labels += as_list(labels)
        self.whole = self._most is None or self._bytes <= self._most

    def _extend(self, column: list[Any], more: Any) -> None:
        column += more
        self._bytes += sum(len(each) for each in more if isinstance(each, str))

    def drop(self) -> None:
        """Give the memory back."""
        self.documents, self.labels = [], []


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
    if not kept.whole:
        model.drop_judgment()
        reading.remark(
            f"The documents are more than {size(MOST_BYTES)}, so they were counted and not weighed. With "
            "--tuning terms they are kept in memory and weighed all the same."
        )
    elif level != "auto" or model.worth_tuning:
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


NAMES = {
    "temperature": "one temperature",
    "views": "a weight for each view",
    "terms": "a weight for each term",
}


def named(model: Model) -> str:
    """How the evidence is weighed, in words; nothing for the textbook."""
    if model.judgment is None:
        return ""
    return NAMES[model.judgment.level] + (", stale" if model.stale else "")


def facts(model: Model) -> dict[str, Any] | None:
    """How the evidence is weighed, for machines."""
    judged = model.judgment
    if judged is None:
        return None
    penalty = judged.penalty if judged.penalty < float("inf") else None
    return {"level": judged.level, "stale": model.stale, "penalty": penalty, "log_loss": judged.loss}


def remind(model: Model, path: str) -> None:
    """Say that weights were earned on other documents than the model now has."""
    if model.stale:
        click.echo(
            f"The weights in {path} were earned on other documents. They keep working; 'bayleaf retune' with "
            "all documents renews them.",
            err=True,
        )
