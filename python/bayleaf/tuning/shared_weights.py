"""The weight that terms share: by their kind, and by how many documents hold them.

A term that one document holds says something else than one that a hundred hold, and how much else differs
from corpus to corpus: rare terms name the topic of a post and are noise in a review. So the terms of a kind
(a view and a length of n-grams) share a weight with those that as many documents hold, in steps of two. When
a document is left out, its terms are held by one document less: so what terms of one document are worth is
learned from those of two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.posterior import softmax
from bayleaf.tuning.lbfgs import minimize
from bayleaf.types import Classes, Floats

STEPS = 6
"""Terms of 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31 documents, and of more."""

LEAST_RARE = 0.1
"""Terms that all documents hold have some weight."""
IMPOSSIBLE = -1e3
"""A bias from which no evidence brings a class back."""


@dataclass(frozen=True)
class Prior:
    """What is believed before a document was left out; each strength is worth so many documents or so."""

    weight: float = 1.0
    """Of terms that one document holds; of those that more hold, less."""
    rarity: float = 0.5
    """The power of the log of documents for each that holds the term, as in idf."""
    letters: float = 0.25
    """So much less weight have letters, of which a text has many, most of them in its words."""
    held: float = 10.0
    """How strongly the mean weight of a kind is held back."""
    smooth: float = 10.0
    """How strongly the weights of neighboring steps are held together."""
    share: float = 0.0
    """The bias of a class is so much of the log of its share."""
    even: float = 10.0
    """How strongly the biases are held back."""


def step_of(holders: NDArray[Any]) -> NDArray[np.uint8]:
    """The step of terms that so many documents hold."""
    steps: NDArray[np.uint8] = np.minimum(np.frexp(np.maximum(holders, 1))[1] - 1, STEPS - 1).astype(np.uint8)
    return steps


def prior_bias(counts: Floats, prior: Prior) -> Floats:
    """What each class gets before looking: some of the log of its share."""
    logs = np.log((counts + 1) / (counts.sum() + len(counts)))
    bias: Floats = prior.share * (logs - logs.mean())
    return bias


def center(n: float, prior: Prior) -> Floats:
    """The weight of each step before any of n documents has said something."""
    holders = np.where(np.arange(STEPS) > 0, np.sqrt(2), 1) * 2.0 ** np.arange(STEPS)
    rare = np.log((n + 1) / holders) / np.log(n + 1)
    weights: Floats = prior.weight * np.maximum(rare, LEAST_RARE) ** prior.rarity
    return weights


def unknown_classes(counts: NDArray[Any]) -> Floats:
    """What keeps classes of a single document out of the fit: none of the others can be theirs."""
    return np.where(counts > 1, 0.0, IMPOSSIBLE)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Documents left out of the counts: what each kind and step of terms says of each (documents x steps x
    classes), their classes, and how many documents of each class there are in all."""

    scores: Floats
    y: Classes
    counts: Floats
    of_class: NDArray[Any]
    """How many there are of each class, however much each counts."""
    weights: Floats
    """How much each counts; empty if all count alike."""

    def telling(self) -> Floats:
        """How much each tells: the only document of its class nothing, since the class is unknown without."""
        known = (self.of_class[self.y] > 1).astype(np.float64)
        return known * self.weights if len(self.weights) else known


def fit_shared(
    left: LeftOut, kind: NDArray[Any], around: Floats, prior: Prior
) -> tuple[Floats, Floats, float]:
    """One weight >= 0 for each step of each kind, a bias for each class, and the mean log loss.

    `kind` is that of each step, `around` the weights that they are held back to.
    """
    shared = _Shared(left, kind, around, prior)
    free = np.ones(len(shared.center), bool)
    best = shared.center
    for _ in range(len(kind) + 1):
        found, _ = minimize(shared.slope_of(free), best[free], tolerance=1e-8, most=200)
        best = np.zeros(len(free))
        best[free] = found
        negative = best[: len(kind)] < 0
        if not negative.any():
            break
        free[: len(kind)] &= ~negative
        best[: len(kind)][negative] = 0
    return best[: len(kind)], best[len(kind) :], shared.loss(best)


class _Shared:
    """The loss of shared weights, and its gradient."""

    def __init__(self, left: LeftOut, kind: NDArray[Any], around: Floats, prior: Prior) -> None:
        self.scores, self.weights, self.prior = left.scores, left.telling(), prior
        self.truth = np.arange(len(left.y)), left.y
        self.unknown = unknown_classes(left.of_class)
        kinds = np.unique(kind, return_inverse=True)[1]
        self._mean = np.zeros((kinds.max(initial=-1) + 1, len(kind)))
        self._mean[kinds, np.arange(len(kind))] = 1 / np.bincount(kinds)[kinds]
        self._chained = np.flatnonzero(kinds[1:] == kinds[:-1])
        self.center = np.concatenate([around, prior_bias(left.counts, prior)])

    def _residuals(self, at: Floats) -> tuple[float, Floats]:
        steps = self.scores.shape[1]
        bias = at[steps:] + self.unknown
        residuals = softmax(np.einsum("ngc,g->nc", self.scores, at[:steps]) + bias)
        value = -np.einsum("n,n", self.weights, np.log(np.maximum(residuals[self.truth], 1e-300)))
        residuals[self.truth] -= 1
        residuals *= self.weights[:, None]
        return float(value), residuals

    def loss(self, at: Floats) -> float:
        """The mean log loss of the documents that say something."""
        return self._residuals(at)[0] / max(float(self.weights.sum()), 1e-300)

    def slope_of(self, free: NDArray[np.bool_]) -> Callable[[Floats], tuple[float, Floats]]:
        """The log loss and what the prior adds, of the weights that are free; the others are 0."""
        return lambda at: self._slope(at, free)

    def _slope(self, at: Floats, free: NDArray[np.bool_]) -> tuple[float, Floats]:
        full = np.zeros(len(free))
        full[free] = at
        value, residuals = self._residuals(full)
        slope = np.concatenate([np.einsum("nc,ngc->g", residuals, self.scores), residuals.sum(axis=0)])
        held, of_held = self._held(full - self.center)
        n = max(len(residuals), 1)
        return (value + held) / n, ((slope + of_held) / n)[free]

    def _held(self, off: Floats) -> tuple[float, Floats]:
        steps, prior = self.scores.shape[1], self.prior
        mean = np.einsum("kg,g->k", self._mean, off[:steps])
        apart = off[self._chained + 1] - off[self._chained]
        value = prior.held * np.einsum("i,i", mean, mean) + prior.smooth * np.einsum("i,i", apart, apart)
        value += prior.even * np.einsum("i,i", off[steps:], off[steps:])
        slope = prior.even * off
        slope[:steps] = prior.held * np.einsum("kg,k->g", self._mean, mean)
        slope[self._chained + 1] += prior.smooth * apart
        slope[self._chained] -= prior.smooth * apart
        return float(value) / 2, slope
