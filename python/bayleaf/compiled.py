"""Counts made ready to answer: one scorer for each view, and the prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from bayleaf import events
from bayleaf.events import Priors, Unseen
from bayleaf.explain import Part
from bayleaf.inputs import NamedViews
from bayleaf.labels import Label, as_array
from bayleaf.tables import Tally
from bayleaf.tally import Classes, Floats


class Settings(Protocol):
    """What a model knows besides its counts."""

    alpha: float
    priors: Priors
    unseen: Unseen

    @property
    def classes(self) -> list[Label]:
        """The labels in order."""

    @property
    def class_documents(self) -> dict[Label, int]:
        """How many documents each class has."""


class Compiled:
    """Everything that is derived from the counts to answer questions."""

    def __init__(
        self, views: NamedViews, tallies: Sequence[Tally], order: Classes, settings: Settings
    ) -> None:
        self.labels = as_array(settings.classes)
        self.names = [name for name, _ in views]
        self.kinds = [f"{name}: {view.kind}" if name else view.kind for name, view in views]
        both = zip(views, tallies, strict=True)
        self.scorers = [
            view.compile(tally, order, settings.alpha, settings.unseen) for (_, view), tally in both
        ]
        self.log_prior = _log_prior(views, settings)
        self.may_rule_out = any(scorer.may_rule_out for scorer in self.scorers)
        self.bias: Floats = np.sum([scorer.bias for scorer in self.scorers], axis=0)

    def log_joint(self, columns: list[Any], threads: int) -> Floats:
        """The log likelihoods of all views, and the prior."""
        scores = self.scorers[0].scores(columns[0], threads)
        for scorer, column in zip(self.scorers[1:], columns[1:], strict=True):
            scores += scorer.scores(column, threads)
        scores += self.log_prior
        return scores

    def parts(self, columns: list[Any]) -> tuple[str, list[Part]]:
        """The only document as text, and the parts of its score with their places in it."""
        texts: dict[str, str] = {}
        for name, scorer, column in zip(self.names, self.scorers, columns, strict=True):
            texts.setdefault(name, scorer.shown(column, name))
        starts = dict(
            zip(texts, np.cumsum([0, *(len(text) + 1 for text in texts.values())]).tolist(), strict=False)
        )
        parts = [
            Part(piece.term, starts[name] + piece.start, starts[name] + piece.end, kind, piece.scores)
            for name, kind, scorer, column in zip(self.names, self.kinds, self.scorers, columns, strict=True)
            for piece in scorer.parts(column, name)
        ]
        return "\n".join(texts.values()), parts


def _log_prior(views: NamedViews, settings: Settings) -> Floats:
    """The prior; the complement model by itself has none unless one is given."""
    if settings.priors == "empirical" and all(
        getattr(view, "event", "") == "complement" for _, view in views
    ):
        return np.zeros(len(settings.classes))
    documents = np.array(list(settings.class_documents.values()), np.float64)
    return events.log_prior(settings.priors, settings.classes, documents)
