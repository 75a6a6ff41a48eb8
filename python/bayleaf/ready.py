"""What a file says besides its counts, so that it can be asked without being loaded (see `quick.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayleaf.answering import Settings, log_prior_of
from bayleaf.model_views import NamedViews, is_plain, needs_normalizer
from bayleaf.text.counts import ClassCounts
from bayleaf.text.scorers import Asked
from bayleaf.text.views import TextView
from bayleaf.tuning.judgment import Judgment, ViewJudgment
from bayleaf.tuning.scorer import asked_of
from bayleaf.types import Classes

MOST_CELLS = 2**53
"""Sums of integers are exact below this."""


def answers_of(
    views: NamedViews, settings: Settings, order: Classes, counts: Sequence[Any]
) -> dict[str, Any] | None:
    """What answers need of all terms at once; None if the model must be loaded to answer."""
    documents = settings.class_documents
    if not documents or min(documents.values()) < 1:
        return None
    judged = settings.judgment
    if judged is not None and (judged.unlabeled or not _in_order(settings, judged)):
        return None
    own = judged.views if judged is not None and judged.views else [None] * len(views)
    found = [
        _view(view, each, earned, settings)
        for (_, view), each, earned in zip(views, counts, own, strict=True)
    ]
    if not all(found):
        return None
    by_documents = settings.priors == "empirical" and (judged is None or not judged.views)
    return {
        "temperature": 1.0 if judged is None else judged.temperature,
        "prior": None if by_documents else log_prior_of(views, settings, order).tolist(),
        "steady": by_documents or _is_steady(settings, judged),
        "views": found,
    }


def _in_order(settings: Settings, judged: Judgment) -> bool:
    """Whether weights of classes, if there are any, have a column for each class, in the order of these."""
    by_class = any(view.by_class is not None for view in judged.views)
    return not by_class or list(judged.documents) == list(settings.classes)


def _is_steady(settings: Settings, judged: Judgment | None) -> bool:
    """Whether the prior stays as it is when more documents of the same classes are learned."""
    if judged is None or not judged.views:
        return True
    return settings.priors == "empirical" and all(label in judged.bias for label in settings.classes)


def _view(view: Any, counts: Any, earned: ViewJudgment | None, settings: Settings) -> dict[str, Any] | None:
    """The settings and the totals of one view, if its weights follow from the counts of each term."""
    if not isinstance(view, TextView) or not view.selection.follows or needs_normalizer(view.to_dict()):
        return None
    if view.event != "multinomial" or view.tf not in ("count", "binary"):
        return None
    if earned is None:
        alpha = settings.alpha if view.alpha is None else view.alpha
        asked = Asked(view.event, view.tf, alpha, settings.unseen, view.selection)
        others: dict[str, Any] = {"least": view.selection.bounds[0], "groups": [], "shortest": 1}
    elif is_plain(view):
        asked, others = asked_of(view, earned)
    else:
        return None
    if asked.alpha <= 0:
        return None
    most = view.selection.bounds[1]
    smooth = asked.unseen == "smooth"
    said = {"event": asked.event, "tf": asked.tf, "alpha": float(asked.alpha), "smooth": smooth, "most": most}
    return said | others | _totals(counts, said | others, earned)


def _totals(counts: ClassCounts, said: dict[str, Any], earned: ViewJudgment | None) -> dict[str, Any]:
    """What the terms that are used add up to in each class, and how many terms there are."""
    by_documents = said["event"] == "earned" or said["tf"] == "binary"
    # Not as floating point numbers, which the counts would keep: a third of a model that is only saved.
    masses = counts.arrays["documents" if by_documents else "occurrences"]
    used = np.ones(counts.n_terms, bool)
    if said["least"] > 1 or said["most"] is not None:
        holders = counts.by_term(counts.documents)
        used &= (holders >= said["least"]) & (holders <= (said["most"] or np.inf))
    if earned is not None and earned.weights is not None:
        used &= earned.used(counts.nodes)
    if not used.all():
        masses = np.where(used[counts.term], masses, 0)
    return {
        "masses": [int(total) for total in counts.by_class(masses)],
        "used": int(used.sum()),
        "terms": counts.n_terms,
        "occurrences": int(counts.arrays["occurrences"].sum()),
    }
