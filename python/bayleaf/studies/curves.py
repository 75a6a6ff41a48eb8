"""Accuracy as the vocabulary grows, the most informative terms first (McCallum and Nigam 1998)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.posterior import log_shares
from bayleaf.studies.counting import Counted, Numbers
from bayleaf.studies.folding import Fold
from bayleaf.studies.grid import EVENTS, Looking
from bayleaf.studies.judging import measures
from bayleaf.studies.running import Task
from bayleaf.types import Floats


@dataclass(frozen=True)
class Point:
    """One event model with so many terms; the last size is the whole vocabulary, its mean over the folds."""

    event: str
    terms: int
    accuracy: float
    accuracy_sd: float
    mcc: float
    macro_f1: float


def curve(task: Task, looking: Looking, alpha: float = 1.0, threads: int = 1) -> list[Point]:
    """Both event models at 10, 20, 50, 100… terms, chosen in each fold by the documents outside it."""
    counted = Counted(looking.shared_view(), task.split, len(task.classes), threads)
    wanted = sizes(counted.n_terms)
    shape = (len(EVENTS), len(wanted), len(task.classes), len(task.split.truth))
    joint = np.empty(shape)
    vocabulary = []
    for number in range(task.split.n_folds):
        fold = Fold(counted, number)
        prior = task.log_prior(fold)
        ranked = Ranked(fold, alpha)
        vocabulary.append(ranked.n_terms)
        for at, size in enumerate(wanted):
            for event, (weights, bias, kind) in enumerate(ranked.models(size)):
                total = (bias + prior)[:, None]
                joint[event, at, :, fold.documents] = fold.score(kind, weights) + total
    wanted[-1] = round(float(np.mean(vocabulary)))
    return [
        _point(task, event, size, joint[i, at])
        for i, event in enumerate(EVENTS)
        for at, size in enumerate(wanted)
    ]


def sizes(n_terms: int) -> list[int]:
    """10, 20, 50, 100… and all."""
    steps = [step * 10**power for power in range(1, 9) for step in (1, 2, 5)]
    return [*(step for step in steps if step < 0.8 * n_terms), n_terms]


def _point(task: Task, event: str, size: int, joint: Floats) -> Point:
    found, _ = measures(task.split, joint, None)
    accuracy = found["accuracy"]
    return Point(
        event,
        size,
        float(accuracy.mean()),
        float(accuracy.std(ddof=1)),
        float(found["mcc"].mean()),
        float(found["macro_f1"].mean()),
    )


class Ranked:
    """The counts without a fold, terms in the order of their information gain."""

    def __init__(self, fold: Fold, alpha: float) -> None:
        counted, self._alpha = fold.counted, alpha
        every = np.arange(counted.n_terms)
        documents, occurrences = (counted.rows(kind, every) for kind in ("binary", "tf"))
        documents[:, fold.terms] = fold.left("binary")
        occurrences[:, fold.terms] = fold.left("tf")
        known = np.flatnonzero(documents.any(axis=0))
        gain = information_gain(documents[:, known], fold.class_documents)
        order = known[np.argsort(-gain, kind="stable")]
        self.n_terms = len(order)
        rank = np.full(counted.n_terms, counted.n_terms)
        rank[order] = np.arange(len(order))
        self._rank: NDArray[np.intp] = rank[fold.terms]
        n, here = fold.class_documents[:, None], documents[:, fold.terms]
        self._present = np.log(here + alpha) - np.log(n - here + alpha)
        self._drawn = np.log(occurrences[:, fold.terms] + alpha)
        absent = np.log1p(-(documents[:, order] + alpha) / (n + 2 * alpha))
        self._absent, self._total = _running(absent), _running(occurrences[:, order])

    def models(self, size: int) -> Iterator[tuple[Floats, Floats, str]]:
        """The weights, the bias and the value of a term for each of the event models."""
        terms = min(size, self.n_terms)
        used = self._rank < terms
        yield np.where(used, self._present, 0.0), self._absent[:, terms], "binary"
        total = self._total[:, terms] + self._alpha * terms
        yield np.where(used, log_shares(self._drawn, total[:, None]), 0.0), np.zeros(len(total)), "tf"


def _running(columns: Numbers) -> Floats:
    """The sum of the first 0, 1, 2… columns."""
    return np.concatenate([np.zeros((len(columns), 1)), np.cumsum(columns, axis=1)], axis=1)


def information_gain(documents: Numbers, class_documents: Numbers) -> Floats:
    """By how much knowing whether a term is there lowers the entropy of the class."""
    total = class_documents.sum()
    here, absent = documents.sum(axis=0), class_documents[:, None] - documents
    inside = _plogp(documents).sum(axis=0) - _plogp(here)
    outside = _plogp(absent).sum(axis=0) - _plogp(total - here)
    entropy = _plogp(total) - _plogp(class_documents).sum()
    gain: Floats = (entropy + inside + outside) / total
    return gain


def _plogp(values: Numbers) -> Numbers:
    return values * np.log(np.maximum(values, 1.0))
