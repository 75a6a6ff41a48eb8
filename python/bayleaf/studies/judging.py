"""Scores of a combination, fold by fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.metrics import EPSILON
from bayleaf.posterior import log_posterior
from bayleaf.studies.counting import Split
from bayleaf.studies.grid import Combination
from bayleaf.types import Floats, Priors

MEASURES = ("accuracy", "mcc", "macro_f1", "log_loss")
TWO_CLASSES = ("blocked", "caught")
"""Of two classes: the part of the others that was taken for the positive one, and the part of it found."""


@dataclass(frozen=True, eq=False)
class Result:
    """One combination: its measures in each fold, its answers, and the seconds that all folds took.

    `counting` is shared by all combinations that look at the texts in the same way. `number` is its place in
    the grid.
    """

    number: int
    combination: Combination
    measures: dict[str, Floats]
    answers: NDArray[np.intp]
    counting: float
    training: float
    predicting: float
    priors: Priors = "empirical"

    def estimator(self) -> Any:
        """An estimator that does the same, not fitted: a `NaiveBayes`, or a copy of the rival."""
        made = self.combination.estimator()
        return made.set_params(priors=self.priors) if self.priors != "empirical" else made

    def mean(self, measure: str) -> float:
        """The mean over the folds."""
        return float(self.measures[measure].mean())

    def deviation(self, measure: str) -> float:
        """The standard deviation over the folds."""
        return float(self.measures[measure].std(ddof=1))


def measures(split: Split, joint: Floats, positive: int | None) -> tuple[dict[str, Floats], NDArray[np.intp]]:
    """The measures in each fold, and the answers; `joint` has one row a class."""
    n_classes = len(joint)
    answers: NDArray[np.intp] = joint.argmax(axis=0)
    places = (split.fold * n_classes + split.truth) * n_classes + answers
    size = split.n_folds * n_classes**2
    confusions = np.bincount(places, minlength=size).reshape(-1, n_classes, n_classes)
    found = of_confusions(confusions.astype(np.float64)) | {"log_loss": _losses(split, joint)}
    if positive is not None:
        found |= _of_positive(confusions, positive)
    return found, answers


def of_confusions(confusions: Floats) -> dict[str, Floats]:
    """What a `Scorecard` says of each of many confusion matrices, all at once."""
    right, named, real = np.einsum("fcc->fc", confusions), confusions.sum(axis=1), confusions.sum(axis=2)
    n, hits = real.sum(axis=1), right.sum(axis=1)
    spread = (n**2 - (named**2).sum(axis=1)) * (n**2 - (real**2).sum(axis=1))
    both = named + real
    f1 = np.divide(2 * right, both, out=np.zeros_like(right), where=both > 0)
    shared = hits * n - (named * real).sum(axis=1)
    return {
        "accuracy": hits / n,
        "mcc": np.divide(shared, np.sqrt(spread), out=np.zeros_like(n), where=spread > 0),
        "macro_f1": f1.sum(axis=1) / (both > 0).sum(axis=1),
    }


def _losses(split: Split, joint: Floats) -> Floats:
    """The mean log loss of each fold."""
    posterior = log_posterior(joint.T, np.zeros(len(joint)))
    right = np.exp(posterior[np.arange(len(posterior)), split.truth])
    losses = -np.log(np.clip(right, EPSILON, 1 - EPSILON))
    return np.bincount(split.fold, losses) / np.bincount(split.fold)


def _of_positive(confusions: NDArray[np.int64], positive: int) -> dict[str, Floats]:
    named, real = confusions[:, :, positive], confusions.sum(axis=2)
    right, others = named[:, positive], real.sum(axis=1) - real[:, positive]
    return {
        "blocked": (named.sum(axis=1) - right) / np.maximum(others, 1),
        "caught": right / np.maximum(real[:, positive], 1),
    }
