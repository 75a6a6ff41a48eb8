"""What a file of NaiveBayes holds besides its model: settings of its own, and the names of columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayleaf.estimator_settings import Settled
from bayleaf.model import Model
from bayleaf.model_views import as_given, columns_of
from bayleaf.row_weights import ClassSizes

if TYPE_CHECKING:
    from bayleaf.naive_bayes import NaiveBayes

KEPT = ("costs", "thresholds", "class_weight")
"""The settings that a file holds and a model does not know."""


def save(estimator: NaiveBayes, model: Model, path: str | os.PathLike[str]) -> None:
    """Write the model of an estimator, with what the estimator knows besides as its notes."""
    model.notes = _notes(estimator)
    try:
        model.save(path)
    finally:
        model.notes = {}


def _notes(estimator: NaiveBayes) -> dict[str, Any]:
    notes: dict[str, Any] = {
        "names": getattr(estimator, "_names_", None),
        "named": hasattr(estimator, "feature_names_in_"),
    }
    if estimator._sizes_.sums is not None:
        notes["sizes"] = estimator._sizes_.to_list()
    for name in KEPT:
        if getattr(estimator, name) is not None:
            notes[name] = _plain(getattr(estimator, name))
    return notes


def restored(kind: type[NaiveBayes], model: Model, threads: int | None) -> NaiveBayes:
    """The estimator whose model was read from a file."""
    views: Any = as_given(model.views)
    kept = {name: _restored(model.notes.get(name)) for name in KEPT}
    settings: Any = {"alpha": model.alpha, "priors": model.priors, "unseen": model.unseen}
    settings["tuning"] = None if model.judgment is None else model.judgment.level
    settings["ledger"] = False if model.ledger is None else model.ledger.key or True
    found = kind(views, threads=threads, **settings, **kept)
    found.views_, found.model_, found._settled_ = views, model, Settled()
    found._sizes_ = ClassSizes.from_list(model.notes.get("sizes"))
    if found._sizes_.sums is not None or found.class_weight is not None:
        found.priors = (
            model.notes.get("priors", "empirical") if isinstance(model.priors, Mapping) else model.priors
        )
    found._weighed_with_ = found._judgeable()
    if isinstance(views, dict):
        _name_columns(found, model)
    model.notes = {}
    return found._refreshed()


def _name_columns(found: NaiveBayes, model: Model) -> None:
    found._names_ = model.notes.get("names") or columns_of(model.views)
    found.n_features_in_ = len(found._names_)
    if model.notes.get("named", True):
        found.feature_names_in_ = np.array(found._names_, object)


def _plain(value: Any) -> Any:
    """Mappings as lists of pairs, because JSON would make strings of their keys."""
    if isinstance(value, Mapping):
        return {"pairs": [[key, _plain(each)] for key, each in value.items()]}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _restored(each) for key, each in value["pairs"]}
    return value
