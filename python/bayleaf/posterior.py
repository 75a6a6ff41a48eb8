"""From scores to answers: prior, evidence, posterior; costs of mistakes, thresholds, and being unsure."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf import _core
from bayleaf.labels import as_array
from bayleaf.types import Floats, Priors


def decide(posterior: Floats, classes: Sequence[Any], costs: Any, thresholds: Any) -> NDArray[Any]:
    """The number of the answer for each row of probabilities; ties go to the first class."""
    if costs is not None and thresholds is not None:
        raise ValueError("Give `costs` or `thresholds`, not both: each decides alone.")
    if costs is not None:
        return np.asarray((posterior @ cost_matrix(costs, classes)).argmin(axis=1))
    if thresholds is not None:
        return _over(posterior, threshold_vector(thresholds, classes))
    return np.asarray(posterior.argmax(axis=1))


def _over(posterior: Floats, bounds: Floats) -> NDArray[Any]:
    """The most probable class that reaches its bound; if none does, the most probable one without a bound."""
    reached = np.where(posterior >= bounds, posterior, -1.0)
    free = np.where((bounds == 0) | (bounds > 0).all(), posterior, -1.0)
    return np.asarray(np.where((reached >= 0).any(axis=1), reached.argmax(axis=1), free.argmax(axis=1)))


def cost_matrix(costs: Any, classes: Sequence[Any]) -> Floats:
    """What each answer costs, a row for each true class and a column for each answer.

    In a mapping `{true class: {answer: cost}}`, what is not named costs 0 if it is right and 1 if wrong.
    """
    if isinstance(costs, Mapping):
        matrix = 1.0 - np.eye(len(classes))
        place = {label: i for i, label in enumerate(classes)}
        for true, row in costs.items():
            for answer, cost in row.items():
                matrix[_place(true, place, "costs"), _place(answer, place, "costs")] = cost
    else:
        matrix = np.asarray(costs, np.float64)
    if matrix.shape != (len(classes), len(classes)) or not np.isfinite(matrix).all():
        raise ValueError(
            f"`costs` must be finite numbers, a row and a column for each of the {len(classes)} classes, got "
            f"shape {matrix.shape}."
        )
    return matrix


def threshold_vector(thresholds: Any, classes: Sequence[Any]) -> Floats:
    """The posterior that each class must reach, 0 where none is named."""
    if not isinstance(thresholds, Mapping):
        raise TypeError(f"`thresholds` maps classes to probabilities, got {thresholds!r}.")
    bounds = np.zeros(len(classes))
    place = {label: i for i, label in enumerate(classes)}
    for label, bound in thresholds.items():
        bounds[_place(label, place, "thresholds")] = check_probability("thresholds", bound)
    return bounds


def check_probability(name: str, value: Any) -> float:
    """`value`, if it is a probability."""
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(f"`{name}` must be a probability from 0 to 1, got {value!r}.")
    return float(value)


def _place(label: Any, place: dict[Any, int], name: str) -> int:
    if label not in place:
        raise ValueError(f"`{name}` names the class {label!r}; the classes are {list(place)!r}.")
    return place[label]


def unless_unsure(answers: NDArray[Any], probabilities: Floats, bound: Any, label: Any) -> NDArray[Any]:
    """The answers, with `label` in place of those less probable than `bound`."""
    sure = probabilities >= check_probability("unsure", bound)
    given = [
        answer if is_sure else label for answer, is_sure in zip(answers.tolist(), sure.tolist(), strict=True)
    ]
    return np.array(given, dtype=object) if label is None else as_array(given)


def log_prior(priors: Priors, labels: Sequence[Any], class_documents: NDArray[Any]) -> Floats:
    """What is known of a document's class before looking at it."""
    if isinstance(priors, Mapping):
        probabilities = np.array([float(priors[label]) for label in labels])
    elif priors == "uniform":
        probabilities = np.full(len(labels), 1 / len(labels))
    else:
        return _core.log_shares(class_documents.tolist())
    return np.array(_core.logs(probabilities.tolist()))


def log_shares(logs: Floats | float, totals: Floats, out: Floats | None = None) -> Floats:
    """The multinomial weight, log (count + alpha) / (total + alpha size), of the logarithm of the counts.

    Each class draws one of `size` values from its own bag; `totals` has alpha in it. A class without anything
    has no shares to divide into: nothing is subtracted.
    """
    return np.subtract(logs, np.log(np.where(totals > 0, totals, 1.0)), out=out)


# Normalizing happens in log space, here only: exp(-746) is 0.0, and a page of text scores below that.
# Logarithms and powers that answers are made of are the core's: NumPy has its own, which differ in the last
# bit from those of the C library, and a model that is asked without NumPy must give the same answers.


def below_best(scores: Floats) -> tuple[Floats, Floats]:
    """How far the scores of each row are below its highest, and the highest; 0 for one that is infinite."""
    highest = scores.max(axis=1, keepdims=True)
    highest[~np.isfinite(highest)] = 0
    return scores - highest, highest


def log_evidence(joint: Floats) -> Floats:
    """How probable each document is, whatever its class: the log of each row's sum of exponentials."""
    below, highest = below_best(joint)
    with np.errstate(divide="ignore"):
        evidence: Floats = np.log(np.exp(below, out=below).sum(axis=1)) + highest[:, 0]
    return evidence


def softmax(scores: Floats) -> Floats:
    """Scores as probabilities, row by row."""
    below, _ = below_best(scores)
    powers: Floats = np.exp(below, out=below)
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def log_softmax(scores: Floats) -> Floats:
    """Scores as log probabilities, row by row.

    Beside a score of -1e16, the logarithm of 2 is lost; it is not beside the differences of the scores.
    """
    return _core.log_softmax(np.ascontiguousarray(scores, np.float64))


def probabilities(logs: Floats) -> Floats:
    """Log probabilities as probabilities."""
    powers: Floats = _core.exponentials(np.ascontiguousarray(logs, np.float64).ravel())
    return powers.reshape(np.shape(logs))


def log_posterior(joint: Floats, prior: Floats) -> Floats:
    """Divide the joint by the evidence.

    Where every class is ruled out (`alpha=0`), the document says nothing and the prior stands, with a
    warning.
    """
    impossible = np.isneginf(joint.max(axis=1))
    if impossible.any():
        warnings.warn(
            f"{int(impossible.sum())} of {len(joint)} documents are impossible in every class, because alpha "
            "is 0 or a number is too far from all that were learned; they get the prior. Use alpha > 0 to "
            "smooth terms.",
            stacklevel=3,
        )
        joint = np.where(impossible[:, None], prior, joint)
    return log_softmax(joint)


Together = _core.Together
"""What answers one document that several views look at, in one call of the core."""


def posterior_of_one(together: Together, columns: list[Any]) -> list[float]:
    """The posterior of one document that several views look at, bit for bit that of a batch."""
    return together.posterior(columns)
