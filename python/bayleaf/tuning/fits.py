"""The weights that are fitted on documents left out of their counts: shared ones, and one for each term."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf import _core
from bayleaf.tuning.examples import Evidence, Examples, Features
from bayleaf.tuning.lbfgs import minimize
from bayleaf.tuning.shared_weights import LeftOut, fit_shared, unknown_classes
from bayleaf.types import Floats

MOST_SCORES = 10_000_000
"""Weights that terms share are found by so many scores, documents times steps times classes."""
LEAST_DOCUMENTS = 500
"""And by so many documents, whatever that takes."""

MANY_CLASSES = 50
"""Of more classes, what terms share is added up from the cells that there are, and not from a table."""


@dataclass(frozen=True)
class Plan:
    """The constants of the fit; `docs/tuning.md` says how each was found."""

    penalties: tuple[float, ...] = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
    first: int = 3
    train: int = 4000
    judge: int = 2000
    tolerance: float = 1e-4
    iterations: int = 40
    seed: int = 0
    gain: float = 0.0
    believed: float = 1.5
    belief: float = 1.0
    even: float = 10.0
    terms_cost: float = 1e9
    first_step: float = 0.6


@dataclass(eq=False)
class Fit:
    """Documents left out of their own counts, and what is known before any term has a weight of its own.

    `prior` are the weights that terms share when a document is left out, `shared` when none is.
    """

    features: _core.Features | None
    groups: Floats
    prior: Floats
    shared: Floats
    bias: Floats
    loss: float
    unknown: Floats
    examples: Examples
    curvature: Floats | None = field(default=None)
    start: tuple[Floats, Floats] | None = field(default=None)


def prepare(evidence: Evidence, examples: Examples, threads: int, sampled: bool = False) -> Fit:
    """Leave each document out of the counts, and fit the weights that are shared.

    With `sampled` the features are of so many documents as these weights need.
    """
    counts = examples.counts()
    of_class = np.bincount(examples.y, minlength=examples.classes)
    if evidence.texts:
        examples = examples.evened()
    told = np.flatnonzero(of_class[examples.y] > 1)
    if len(told) < len(examples):
        # What is alone in its class tells nothing, but must have been learned like the others.
        _left_out(evidence, examples.some(np.flatnonzero(of_class[examples.y] <= 1)), threads)
        examples = examples.some(told)
    if sampled:
        examples = _sample(evidence, examples)
    features = None if sampled else evidence.features(examples, threads, leave_out=True)
    groups, bias, loss = _fit_shared(evidence, examples, features, (counts, of_class), threads)
    left, whole = groups[evidence.step_of(1)], groups[evidence.step_of(0)]
    core = None if features is None else features.core
    return Fit(core, groups, left, whole, bias, loss, unknown_classes(of_class), examples)


def _sample(evidence: Evidence, examples: Examples) -> Examples:
    """Every so-many-th document: enough for weights that are shared."""
    most = max(MOST_SCORES // (evidence.steps * examples.classes), LEAST_DOCUMENTS)
    every = max(-(-len(examples) // most), 1)
    return examples.some(np.arange(0, len(examples), every)) if every > 1 else examples


def _left_out(evidence: Evidence, examples: Examples, threads: int) -> NDArray[np.float32] | Floats:
    """What the terms of each step say of documents, each left out of the counts."""
    if examples.classes > MANY_CLASSES:
        return evidence.shared_scores(examples, threads)
    return evidence.step_scores(evidence.features(examples, threads, leave_out=True))


def _fit_shared(
    evidence: Evidence,
    examples: Examples,
    features: Features | None,
    counts: tuple[Floats, NDArray[Any]],
    threads: int,
) -> tuple[Floats, Floats, float]:
    """`counts` are the documents of each class, by their weights and as they are."""
    some = _sample(evidence, examples)
    if features is None or some is not examples or examples.classes > MANY_CLASSES:
        scores = _left_out(evidence, some, threads)
    else:
        scores = evidence.step_scores(features)
    left = LeftOut(scores, some.y, *counts, some.weights)
    return fit_shared(left, *evidence.priors(counts[0]), prior=evidence.prior, threads=threads)


def left_out_scores(evidence: Evidence, examples: Examples, threads: int) -> Floats:
    """The scores of documents that are left out of the counts, with the weights that are shared."""
    features = evidence.features(examples, threads, leave_out=True)
    counts = examples.counts(), np.bincount(examples.y, minlength=examples.classes)
    groups, bias, _ = _fit_shared(evidence, examples, features, counts, threads)
    scores = evidence.step_scores(features)
    total: Floats = np.einsum("ngc,g->nc", scores, groups) + bias
    return total


def fit_terms(fit: Fit, penalty: float, plan: Plan) -> tuple[Floats, Floats]:
    """A weight for each term: the mean log loss, plus penalty / 2n times the squared distance from the prior.

    Biases are held back as well, by a fixed penalty. The variables are scaled by the curvature; without it,
    three times as many passes are needed.
    """
    n = max(len(fit.examples), 1)
    features = fit.features
    if features is None:
        return fit.prior, fit.bias
    if fit.curvature is None:
        fit.curvature = features.curvature(fit.prior, fit.bias + fit.unknown)
    scale = 1 / np.sqrt((fit.curvature + penalty) / n)
    terms = len(scale)

    def loss(at: Floats) -> tuple[float, Floats]:
        off = scale * at[:terms]
        value, slope, bias = features.slope(fit.prior + off, at[terms:] + fit.unknown)
        value += penalty / (2 * n) * float(np.einsum("i,i", off, off))
        slope += penalty / n * off
        slope *= scale
        far = at[terms:] - fit.bias
        value += plan.even / (2 * n) * float(np.einsum("i,i", far, far))
        return value, np.concatenate([slope, bias + plan.even / n * far])

    weights, bias = (fit.prior, fit.bias) if fit.start is None else fit.start
    start = np.concatenate([(weights - fit.prior) / scale, bias])
    at, _ = minimize(loss, start, tolerance=plan.tolerance, most=plan.iterations, first=plan.first_step)
    return fit.prior + scale * at[:terms], at[terms:]
