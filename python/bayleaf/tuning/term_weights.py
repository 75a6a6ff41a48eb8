"""Earned weights: what naive Bayes learns about its evidence from its own leave-one-out scores.

Each training document is scored with itself left out of the counts. On these scores a weight for each kind
of term is fitted (level "views"), then, held back by a penalty towards it, a weight for each term (level
"terms"). The penalty is the one that predicts best documents that were left out of the counts and of the
fit alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.tuning import calibration, class_weights
from bayleaf.tuning.class_weights import HeldOut, WordExpert, Words
from bayleaf.tuning.complement import FEW_CLASSES, Complement
from bayleaf.tuning.examples import Evidence, Examples, Looked
from bayleaf.tuning.fits import MANY_CLASSES, Fit, Plan, fit_terms, prepare
from bayleaf.tuning.held_out import Holdout, Progress, choose_penalty
from bayleaf.tuning.names import Names
from bayleaf.types import Floats

FEW = 2000
"""Of so many documents, those held out say how sure to be of each class; more are known well enough."""
OF_EACH_CLASS = 20
"""So many documents of each of many classes make weights of terms worth a try: with fewer they never won."""


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
    names: float = 0.0
    """The weight of what the names of classes say."""
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


def earn(
    evidence: Evidence,
    examples: Examples,
    terms: bool | None,
    plan: Plan,
    threads: int,
    tell: Progress,
    keep: bool = False,
    names: Callable[[], Floats | None] = lambda: None,
) -> Earned:
    """Fit weights; `terms` None lets held-out documents decide whether each term gets its own.

    With `keep`, what is said of held-out documents is kept as well. `names` gives the words that the names of
    classes have (words x classes).
    """
    pays = bool(evidence.texts) and class_weights.pays(evidence.texts[0], examples.classes)
    beside = pays and terms is not False
    held = names() if beside else None
    experts = _experts(evidence.texts[0], examples, held) if beside else []
    evidence = replace(evidence, wholes=[*evidence.wholes, *experts])
    holdout = None
    if evidence.texts and (terms or (terms is None and _pays(evidence, examples, plan))):
        tell("documents held out")
        holdout = Holdout(evidence, examples, plan, threads)
    tell("weights of views")
    earned = _earned(evidence, examples, holdout or None, terms is None, plan, threads, tell, whole=pays)
    parts = holdout.class_parts(earned.penalty) if holdout and (pays or keep) else []
    strength = class_weights.choose_penalty(parts) if pays and parts else np.inf
    if np.isfinite(strength):
        tell("weights of classes")
        earned = replace(earned, by_class=_by_class(evidence.texts[0], earned, strength))
    for expert, weight in zip(reversed(experts), reversed(earned.groups.tolist()), strict=False):
        earned = replace(earned, by_class=_with_expert(earned, expert, weight))
    if held is not None:
        earned = replace(earned, names=float(earned.groups[-1]))
    if not parts or not (keep or len(examples) <= FEW):
        return earned
    folds = [part.held_out(strength) for part in parts]
    return _calibrated(replace(earned, folds=folds), examples)


def _calibrated(earned: Earned, examples: Examples) -> Earned:
    """As sure of each class as documents held out allow; what is said of them as well."""
    if len(examples) > FEW:
        return earned
    more = calibration.against_leaning(earned.folds, examples)
    folds = [replace(fold, scores=fold.scores + more) for fold in earned.folds]
    factor = calibration.sureness(folds, examples.y)
    scaled = [replace(fold, scores=factor * fold.scores) for fold in folds]
    return replace(replace(earned, bias=earned.bias + more).times(factor), folds=scaled)


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


def _experts(view: Looked, examples: Examples, held: Floats | None) -> list[WordExpert]:
    """Who else looks at the words of the documents; `held` is where the names of classes have them."""
    found: list[WordExpert] = []
    if examples.classes > FEW_CLASSES:
        found.append(Complement.of(Words.of(view, len(examples), 1.0), examples))
    if held is not None:
        found.append(Names.of(Words.of(view, len(examples)), examples, held))
    return found


def _with_expert(earned: Earned, expert: WordExpert, weight: float) -> tuple[NDArray[np.intp], Floats]:
    """What an expert of this weight adds, for every word."""
    rows = expert.added(weight)
    return expert.words.places, rows if earned.by_class is None else rows + earned.by_class[1]


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
