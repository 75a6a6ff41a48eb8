"""Weights of the training part of a fold, by the formulas of `event_models`."""

from __future__ import annotations

import numpy as np

from bayleaf.posterior import log_shares
from bayleaf.studies.folding import Fold
from bayleaf.studies.grid import Combination
from bayleaf.types import Floats

VALUES = {"tf": "tf", "binary": "binary", "normalized": "share", "log": "log", "tf-idf": "share"}


def weigh(fold: Fold, given: Combination) -> tuple[Floats, Floats]:
    """A row of weights for each class, a column a term of the fold; and the bias, without the prior."""
    if given.event == "bernoulli":
        return bernoulli(fold, given.alpha, given.top)
    if given.weighting == "tf-idf":
        return tf_idf(fold, given.alpha, given.top)
    return multinomial(fold, VALUES[given.weighting], given.alpha, given.top)


def multinomial(fold: Fold, kind: str, alpha: float, top: int) -> tuple[Floats, Floats]:
    """Each class draws tokens from a bag of its own."""
    mass = fold.total(kind) - fold.left(kind)[:, fold.dropped(top)].sum(axis=1)
    return _drawn(fold, fold.logs((kind, alpha)), mass, alpha, top)


def tf_idf(fold: Fold, alpha: float, top: int) -> tuple[Floats, Floats]:
    """The same with tokens that weigh the more, the fewer documents have them."""
    dropped = fold.dropped(top)
    mass = fold.total_tf_idf - fold.left("share")[:, dropped] @ fold.idf[dropped]
    weights, bias = _drawn(fold, fold.logs(("tf-idf", alpha)), mass, alpha, top)
    weights *= fold.idf
    return weights, bias


def _drawn(fold: Fold, logs: Floats, mass: Floats, alpha: float, top: int) -> tuple[Floats, Floats]:
    """log (mass of the term + alpha) / (mass of all terms + alpha * terms), 0 for terms that are not used."""
    unused = fold.unused(top)
    terms = fold.counted.n_terms - len(unused)
    weights = log_shares(logs, (mass + alpha * terms)[:, None]) if terms else logs.copy()
    weights[:, unused] = 0.0
    return weights, np.zeros(fold.n_classes)


def bernoulli(fold: Fold, alpha: float, top: int) -> tuple[Floats, Floats]:
    """Each class tosses a coin of its own for every term."""
    present, n = fold.left("binary"), fold.class_documents[:, None]
    weights = fold.logs(("binary", alpha)) - fold.counted.logs(alpha).take(n - present)
    weights[:, fold.unused(top)] = 0.0
    histogram = fold.histogram
    if top:
        histogram = histogram - fold.bars(present[:, fold.dropped(top)])
    occur = np.flatnonzero(histogram.any(axis=0))
    # A class has no term in more documents than it has; where another class does, there are 0 terms.
    absent = np.log1p(-np.minimum((occur + alpha) / (n + 2 * alpha), 1 - 1e-16))
    return weights, np.asarray((histogram[:, occur] * absent).sum(axis=1), np.float64)
