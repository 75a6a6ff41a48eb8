"""Whether classes are of the same size: what few documents leave open, and what that makes of their shares.

Of thirty documents, 14 of one class and 16 of the other say nothing of which is more frequent. Taken as they
are, they decide most answers where the evidence is weak. So two hypotheses are weighed by the documents: all
classes are as frequent as each other, or any shares are as probable as any others.
"""

from __future__ import annotations

from math import lgamma

import numpy as np

from bayleaf.types import Floats


def chance_of_even(counts: Floats) -> float:
    """How probable it is, after so many documents of each class, that all are as frequent as each other.

    Before looking, a coin is tossed for each class but one: many classes are of one size by no coincidence.
    """
    n, classes = float(counts.sum()), len(counts)
    coins = max(classes - 1, 1)
    odds = -n * np.log(classes) - coins * np.log(2) - np.log1p(-(0.5**coins))
    odds -= lgamma(classes) - lgamma(n + classes) + sum(lgamma(each + 1) for each in counts.tolist())
    return float(1 / (1 + np.exp(min(-odds, 700.0))))


def evening(counts: Floats) -> Floats:
    """What the documents of each class are multiplied by, so that their shares are those believed in."""
    known = counts > 0
    shares = counts[known] / counts.sum()
    factors = np.ones(len(counts))
    factors[known] += chance_of_even(counts[known]) * (1 / (len(shares) * shares) - 1)
    return factors
