"""Rivals of the grid: the tuned default, and any estimator with scikit-learn's methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from bayleaf.studies.grid import Combination
from bayleaf.studies.judging import Result, measures
from bayleaf.studies.running import Task
from bayleaf.types import Floats


def _default() -> Any:
    from bayleaf.naive_bayes import NaiveBayes

    return NaiveBayes()


def _linear(name: str) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    fitted = LogisticRegression(C=10, max_iter=1000) if name == "logistic" else LinearSVC()
    return make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), fitted)


NAMED: Mapping[str, Callable[[], Any]] = {
    "default": _default,
    "logistic": partial(_linear, "logistic"),
    "svm": partial(_linear, "svm"),
}
"""Rivals that have a name: `NaiveBayes()`, and scikit-learn's linear models on tf-idf of words and pairs."""


@dataclass(frozen=True)
class Rival(Combination):
    """An estimator beside the grid; its name stands in the place of the event model."""

    weighting: str = ""
    ngrams: str = ""
    made: Any = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.event

    def estimator(self) -> Any:
        """The estimator, not fitted."""
        return deepcopy(self.made)


def rivals_of(given: Any) -> list[Rival]:
    """Rivals by name: a mapping, or a list of estimators and names of `NAMED`."""
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Mapping | Iterable):
        raise TypeError(f"`rivals` is a mapping from names to estimators, or a list of them, got {given!r}.")
    pairs = given.items() if isinstance(given, Mapping) else [(_name(each), each) for each in given]
    found = [Rival(event=str(name), made=_estimator(each)) for name, each in pairs]
    names = [each.event for each in found]
    if len(set(names)) < len(names):
        raise ValueError(f"Two rivals have one name, {names!r}. Give a mapping from different names.")
    return found


def _name(rival: Any) -> str:
    return rival if isinstance(rival, str) else type(rival).__name__


def _estimator(rival: Any) -> Any:
    if isinstance(rival, str):
        if rival not in NAMED:
            listed = ", ".join(map(repr, NAMED))
            raise ValueError(f"A rival is an estimator or one of {listed}, got {rival!r}.")
        return NAMED[rival]()
    if not (hasattr(rival, "fit") and hasattr(rival, "predict")):
        raise TypeError(f"A rival has `fit` and `predict`, got {rival!r}.")
    return rival


def run_rival(task: Task, number: int, rival: Rival) -> Result:
    """Learn all folds but one, answer that one, for each of them in turn."""
    split = task.split
    labels = np.array(task.classes, object)[split.truth]
    joint = np.full((len(task.classes), len(split.truth)), -np.inf)
    training = predicting = 0.0
    for fold in range(split.n_folds):
        asked = split.documents(fold)
        learned = np.delete(np.arange(len(labels)), asked)
        started = time.perf_counter()
        fitted = rival.estimator()
        fitted.fit([split.texts[i] for i in learned.tolist()], labels[learned].tolist())
        between = time.perf_counter()
        joint[:, asked] = _scores(fitted, split.texts[asked], task)
        training += between - started
        predicting += time.perf_counter() - between
    found = measures(split, joint, task.positive)
    return Result(number, rival, *found, 0.0, training, predicting)


def _scores(fitted: Any, texts: list[Any], task: Task) -> Floats:
    """A row for each class: the log of its probability, or its score, or 0 for the answer and -inf else."""
    place = {label: row for row, label in enumerate(task.classes)}
    found = np.full((len(task.classes), len(texts)), -np.inf)
    if hasattr(fitted, "predict_proba"):
        with np.errstate(divide="ignore"):
            rows = np.log(np.asarray(fitted.predict_proba(texts), np.float64)).T
    elif hasattr(fitted, "decision_function"):
        scores = np.asarray(fitted.decision_function(texts), np.float64)
        rows = np.stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores.T
    else:
        answers = fitted.predict(texts)
        found[[place[_plain(each)] for each in answers], np.arange(len(texts))] = 0.0
        return found
    found[[place[_plain(label)] for label in fitted.classes_]] = rows
    return found


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
