"""Answering: scorers compiled from counts, one per view, and the prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import length_of
from bayleaf.labels import as_array
from bayleaf.model_views import NamedViews, has_no_prior, is_plain
from bayleaf.posterior import Together, log_posterior, log_prior, posterior_of_one, probabilities
from bayleaf.text.counts import TextTally
from bayleaf.text.scorers import LivingScorer
from bayleaf.text.views import TextView
from bayleaf.types import Classes, Floats, Label, Priors, Unseen
from bayleaf.view import Scorer, Tally, View

if TYPE_CHECKING:
    from bayleaf.explanation import Explanation, Part
    from bayleaf.labeled_counts import LabeledCounts
    from bayleaf.tuning.judgment import Judgment
    from bayleaf.tuning.unlabeled import Beside


class NothingLearnedError(ValueError):
    """There are no documents to answer by."""

    def __init__(self) -> None:
        super().__init__("The model has learned nothing yet. Call `learn(X, y)` first.")


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

    @property
    def labeled(self) -> LabeledCounts:
        """The counts of the documents and their classes."""


class Compiled:
    """Everything that is derived from the counts to answer questions.

    Scorers of text live: they follow the counts, so those of a `before` with the same settings stay.
    """

    def __init__(
        self,
        views: NamedViews,
        tallies: Sequence[Tally],
        order: Classes,
        settings: Settings,
        key: Any = None,
        before: Compiled | None = None,
    ) -> None:
        self.order, self.key, self.changes = order, key, 0
        self.classes = settings.classes
        self.labels = as_array(self.classes)
        self._alone = [self.labels[i : i + 1] for i in range(len(self.labels))]
        self.names = [name for name, _ in views]
        self.kinds = [f"{name}: {view.kind}" if name else view.kind for name, view in views]
        judged = settings.judgment
        self.temperature = 1.0 if judged is None else judged.temperature
        self.intercept = judged is not None and bool(judged.views)
        known: Sequence[Scorer | None] = [None] * len(views) if before is None else before.scorers
        each = zip(views, tallies, known, range(len(views)), strict=True)
        self.scorers: list[Scorer] = [
            _scorer(view, tally, order, settings, old, i) for (_, view), tally, old, i in each
        ]
        self._views = views
        unlabeled = None if judged is None else judged.unlabeled
        self.beside: tuple[int, Beside] | None = None
        if unlabeled is not None and unlabeled.helps:
            from bayleaf.tuning.unlabeled import Beside

            self.beside = unlabeled.view, Beside(unlabeled, self.classes)
        self._labeled = settings.labeled
        self._prior = self._labeled.documents, self.temperature * log_prior_of(views, settings, order)
        self._prior_moves = _prior_moves(views, settings)
        self._by_shares = self._prior_moves and not self.intercept
        self._lives = all(isinstance(scorer, LivingScorer) and scorer.follows for scorer in self.scorers)
        self.may_rule_out = any(scorer.may_rule_out for scorer in self.scorers)
        living = [scorer.asking for scorer in self.scorers if isinstance(scorer, LivingScorer)]
        in_core = len(living) == len(self.scorers) and self.beside is None and not self.may_rule_out
        self._askings = living if in_core else None
        self._together = self._in_one_call()
        self.takes_text = self._together is not None and not any(self.names)

    def _in_one_call(self) -> Together | None:
        """What answers one document in the core, which knows the shares of the classes by itself."""
        if self._askings is None:
            return None
        return Together(self._askings, self.temperature, None if self._by_shares else self._prior[1])

    def keeps_up(self, key: Any, settings: Settings) -> bool:
        """Be in step with a change of counts, if it left the classes as they were and all scorers live."""
        if key != self.key or not self._lives:
            return False
        if not self.lives_alone:
            prior = log_prior_of(self._views, settings, self.order)
            self._prior = self._labeled.documents, self.temperature * prior
            self._together = self._in_one_call()
        return True

    @property
    def lives_alone(self) -> bool:
        """Whether nothing must be done to be in step when the classes stay as they are."""
        return self._lives and not (self.intercept and self._prior_moves)

    @property
    def log_prior(self) -> Floats:
        """What is known of a document's class before looking; by shares of the classes, made on demand."""
        documents, prior = self._prior
        if self._by_shares and documents is not self._labeled.documents:
            documents = self._labeled.documents
            prior = self.temperature * log_prior("empirical", (), _padded(documents, self.order))
            self._prior = documents, prior
        return prior

    @property
    def bias(self) -> Floats:
        """What every document gets, whatever is in it."""
        total: Floats = self.temperature * np.sum([scorer.bias for scorer in self.scorers], axis=0)
        return total

    def log_joint(self, columns: list[Any], threads: int) -> Floats:
        """The log likelihoods of all views, and the prior."""
        scores = self.scorers[0].scores(columns[0], threads)
        for scorer, column in zip(self.scorers[1:], columns[1:], strict=True):
            scores += scorer.scores(column, threads)
        if self.beside is not None:
            view, beside = self.beside
            scores += beside.scores(columns[view], threads)
        if self.temperature != 1:
            scores *= self.temperature
        scores += self.log_prior
        return scores

    def log_posterior(self, columns: list[Any], threads: int) -> Floats:
        """The joint divided by the evidence."""
        return log_posterior(self.log_joint(columns, threads), self.log_prior)

    def best(self, columns: list[Any], threads: int) -> NDArray[np.integer[Any]]:
        """The most probable class of each document; ties go to the first class."""
        plain = len(self.scorers) == 1 and self.temperature == 1 and self.beside is None
        alone = self.scorers[0] if plain else None
        if isinstance(alone, LivingScorer) and not self.may_rule_out:
            return alone.best(columns[0], self.log_prior, threads)
        joint = self.log_joint(columns, threads)
        if self.may_rule_out and np.isneginf(joint.max(axis=1)).any():
            joint = log_posterior(joint, self.log_prior)
        best: NDArray[np.intp] = joint.argmax(axis=1)
        return best

    def answers(self, columns: list[Any], threads: int) -> NDArray[Any]:
        """The label of the most probable class of each document."""
        if length_of(columns[0]) == 1:
            return self._alone[self._place_of_one(columns, threads)].copy()
        answers: NDArray[Any] = self.labels[self.best(columns, threads)]
        return answers

    def _place_of_one(self, columns: list[Any], threads: int) -> int:
        """The most probable class of the only document, by its place."""
        if self._together is None:
            return int(self.best(columns, threads).item())
        return self._together.best(columns)

    def label_of_text(self, text: str) -> NDArray[Any]:
        """The label of the most probable class of a text, if it `takes_text`."""
        assert self._together is not None
        return self._alone[self._together.best_of_text(text)].copy()

    def posterior_of_text(self, text: str) -> Floats:
        """The posterior of each class for a text, in one row, if it `takes_text`."""
        assert self._together is not None
        return np.array([self._together.posterior_of_text(text)])

    def posterior_of_one(self, columns: list[Any], threads: int) -> dict[Label, float]:
        """The posterior of each class for the only document."""
        if self._together is None:
            return dict(zip(self.classes, self._posterior_row(columns, threads), strict=True))
        return dict(zip(self.classes, posterior_of_one(self._together, columns), strict=True))

    def in_core(self, columns: list[Any], threads: int) -> tuple[Together, list[str]] | None:
        """What answers one document without Python between two changes; the column of each view."""
        del columns, threads
        return None if self._together is None else (self._together, self.names)

    def _posterior_row(self, columns: list[Any], threads: int) -> list[float]:
        row: list[float] = probabilities(self.log_posterior(columns, threads))[0].tolist()
        return row

    def best_of_one(self, columns: list[Any], threads: int) -> Label:
        """The most probable class of the only document."""
        return self.classes[self._place_of_one(columns, threads)]

    def explain(self, columns: list[Any], label: Label | None, threads: int) -> Explanation:
        """Take the score of the only document apart."""
        from bayleaf.explanation import Explanation  # not needed to answer

        classes = self.classes
        if label is not None and label not in classes:
            raise ValueError(f"There is no class {label!r}. The classes are {classes!r}.")
        joint = self.log_joint(columns, threads)
        posterior = probabilities(log_posterior(joint, self.log_prior))[0]
        chosen = int(posterior.argmax()) if label is None else classes.index(label)
        others = [i for i in np.argsort(-joint[0], kind="stable").tolist() if i != chosen]
        text, parts = self.parts(columns)
        return Explanation(
            text=text,
            classes=classes,
            log_prior=self.log_prior,
            bias=self.bias,
            parts=parts,
            log_joint=joint[0],
            posterior=posterior,
            label=classes[chosen],
            against=classes[others[0]] if others else None,
            intercept=self.intercept,
        )

    def top_terms(self, label: Label, n: int, view: int) -> list[tuple[str, float]]:
        """The terms of a view that speak most for a class."""
        if label not in self.classes:
            raise ValueError(f"There is no class {label!r}. The classes are {self.classes!r}.")
        if view not in range(len(self.scorers)):
            raise ValueError(f"There is no view {view!r}. The views are {dict(enumerate(self.kinds))}.")
        return self.scorers[view].top(self.classes.index(label), n)

    def parts(self, columns: list[Any]) -> tuple[str, list[Part]]:
        """The only document as text, and the parts of its score with their places in it."""
        from bayleaf.explanation import Part  # not needed to answer

        texts: dict[str, str] = {}
        for name, scorer, column in zip(self.names, self.scorers, columns, strict=True):
            texts.setdefault(name, scorer.shown(column, name))
        starts = dict(
            zip(texts, np.cumsum([0, *(len(text) + 1 for text in texts.values())]).tolist(), strict=False)
        )
        pieces = [
            (name, kind, piece)
            for name, kind, scorer, column in zip(self.names, self.kinds, self.scorers, columns, strict=True)
            for piece in scorer.parts(column, name)
        ]
        if self.beside is not None:
            view, beside = self.beside
            name, kind = self.names[view], f"{self.kinds[view]} of texts without a label"
            pieces += [(name, kind, piece) for piece in beside.parts(columns[view], name)]
        parts = [
            Part(
                piece.term,
                starts[name] + piece.start,
                starts[name] + piece.end,
                kind,
                self.temperature * piece.scores,
            )
            for name, kind, piece in pieces
        ]
        return "\n".join(texts.values()), parts


def _scorer(
    view: View, tally: Tally, order: Classes, settings: Settings, old: Scorer | None, i: int
) -> Scorer:
    """The textbook's weights, or those that were earned; of text, the old ones if they have followed."""
    judged = settings.judgment
    own = None if judged is None or not judged.views else judged.views[i]
    numbers = list[int]()
    if judged is not None and own is not None and own.by_class is not None:
        number = dict(zip(settings.classes, order.tolist(), strict=True))
        numbers = [number.get(label, -1) for label in judged.documents]
    if isinstance(old, LivingScorer) and old.follows and getattr(old, "numbers", numbers) == numbers:
        return old.ordered(order)
    if own is None:
        return view.compile(tally, order, settings.alpha, settings.unseen)
    from bayleaf.tuning.scorer import TunedScorer  # not needed by the textbook
    from bayleaf.tuning.weighed import WeighedScorer

    if isinstance(view, TextView) and isinstance(tally, TextTally) and is_plain(view):
        return TunedScorer(tally, order, view, own, numbers)
    inner = old.scorer if isinstance(old, WeighedScorer) else None
    if isinstance(inner, LivingScorer) and inner.follows:
        return WeighedScorer(inner.ordered(order), own.groups[0])
    return WeighedScorer(view.compile(tally, order, settings.alpha, settings.unseen), own.groups[0])


def _prior_moves(views: NamedViews, settings: Settings) -> bool:
    """Whether the prior changes with the documents of classes that stay the same."""
    judged = settings.judgment
    if has_no_prior(views, settings.priors):
        return False
    if judged is None or not judged.views:
        return settings.priors == "empirical"
    return settings.priors != "empirical" or any(label not in judged.bias for label in settings.classes)


def _padded(documents: NDArray[np.int64], order: Classes) -> NDArray[np.int64]:
    """The documents of the classes with these numbers, of which the last may have none yet."""
    sizes = np.zeros(max(len(documents), int(order.max(initial=0)) + 1), np.int64)
    sizes[: len(documents)] = documents
    return sizes[order]


def log_prior_of(views: NamedViews, settings: Settings, order: Classes) -> Floats:
    """The prior, or the bias of each class that was earned."""
    judged = settings.judgment
    if has_no_prior(views, settings.priors):
        return np.zeros(len(order))
    if judged is not None and judged.views and settings.priors == "empirical":
        return judged.biases(settings.class_documents)
    documents = _padded(settings.labeled.documents, order).astype(float)
    prior = log_prior(settings.priors, settings.classes, documents)
    if judged is None or not judged.views:
        return prior
    with np.errstate(divide="ignore"):
        sizes = judged.sizes
        shares = documents if sizes is None else np.array([sizes.get(k, 0.0) for k in settings.classes])
        prior -= np.log(np.maximum(shares, 0.5) / max(shares.sum(), 1))
    return prior + judged.biases(settings.class_documents)
