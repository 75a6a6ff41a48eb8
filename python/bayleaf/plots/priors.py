"""How a prior moves the border between two normal classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bayleaf.plots.style import COLORS, MIDTONE, axes_of, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayleaf.matrix import GaussianNB

Pair = tuple[float, float]
CLASSES = (COLORS[0], COLORS[2])


def _check(means: Pair, sigmas: Pair, prior: float) -> None:
    if not all(map(math.isfinite, means)):
        raise ValueError(f"`means` must be two finite numbers, one for each class, got {means!r}.")
    if not all(math.isfinite(sigma) and sigma > 0 for sigma in sigmas):
        raise ValueError(f"`sigmas` must be two numbers above 0, one for each class, got {sigmas!r}.")
    if not 0 < prior < 1:
        raise ValueError(f"A prior must be between 0 and 1, both excluded, got {prior!r}.")


def effect_of_priors(
    means: Pair = (4.0, 10.0),
    sigmas: Pair = (1.0, 1.0),
    priors: Sequence[float] = (0.5, 0.9),
    samples: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Two normal classes, samples of each, and where the decision changes for each prior of the first.

    The curves are the densities P(x | class), which no prior changes; what moves is the border. The numbers
    are those of `GaussianNB.decision_boundaries`.
    """
    models = [_classifier(means, sigmas, prior) for prior in priors]
    borders = [model.decision_boundaries().tolist() for model in models]
    ax = axes_of(ax, 6.0, 4.0)
    low = min(mean - 3.6 * sigma for mean, sigma in zip(means, sigmas, strict=True))
    high = max(mean + 3.6 * sigma for mean, sigma in zip(means, sigmas, strict=True))
    across = np.linspace(low, high, 241)
    peak = _density(0.0, 0.0, min(sigmas))
    random = np.random.default_rng(0)
    for number, (mean, sigma) in enumerate(zip(means, sigmas, strict=True)):
        color, density = CLASSES[number], _density(across, mean, sigma)
        ax.fill_between(across, density, color=color, alpha=0.15, linewidth=0)
        ax.plot(across, density, color=color, label=f"P(x | ω{'₁₂'[number]})")
        drawn = random.normal(mean, sigma, samples)
        ax.plot(drawn, np.full(samples, -0.05 * peak), "x", color=color, markersize=4)
    _draw_borders(ax, priors, borders)
    for number, (prior, places) in enumerate(zip(priors, borders, strict=True)):
        cuts = [low, *(place for place in places if low < place < high), high]
        _draw_regions(ax, models[number], prior, cuts, -peak * (0.22 + 0.12 * number), 0.1 * peak)
    ax.set_xlabel("x")
    ax.set_ylabel("density")
    ax.set_xlim(low, high)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.1 * peak])
    ax.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    plain(ax, "left", "bottom")
    return ax


def _classifier(means: Pair, sigmas: Pair, prior: float) -> GaussianNB:
    """Gaussian naive Bayes with these curves, the first class having this prior."""
    from bayleaf.matrix import GaussianNB

    _check(means, sigmas, prior)
    curves = [[[mean] for mean in means], [[sigma**2] for sigma in sigmas]]
    return GaussianNB.from_parameters(*curves, priors=[prior, 1 - prior])


def _density(x: Any, mean: float, sigma: float) -> Any:
    return np.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))


def _draw_borders(ax: Axes, priors: Sequence[float], borders: list[list[float]]) -> None:
    """A line for each border; that of equal priors is whole and gray."""
    dashes = [(0, (1, 1.5)), (0, (4, 2)), (0, (6, 2, 1, 2))]
    for number, (prior, places) in enumerate(zip(priors, borders, strict=True)):
        even = prior == 0.5
        color = MIDTONE if even else CLASSES[0 if prior > 0.5 else 1]
        for place in places or [math.nan]:
            label = f"P(ω₁) = {prior:g}: " + (f"x = {place:.2f}" if places else "no border")
            ax.axvline(place, color=color, linewidth=2, linestyle="-" if even else dashes[number % 3],
                       label=label)  # fmt: skip


def _draw_regions(
    ax: Axes, model: GaussianNB, prior: float, cuts: list[float], bottom: float, height: float
) -> None:
    """A strip below the curves: which class is the answer where."""
    for left, right in pairwise(cuts):
        middle = (left + right) / 2
        answer = int(model.predict([[middle]])[0])
        ax.barh(bottom, right - left, height, left, align="edge", color=CLASSES[answer], zorder=3)
        if right - left > 0.06 * (cuts[-1] - cuts[0]):
            shown = f"R{'₁₂'[answer]}, P(ω₁) = {prior:g}" if left == cuts[0] else f"R{'₁₂'[answer]}"
            ax.text(middle, bottom + 0.45 * height, shown, color="white", ha="center", va="center",
                    fontsize="small", zorder=4)  # fmt: skip
