"""What documents held out say of the scores: which classes they lean to, and how sure to be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayleaf.posterior import softmax
from bayleaf.tuning.class_weights import HeldOut
from bayleaf.tuning.examples import Examples
from bayleaf.tuning.lbfgs import minimize
from bayleaf.tuning.shared_weights import unknown_classes
from bayleaf.types import Classes, Floats

HELD = 10.0
"""So strongly is what a class gets in addition held to nothing, for each class but one."""
TOLD = 0.45
"""Documents held out count so much: luck that shows in them has made the weights larger already."""
SURE, SURE_OF_MORE = 0.1, 1.2
"""So many nats speak against an octave by which scores are made less sure, and so many for each class more
than two."""
LEAST_SURE = -4.0
"""By so many octaves at most."""


def against_leaning(folds: Sequence[HeldOut], examples: Examples) -> Floats:
    """What each class gets in addition, so that documents held out are found in none too often.

    A new document meets more of its words in a class of more documents. Those left out one by one do not show
    it: each is missed most by its own class.
    """
    judges = examples.some(np.concatenate([fold.judging for fold in folds])).evened()
    weights = judges.weights if len(judges.weights) else np.ones(len(judges))
    found = np.bincount(judges.y, minlength=judges.classes)
    scores = np.concatenate([fold.scores for fold in folds]) + unknown_classes(found + 1)
    truth = np.arange(len(judges)), judges.y
    held = HELD * (judges.classes - 1)

    def loss(at: Floats) -> tuple[float, Floats]:
        posterior = softmax(scores + at)
        logs = np.log(np.maximum(posterior[truth], 1e-300))
        posterior[truth] -= 1
        value = held / 2 * np.einsum("i,i", at, at) - np.einsum("i,i", weights, logs)
        return float(value), np.einsum("i,ic->c", weights, posterior) + held * at

    return minimize(loss, np.zeros(judges.classes), tolerance=1e-6, most=50)[0]


def sureness(folds: Sequence[HeldOut], y: Classes) -> float:
    """The factor up to 1 by which scores are multiplied: the mean of what documents held out leave possible.

    A mean, and not the best of them: where few documents tell little of how much the scores are worth, being
    too sure costs more than being too unsure.
    """
    scores = np.concatenate([fold.scores for fold in folds])
    truth = np.concatenate([y[fold.judging] for fold in folds])
    nats = SURE + SURE_OF_MORE * max(scores.shape[1] - 2, 0)

    def likely(octave: float) -> float:
        posterior = softmax(2.0**octave * scores)[np.arange(len(truth)), truth]
        return float(TOLD * np.log(np.maximum(posterior, 1e-300)).sum() + nats * octave)

    octaves = np.linspace(LEAST_SURE, 0.0, 17)
    chances = softmax(np.array([[likely(octave) for octave in octaves.tolist()]]))[0]
    return float(np.exp2(np.einsum("i,i", chances, octaves)))
