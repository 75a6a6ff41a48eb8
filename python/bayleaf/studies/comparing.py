"""Significance tests between combinations, and the effect of each factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, stdtr

from bayleaf.studies.grid import FACTORS, Combination
from bayleaf.studies.judging import Result
from bayleaf.types import Floats

LESS_IS_BETTER = frozenset({"log_loss", "blocked"})
LEVEL = 0.05
"""A difference is called one if both tests find it with at most this probability by chance."""


@dataclass(frozen=True)
class Comparison:
    """A combination against the best one: the mean difference, and how probable it is by chance."""

    difference: float
    p_folds: float
    p_answers: float

    @property
    def tie(self) -> bool:
        """Whether the two cannot be told apart."""
        return max(self.p_folds, self.p_answers) > LEVEL


def compare(result: Result, best: Result, truth: NDArray[np.intp], by: str) -> Comparison:
    """Both tests of a combination against the best."""
    differences = result.measures[by] - best.measures[by]
    right = result.answers == truth, best.answers == truth
    return Comparison(float(differences.mean()), corrected_t(differences), mcnemar(*right))


def corrected_t(differences: Floats) -> float:
    """The corrected resampled t-test of Nadeau and Bengio on the differences of the folds, two-sided.

    Training sets of folds overlap, so that the plain t-test finds differences that are not there: the
    variance is raised by the ratio of test to training documents, 1 / (k - 1).
    """
    k = len(differences)
    variance = float(differences.var(ddof=1)) * (1 / k + 1 / (k - 1))
    mean = abs(float(differences.mean()))
    if variance <= 1e-24:
        return 1.0 if mean <= 1e-12 else 0.0
    return float(2 * stdtr(k - 1, -mean / np.sqrt(variance)))


def mcnemar(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """McNemar's exact test: are the documents that only one of the two gets right a fair coin?"""
    only_first, only_second = (int(np.count_nonzero(each)) for each in (first & ~second, second & ~first))
    n = only_first + only_second
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), n, 0.5))) if n else 1.0


@dataclass(frozen=True)
class Effect:
    """One choice of a factor against another, over all that the rest of the grid has in common.

    `median` and `mean` are of choice - against over the pairs; `wins` and `losses` count pairs that differ.
    A choice that is a disaster with one weighting moves the mean, not the median.
    """

    factor: str
    choice: str
    against: str
    median: float
    mean: float
    wins: int
    losses: int
    pairs: int
    p: float
    """By the corrected test on the median differences of the folds."""


def effects(results: Sequence[Result], by: str) -> list[Effect]:
    """Each choice of each factor against the first one.

    Bernoulli models have no weighting, and are compared with multinomial ones of plain counts (tf).
    """
    found = {result.combination: result for result in results if type(result.combination) is Combination}
    made = []
    for factor in FACTORS:
        first, *others = list(dict.fromkeys(getattr(each, factor) for each in found if _counts(factor, each)))
        for choice in others:
            pairs = _pairs(found, factor, choice, first)
            if pairs:
                made.append(_effect(factor, str(choice), str(first), pairs, by))
    return made


def _counts(factor: str, each: Combination) -> bool:
    """Whether a combination has its say about a factor."""
    return factor != "weighting" or each.event == "multinomial"


def _pairs(
    found: dict[Combination, Result], factor: str, choice: object, against: object
) -> list[tuple[Result, Result]]:
    pairs = []
    for each, result in found.items():
        if getattr(each, factor) == choice and _counts(factor, each):
            other = found.get(_exchanged(each, factor, against))
            if other:
                pairs.append((result, other))
    return pairs


def _exchanged(each: Combination, factor: str, value: object) -> Combination:
    changed: dict[str, object] = {factor: value}
    if factor == "event":
        if each.event == "multinomial" and each.weighting != "tf":
            return replace(each, event="")
        changed["weighting"] = "binary" if value == "bernoulli" else "tf"
    return replace(each, **changed)  # type: ignore[arg-type]


def _effect(factor: str, choice: str, against: str, pairs: list[tuple[Result, Result]], by: str) -> Effect:
    differences = np.array([one.measures[by] - other.measures[by] for one, other in pairs])
    means = differences.mean(axis=1)
    signs = np.sign(-means if by in LESS_IS_BETTER else means)
    wins, losses = (int(np.count_nonzero(signs == sign)) for sign in (1, -1))
    p = corrected_t(np.median(differences, axis=0))
    middle, mean = float(np.median(means)), float(means.mean())
    return Effect(factor, choice, against, middle, mean, wins, losses, len(pairs), p)
