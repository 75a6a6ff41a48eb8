"""Validation of settings: each error names the value and what is expected."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

MAX_ALPHA = 1e100
"""Times the number of terms, a larger one would be no float."""
MIN_ALPHA = 1e-300
"""Divided by a number of documents, a smaller one would be 0."""


def check_alpha(alpha: Any) -> float:
    """`alpha`, if it is a pseudo-count."""
    usable = isinstance(alpha, Real) and not isinstance(alpha, bool | np.bool_)
    if not usable or not 0 <= float(alpha) < math.inf:
        raise ValueError(f"`alpha` is a pseudo-count and must be a finite number >= 0, got {alpha!r}.")
    if float(alpha) > MAX_ALPHA:
        raise ValueError(
            f"`alpha` is a pseudo-count of at most {MAX_ALPHA:g}, which leaves nothing of the counts; got "
            f"{alpha!r}."
        )
    if 0 < float(alpha) < MIN_ALPHA:
        raise ValueError(
            f"`alpha` is a pseudo-count of 0 or of at least {MIN_ALPHA:g}: no float holds what less adds; "
            f"got {alpha!r}."
        )
    return float(alpha)


def check_threads(threads: Any) -> int:
    """How many threads to use; None stands for all processors."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if type(threads) is not int or threads < 1:
        raise ValueError(
            f"`threads` must be a whole number >= 1, or None for all processors, got {threads!r}."
        )
    return threads


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise unless `value` is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = " or ".join(filter(None, [", ".join(map(repr, choices[:-1])), repr(choices[-1])]))
        raise ValueError(f"`{name}` must be {listed}, got {value!r}.")


def check_priors(priors: Any, labels: Sequence[Any] | None = None) -> None:
    """Raise unless `priors` can be used; with `labels`, unless it has one for each class."""
    if not isinstance(priors, Mapping):
        check_choice("priors", priors, ["empirical", "uniform", "a mapping from class to probability"][:2])
        return
    bad = {label: p for label, p in priors.items() if not isinstance(p, Real) or not 0 <= float(p) <= 1}
    if bad:
        raise ValueError(f"A prior is a probability from 0 to 1, got {bad!r}.")
    total = math.fsum(float(p) for p in priors.values())
    if abs(total - 1) > 1e-9:
        raise ValueError(f"The priors {dict(priors)!r} sum to {total:g}, not to 1.")
    if labels is not None and set(labels) != set(priors):
        missing = [label for label in labels if label not in priors]
        extra = [label for label in priors if label not in set(labels)]
        said = [
            f"{what} {names!r}"
            for what, names in (("miss the classes", missing), ("name the unknown", extra))
            if names
        ]
        raise ValueError(f"The priors {' and '.join(said)}. The classes are {list(labels)!r}.")


def check_range(name: str, shortest: Any, longest: Any, most: int) -> None:
    """Raise unless these are lengths of n-grams, from 1 to `most`."""
    whole = all(isinstance(end, int) and not isinstance(end, bool) for end in (shortest, longest))
    if not whole or not 1 <= shortest <= longest <= most:
        raise ValueError(f"`{name}` must go from 1 up to at most {most}, got {shortest!r} to {longest!r}.")


def check_flag(name: str, value: Any) -> None:
    """Raise unless `value` is True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` is True or False, got {value!r}.")


def check_count(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Raise unless `value` is a whole number of at least, and maybe at most, so much."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"`{name}` must be a whole number >= {least}, got {value!r}.")
    if most is not None and value > most:
        raise ValueError(f"`{name}` must be at most {most}, got {value!r}.")
