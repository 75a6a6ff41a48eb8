"""Earned weights in the commands that learn: the documents kept for them, and what is said meanwhile."""

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
    """The documents of a run, in memory; with `most` bytes, none of them if they are more."""

    def __init__(self, most: int | None) -> None:
        self.texts: list[str] = []
        self.labels: list[Any] = []
        self.whole = True
        self._most, self._bytes = most, 0

    def add(self, model: Model, texts: Any, labels: Any) -> None:
        """Keep documents that the model has learned."""
        from bayleaf.cli.models import labels_for
        from bayleaf.corpus.batches import strings
        from bayleaf.labels import as_list

        if not self.whole:
            return
        new = strings(texts)
        self._bytes += sum(map(len, new))
        self.texts += new
        self.labels += as_list(labels_for(model, labels))
        if self._most is not None and self._bytes > self._most:
            self.texts, self.labels, self.whole = [], [], False


def chosen_level(given: str | None, plain: bool, preset: str | None) -> Tuning | None:
    """The level that `--tuning` names; without it, "auto" for texts."""
    if plain and given not in (None, "none"):
        raise click.UsageError(f"--plain is the textbook, without weights; leave out it or --tuning {given}.")
    if given is None:
        return None if plain or preset in ("languages", "sequences") else "auto"
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
                kept.texts,
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
