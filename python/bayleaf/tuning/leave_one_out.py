"""Exact leave-one-out scores: each document under the counts without itself, in one pass over the texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bayleaf.model_views import NamedViews, has_no_prior
from bayleaf.posterior import log_prior
from bayleaf.text import event_models
from bayleaf.text.counts import ClassCounts, TextTally
from bayleaf.text.views import TextView
from bayleaf.tuning.temperature import LIMIT
from bayleaf.types import Classes, Floats, Label, Priors, Unseen


class Suspect(NamedTuple):
    """A document whose label the others contradict: its row, its label, theirs, and their log odds."""

    row: int
    label: Label
    suggested: Label
    log_odds: float


def log_likelihood(
    view: TextView, tally: TextTally, order: Classes, column: Any, labels: Classes,
    alpha: float, unseen: Unseen, threads: int,
) -> Floats:  # fmt: skip
    """Of each document under the counts of one view without it."""
    wanted = event_models.quantities("multinomial", view.tf) | {"documents"} | view.selection.quantities
    counts = view.selection.of(tally.counts(order, wanted))
    alpha = alpha if view.alpha is None else view.alpha
    if view.event == "complement":
        event_models.check_complement_alpha(alpha)
    facts = {
        "event": view.event,
        "tf": view.tf,
        "alpha": alpha,
        "smooth": unseen == "smooth",
        "all_terms": not len(counts.dropped),
        "class_documents": counts.class_documents,
        "class_ends": counts.arrays["class_ends"].astype(np.uint32),
        "term": counts.term,
        "documents": counts.arrays["documents"],
        "mass": _mass(counts, view.tf),
    }
    return tally.leave_one_out(column, counts, labels, facts, threads)


def _mass(counts: ClassCounts, tf: str) -> Floats:
    if tf == "count":
        return counts.occurrences
    return counts.documents if tf == "binary" else counts.shares


def log_priors(
    views: NamedViews, priors: Priors, documents: Mapping[Label, int], labels: Classes, closed: bool
) -> Floats:
    """The prior of the classes without each document; a class that was only it is gone."""
    names = list(documents)
    counts = np.array(list(documents.values()), np.float64)
    rows = np.empty((len(labels), len(names)))
    for label in np.unique(labels).tolist():
        left = counts.copy()
        left[label] -= 1
        row = np.full(len(names), -np.inf)
        there = np.ones(len(names), bool) if closed else left > 0
        if left.sum() > 0:
            row[there] = _log_prior(views, priors, [names[i] for i in np.flatnonzero(there)], left[there])
        rows[labels == label] = row
    return rows


def _log_prior(views: NamedViews, priors: Priors, names: list[Label], documents: Floats) -> Floats:
    if has_no_prior(views, priors):
        return np.zeros(len(names))
    return log_prior(priors, names, documents)


def suspects(posterior: Floats, labels: Classes, names: list[Label], least: float) -> list[Suspect]:
    """The documents whose own label is contradicted, the most contradicted first."""
    rows = np.arange(len(labels))
    own = posterior[rows, labels].copy()
    others = posterior.copy()
    others[rows, labels] = -np.inf
    best = others.argmax(axis=1)
    with np.errstate(invalid="ignore"):
        odds = np.clip(np.nan_to_num(others[rows, best] - own, nan=0.0, posinf=LIMIT), -LIMIT, LIMIT)
    found = [i for i in np.argsort(-odds, kind="stable").tolist() if odds[i] > least]
    return [Suspect(i, names[labels[i]], names[best[i]], float(odds[i])) for i in found]
