"""Running the grid: combinations with the same analysis share their counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayleaf.posterior import log_prior
from bayleaf.studies.counting import Counted, Split
from bayleaf.studies.folding import Fold
from bayleaf.studies.grid import Combination, Looking
from bayleaf.studies.judging import Result, measures
from bayleaf.studies.weighing import VALUES, weigh
from bayleaf.types import Floats, Label, Priors

Progress = Callable[[int, int], None]
"""Called with the combinations done, and those there are."""


@dataclass(frozen=True)
class Task:
    """What all combinations have in common."""

    split: Split
    classes: list[Label]
    priors: Priors
    positive: int | None

    def log_prior(self, fold: Fold) -> Floats:
        """The classes before looking, as a model says that has not seen the fold."""
        there = fold.class_documents > 0
        chosen = [label for label, is_there in zip(self.classes, there, strict=True) if is_there]
        found = np.full(len(self.classes), -np.inf)
        found[there] = log_prior(self.priors, chosen, fold.class_documents[there].astype(np.float64))
        return found


def run(task: Task, combinations: list[Combination], threads: int, progress: Progress | None) -> list[Result]:
    """The results, in the order of the combinations."""
    groups: dict[Looking, dict[int, Combination]] = {}
    for number, each in enumerate(combinations):
        groups.setdefault(each.looking, {})[number] = each
    found: list[Result] = []
    with ThreadPoolExecutor(threads) as pool:
        for results in _as_completed(pool, task, groups):
            found += results
            if progress:
                progress(len(found), len(combinations))
    return sorted(found, key=lambda result: result.number)


def _as_completed(
    pool: ThreadPoolExecutor, task: Task, groups: dict[Looking, dict[int, Combination]]
) -> Iterable[list[Result]]:
    work = [pool.submit(run_group, task, looking, group) for looking, group in groups.items()]
    try:
        for future in as_completed(work):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def run_group(task: Task, looking: Looking, group: dict[int, Combination]) -> list[Result]:
    """Look at the texts once, take each fold out of the counts, and let every combination answer."""
    started = time.perf_counter()
    counted = Counted(looking.shared_view(), task.split, len(task.classes))
    tops = tuple(sorted({each.top for each in group.values()} - {0}))
    counting = time.perf_counter() - started
    joints = [np.empty((len(task.classes), len(task.split.truth))) for _ in group]
    seconds = np.zeros((2, len(group)))
    for number in range(task.split.n_folds):
        fold = Fold(counted, number, tops)
        prior = task.log_prior(fold)
        for i, each in enumerate(group.values()):
            seconds[:, i] += answer(fold, each, prior, joints[i][:, fold.documents])
    return [
        Result(*each, *measures(task.split, joint, task.positive), counting, took[0], took[1], task.priors)
        for each, joint, took in zip(group.items(), joints, seconds.T.tolist(), strict=True)
    ]


def answer(fold: Fold, given: Combination, prior: Floats, joint: Any) -> tuple[float, float]:
    """Write the log joint of the fold's documents; gives the seconds of weighing and of scoring."""
    started = time.perf_counter()
    weights, bias = weigh(fold, given)
    weighed = time.perf_counter()
    np.add(fold.score(VALUES[given.weighting], weights), (bias + prior)[:, None], out=joint)
    return weighed - started, time.perf_counter() - weighed
