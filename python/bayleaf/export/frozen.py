"""A model as plain numbers: for each view a table of weights, with all that was earned multiplied in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayleaf.model import Model
from bayleaf.table import densities
from bayleaf.table.dates import CircleScorer, DatePart
from bayleaf.table.scorers import BinScorer, BlockScorer, CategoryScorer
from bayleaf.table.views import Kernel, Normal
from bayleaf.text.scorers import TextScorer
from bayleaf.text.views import TextView
from bayleaf.tuning.scorer import TunedScorer
from bayleaf.tuning.weighed import WeighedScorer
from bayleaf.types import Floats, Label
from bayleaf.view import Scorer, View

MISSING = "<NA>"
"""How a missing category is written where there are only strings."""


@dataclass(frozen=True, eq=False)
class Frozen:
    """The classes, what each gets whatever is asked, and a table for each view."""

    classes: list[Label]
    intercept: Floats
    views: list[dict[str, Any]]


def frozen(model: Any) -> Frozen:
    """The numbers by which a model, or a fitted NaiveBayes, answers now."""
    inner = model_of(model)
    compiled = inner._answers.current(inner._compiled)
    if compiled.may_rule_out:
        raise ValueError(
            "With alpha=0 a term can rule a class out, which no table of weights says. Set alpha above 0, "
            "such as configure(alpha=1e-10), and export again."
        )
    if compiled.beside is not None:
        raise ValueError(
            "The model answers by texts without a label as well, which is not exported yet. Weigh it without "
            "them, by retune(X, y) on the labeled ones, and export again."
        )
    views = [
        _view(view, scorer, tally, inner, name, compiled.temperature)
        for (name, view), scorer, tally in zip(inner.views, compiled.scorers, inner.tallies, strict=True)
    ]
    return Frozen(compiled.classes, compiled.log_prior + compiled.bias, views)


def model_of(model: Any) -> Model:
    """The model inside, with the current settings of the estimator applied."""
    if isinstance(model, Model):
        return model
    if not isinstance(getattr(model, "model_", None), Model) or not hasattr(model, "_ready"):
        raise TypeError(
            f"Only a Model or a fitted NaiveBayes can be exported, got {type(model).__name__}; of a "
            "MultiLabel, each of its `estimators_`."
        )
    ready: Model = model._ready()
    return ready


def _view(view: View, scorer: Scorer, tally: Any, model: Model, name: str, factor: float) -> dict[str, Any]:
    if isinstance(scorer, WeighedScorer):
        factor, scorer = factor * scorer.weight, scorer.scorer
    found = (
        _text(scorer, factor) if isinstance(view, TextView) else _of_table(view, scorer, tally, model, factor)
    )
    return {"column": name, "settings": view.to_dict(), **found}


def _text(scorer: Any, factor: float) -> dict[str, Any]:
    if isinstance(scorer, TunedScorer):
        terms, rows = scorer.table()
        return _terms("earned", terms, factor * rows, None)
    if not isinstance(scorer, TextScorer):
        raise TypeError(f"A {type(scorer).__name__} cannot be exported.")
    counts, weights = scorer.table()
    linear = weights.finite
    rows = linear.rows(counts, np.arange(counts.n_terms))
    unseen = None if linear.unseen is None else factor * linear.unseen
    return _terms(linear.value, counts.term_names, factor * rows, unseen)


def _terms(value: str, terms: list[str], rows: Floats, unseen: Floats | None) -> dict[str, Any]:
    if len(set(terms)) < len(terms):
        known: set[str] = set()
        twice = next(term for term in terms if term in known or known.add(term))  # type: ignore[func-returns-value]
        raise ValueError(
            f"Two terms are both written {twice!r}, so that no table tells them apart. Export a view whose "
            "tokens hold no spaces, and text that is UTF-8."
        )
    return {"kind": "terms", "value": value, "terms": terms, "weights": rows, "unseen": unseen}


def _of_table(view: View, scorer: Any, tally: Any, model: Model, factor: float) -> dict[str, Any]:
    if isinstance(scorer, CategoryScorer):
        values, rows, unseen = scorer.table()
        return {"kind": "values", "values": values, "weights": factor * rows, "unseen": factor * unseen}
    if isinstance(view, DatePart) and isinstance(scorer, CircleScorer):
        return {"kind": "dates", "values": scorer.names, "weights": factor * scorer.shares}
    if isinstance(scorer, BinScorer):
        return {"kind": "bins", "cuts": scorer.cuts, "weights": factor * scorer.shares}
    if isinstance(scorer, BlockScorer):
        return {"kind": "counts", "columns": scorer.names, "weights": factor * scorer.weights}
    return _density(view, tally, model, factor)


def _density(view: View, tally: Any, model: Model, factor: float) -> dict[str, Any]:
    counts = tally.counts(model.order)
    if isinstance(view, Normal):
        curves = densities.normal_curves(counts.moments, view.smoothing)
        if curves is not None:
            return {"kind": "normal", "weight": factor, "means": curves[0], "variances": curves[1]}
    elif isinstance(view, Kernel):
        if len(counts.values):
            return {"kind": "kernel", "weight": factor, "curves": [list(own) for own in view.curves(counts)]}
    elif view.kind != "bins":
        raise ValueError(
            f"A view of {view.kind} is no table of weights and cannot be exported. Fit without it: "
            "category() for each column in place of pairs()."
        )
    return {"kind": "nothing"}
