"""What is left of the counts without a fold, made into weights: the formulas of `events`, for one fold."""

from __future__ import annotations

import numpy as np

from bayleaf.studying.counting import Numbers
from bayleaf.studying.folding import Fold
from bayleaf.studying.grid import Combination
from bayleaf.tally import Floats

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
    mass, used = fold.left(kind), fold.used(top)
    logs = _logs(fold, mass, alpha)
    return _drawn(fold, logs, mass @ used + fold.elsewhere(kind), alpha, top)


def tf_idf(fold: Fold, alpha: float, top: int) -> tuple[Floats, Floats]:
    """The same with tokens that weigh the more, the fewer documents have them."""
    documents = np.log(max(int(fold.class_documents.sum()), 1))
    idf = documents - np.log(np.maximum(fold.left("binary").sum(axis=0), 1))
    mass, used = fold.left("share") * idf, fold.used(top)
    elsewhere = documents * fold.elsewhere("share") - fold.elsewhere_share_logs
    weights, bias = _drawn(fold, np.log(mass + alpha), mass @ used + elsewhere, alpha, top)
    weights *= idf
    return weights, bias


def _drawn(fold: Fold, logs: Floats, mass: Floats, alpha: float, top: int) -> tuple[Floats, Floats]:
    """log (mass of the term + alpha) / (mass of all terms + alpha * terms), 0 for terms that are not used."""
    unused = np.flatnonzero(~fold.used(top))
    terms = fold.counted.n_terms - len(unused)
    if terms:
        logs -= np.log(mass + alpha * terms)[:, None]
    logs[:, unused] = 0.0
    return logs, np.zeros(fold.n_classes)


def bernoulli(fold: Fold, alpha: float, top: int) -> tuple[Floats, Floats]:
    """Each class tosses a coin of its own for every term."""
    present, used, n = fold.left("binary"), fold.used(top), fold.class_documents[:, None]
    weights = _logs(fold, present, alpha)
    weights -= _logs(fold, n - present, alpha)
    weights[:, ~used] = 0.0
    histogram = fold.elsewhere_histogram + fold.histogram(present[:, used])
    occur = np.flatnonzero(histogram.any(axis=0))
    # A class has no term in more documents than it has; where another class does, there are 0 terms.
    absent = np.log1p(-np.minimum((occur + alpha) / (n + 2 * alpha), 1 - 1e-16))
    return weights, np.asarray((histogram[:, occur] * absent).sum(axis=1), np.float64)


def _logs(fold: Fold, mass: Numbers, alpha: float) -> Floats:
    """log (mass + alpha); whole numbers are looked up."""
    if mass.dtype == np.intp:
        return fold.counted.logs(alpha).take(mass)
    logs: Floats = np.log(mass + alpha)
    return logs
