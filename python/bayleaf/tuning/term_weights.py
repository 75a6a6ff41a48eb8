"""Earned weights: what naive Bayes learns about its evidence from its own leave-one-out scores.

Each training document is scored with itself left out of the counts. On these scores a weight for each kind
of term is fitted (level "views"), then, held back by a penalty towards it, a weight for each term (level
"terms"). The penalty is the one that predicts best documents that were left out of the counts and of the
fit alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf import _core
from bayleaf.tuning import class_weights
from bayleaf.tuning.class_weights import HeldOut, Words
from bayleaf.tuning.complement import FEW_CLASSES, Complement
from bayleaf.tuning.examples import NONE, Evidence, Examples, Features, Looked
from bayleaf.tuning.lbfgs import minimize
from bayleaf.tuning.shared_weights import LeftOut, fit_shared, unknown_classes
from bayleaf.types import Floats

Progress = Callable[[str], None]

FEW = 2000
"""Of so many documents, those held out say how sure to be; more are sure enough by those left out."""
MOST_SCORES = 10_000_000
"""Weights that terms share are found by so many scores, documents times steps times classes."""
LEAST_DOCUMENTS = 500
"""And by so many documents, whatever that takes."""

MANY_CLASSES = 50
"""Of more classes, what terms share is added up from the cells that there are, and not from a table."""
OF_EACH_CLASS = 20
"""So many documents of each of many classes make weights of terms worth a try: with fewer they never won."""


@dataclass(frozen=True)
class Plan:
    """The constants of the fit; `docs/tuning.md` says how each was found."""

    penalties: tuple[float, ...] = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
    first: int = 3
    train: int = 4000
    judge: int = 2000
    tolerance: float = 1e-4
    iterations: int = 40
    seed: int = 0
    gain: float = 0.0
    believed: float = 1.5
    belief: float = 1.0
    even: float = 10.0
    terms_cost: float = 1e9
    first_step: float = 0.6


@dataclass(frozen=True, eq=False)
class Earned:
    """Weights of groups and terms (in the order of the views) and a bias for each class."""

    groups: Floats
    weights: Floats
    bias: Floats
    penalty: float = np.inf
    loss: float = np.nan
    by_class: tuple[NDArray[np.intp], Floats] | None = None
    """Of the first view of text: terms among those that have counts, and a row of classes for each."""
    folds: Sequence[HeldOut] = ()
    fit: Fit | None = None
    left: Floats = field(default_factory=lambda: np.zeros(0))
    """The weights of terms when a document is left out."""

    def times(self, factor: float) -> Earned:
        """As sure by this factor: the same decisions."""
        if factor == 1:
            return self
        rows = None if self.by_class is None else (self.by_class[0], factor * self.by_class[1])
        groups, weights, bias = factor * self.groups, factor * self.weights, factor * self.bias
        return replace(self, groups=groups, weights=weights, bias=bias, by_class=rows)


@dataclass(eq=False)
class Fit:
    """Documents left out of their own counts, and what is known before any term has a weight of its own.

    `prior` are the weights that terms share when a document is left out, `shared` when none is.
    """

    features: _core.Features | None
    groups: Floats
    prior: Floats
    shared: Floats
    bias: Floats
    loss: float
    unknown: Floats
    examples: Examples
    curvature: Floats | None = field(default=None)
    start: tuple[Floats, Floats] | None = field(default=None)


def earn(
    evidence: Evidence,
    examples: Examples,
    terms: bool | None,
    plan: Plan,
    threads: int,
    tell: Progress,
    keep: bool = False,
) -> Earned:
    """Fit weights; `terms` None lets held-out documents decide whether each term gets its own.

    With `keep`, what is said of held-out documents is kept as well.
    """
    pays = bool(evidence.texts) and class_weights.pays(evidence.texts[0], examples.classes)
    # Of two classes it gained little, and a file with such weights must be loaded to answer one message.
    few = pays and examples.classes > 2
    complement = None
    if few and terms is not False and examples.classes > FEW_CLASSES:
        complement = Complement.of(Words.of(evidence.texts[0], len(examples), 1.0), examples)
        evidence = replace(evidence, wholes=[*evidence.wholes, complement])
    holdout = None
    if evidence.texts and (terms or (terms is None and _pays(evidence, examples, plan))):
        tell("documents held out")
        holdout = Holdout(evidence, examples, plan, threads)
    tell("weights of views")
    earned = _earned(evidence, examples, holdout or None, terms is None, plan, threads, tell, whole=few)
    judges = few or keep or (pays and len(examples) <= FEW)
    parts = holdout.class_parts(earned.penalty) if holdout and judges else []
    strength = class_weights.choose_penalty(parts) if few and parts else np.inf
    if np.isfinite(strength):
        tell("weights of classes")
        earned = replace(earned, by_class=_by_class(evidence.texts[0], earned, strength))
    if complement is not None:
        earned = replace(earned, by_class=_with_complement(complement, earned))
    if not parts or not (keep or len(examples) <= FEW):
        return earned
    folds = [part.held_out(strength) for part in parts]
    factor = class_weights.calibration(folds, examples.y) if len(examples) <= FEW else 1.0
    return replace(earned.times(factor), folds=[replace(each, scores=factor * each.scores) for each in folds])


def _earned(
    evidence: Evidence, examples: Examples, holdout: Holdout | None, may_stay: bool, plan: Plan,
    threads: int, tell: Progress, whole: bool = False,
) -> Earned:  # fmt: skip
    """Weights that terms share, and their own if documents held out agree.

    With `whole` the fit has the features of all documents, for the weights of classes beside these.
    """
    penalty, loss = choose_penalty(holdout, plan, tell, may_stay) if holdout else (np.inf, np.nan)
    shared = holdout is None or np.isinf(penalty)
    fit = prepare(evidence, examples, threads, sampled=shared and not whole)
    if holdout is None or shared:
        return Earned(fit.groups, fit.shared, fit.bias, penalty, fit.loss, fit=fit, left=fit.prior)
    tell("weights of terms")
    fit.start = holdout.start(fit, penalty)
    left, bias = fit_terms(fit, penalty, plan)
    weights = left - fit.prior + fit.shared
    groups = _with_wholes(fit.groups, weights, evidence)
    return Earned(groups, weights, bias, penalty, loss, fit=fit, left=left)


def _with_complement(complement: Complement, earned: Earned) -> tuple[NDArray[np.intp], Floats]:
    """What the complements add, for every word."""
    words = complement.words
    rows = complement.weights() * (earned.groups[-1] * words.worth / complement.size)[:, None]
    rows -= rows.mean(axis=1, keepdims=True)
    return words.places, rows if earned.by_class is None else rows + earned.by_class[1]


def _by_class(view: Looked, earned: Earned, strength: float) -> tuple[NDArray[np.intp], Floats] | None:
    """The words of a view, and what each adds for each class."""
    fit = earned.fit
    if fit is None or fit.features is None:
        return None
    known = fit.features.scores(earned.left) + earned.bias + fit.unknown
    words = Words.of(view, len(fit.examples))
    rows, classes = words.rows(fit.examples, leave_out=True), len(earned.bias)
    documents = rows.beside(known, fit.examples, len(words.places), rows.size())
    found = class_weights.fit(documents, np.zeros(len(words.places) * classes), strength)
    return words.places, found.reshape(-1, classes) * (words.worth / rows.size())[:, None]


def _pays(evidence: Evidence, examples: Examples, plan: Plan) -> bool:
    classes = examples.classes
    if classes > MANY_CLASSES and len(examples) < OF_EACH_CLASS * classes:
        return False
    cost = sum(view.rows.nonzeros for view in evidence.texts) * (1 if classes == 2 else classes)
    return cost <= plan.terms_cost


def _with_wholes(groups: Floats, weights: Floats, evidence: Evidence) -> Floats:
    """The weights of views without terms are fitted again beside those of terms."""
    wholes = len(evidence.wholes)
    return np.concatenate([groups[: len(groups) - wholes], weights[len(weights) - wholes :]])


def prepare(evidence: Evidence, examples: Examples, threads: int, sampled: bool = False) -> Fit:
    """Leave each document out of the counts, and fit the weights that are shared.

    With `sampled` the features are of so many documents as these weights need.
    """
    counts = examples.counts()
    of_class = np.bincount(examples.y, minlength=examples.classes)
    told = np.flatnonzero(of_class[examples.y] > 1)
    if len(told) < len(examples):
        # What is alone in its class tells nothing, but must have been learned like the others.
        _left_out(evidence, examples.some(np.flatnonzero(of_class[examples.y] <= 1)), threads)
        examples = examples.some(told)
    if sampled:
        examples = _sample(evidence, examples)
    features = None if sampled else evidence.features(examples, threads, leave_out=True)
    groups, bias, loss = _fit_shared(evidence, examples, features, (counts, of_class), threads)
    left, whole = groups[evidence.step_of(1)], groups[evidence.step_of(0)]
    core = None if features is None else features.core
    return Fit(core, groups, left, whole, bias, loss, unknown_classes(of_class), examples)


def _sample(evidence: Evidence, examples: Examples) -> Examples:
    """Every so-many-th document: enough for weights that are shared."""
    most = max(MOST_SCORES // (evidence.steps * examples.classes), LEAST_DOCUMENTS)
    every = max(-(-len(examples) // most), 1)
    return examples.some(np.arange(0, len(examples), every)) if every > 1 else examples


def _left_out(evidence: Evidence, examples: Examples, threads: int) -> Floats:
    """What the terms of each step say of documents, each left out of the counts."""
    if examples.classes > MANY_CLASSES:
        return evidence.shared_scores(examples, threads)
    return evidence.step_scores(evidence.features(examples, threads, leave_out=True))


def _fit_shared(
    evidence: Evidence,
    examples: Examples,
    features: Features | None,
    counts: tuple[Floats, NDArray[Any]],
    threads: int,
) -> tuple[Floats, Floats, float]:
    """`counts` are the documents of each class, by their weights and as they are."""
    some = _sample(evidence, examples)
    if features is None or some is not examples or examples.classes > MANY_CLASSES:
        scores = _left_out(evidence, some, threads)
    else:
        scores = evidence.step_scores(features)
    left = LeftOut(scores, some.y, *counts, some.weights)
    return fit_shared(left, *evidence.priors(counts[0]), prior=evidence.prior)


def left_out_scores(evidence: Evidence, examples: Examples, threads: int) -> Floats:
    """The scores of documents that are left out of the counts, with the weights that are shared."""
    features = evidence.features(examples, threads, leave_out=True)
    counts = examples.counts(), np.bincount(examples.y, minlength=examples.classes)
    groups, bias, _ = _fit_shared(evidence, examples, features, counts, threads)
    scores = evidence.step_scores(features)
    total: Floats = np.einsum("ngc,g->nc", scores, groups) + bias
    return total


def fit_terms(fit: Fit, penalty: float, plan: Plan) -> tuple[Floats, Floats]:
    """A weight for each term: the mean log loss, plus penalty / 2n times the squared distance from the prior.

    Biases are held back as well, by a fixed penalty. The variables are scaled by the curvature; without it,
    three times as many passes are needed.
    """
    n = max(len(fit.examples), 1)
    features = fit.features
    if features is None:
        return fit.prior, fit.bias
    if fit.curvature is None:
        fit.curvature = features.curvature(fit.prior, fit.bias + fit.unknown)
    scale = 1 / np.sqrt((fit.curvature + penalty) / n)
    terms = len(scale)

    def loss(at: Floats) -> tuple[float, Floats]:
        off = scale * at[:terms]
        value, slope, bias = features.slope(fit.prior + off, at[terms:] + fit.unknown)
        value += penalty / (2 * n) * float(np.einsum("i,i", off, off))
        slope += penalty / n * off
        slope *= scale
        far = at[terms:] - fit.bias
        value += plan.even / (2 * n) * float(np.einsum("i,i", far, far))
        return value, np.concatenate([slope, bias + plan.even / n * far])

    weights, bias = (fit.prior, fit.bias) if fit.start is None else fit.start
    start = np.concatenate([(weights - fit.prior) / scale, bias])
    at, _ = minimize(loss, start, tolerance=plan.tolerance, most=plan.iterations, first=plan.first_step)
    return fit.prior + scale * at[:terms], at[terms:]


# The penalty


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
