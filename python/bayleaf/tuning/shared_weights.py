"""The weight that terms share: by their kind, and by how many documents hold them.

A term that one document holds says something else than one that a hundred hold, and how much else differs
from corpus to corpus: rare terms name the topic of a post and are noise in a review. So the terms of a kind
(a view and a length of n-grams) share a weight with those that as many documents hold, in steps of two. When
a document is left out, its terms are held by one document less: so what terms of one document are worth is
learned from those of two.

How much all terms are worth together shows in few documents; what one kind or step is worth beside another
does not, and what few documents seem to say of it is chance. So the ratios of weights are held to those
believed in, and the more strongly the fewer documents there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf import _core
from bayleaf.tuning.lbfgs import minimize
from bayleaf.types import Classes, Floats

STEPS = 6
"""Terms of 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31 documents, and of more."""

LEAST_RARE = 0.1
"""Terms that all documents hold have some weight."""
ENOUGH_CHANCES = 1 << 15
"""So many probabilities, documents times classes, say well enough how curved the loss is."""
IMPOSSIBLE = -1e3
"""A bias from which no evidence brings a class back."""


@dataclass(frozen=True)
class Prior:
    """What is believed before a document was left out; each strength is worth so many documents or so."""

    weight: float = 1.0
    """Of terms that one document holds; of those that more hold, less."""
    rarity: float = 0.5
    """The power of the log of documents for each that holds the term, as in idf."""
    letters: float = 0.5
    """So much less weight have letters, of which a text has many, most of them in its words."""
    held: float = 10.0
    """How strongly the weight of all terms together is held back, and that of each view without terms."""
    smooth: float = 10.0
    """How strongly kinds are held to their ratios and neighboring steps together, if documents are many …"""
    many: float = 500.0
    """… which so many are not yet: with these it is twice as strong, with fewer by the square of how few."""
    share: float = 0.0
    """The bias of a class is so much of the log of its share."""
    even: float = 10.0
    """How strongly the biases are held back."""

    def apart(self, counts: Floats) -> float:
        """How strongly ratios of weights stay as believed, with so many documents of each class.

        A document tells something of each class but one.
        """
        told = float(counts.sum()) * (np.count_nonzero(counts) - 1)
        return self.smooth * (1 + (self.many / max(told, 1.0)) ** 2)


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


def stiffness(kind: NDArray[Any], around: Floats, apart: float, held: float) -> Floats:
    """Steps x steps: how strongly the weights of steps of these kinds are held back to those around.

    With the strength `apart` the means of kinds are held to the ratios that they have there, and neighbors to
    each other; with `held` the weight of all terms together, and each view without terms, a kind of one step.
    """
    _, kinds, steps = np.unique(kind, return_inverse=True, return_counts=True)
    mean = np.zeros((len(steps), len(kind)))
    mean[kinds, np.arange(len(kind))] = 1 / steps[kinds]
    strength = np.where(steps > 1, apart, held)
    bends: Floats = np.einsum("kg,kh->gh", strength[:, None] * mean, mean)
    believed = np.where(steps > 1, np.einsum("kg,g->k", mean, around), 0.0)
    believed /= max(float(np.sqrt(np.einsum("k,k", believed, believed))), 1e-300)
    common = np.einsum("kg,k->g", mean, believed)
    bends += (held - apart) * np.einsum("g,h->gh", common, common)
    for i in np.flatnonzero(kinds[1:] == kinds[:-1]).tolist():
        bends[i : i + 2, i : i + 2] += apart * np.array([[1, -1], [-1, 1]])
    return bends


def unknown_classes(counts: NDArray[Any]) -> Floats:
    """What keeps classes of a single document out of the fit: none of the others can be theirs."""
    return np.where(counts > 1, 0.0, IMPOSSIBLE)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Documents left out of the counts: what each kind and step of terms says of each (documents x steps x
    classes), their classes, and how many documents of each class there are in all."""

    scores: NDArray[np.float32] | Floats
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
    left: LeftOut, kind: NDArray[Any], around: Floats, prior: Prior, threads: int
) -> tuple[Floats, Floats, float]:
    """One weight >= 0 for each step of each kind, a bias for each class, and the mean log loss.

    `kind` is that of each step, `around` the weights that they are held back to. The fit goes in directions
    in which the loss is about equally curved: otherwise twice as many passes are needed.
    """
    shared = _Shared(left, kind, around, prior, threads)
    bends, scale = shared.curvature()
    free = np.ones(len(kind), bool)
    best = shared.center
    for _ in range(len(kind) + 1):
        path = _Path(best, free, _directions(bends[np.ix_(free, free)]), scale)
        found, _ = minimize(shared.slope_along(path), path.start(), tolerance=1e-10, most=200, first=1.0)
        best = path.end(found)
        negative = best[: len(kind)] < 0
        if not negative.any():
            break
        free &= ~negative
        best[: len(kind)][negative] = 0
    return best[: len(kind)], best[len(kind) :], shared.loss(best)


@dataclass(frozen=True, eq=False)
class _Path:
    """Weights of steps and biases, and the directions in which they move; weights that are not free stay."""

    origin: Floats
    free: NDArray[np.bool_]
    directions: Floats
    scale: Floats

    def start(self) -> Floats:
        """Not moved yet."""
        return np.zeros(len(self.directions) + len(self.scale))

    def end(self, by: Floats) -> Floats:
        """Weights and biases after moving by so much in each direction."""
        full, k, steps = self.origin.copy(), len(self.directions), len(self.free)
        full[:steps][self.free] += np.einsum("gd,d->g", self.directions, by[:k])
        full[steps:] += self.scale * by[k:]
        return full

    def along(self, slope: Floats) -> Floats:
        """A gradient in weights and biases, in these directions."""
        steps = len(self.free)
        of_steps = np.einsum("gd,g->d", self.directions, slope[:steps][self.free])
        return np.concatenate([of_steps, self.scale * slope[steps:]])


class _Shared:
    """The loss of shared weights, and its gradient."""

    def __init__(self, left: LeftOut, kind: NDArray[Any], around: Floats, prior: Prior, threads: int) -> None:
        self._left, self._weights, self._prior, self._threads = left, left.telling(), prior, threads
        self._y = left.y.astype(np.uint32)
        self._unknown = unknown_classes(left.of_class)
        self._steps = len(kind)
        self._stiffness = stiffness(kind, around, prior.apart(left.counts), prior.held)
        self.center = np.concatenate([around, prior_bias(left.counts, prior)])

    def _slope(self, at: Floats) -> tuple[float, Floats]:
        """The summed log loss, and its gradient."""
        weights, bias = at[: self._steps], at[self._steps :] + self._unknown
        left = self._left.scores, self._y, self._weights
        loss, steps, biases = _core.step_slope(left, (weights, bias), self._threads)
        return loss, np.concatenate([steps, biases])

    def loss(self, at: Floats) -> float:
        """The mean log loss of the documents that say something."""
        return self._slope(at)[0] / max(float(self._weights.sum()), 1e-300)

    def curvature(self) -> tuple[Floats, Floats]:
        """How curved loss and prior are in the weights where the fit begins, by some of the documents.

        And the scale of each bias in which they are curved by 1.
        """
        prior, n = self._prior, max(len(self._weights), 1)
        every = -(-n * len(self._unknown) // ENOUGH_CHANCES)
        at, bias = self.center[: self._steps], self.center[self._steps :] + self._unknown
        all_of_them: Any = (self._left.scores, self._y, self._weights)
        some: Any = tuple(np.ascontiguousarray(each[::every]) for each in all_of_them)
        bends, of_bias = _core.step_curvature(some, (at, bias))
        return (every * bends + self._stiffness) / n, np.sqrt(n / (every * of_bias + prior.even))

    def slope_along(self, path: _Path) -> Callable[[Floats], tuple[float, Floats]]:
        """The log loss and what the prior adds, by how far one has come on a path."""
        n = max(len(self._weights), 1)

        def slope(by: Floats) -> tuple[float, Floats]:
            at = path.end(by)
            value, along = self._slope(at)
            held, of_held = self._held(at - self.center)
            return (value + held) / n, path.along((along + of_held) / n)

        return slope

    def _held(self, off: Floats) -> tuple[float, Floats]:
        of_steps = np.einsum("gh,h->g", self._stiffness, off[: self._steps])
        slope = np.concatenate([of_steps, self._prior.even * off[self._steps :]])
        return float(np.einsum("i,i", off, slope)) / 2, slope


def _directions(bends: Floats) -> Floats:
    """Directions, as columns, in which what is curved like this is curved by 1, each apart from the others.

    The inverse of a Cholesky factor, transposed; not NumPy's, whose sums depend on the processor.
    """
    k = len(bends)
    lower, inverse = np.zeros((k, k)), np.eye(k)
    for j in range(k):
        below = bends[j:, j] - np.einsum("ij,j->i", lower[j:, :j], lower[j, :j])
        below[0] = max(below[0], 1e-9 * bends[j, j], 1e-300)
        lower[j:, j] = below / np.sqrt(below[0])
        inverse[j] -= np.einsum("i,ik->k", lower[j, :j], inverse[:j])
        inverse[j] /= lower[j, j]
    return inverse.T
