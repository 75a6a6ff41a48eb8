"""The temperature: one factor for all scores, which makes probabilities trustworthy."""

from __future__ import annotations

import numpy as np

from bayleaf.posterior import below_best
from bayleaf.types import Classes, Floats

LIMIT = 1e5
"""Log odds beyond this are as good as infinite."""


def temperature(joint: Floats, labels: Classes, weights: Floats | None = None) -> tuple[float, float]:
    """The factor of the scores that predicts the labels best, and the mean log loss then.

    The loss is convex in the factor; its logarithm is found by golden section. A document whose class is
    impossible without it (it was the only one) says nothing about the factor and is passed over.
    """
    possible = np.isfinite(joint[np.arange(len(labels)), labels])
    if possible.any():
        joint, labels = joint[possible], labels[possible]
    if weights is None or not len(weights):
        weights = np.ones(len(labels))
    elif possible.any():
        weights = weights[possible]
    odds = np.clip(below_best(joint)[0], -LIMIT, 0.0)
    truth = odds[np.arange(len(labels)), labels]

    def loss(log: float) -> float:
        factor = np.exp(log)
        return float(np.mean(weights * (np.log(np.exp(factor * odds).sum(axis=1)) - factor * truth)))

    low, high, golden = -12.0, 3.0, (np.sqrt(5) - 1) / 2
    inner = [high - golden * (high - low), low + golden * (high - low)]
    values = [loss(each) for each in inner]
    while high - low > 1e-4:
        if values[0] <= values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - golden * (high - low)
            values[0] = loss(inner[0])
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + golden * (high - low)
            values[1] = loss(inner[1])
    middle = (low + high) / 2
    return float(np.exp(middle)), loss(middle)
