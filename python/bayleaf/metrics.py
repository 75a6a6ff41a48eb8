"""Classification metrics, accumulated batch by batch in constant memory."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.types import Floats

EPSILON = float(np.finfo(np.float64).eps)
BINS = 15
STEPS = 801
STEEPEST = 40.0


class Scorecard:
    """Truths and answers, counted; a truth numbered above the model's classes is a class it does not know.

    Nothing is kept of a single document, so a corpus of any size can be measured: the confusion matrix, the
    sum of the log losses, how often each confidence was right, and the distribution of each class's log odds.
    """

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.confusion = np.zeros((n_classes, n_classes), np.int64)
        self._loss = 0.0
        self._bins = np.zeros((3, BINS))
        self._steps = np.zeros((2, n_classes, STEPS), np.int64)

    def add(self, truth: NDArray[Any], log_posterior: Floats) -> NDArray[np.intp]:
        """Count documents, given the numbers of their classes; gives the numbers of the answers."""
        truth = np.asarray(truth, np.intp)
        answers: NDArray[np.intp] = log_posterior.argmax(axis=1)
        size = max(len(self.confusion), int(truth.max(initial=-1)) + 1)
        counted = np.bincount(truth * size + answers, minlength=size * size).reshape(size, size)
        counted[: len(self.confusion), : len(self.confusion)] += self.confusion
        self.confusion = counted
        posterior = np.exp(log_posterior)
        self._add_loss(truth, posterior)
        self._add_confidence(posterior[np.arange(len(truth)), answers], truth == answers)
        self._add_odds(truth, log_posterior)
        self.__dict__.pop("_square", None)
        return answers

    def _add_loss(self, truth: NDArray[np.intp], posterior: Floats) -> None:
        known = np.flatnonzero(truth < self.n_classes)
        right = np.zeros(len(truth))
        right[known] = posterior[known, truth[known]]
        self._loss -= float(np.log(np.clip(right, EPSILON, 1 - EPSILON)).sum())

    def _add_confidence(self, confidence: Floats, hits: NDArray[np.bool_]) -> None:
        place = np.clip(np.ceil(confidence * BINS).astype(np.intp) - 1, 0, BINS - 1)
        for row, values in enumerate((np.ones(len(place)), confidence, hits.astype(np.float64))):
            self._bins[row] += np.bincount(place, values, BINS)

    def _add_odds(self, truth: NDArray[np.intp], log_posterior: Floats) -> None:
        rest = np.log(-np.expm1(np.minimum(log_posterior, -1e-18)))
        odds = np.clip((log_posterior - rest) / STEEPEST, -1, 1)
        place = np.rint((odds + 1) * (STEPS - 1) / 2).astype(np.intp) + np.arange(self.n_classes) * STEPS
        known = np.flatnonzero(truth < self.n_classes)
        size = self.n_classes * STEPS
        every = np.bincount(place.ravel(), minlength=size)
        own = np.bincount(place[known, truth[known]], minlength=size)
        self._steps += np.stack([every - own, own]).reshape(self._steps.shape)

    @property
    def n(self) -> int:
        """How many documents were counted."""
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """The part of the answers that are right."""
        return _ratio(float(np.trace(self.confusion)), float(self.n))

    @cached_property
    def _square(self) -> tuple[Floats, Floats, Floats]:
        matrix = self.confusion.astype(np.float64)
        return np.diag(matrix), matrix.sum(axis=0), matrix.sum(axis=1)

    @property
    def support(self) -> NDArray[np.int64]:
        """How many documents each class has."""
        documents: NDArray[np.int64] = self.confusion.sum(axis=1)
        return documents

    @property
    def precision(self) -> Floats:
        """Of the answers that name a class, the part that is right; 0 where it was never named."""
        right, named, _ = self._square
        return _ratios(right, named)

    @property
    def recall(self) -> Floats:
        """Of the documents of a class, the part that was found; 0 where there are none."""
        right, _, real = self._square
        return _ratios(right, real)

    @property
    def f1(self) -> Floats:
        """The harmonic mean of precision and recall."""
        right, named, real = self._square
        return _ratios(2 * right, named + real)

    @property
    def macro_f1(self) -> float:
        """The mean of F1 over the classes that occur, as truth or as answer."""
        occur = (self.confusion.sum(axis=0) + self.support) > 0
        return float(self.f1[occur].mean()) if occur.any() else 0.0

    @property
    def mcc(self) -> float:
        """Matthews' correlation of truth and answer: 1 perfect, 0 chance; for many classes Gorodkin's."""
        right, named, real = self._square
        n = float(self.n)
        spread = np.sqrt(n * n - (named**2).sum()) * np.sqrt(n * n - (real**2).sum())
        return _ratio(float(right.sum() * n - (named * real).sum()), float(spread))

    @property
    def log_loss(self) -> float:
        """The mean of -log P(true class), where a probability counts at least 2.2e-16, as in scikit-learn."""
        return _ratio(self._loss, float(self.n))

    @property
    def ece(self) -> float:
        """The expected calibration error: how far confidence is from being right, over 15 bins of it."""
        _, confidence, hits = self._bins
        return _ratio(float(np.abs(confidence - hits).sum()), float(self.n))

    def reliability(self) -> list[tuple[float, float, int]]:
        """For each bin of confidence that occurs: mean confidence, part that was right, documents."""
        filled = self._bins[:, self._bins[0] > 0].T.tolist()
        return [(confidence / count, hits / count, int(count)) for count, confidence, hits in filled]

    def precision_recall(self, number: int) -> tuple[Floats, Floats]:
        """Precision and recall of one class as its threshold falls, thresholds 0.1 of log odds apart."""
        others, own = (np.cumsum(self._steps[kind, number, ::-1]).astype(np.float64) for kind in (0, 1))
        named = own + others
        used = np.flatnonzero(np.diff(named, prepend=0.0))
        total = own[-1] if own[-1] else 1.0
        return own[used] / named[used], own[used] / total


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _ratios(parts: Floats, wholes: Floats) -> Floats:
    return np.divide(parts, wholes, out=np.zeros_like(parts), where=wholes > 0)
