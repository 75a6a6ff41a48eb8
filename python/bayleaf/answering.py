"""Scorers compiled from counts: one per view, and the prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.explanation import Part
from bayleaf.labels import as_array
from bayleaf.model_views import NamedViews, has_no_prior
from bayleaf.posterior import log_posterior, log_prior
from bayleaf.text.counts import TextTally
from bayleaf.text.scorers import TextScorer
from bayleaf.text.views import TextView
from bayleaf.tuning.judgment import Judgment
from bayleaf.tuning.scorer import TunedScorer
from bayleaf.tuning.weighed import WeighedScorer
from bayleaf.tuning.weighing import is_plain
from bayleaf.types import Classes, Floats, Label, Priors, Unseen
from bayleaf.view import Scorer, Tally


class Settings(Protocol):
    """What a model knows besides its counts."""

    alpha: float
    priors: Priors
    unseen: Unseen
    judgment: Judgment | None

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
        self.classes = settings.classes
        self.labels = as_array(self.classes)
        self.names = [name for name, _ in views]
        self.kinds = [f"{name}: {view.kind}" if name else view.kind for name, view in views]
        judged = settings.judgment
        self.temperature = 1.0 if judged is None else judged.temperature
        self.scorers = _scorers(views, tallies, order, settings)
        self.log_prior = self.temperature * _log_prior(views, settings)
        self.may_rule_out = any(scorer.may_rule_out for scorer in self.scorers)
        self.bias: Floats = self.temperature * np.sum([scorer.bias for scorer in self.scorers], axis=0)

    def log_joint(self, columns: list[Any], threads: int) -> Floats:
        """The log likelihoods of all views, and the prior."""
        scores = self.scorers[0].scores(columns[0], threads)
        for scorer, column in zip(self.scorers[1:], columns[1:], strict=True):
            scores += scorer.scores(column, threads)
        if self.temperature != 1:
            scores *= self.temperature
        scores += self.log_prior
        return scores

    def best(self, columns: list[Any], threads: int) -> NDArray[np.integer[Any]]:
        """The most probable class of each document; ties go to the first class."""
        alone = self.scorers[0] if len(self.scorers) == 1 and self.temperature == 1 else None
        if isinstance(alone, TextScorer) and not self.may_rule_out:
            return alone.best(columns[0], self.log_prior, threads)
        joint = self.log_joint(columns, threads)
        if self.may_rule_out and np.isneginf(joint.max(axis=1)).any():
            joint = log_posterior(joint, self.log_prior)
        best: NDArray[np.intp] = joint.argmax(axis=1)
        return best

    def parts(self, columns: list[Any]) -> tuple[str, list[Part]]:
        """The only document as text, and the parts of its score with their places in it."""
        texts: dict[str, str] = {}
        for name, scorer, column in zip(self.names, self.scorers, columns, strict=True):
            texts.setdefault(name, scorer.shown(column, name))
        starts = dict(
            zip(texts, np.cumsum([0, *(len(text) + 1 for text in texts.values())]).tolist(), strict=False)
        )
        parts = [
            Part(
                piece.term,
                starts[name] + piece.start,
                starts[name] + piece.end,
                kind,
                self.temperature * piece.scores,
            )
            for name, kind, scorer, column in zip(self.names, self.kinds, self.scorers, columns, strict=True)
            for piece in scorer.parts(column, name)
        ]
        return "\n".join(texts.values()), parts


def _scorers(views: NamedViews, tallies: Sequence[Tally], order: Classes, settings: Settings) -> list[Scorer]:
    """The textbook's weights, or those that were earned."""
    judged = settings.judgment
    if judged is None or not judged.views:
        both = zip(views, tallies, strict=True)
        return [view.compile(tally, order, settings.alpha, settings.unseen) for (_, view), tally in both]
    return [
        TunedScorer(tally, view.selection.of(tally.counts(order)), own)
        if isinstance(view, TextView) and isinstance(tally, TextTally) and is_plain(view)
        else WeighedScorer(view.compile(tally, order, settings.alpha, settings.unseen), own.groups[0])
        for (_, view), tally, own in zip(views, tallies, judged.views, strict=True)
    ]


def _log_prior(views: NamedViews, settings: Settings) -> Floats:
    """The prior, or the bias of each class that was earned."""
    documents = np.array(list(settings.class_documents.values()), np.float64)
    if has_no_prior(views, settings.priors):
        return np.zeros(len(documents))
    prior = log_prior(settings.priors, settings.classes, documents)
    judged = settings.judgment
    if judged is None or not judged.views:
        return prior
    biases = judged.biases(settings.class_documents)
    if settings.priors == "empirical":
        return biases
    with np.errstate(divide="ignore"):
        shares = (
            documents
            if judged.sizes is None
            else np.array([judged.sizes.get(k, 0.0) for k in settings.classes])
        )
        biases += prior - np.log(np.maximum(shares, 0.5) / max(shares.sum(), 1))
    return biases
