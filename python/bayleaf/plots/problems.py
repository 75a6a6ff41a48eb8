"""Decision regions, and what naive Bayes can and cannot separate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.plots.style import MARKERS, axes_of, color_of, plain, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = NDArray[np.float64]


def decision_regions(classifier: Any, X: Any, y: Any, steps: int = 200, ax: Axes | None = None) -> Axes:
    """Where a classifier of two features, already fitted, gives which answer, and the samples `X`, `y`.

    Anything with `predict` will do. `steps` is the number of points asked along each side.
    """
    points = np.asarray(X, np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"Decision regions need a table of two features, got shape {points.shape}.")
    truth = np.asarray(y)
    spread = np.ptp(points, axis=0)
    margin = np.where(spread > 0, 0.08 * spread, 1.0)
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    across, up = (np.linspace(low[side], high[side], steps) for side in (0, 1))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    answers = np.asarray(classifier.predict(grid)).reshape(steps, steps)
    ax = axes_of(ax, 4.4, 4.0)
    for number, label in enumerate(sorted({*truth.tolist(), *answers.ravel().tolist()}, key=str)):
        color = color_of(number)
        own = (answers == label).astype(np.float64)
        if own.any():
            ax.contourf(across, up, own, levels=[0.5, 1.5], colors=[color], alpha=0.22)
        ax.plot(*points[truth == label].T, MARKERS[number % len(MARKERS)], color=color, markersize=4,
                markeredgewidth=0, label=str(label))  # fmt: skip
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    plain(ax, "left", "bottom")
    return ax


def linear_nonlinear(samples: int = 120, seed: int = 0) -> Figure:
    """A problem that a line solves (A) and one that none does (B), with what two classifiers make of them.

    Gaussian naive Bayes describes each class by a mean and a variance per feature. In B these are the same
    for both classes, so it can only guess; five nearest neighbors need no description. The title of each
    panel gives the accuracy on as many samples again, which were not learned.
    """
    from sklearn.neighbors import KNeighborsClassifier

    from bayleaf.matrix import GaussianNB

    figure, panels = pyplot().subplots(2, 2, figsize=(6.2, 6.2), layout="constrained")
    random = np.random.default_rng(seed)
    problems = (("A, linear", _blobs), ("B, not linear", _chessboard))
    models = (("Gaussian naive Bayes", GaussianNB), ("5 nearest neighbors", KNeighborsClassifier))
    for row, (problem, draw) in zip(panels, problems, strict=True):
        X, y = draw(random, samples)
        unseen, truth = draw(random, samples)
        for ax, (name, make) in zip(row, models, strict=True):
            classifier = make().fit(X, y)
            decision_regions(classifier, X, y, steps=150, ax=ax)
            right = np.mean(classifier.predict(unseen) == truth)
            ax.set_title(f"{problem}:\n{name}, {right:.0%} right", loc="left", fontsize="medium")
            ax.set_xticks([])
            ax.set_yticks([])
    made: Figure = figure
    return made


def _blobs(random: np.random.Generator, n: int) -> tuple[Points, NDArray[np.int64]]:
    """Two clouds side by side."""
    y = np.arange(n) % 2
    centers = np.array([[-1.6, -0.8], [1.6, 0.8]])
    return centers[y] + random.normal(0, 0.75, (n, 2)), y


def _chessboard(random: np.random.Generator, n: int) -> tuple[Points, NDArray[np.int64]]:
    """Four clouds, where those across from each other are one class."""
    corner = np.arange(n) % 4
    signs = np.array([[-1, -1], [1, 1], [-1, 1], [1, -1]])
    return 1.5 * signs[corner] + random.normal(0, 0.55, (n, 2)), corner // 2
