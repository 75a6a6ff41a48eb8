"""Tuning, leave-one-out scores, suspects and smoothing, each by documents left out of the counts.

Each function takes a model and documents that it has learned; `Model` has a method of the same name for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayleaf import model_views
from bayleaf.labels import as_list
from bayleaf.model_views import is_plain
from bayleaf.text.views import TextView, View
from bayleaf.tuning import leave_one_out
from bayleaf.tuning.examples import Examples, Whole, check_learned, normalized
from bayleaf.tuning.held_out import Progress
from bayleaf.tuning.judgment import Judgment
from bayleaf.tuning.leave_one_out import Suspect
from bayleaf.tuning.temperature import temperature
from bayleaf.tuning.weighing import Weighing
from bayleaf.types import Classes, Floats

if TYPE_CHECKING:
    from bayleaf.model import Model

Tuning = Literal["temperature", "views", "terms", "auto"]
TUNINGS = ["temperature", "views", "terms", "auto"]

ALPHAS = (2.0, 1.0, 0.5, 0.25, 0.1, 0.01)

FEW = 30
"""Of fewer rows, tables stay as they are counted."""
FEW_OF_A_CLASS = 4
"""Nor with fewer of each class, on average: a class of one row is empty when that is left out."""

MOST_CELLS = 10_000_000
"""A temperature is found by so many scores, documents times classes."""


def default_views(texts: Any, level: Tuning | None) -> list[View]:
    """The views of texts if none are given; with weights, which set right what they repeat, letters too."""
    return model_views.text_views(texts, letters=level in ("auto", "views", "terms"))


def check_tuning(name: str, level: Any) -> None:
    """Raise unless `level` is a level of tuning, or None."""
    if level is None or (isinstance(level, str) and level in TUNINGS):
        return
    raise ValueError(f"`{name}` must be {', '.join(map(repr, TUNINGS))} or None, got {level!r}.")


def judged(
    model: Model,
    X: Any,
    y: Any,
    level: Tuning | None,
    progress: Progress | None,
    weights: Any,
    groups: Any,
    unlabeled: Any = None,
) -> Judgment | None:
    """The judgment of the evidence by documents that the model has learned; None is the textbook."""
    check_tuning("level", level)
    tell = progress or (lambda _: None)
    columns, labels = model.examples(X, y)
    chosen = _chosen_level(model, level)
    if chosen is None:
        return None
    _check_documents(model, labels, weights, groups)
    if chosen == "temperature":
        return _tempered(model, X, y, weights, groups)
    tell("documents read")
    weighing = Weighing(model, columns, labels, weights, groups)
    others = None if unlabeled is None else model_views.read(model.views, unlabeled)
    return weighing.judgment({"views": False, "terms": True}.get(chosen), tell, others)


def _check_documents(model: Model, labels: Classes, weights: Any, groups: Any) -> None:
    """Raise unless these can be the documents that the model has learned, or some of each class."""
    for name, given in (("weights", weights), ("groups", groups)):
        if given is not None and len(given) != len(labels):
            raise ValueError(f"There are {len(labels)} documents and {len(given)} {name}; each needs one.")
    found = np.bincount(labels, minlength=len(model.order))
    for (label, learned), given in zip(model.class_documents.items(), found.tolist(), strict=True):
        if given > learned:
            raise ValueError(
                f"There are {given} documents of the class {label!r}, and {learned} were learned. Tune with "
                "documents that the model has learned."
            )
        if learned and not given:
            raise ValueError(
                f"There is no document of the class {label!r}, of which {learned} were learned. Tune with "
                "documents of every class: all that were learned, at best."
            )


def worth_tuning(model: Model) -> bool:
    """Whether to tune unasked: texts always, tables of 30 rows, and four of each class on average."""
    texts = all(is_plain(view) for _, view in model.views)
    return texts or model.n_documents >= max(FEW, FEW_OF_A_CLASS * len(model.classes))


def check_level(model: Model, level: Tuning | None) -> None:
    """Raise unless views like these can be tuned on this level."""
    if level != "terms" or any(is_plain(view) for _, view in model.views):
        return
    raise ValueError(
        'Tuning on the level "terms" needs a view of text with the plain event "multinomial" and tf "count", '
        f"got {[view for _, view in model.views]}."
    )


def _chosen_level(model: Model, level: Tuning | None) -> Tuning | None:
    check_level(model, level)
    if level is None:
        return None
    if len(model.order) < 2:
        if level == "auto":
            return None
        raise ValueError("Tuning needs documents of at least two classes.")
    if level == "auto" and all(isinstance(view, TextView) and not is_plain(view) for _, view in model.views):
        return "temperature"
    return level


def _tempered(model: Model, X: Any, y: Any, weights: Any, groups: Any) -> Judgment:
    rows = _sampled_rows(model, len(as_list(y)))
    if rows is not None:
        X, y = model_views.rows_of(model.views, X, rows), [as_list(y)[row] for row in rows]
        weights, groups = (
            None if each is None else [each[row] for row in rows] for each in (weights, groups)
        )
    _, labels = model.examples(X, y)
    known = normalized(()) if weights is None else normalized(weights)
    factor, loss = temperature(loo_log_joint(model, X, y, groups), labels, known)
    documents = model.class_documents
    return Judgment("temperature", documents, dict.fromkeys(documents, 0.0), temperature=factor, loss=loss)


def _sampled_rows(model: Model, n: int) -> list[int] | None:
    """Documents enough to find one number by: with thousands of classes, every so many-th."""
    step = -(-n * len(model.order) // MOST_CELLS)
    return None if step <= 1 else list(range(0, n, step))


# Leaving out


def loo_log_joint(model: Model, X: Any, y: Any, groups: Any = None) -> Floats:
    """log P(document, class) of learned documents, each under the counts without itself or its group."""
    if groups is not None:
        return _left_out_in_turn(model, X, y, groups)
    return _left_out(model, *model.examples(X, y))


def _left_out(model: Model, columns: list[Any], labels: Classes) -> Floats:
    if model.n_documents < 2:
        raise ValueError("Leaving one document out needs at least two that were learned.")
    scores = leave_one_out.log_priors(model.views, model.priors, model.class_documents, labels, model.closed)
    documents = np.arange(len(labels), dtype=np.uint32)
    examples = Examples(documents, labels, len(model.order))
    for (_, view), tally, column in zip(model.views, model.tallies, columns, strict=True):
        whole = Whole(view, tally, column, model.order, model.alpha, model.unseen, model.threads)
        scores += whole.left_out(examples)
    check_learned(scores, documents)
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
        scores = Weighing(model, columns, labels, None, None).left_out_scores()
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
