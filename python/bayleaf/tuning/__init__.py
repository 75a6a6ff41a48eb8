"""What is judged on documents left out of the counts: tuning, leave-one-out scores, suspects, smoothing.

Each function takes a model and documents that it has learned; `Model` has a method of the same name for each.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayleaf import model_views
from bayleaf.labels import as_list
from bayleaf.text.counts import ClassCounts, TextTally
from bayleaf.text.views import TextView, View
from bayleaf.tuning import leave_one_out, term_weights
from bayleaf.tuning.judgment import Judgment, Level, ViewJudgment
from bayleaf.tuning.leave_one_out import Suspect
from bayleaf.tuning.scorer import kept_terms, look
from bayleaf.tuning.temperature import temperature
from bayleaf.tuning.term_weights import Earned, Looked, Plan, Progress
from bayleaf.types import Classes, Floats

if TYPE_CHECKING:
    from bayleaf.model import Model

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


def default_views(texts: Any, level: Tuning | None) -> list[View]:
    """The views of texts if none are given; with weights, which set right what they repeat, letters too."""
    return model_views.text_views(texts, FEW if level in ("auto", "views", "terms") else None)


def check_tuning(name: str, level: Any) -> None:
    """Raise unless `level` is a level of tuning, or None."""
    if level is None or (isinstance(level, str) and level in TUNINGS):
        return
    raise ValueError(f"`{name}` must be {', '.join(map(repr, TUNINGS))} or None, got {level!r}.")


def judged(model: Model, X: Any, y: Any, level: Tuning | None, progress: Progress | None) -> Judgment | None:
    """The judgment of the evidence by documents that the model has learned; None is the textbook."""
    check_tuning("level", level)
    tell = progress or (lambda _: None)
    columns, labels = model.examples(X, y)
    chosen = _chosen_level(model, level)
    if chosen is None:
        return None
    if chosen == "temperature":
        return _tempered(model, *model.examples(*_sampled(model, X, y)))
    return _weighed(model, columns, labels, chosen, tell)


def worth_tuning(model: Model) -> bool:
    """Whether there are documents enough to tune unasked: 30, and four of each class on average."""
    return model.n_documents >= max(FEW, FEW_OF_A_CLASS * len(model.classes))


def check_level(model: Model, level: Tuning | None) -> None:
    """Raise unless views like these can be tuned on this level."""
    texts, plain = _kinds(model)
    if level in {None, "auto"} or (plain if level != "temperature" else texts):
        return
    needed = "views of text"
    if level != "temperature":
        needed += ' with the plain event "multinomial" and tf "count"'
    raise ValueError(
        f"Tuning on the level {level!r} needs {needed}, got {[view for _, view in model.views]}."
    )


def _kinds(model: Model) -> tuple[bool, bool]:
    """Whether all views are of text, and of the plain event model."""
    texts = all(isinstance(view, TextView) for _, view in model.views)
    return texts, texts and all(_is_plain(view) for _, view in model.views)


def _is_plain(view: Any) -> bool:
    return bool(view.event == "multinomial" and view.tf == "count")


def _chosen_level(model: Model, level: Tuning | None) -> Tuning | None:
    check_level(model, level)
    texts, plain = _kinds(model)
    if level in {None, "auto"}:
        if level is None or not texts or len(model.order) < 2:
            return None
        return "auto" if plain else "temperature"
    if len(model.order) < 2:
        raise ValueError("Tuning needs documents of at least two classes.")
    return level


def _weighed(model: Model, columns: list[Any], labels: Classes, level: Tuning, tell: Progress) -> Judgment:
    tell("documents read")
    looked, counts, alphas = _look(model, columns)
    terms = {"views": False, "terms": True}.get(level)
    earned = term_weights.earn(looked, labels, terms, Plan(), model.threads, tell)
    starts = np.cumsum([0, *(view.groups for view in looked)])
    groups = [earned.groups[a:b] for a, b in pairwise(starts)]
    return _judgment(model, counts, alphas, groups, earned)


def _look(model: Model, columns: list[Any]) -> tuple[list[Looked], list[ClassCounts], list[float]]:
    tallies = [tally for tally in model.tallies if isinstance(tally, TextTally)]
    texts = [view for _, view in model.views if isinstance(view, TextView)]
    both = zip(texts, tallies, strict=True)
    counts = [view.selection.of(tally.counts(model.order)) for view, tally in both]
    alphas = [_earned_alpha(model, view) for _, view in model.views]
    each = zip(tallies, counts, columns, alphas, strict=True)
    looked = [look(tally, own, column, alpha, model.threads) for tally, own, column, alpha in each]
    return looked, counts, alphas


def _earned_alpha(model: Model, view: Any) -> float:
    alpha = model.alpha if view.alpha is None else view.alpha
    return EARNED_ALPHA if alpha == 1 else max(float(alpha), 1e-10)


def _judgment(
    model: Model, counts: list[ClassCounts], alphas: list[float], groups: list[Floats], earned: Earned
) -> Judgment:
    level: Level = "views" if np.isinf(earned.penalty) else "terms"
    views, start = [], 0
    for own, alpha, weights in zip(counts, alphas, groups, strict=True):
        kept = own.nodes[kept_terms(own)]
        by_node = None
        if level == "terms":
            by_node = np.full(int(own.nodes.max(initial=0)) + 1, np.nan, np.float32)
            by_node[kept] = earned.weights[start : start + len(kept)]
        start += len(kept)
        views.append(ViewJudgment(alpha, tuple(weights.tolist()), by_node))
    documents = model.class_documents
    bias = dict(zip(documents, earned.bias.tolist(), strict=True))
    return Judgment(level, documents, bias, views, penalty=earned.penalty, loss=earned.loss)


def _sampled(model: Model, X: Any, y: Any) -> tuple[Any, Any]:
    """Documents enough to find one number by: with thousands of classes, every so many-th."""
    names = as_list(y)
    step = -(-len(names) * len(model.order) // MOST_CELLS)
    if step <= 1:
        return X, y
    rows = list(range(0, len(names), step))
    return model_views.rows_of(model.views, X, rows), [names[row] for row in rows]


def _tempered(model: Model, columns: list[Any], labels: Classes) -> Judgment:
    factor, loss = temperature(_left_out(model, columns, labels), labels)
    documents = model.class_documents
    return Judgment("temperature", documents, dict.fromkeys(documents, 0.0), temperature=factor, loss=loss)


# Leaving out


def loo_log_joint(model: Model, X: Any, y: Any, groups: Any = None) -> Floats:
    """log P(document, class) of learned documents, each under the counts without itself or its group."""
    columns, labels = model.examples(X, y)
    if groups is not None or not leave_one_out.texts_only(model.tallies):
        return _left_out_in_turn(model, X, y, groups)
    return _left_out(model, columns, labels)


def _left_out(model: Model, columns: list[Any], labels: Classes) -> Floats:
    if model.n_documents < 2:
        raise ValueError("Leaving one document out needs at least two that were learned.")
    scores = leave_one_out.log_priors(model.views, model.priors, model.class_documents, labels, model.closed)
    for (_, view), tally, column in zip(model.views, model.tallies, columns, strict=True):
        if isinstance(view, TextView) and isinstance(tally, TextTally):
            scores += leave_one_out.log_likelihood(
                view, tally, model.order, column, labels, model.alpha, model.unseen, model.threads
            )
    unknown = np.isnan(scores).any(axis=1)
    if unknown.any():
        raise ValueError(
            f"Document {int(unknown.argmax())} was not learned with its label, so it cannot be left out. "
            "Give documents that the model has learned, and their labels."
        )
    return scores


def _left_out_in_turn(model: Model, X: Any, y: Any, groups: Any) -> Floats:
    """Forget, score and learn again: exact for every view, at the price of a model for each group."""
    names = as_list(y)
    keys = list(range(len(names))) if groups is None else as_list(groups)
    if len(keys) != len(names):
        raise ValueError(f"There are {len(names)} documents and {len(keys)} groups; each needs one.")
    rows_of: dict[Any, list[int]] = {}
    for row, key in enumerate(keys):
        rows_of.setdefault(key, []).append(row)
    rest = model.copy().drop_judgment()
    classes = rest.classes
    scores = np.full((len(names), len(classes)), -np.inf)
    for rows in rows_of.values():
        some, labels = model_views.rows_of(model.views, X, rows), [names[row] for row in rows]
        rest.forget(some, labels)
        there = [classes.index(label) for label in rest.classes]
        if rest.n_documents:
            scores[np.ix_(rows, there)] = rest.log_joint(some)
        rest.learn(some, labels)
    return scores


def suspects(model: Model, X: Any, y: Any, least: float) -> list[Suspect]:
    """The documents whose label the others contradict, most first."""
    columns, labels = model.examples(X, y)
    names = model.classes
    if len(names) < 2:
        return []
    if _chosen_level(model, "auto") == "auto":
        looked, _, _ = _look(model, columns)
        documents = np.arange(len(labels), dtype=np.uint32)
        scores = term_weights.left_out_scores(looked, documents, labels, model.threads)
    else:
        scores = loo_log_joint(model, X, y)
        scores = temperature(scores, labels)[0] * scores
    return leave_one_out.suspects(scores, labels, names, least)


def choose_alpha(model: Model, X: Any, y: Any) -> None:
    """Set the smoothing of a model, then of each view, to that which predicts left-out documents best."""
    columns, labels = model.examples(X, y)
    _try_alphas(model, columns, labels, None)
    free = [i for i, (_, view) in enumerate(model.views) if getattr(view, "alpha", 0) is None]
    for i in free if len(free) > 1 else []:
        _try_alphas(model, columns, labels, i)


def _try_alphas(model: Model, columns: list[Any], labels: Classes, view: int | None) -> None:
    losses = []
    for alpha in ALPHAS:
        model.configure(view=view, alpha=alpha)
        losses.append(temperature(_left_out(model, columns, labels), labels)[1])
    model.configure(view=view, alpha=ALPHAS[int(np.argmin(losses))])
