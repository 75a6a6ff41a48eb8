"""What a model judges on top of its counts: tuning, and what its documents say of each other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np

from bayleaf import calibrate, inputs, leave_out
from bayleaf.calibrate import Earned, Looked, Plan, Progress
from bayleaf.compiled import Compiled
from bayleaf.events import Priors, Unseen
from bayleaf.inputs import NamedViews
from bayleaf.judgement import Judgement, Level, ViewJudgement
from bayleaf.labels import Label, Labels, as_list
from bayleaf.leave_out import Suspect
from bayleaf.tables import Tally
from bayleaf.tally import ClassCounts, Classes, Floats, TextTally
from bayleaf.tuned import kept_terms, look
from bayleaf.views import TextView

Tuning = Literal["temperature", "views", "terms", "auto"]
TUNINGS = ["temperature", "views", "terms", "auto"]

ALPHAS = (2.0, 1.0, 0.5, 0.25, 0.1, 0.01)

FEW = 30
"""Of fewer texts, weights are not fitted by themselves: most terms are in one of them only."""
FEW_OF_A_CLASS = 4
"""Nor with fewer of each class, on average: a class of one document is empty when that is left out."""

MOST_CELLS = 10_000_000
"""A temperature is found by so many scores, documents times classes."""

EARNED_ALPHA = 0.5
"""The smoothing below earned weights, where the model's is the textbook's 1 (measured in docs/tuning.md)."""


def check_tuning(name: str, level: Any) -> None:
    """Raise unless `level` is a level of tuning, or None."""
    if level is None or (isinstance(level, str) and level in TUNINGS):
        return
    raise ValueError(f"`{name}` must be {', '.join(map(repr, TUNINGS))} or None, got {level!r}.")


class Tunable:
    """A model that can weigh its evidence, by leaving each document out of the counts in turn."""

    views: NamedViews
    alpha: float
    priors: Priors
    unseen: Unseen
    threads: int
    judgement: Judgement | None
    _tallies: list[Tally]
    _labels: Labels
    _compiled: Compiled | None

    @property
    def _order(self) -> Classes:
        raise NotImplementedError

    @property
    def class_documents(self) -> dict[Label, int]:
        """How many documents each class has."""
        raise NotImplementedError

    @property
    def classes(self) -> list[Label]:
        """The labels in order."""
        raise NotImplementedError

    def configure(self, *, view: int | str | None = None, **settings: Any) -> Self:
        """Change settings that are no facts."""
        raise NotImplementedError

    def copy(self) -> Any:
        """The same model, to be changed on its own."""
        raise NotImplementedError

    def _input(self, X: Any, y: Any, labels: Labels, grow: bool = True) -> tuple[list[Any], Classes]:
        raise NotImplementedError

    @property
    def stale(self) -> bool:
        """Whether documents were learned or forgotten since the model was tuned; `retune` mends it."""
        return self.judgement is not None and dict(self.judgement.documents) != self.class_documents

    def tune(self, X: Any, y: Any, level: Tuning | None = "auto", progress: Progress | None = None) -> Self:
        """Weigh the evidence by what documents say that were learned, each left out of the counts in turn.

        | level | what is fitted |
        |---|---|
        | "temperature" | one factor for all scores: trustworthy probabilities, the same decisions |
        | "views" | a weight for each view and length of n-grams, a bias for each class |
        | "terms" | a weight for each term as well |
        | "auto" | "terms", if that predicts held-out documents better than "views" (see below) |
        | None | nothing: the textbook |

        "auto" tempers models other than the plain multinomial, and leaves tables as they are. The counts do
        not change. X and y are documents that were learned, all of them at best. `progress`
        is called with a few words before each step.
        """
        check_tuning("level", level)
        tell = progress or (lambda _: None)
        columns, labels = self._learned(X, y)
        chosen = self._chosen_level(level)
        if chosen is None:
            judgement = None
        elif chosen == "temperature":
            judgement = self._tempered(*self._learned(*self._sampled(X, y)))
        else:
            judgement = self._weighed(columns, labels, chosen, tell)
        self.judgement, self._compiled = judgement, None
        return self

    def drop_judgement(self) -> Self:
        """Be the textbook again."""
        self.judgement, self._compiled = None, None
        return self

    def retune(self, X: Any, y: Any, progress: Progress | None = None) -> Self:
        """Renew the judgement on these documents, on its level; of an untuned model, on "auto"."""
        return self.tune(X, y, "auto" if self.judgement is None else self.judgement.level, progress)

    def _learned(self, X: Any, y: Any) -> tuple[list[Any], Classes]:
        """The columns, and the place of each label in `classes`."""
        columns, numbers = self._input(X, y, self._labels.copy(), grow=False)
        place = np.zeros(len(self._labels.names), np.uint32)
        place[self._order] = np.arange(len(self._order))
        return columns, place[numbers]

    @property
    def worth_tuning(self) -> bool:
        """Whether there are documents enough to tune unasked: 30, and four of each class on average."""
        return sum(self.class_documents.values()) >= max(FEW, FEW_OF_A_CLASS * len(self.class_documents))

    def check_level(self, level: Tuning | None) -> None:
        """Raise unless views like these can be tuned on this level."""
        texts, plain = self._kinds()
        if level in {None, "auto"} or (plain if level != "temperature" else texts):
            return
        needed = "views of text"
        if level != "temperature":
            needed += ' with the plain event "multinomial" and tf "count"'
        raise ValueError(
            f"Tuning on the level {level!r} needs {needed}, got {[view for _, view in self.views]}."
        )

    def _kinds(self) -> tuple[bool, bool]:
        """Whether all views are of text, and of the plain event model."""
        texts = all(isinstance(view, TextView) for _, view in self.views)
        return texts, texts and all(_is_plain(view) for _, view in self.views)

    def _chosen_level(self, level: Tuning | None) -> Tuning | None:
        self.check_level(level)
        texts, plain = self._kinds()
        if level in {None, "auto"}:
            if level is None or not texts or len(self._order) < 2:
                return None
            return "auto" if plain else "temperature"
        if len(self._order) < 2:
            raise ValueError("Tuning needs documents of at least two classes.")
        return level

    def _weighed(self, columns: list[Any], labels: Classes, level: Tuning, tell: Progress) -> Judgement:
        tell("documents read")
        looked, counts, alphas = self._look(columns)
        terms = {"views": False, "terms": True}.get(level)
        earned = calibrate.earn(looked, labels, terms, Plan(), self.threads, tell)
        starts = np.cumsum([0, *(view.groups for view in looked)])
        groups = [earned.groups[a:b] for a, b in pairwise(starts)]
        return self._judgement(counts, alphas, groups, earned)

    def _look(self, columns: list[Any]) -> tuple[list[Looked], list[ClassCounts], list[float]]:
        tallies = [tally for tally in self._tallies if isinstance(tally, TextTally)]
        texts = [view for _, view in self.views if isinstance(view, TextView)]
        both = zip(texts, tallies, strict=True)
        counts = [view.selection.of(tally.counts(self._order)) for view, tally in both]
        alphas = [self._earned_alpha(view) for _, view in self.views]
        each = zip(tallies, counts, columns, alphas, strict=True)
        looked = [look(tally, own, column, alpha, self.threads) for tally, own, column, alpha in each]
        return looked, counts, alphas

    def _earned_alpha(self, view: Any) -> float:
        alpha = self.alpha if view.alpha is None else view.alpha
        return EARNED_ALPHA if alpha == 1 else max(float(alpha), 1e-10)

    def _judgement(
        self, counts: list[ClassCounts], alphas: list[float], groups: list[Floats], earned: Earned
    ) -> Judgement:
        level: Level = "views" if np.isinf(earned.penalty) else "terms"
        views, start = [], 0
        for own, alpha, weights in zip(counts, alphas, groups, strict=True):
            kept = own.nodes[kept_terms(own)]
            by_node = None
            if level == "terms":
                by_node = np.full(int(own.nodes.max(initial=0)) + 1, np.nan, np.float32)
                by_node[kept] = earned.weights[start : start + len(kept)]
            start += len(kept)
            views.append(ViewJudgement(alpha, tuple(weights.tolist()), by_node))
        documents = self.class_documents
        bias = dict(zip(documents, earned.bias.tolist(), strict=True))
        return Judgement(level, documents, bias, views, penalty=earned.penalty, loss=earned.loss)

    def _sampled(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Documents enough to find one number by: with thousands of classes, every so many-th."""
        names = as_list(y)
        step = -(-len(names) * len(self._order) // MOST_CELLS)
        if step <= 1:
            return X, y
        rows = list(range(0, len(names), step))
        return inputs.rows_of(self.views, X, rows), [names[row] for row in rows]

    def _tempered(self, columns: list[Any], labels: Classes) -> Judgement:
        factor, loss = leave_out.temperature(self._left_out(columns, labels), labels)
        documents = self.class_documents
        return Judgement(
            "temperature", documents, dict.fromkeys(documents, 0.0), temperature=factor, loss=loss
        )

    # Leaving out

    def loo_log_joint(self, X: Any, y: Any, groups: Any = None) -> Floats:
        """log P(document, class) of documents that were learned, each under the counts without itself.

        Equal to the textbook's `log_joint` of a model that learned all documents but that one: exact, for
        the cost of one scoring pass (of views of text; tables are forgotten and learned again row by row).
        `min_df` and the like choose terms by all documents.
        With `groups`, one name for each document, all documents of its group are left out with it.
        """
        columns, labels = self._learned(X, y)
        if groups is not None or not leave_out.texts_only(self._tallies):
            return self._left_out_in_turn(X, y, groups)
        return self._left_out(columns, labels)

    def _left_out(self, columns: list[Any], labels: Classes) -> Floats:
        if sum(self.class_documents.values()) < 2:
            raise ValueError("Leaving one document out needs at least two that were learned.")
        closed = self._labels.closed
        scores = leave_out.log_priors(self.views, self.priors, self.class_documents, labels, closed)
        for (_, view), tally, column in zip(self.views, self._tallies, columns, strict=True):
            if isinstance(view, TextView) and isinstance(tally, TextTally):
                scores += leave_out.log_likelihood(
                    view, tally, self._order, column, labels, self.alpha, self.unseen, self.threads
                )
        unknown = np.isnan(scores).any(axis=1)
        if unknown.any():
            raise ValueError(
                f"Document {int(unknown.argmax())} was not learned with its label, so it cannot be left out. "
                "Give documents that the model has learned, and their labels."
            )
        return scores

    def _left_out_in_turn(self, X: Any, y: Any, groups: Any) -> Floats:
        """Forget, score and learn again: exact for every view, at the price of a model for each group."""
        names = as_list(y)
        model = self.copy()
        model.judgement = None
        keys = list(range(len(names))) if groups is None else as_list(groups)
        if len(keys) != len(names):
            raise ValueError(f"There are {len(names)} documents and {len(keys)} groups; each needs one.")
        rows_of: dict[Any, list[int]] = {}
        for row, key in enumerate(keys):
            rows_of.setdefault(key, []).append(row)
        classes = model.classes
        scores = np.full((len(names), len(classes)), -np.inf)
        for rows in rows_of.values():
            some, labels = inputs.rows_of(self.views, X, rows), [names[row] for row in rows]
            model.forget(some, labels)
            there = [classes.index(label) for label in model.classes]
            if model.n_documents:
                scores[np.ix_(rows, there)] = model.log_joint(some)
            model.learn(some, labels)
        return scores

    def suspects(self, X: Any, y: Any, least: float = 0.0) -> list[Suspect]:
        """The documents whose label the others contradict, most first: perhaps they are mislabeled.

        Each is judged by the counts without itself, with a weight for each kind of term. `least` is the log
        odds from which on a document is suspect: 0 names those that another class is more probable for.
        """
        columns, labels = self._learned(X, y)
        names = self.classes
        if len(names) < 2:
            return []
        if self._chosen_level("auto") == "auto":
            looked, _, _ = self._look(columns)
            documents = np.arange(len(labels), dtype=np.uint32)
            scores = calibrate.left_out_scores(looked, documents, labels, self.threads)
        else:
            scores = self.loo_log_joint(X, y)
            scores = leave_out.temperature(scores, labels)[0] * scores
        return leave_out.suspects(scores, labels, names, least)

    def choose_alpha(self, X: Any, y: Any) -> Self:
        """Set `alpha` to that of `ALPHAS` which predicts documents best that are left out of the counts.

        Each is judged by the log loss after the scores are brought to the best temperature, because naive
        Bayes is too sure of itself with any. Of several views, each then gets the `alpha` that is best for
        it, one view after the other; a view that was given its own keeps it.
        """
        columns, labels = self._learned(X, y)
        self._try_alphas(columns, labels, None)
        free = [i for i, (_, view) in enumerate(self.views) if getattr(view, "alpha", 0) is None]
        for i in free if len(free) > 1 else []:
            self._try_alphas(columns, labels, i)
        return self

    def _try_alphas(self, columns: list[Any], labels: Classes, view: int | None) -> None:
        losses = []
        for alpha in ALPHAS:
            self.configure(view=view, alpha=alpha)
            losses.append(leave_out.temperature(self._left_out(columns, labels), labels)[1])
        self.configure(view=view, alpha=ALPHAS[int(np.argmin(losses))])


def _is_plain(view: Any) -> bool:
    return bool(view.event == "multinomial" and view.tf == "count")
