"""Documents held out of the counts and of the fit alike, and the penalty that they choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayleaf import _core
from bayleaf.tuning import class_weights
from bayleaf.tuning.class_weights import Words
from bayleaf.tuning.examples import NONE, Evidence, Examples, Looked
from bayleaf.tuning.fits import Fit, Plan, fit_terms, prepare
from bayleaf.types import Floats

Progress = Callable[[str], None]


def folds(examples: Examples, plan: Plan) -> Iterator[tuple[Examples, Examples]]:
    """Documents to count and fit, and documents to judge by, quarter by quarter until enough have judged."""
    order, starts = examples.shuffled(plan.seed)
    quarter = max(len(order) // 4, 1)
    ends = [*starts.tolist(), len(order)]
    cuts = [ends[min(int(np.searchsorted(starts, k * quarter)), len(starts))] for k in range(5)]
    for k in range(min(4, len(order), -(-plan.judge // quarter))):
        judges = order[cuts[k] : cuts[k + 1]][: plan.judge]
        others = np.concatenate([order[: cuts[k]], order[cuts[k + 1] :]])[: plan.train]
        # Of a class that is held out altogether nothing can be known, and nothing learned.
        judges = judges[np.isin(examples.y[judges], examples.y[others])]
        if len(judges) and len(others):
            yield examples.some(np.sort(others)), examples.some(np.sort(judges))


def _counted_terms(evidence: Evidence, part: Evidence) -> NDArray[np.intp]:
    """Which terms of all are counted in a part, view behind view; views without terms behind them."""
    found, start = [], 0
    for view, own in zip(evidence.texts, part.texts, strict=True):
        found.append(start + view.place[own.place != NONE].astype(np.intp))
        start += len(view.counts)
    return np.concatenate([*found, start + np.arange(len(evidence.wholes))])


class Holdout:
    """The log loss on documents left out of the counts and of the fit alike, for any penalty."""

    def __init__(self, evidence: Evidence, examples: Examples, plan: Plan, threads: int) -> None:
        self.plan = plan
        self._parts: list[tuple[Fit, _core.Features, int]] = []
        self._terms: list[NDArray[np.intp]] = []
        self._views: list[tuple[Looked, Examples, Examples]] = []
        self._starts: dict[float, tuple[Floats, Floats]] = {}
        for others, judges in folds(examples, plan):
            part = evidence.counted(others)
            self._terms.append(_counted_terms(evidence, part))
            fit = prepare(part, others, threads)
            judged = part.features(judges, threads, leave_out=False).core
            if judged is not None:
                self._parts.append((fit, judged, len(judges)))
                self._views.append((part.texts[0], others, judges))

    def __bool__(self) -> bool:
        """Whether there is anything to judge by: not if all documents are alike."""
        return bool(self._parts)

    def loss(self, penalty: float) -> float:
        """The mean loss; the fit starts from that of the penalty before."""
        total = 0.0
        for fit, judged, size in self._parts:
            weights, bias = fit.prior, fit.bias
            if np.isfinite(penalty):
                weights, bias = fit.start = fit_terms(fit, penalty, self.plan)
            total += judged.loss(weights - fit.prior + fit.shared, bias) * size
        first = self._parts[0][0]
        if first.start is not None:
            self._starts[penalty] = first.start[0] - first.prior, first.start[1] - first.bias
        return total / self.judges

    def class_parts(self, penalty: float) -> list[class_weights.Part]:
        """Ready for weights of classes, beside those of terms with this penalty."""
        found = []
        for (fit, judged, _), (view, others, judges) in zip(self._parts, self._views, strict=True):
            weights, bias = fit.prior, fit.bias
            if fit.features is None:
                continue
            if np.isfinite(penalty):
                weights, bias = fit_terms(fit, penalty, self.plan)
            words = Words.of(view, len(fit.examples))
            known = fit.features.scores(weights) + bias + fit.unknown
            judging = judged.scores(weights - fit.prior + fit.shared) + bias
            part = class_weights.Part.of(words, fit.examples, known, judges, judging)
            found.append(replace(part, counted=others.documents))
        return found

    @property
    def judges(self) -> int:
        """How many documents judge."""
        return sum(size for *_, size in self._parts)

    def start(self, fit: Fit, penalty: float) -> tuple[Floats, Floats]:
        """Where to begin the fit of all documents: as far from the prior as the first part came.

        This saves a quarter of the passes, and the log loss on test data is lower by a hundredth of itself:
        terms that only the rest of the documents have stay nearer to the prior.
        """
        nearest = min(self._starts, key=lambda known: abs(np.log(known / penalty)))
        weights, bias = self._starts[nearest]
        start = fit.prior.copy()
        start[self._terms[0]] += weights
        return start, fit.bias + bias


def choose_penalty(holdout: Holdout, plan: Plan, tell: Progress, may_stay: bool) -> tuple[float, float]:
    """The penalty that predicts held-out documents best, and their loss; infinite: no weights of terms."""
    grid, known = plan.penalties, dict[int, float]()

    def at(i: int) -> float:
        if i not in known:
            tell(f"penalty {grid[i]:g}")
            known[i] = holdout.loss(grid[i]) + plan.belief * abs(i - plan.believed) / holdout.judges
        return known[i]

    best = plan.first
    step = -1 if at(best - 1) < at(best) else 1
    while 0 <= best + step < len(grid) and at(best + step) < at(best):
        best += step
    if may_stay:
        without = holdout.loss(np.inf)
        if without <= known[best] + plan.gain / holdout.judges:
            return np.inf, without
    return _vertex(grid, known, best), known[best]


def _vertex(grid: Sequence[float], known: dict[int, float], best: int) -> float:
    """Where the parabola through the best penalty and its neighbors is lowest, on the scale of logs."""
    if best - 1 not in known or best + 1 not in known:
        return grid[best]
    left, middle, right = (known[best + i] for i in (-1, 0, 1))
    shift = 0.5 * (left - right) / max(left - 2 * middle + right, 1e-12)
    return float(grid[best] * np.exp(shift * np.log(grid[best + 1] / grid[best - 1]) / 2))
