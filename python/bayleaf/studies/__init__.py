"""Studies: which event model, words, stems, n-grams and weights suit a corpus; folds by subtraction."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.checks import check_choice as _check_choice
from bayleaf.checks import check_priors as _check_priors
from bayleaf.checks import check_threads as _check_threads
from bayleaf.columns import as_documents, as_list
from bayleaf.labels import Labels
from bayleaf.studies.counting import split
from bayleaf.studies.curves import curve as _curve
from bayleaf.studies.grid import Combination, Looking, grid
from bayleaf.studies.judging import MEASURES, Result
from bayleaf.studies.result import Study, ranked
from bayleaf.studies.rivals import rivals_of, run_rival
from bayleaf.studies.running import Progress, Task, run
from bayleaf.types import Label, Priors

__all__ = ["Combination", "Result", "Study", "study"]


def study(
    X: Any,
    y: Any,
    *,
    events: Iterable[str] | None = None,
    weightings: Iterable[str] | None = None,
    ngrams: Iterable[str] | None = None,
    stop_words: Iterable[str] | None = None,
    normalizers: Iterable[str] | None = None,
    alphas: Iterable[float] | None = None,
    folds: int = 10,
    priors: Priors = "empirical",
    positive: Label | None = None,
    by: str = "accuracy",
    curve: bool = False,
    rivals: Any = None,
    groups: Any = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Study:
    """Compare ways to look at texts and to weigh their terms, by stratified cross-validation.

    | argument | values | default |
    |---|---|---|
    | `events` | "bernoulli", "multinomial" | both |
    | `weightings` | "tf", "binary", "normalized", "log", "tf-idf" | all |
    | `ngrams` | words "1", "1-2"; letters "letters:3-4" inside words, "across:4" across them | words 1, 1-2; letters 3, 4, 3-4 |
    | `stop_words` | "none", a language, "top:50" | none, English, the 50 most frequent |
    | `normalizers` | "none", "porter", "lemmas", "stems:german", "lemmas:german" | none, Porter's stems, English lemmas |
    | `alphas` | numbers > 0 | 1 |
    | `folds` | whole number >= 2 | 10 |
    | `priors` | as in `Model` | "empirical" |
    | `positive` | label | of two classes the one called spam, or the rarer one |
    | `by` | "accuracy", "mcc", "macro_f1", "log_loss" | "accuracy" |
    | `curve` | True, False | also measure growing vocabularies |
    | `rivals` | mapping or list of estimators with scikit-learn's methods, or "default" (`NaiveBayes()`), "logistic", "svm" | none |
    | `groups` | a name for each text; those of one name are in one fold | each text by itself |
    | `progress` | function(done, all) | none |

    The texts are counted once for each way to look at them. Each fold is then taken out of the counts, and all
    that is made of the counts is made without another look: the scores are those of models that were learned
    without the fold. Rivals are fitted and asked fold by fold. `best.estimator()` makes the best one anew.
    """  # noqa: E501
    started = time.perf_counter()
    combinations = grid(events, weightings, ngrams, stop_words, normalizers, alphas)
    _check_choice("by", by, MEASURES)
    beside = rivals_of(rivals)
    task = _task(_texts(X), y, folds, seed, priors, positive, groups)
    _warn_of_small_classes(task)
    used = _check_threads(threads)
    found = run(task, combinations, used, progress)
    found += [run_rival(task, len(found) + number, rival) for number, rival in enumerate(beside)]
    results = ranked(found, by)
    took = time.perf_counter() - started
    first = combinations[0]
    points = _curve(task, Looking(first.ngrams), first.alpha, used) if curve else []
    shown = None if task.positive is None else task.classes[task.positive]
    parts = task.split.truth, task.split.order
    return Study(results, task.classes, *parts, folds, by, shown, took, points)


def _texts(X: Any) -> list[Any]:
    column = as_documents(X)
    if isinstance(column, list | tuple):
        return list(column)
    method = next(name for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name))
    found: list[Any] = getattr(column, method)()
    return found


def _task(
    texts: list[Any],
    y: Any,
    folds: int,
    seed: int,
    priors: Priors,
    positive: Label | None,
    groups: Any = None,
) -> Task:
    labels = Labels()
    numbers = labels.number(y)
    if len(numbers) != len(texts):
        raise ValueError(
            f"X has {len(texts)} documents and y has {len(numbers)} labels; each document needs one."
        )
    _check_folds(folds, numbers)
    order = labels.order(np.bincount(numbers))
    place = np.argsort(order)
    classes = [labels.names[number] for number in order.tolist()]
    _check_priors(priors, classes)
    truth = place[numbers]
    chosen = _positive(positive, classes, truth)
    names = None if groups is None else as_list(groups, "groups")
    if names is not None and len(names) != len(texts):
        raise ValueError(f"X has {len(texts)} documents and there are {len(names)} groups; each needs one.")
    return Task(split(texts, truth, folds, seed, names), classes, priors, chosen)


def _warn_of_small_classes(task: Task) -> None:
    """Say which class is in some of the folds only: its figures rest on few documents."""
    folds, documents = task.split.n_folds, np.bincount(task.split.truth)
    smallest = int(documents.argmin())
    if documents[smallest] < folds:
        others = int((documents < folds).sum()) - 1
        also = f" (and {others} more of the classes)" if others else ""
        warnings.warn(
            f"The class {task.classes[smallest]!r} has fewer documents ({documents[smallest]}) than there "
            f"are folds ({folds}){also}: some folds do not ask about it, and a class of one document is "
            "never known where it is asked about. Use fewer folds, or more documents.",
            stacklevel=3,
        )


def _check_folds(folds: Any, numbers: NDArray[Any]) -> None:
    if type(folds) is not int or folds < 2:
        raise ValueError(f"`folds` must be a whole number >= 2, got {folds!r}.")
    if len(numbers) < folds:
        raise ValueError(
            f"`folds` is {folds}, more than there are documents ({len(numbers)}). Use fewer folds."
        )
    if len(np.unique(numbers)) < 2:
        raise ValueError(
            "y has one class only; there is nothing to tell apart. Give documents of two or more."
        )


def _positive(given: Label | None, classes: list[Label], truth: NDArray[np.intp]) -> int | None:
    """The class that is to be caught: the one named; of two spam, or the rarer one; of more none."""
    if given is not None:
        if given not in classes:
            raise ValueError(f"There is no class {given!r} to be `positive`. The classes are {classes!r}.")
        return classes.index(given)
    if len(classes) != 2:
        return None
    named = [number for number, label in enumerate(classes) if str(label).lower() == "spam"]
    return named[0] if named else int(np.bincount(truth, minlength=2).argmin())
