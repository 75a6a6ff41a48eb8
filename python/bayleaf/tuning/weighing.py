"""From a model and documents that it has learned to a judgment: a weight for each view, and for each term."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import Coded, as_list, length_of
from bayleaf.model_views import is_plain
from bayleaf.text.counts import ClassCounts, TextTally
from bayleaf.text.views import TextView, Words
from bayleaf.tuning import fits, names, term_weights
from bayleaf.tuning.examples import Evidence, Examples, Looked, Whole, normalized
from bayleaf.tuning.fits import Plan
from bayleaf.tuning.held_out import Progress
from bayleaf.tuning.judgment import DROPPED, MIN_DOCUMENTS, ClassRows, Judgment, Level, ViewJudgment, Weights
from bayleaf.tuning.scorer import kept_terms, look
from bayleaf.tuning.shared_weights import STEPS, Prior
from bayleaf.tuning.term_weights import Earned
from bayleaf.tuning.unlabeled import Unlabeled
from bayleaf.tuning.unlabeled import judged as shared_out
from bayleaf.types import Classes, Floats

if TYPE_CHECKING:
    from bayleaf.model import Model

EARNED_ALPHA = 0.5
"""The smoothing below earned weights, where the model's is the textbook's 1 (measured in docs/tuning.md)."""


FEW = 2000
"""In so many documents, terms that only one of them holds count as well: they are most of the terms."""


class Weighing:
    """Documents that a model has learned, ready to judge its evidence."""

    def __init__(self, model: Model, columns: list[Any], labels: Classes, weights: Any, groups: Any) -> None:
        self.model, self._columns = model, columns
        self._least = 1 if model.n_documents <= FEW else MIN_DOCUMENTS
        self._counts: list[ClassCounts | None] = []
        self._alphas: list[float] = []
        texts, wholes = [], []
        for (_, view), tally, column in zip(model.views, model.tallies, columns, strict=True):
            if is_plain(view) and isinstance(view, TextView) and isinstance(tally, TextTally):
                texts.append(self._look(view, tally, column))
            else:
                wholes.append(self._whole(view, tally, column))
        alike = [*(view.rows.keys for view in texts), *(_numbered(view.column) for view in wholes)]
        self.examples = Examples(
            np.arange(len(labels), dtype=np.uint32), labels, len(model.order),
            normalized(() if weights is None else weights), together(groups, alike if texts else None),
        )  # fmt: skip
        self._used = [self._vouched(view) for view in texts]
        used = zip(texts, self._used, strict=True)
        self.evidence = Evidence([view if own.all() else view.only(own) for view, own in used], wholes)

    def _look(self, view: TextView, tally: TextTally, column: Any) -> Looked:
        quantities = frozenset({"documents"}) | view.selection.quantities
        counts = view.selection.of(tally.counts(self.model.order, quantities))
        alpha = self.model.alpha if view.alpha is None else view.alpha
        alpha = EARNED_ALPHA if alpha == 1 else max(float(alpha), 1e-10)
        self._counts.append(counts)
        self._alphas.append(alpha)
        has_words = any(isinstance(each, Words) for _, each in self.model.views)
        scale = Prior.letters if has_words and not isinstance(view, Words) else 1.0
        looked = look(tally, counts, column, alpha, self._least, scale, self.model.threads)
        unknown = looked.rows.unknown
        if unknown.any():
            raise ValueError(
                f"Document {int(unknown.argmax())} holds terms that were never learned, so it cannot be left "
                "out. Tune with documents that the model has learned, and their labels."
            )
        return looked

    def _whole(self, view: Any, tally: Any, column: Any) -> Whole:
        model = self.model
        self._counts.append(None)
        alpha = model.alpha if getattr(view, "alpha", None) is None else view.alpha
        self._alphas.append(max(float(alpha), 1e-10))
        return Whole(view, tally, column, model.order, model.alpha, model.unseen, model.threads)

    def judgment(self, terms: bool | None, tell: Progress, unlabeled: list[Any] | None = None) -> Judgment:
        """Fit weights; `terms` None lets held-out documents decide whether each term gets its own.

        `unlabeled` is what each view reads of documents without a label.
        """
        earned = term_weights.earn(
            self.evidence, self.examples, terms, Plan(), self.model.threads, tell, unlabeled is not None,
            self._names,
        )  # fmt: skip
        level: Level = "views" if np.isinf(earned.penalty) and earned.by_class is None else "terms"
        documents = self.model.class_documents
        bias = dict(zip(documents, earned.bias.tolist(), strict=True))
        sizes = None
        if len(self.examples.weights):
            sizes = dict(zip(documents, self.examples.counts().tolist(), strict=True))
        return Judgment(
            level, documents, bias, list(self._views(earned)), penalty=earned.penalty, loss=earned.loss,
            sizes=sizes, names=earned.names, unlabeled=self._unlabeled(earned, unlabeled, tell),
        )  # fmt: skip

    def _names(self) -> Floats | None:
        """Where the names of classes have the words of the first view of text; None: nowhere."""
        i = next(i for i, counts in enumerate(self._counts) if counts is not None)
        (_, view), counts = self.model.views[i], self._counts[i]
        if not isinstance(view, Words) or view.buckets is not None or counts is None:
            return None
        kept = kept_terms(counts, self._least)[self._used[0]]
        words = kept[self.evidence.texts[0].group == 0].tolist()
        held = names.table(view, self.model.classes, [counts.term_names[word] for word in words])
        return held if held.any() else None

    def _unlabeled(self, earned: Earned, others: list[Any] | None, tell: Progress) -> Unlabeled | None:
        """What documents without a label say, through the first view of words."""
        views = [
            i for i, (_, view) in enumerate(self.model.views) if isinstance(view, Words) and is_plain(view)
        ]
        if others is None or not views or not earned.folds or not length_of(others[views[0]]):
            return None
        tell("documents without a label")
        i, (_, look) = views[0], self.model.views[views[0]]
        columns = self._columns[i], others[i]
        labels, threads = self.model.classes, self.model.threads
        return shared_out(cast("Words", look), i, columns, self.examples.y, labels, earned.folds, threads)

    def left_out_scores(self) -> Floats:
        """The scores of the documents, left out of the counts, with a weight for each kind of evidence."""
        return fits.left_out_scores(self.evidence, self.examples, self.model.threads)

    def _views(self, earned: Earned) -> Iterable[ViewJudgment]:
        texts = iter(zip(self.evidence.texts, self._used, strict=True))
        shared = iter(earned.groups.tolist())
        of_wholes = iter(earned.groups[STEPS * sum(view.groups for view in self.evidence.texts) :].tolist())
        start = 0
        for counts, alpha in zip(self._counts, self._alphas, strict=True):
            if counts is None:
                yield ViewJudgment(alpha, (next(of_wholes),))
                continue
            view, used = next(texts)
            own = earned.weights[start : start + len(view.counts)]
            start += len(view.counts)
            steps = [next(shared) for _ in range(view.groups * STEPS)]
            by_node = _by_node(counts.nodes, kept_terms(counts, self._least), used, own)
            rows = self._class_rows(counts, used, earned) if view is self.evidence.texts[0] else None
            yield ViewJudgment(alpha, tuple(steps[::STEPS]), by_node, self._least, rows)

    def _class_rows(self, counts: ClassCounts, used: NDArray[np.bool_], earned: Earned) -> ClassRows | None:
        if earned.by_class is None:
            return None
        terms, rows = earned.by_class
        told = rows.any(axis=1)
        terms, rows = terms[told], rows[told]
        nodes = counts.nodes[kept_terms(counts, self._least)[used][terms]].astype(np.uint32)
        order = np.argsort(nodes)
        return ClassRows(nodes[order], np.ascontiguousarray(rows[order], np.float32))

    def _vouched(self, view: Looked) -> NDArray[np.bool_]:
        """Which terms are held by documents of two groups or more."""
        if not len(self.examples.groups):
            return np.ones(len(view.counts), bool)
        holders = view.rows.group_holders(self.examples.documents, self.examples.groups.astype(np.uint32))
        # Documents that the model has learned and that are not here may hold the term as well.
        beyond = view.counts.holders() > view.rows.holders(self.examples.documents)
        vouched: NDArray[np.bool_] = (holders >= self._least) | beyond
        return vouched


def _by_node(nodes: Classes, kept: NDArray[np.intp], used: NDArray[np.bool_], own: Floats) -> Weights:
    """The weights of terms by their nodes; those that are not used are marked."""
    by_node = np.full(int(nodes.max(initial=0)) + 1, np.nan, np.float32)
    by_node[nodes[kept[used]]] = own
    by_node[nodes[kept[~used]]] = DROPPED
    return by_node


def _numbered(column: Any) -> NDArray[Any]:
    """Equal values of a column as equal numbers."""
    if isinstance(column, Coded):
        return column.codes
    if isinstance(column, np.ndarray):
        return np.unique(column, axis=0, return_inverse=True)[1].reshape(-1)
    known: dict[Any, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in as_list(column, "X")])


def together(groups: Any, keys: list[NDArray[Any]] | None) -> Classes:
    """Which documents are left out together: those of a group, and those that all views see alike.

    Empty if every document is alone.
    """
    found: list[NDArray[Any]] = []
    if groups is not None:
        known: dict[Any, int] = {}
        found.append(np.array([known.setdefault(name, len(known)) for name in groups]))
    if keys is not None:
        alike = np.zeros(len(keys[0]), np.intp)
        for key in keys:
            _, place = np.unique(key, return_inverse=True)
            alike = np.unique(alike * (place.max(initial=0) + 1) + place, return_inverse=True)[1]
        found.append(alike)
    if not found:
        return np.zeros(0, np.uint32)
    group = found[0] if len(found) == 1 else _connected(*found)
    return group.astype(np.uint32) if group.max(initial=0) + 1 < len(group) else np.zeros(0, np.uint32)


def _connected(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Groups such that whoever shares one of two marks shares a group."""
    group = first
    while True:
        for marks in (second, first):
            least = np.full(marks.max(initial=0) + 1, len(group))
            np.minimum.at(least, marks, group)
            group, before = least[marks], group
        if (group == before).all():
            return np.unique(group, return_inverse=True)[1]
