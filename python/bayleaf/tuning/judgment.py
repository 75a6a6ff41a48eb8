"""What was judged on top of the counts: weights earned on documents that are left out of the counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayleaf.types import Floats, Label

if TYPE_CHECKING:
    from bayleaf.tuning.unlabeled import Unlabeled

Level = Literal["temperature", "views", "terms"]
LEVELS: tuple[Level, ...] = get_args(Level)
Weights = NDArray[np.float32]

WEIGHTS = "weights"
"""The name under which a file keeps the weights of a view's terms."""

DROPPED = np.float32(-(2**19))
"""In place of the weight of a term that only copies of one document hold, or documents of one group."""

MIN_DOCUMENTS = 2
"""Terms of fewer documents are left out, unless there are few documents: they would be most of the terms."""


CLASS_TERMS, CLASS_WEIGHTS = "class_terms", "class_weights"
"""The names under which it keeps the terms that have a weight for each class, and these."""


@dataclass(frozen=True, eq=False)
class ClassRows:
    """What some terms add for each class, whatever is counted: their nodes, and a row for each."""

    nodes: NDArray[np.uint32]
    weights: Weights

    def by_number(self, numbers: Sequence[int]) -> tuple[NDArray[np.uint32], Weights]:
        """The rows with the class of each column at its number; -1: a class that is gone."""
        found = np.zeros((len(self.nodes), max(numbers, default=-1) + 1), np.float32)
        there = [column for column, number in enumerate(numbers) if number >= 0]
        found[:, [numbers[column] for column in there]] = self.weights[:, there]
        return self.nodes, found

    def arrays(self, nodes: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """For a file: places among the terms with these nodes, and the rows of those that are there."""
        place = np.full(int(max(nodes.max(initial=0), self.nodes.max(initial=0))) + 1, -1)
        place[nodes] = np.arange(len(nodes))
        places = place[self.nodes]
        order = np.argsort(places, kind="stable")[int((places < 0).sum()) :]
        return {CLASS_TERMS: places[order].astype(np.uint32), CLASS_WEIGHTS: self.weights[order].ravel()}


@dataclass(frozen=True, eq=False)
class ViewJudgment:
    """Of one view: its smoothing, a weight for each length of its n-grams, and maybe one for each term."""

    alpha: float
    groups: tuple[float, ...]
    weights: Weights | None = None
    """One weight for each node of the tally; NaN where a term has none of its own, `DROPPED` if not used."""
    least: int = MIN_DOCUMENTS
    """Terms of fewer documents say nothing."""
    by_class: ClassRows | None = None

    def to_list(self) -> list[Any]:
        """Everything but the weights of terms, ready for JSON."""
        return [self.alpha, list(self.groups), *([] if self.least == MIN_DOCUMENTS else [self.least])]

    def used(self, nodes: NDArray[Any]) -> NDArray[np.bool_]:
        """Which terms are used; new ones are."""
        used = np.ones(len(nodes), bool)
        if self.weights is not None:
            known = nodes < len(self.weights)
            used[known] = self.weights[nodes[known]] != DROPPED
        return used

    def of_terms(self, nodes: NDArray[Any], group: NDArray[np.uint8]) -> Floats:
        """The weight of each term: its own, or that of its group."""
        # Longer n-grams than there were when it was judged get the weight of the longest.
        shared = np.array(self.groups, np.float64)[np.minimum(group, len(self.groups) - 1)]
        if self.weights is None:
            return shared
        own = np.full(len(nodes), np.nan)
        known = nodes < len(self.weights)
        own[known] = self.weights[nodes[known]]
        return np.where(np.isnan(own), shared, own)


@dataclass(frozen=True, eq=False)
class Judgment:
    """A judgment of the evidence, fitted on leave-one-out scores.

    `level` is "temperature" (one factor for the whole score), "views" (a weight for each kind of term) or
    "terms" (a weight for each term). `documents` are the documents of each class when it was made.
    `penalty` holds the weights of terms back (infinite: none has its own), and `loss`
    is the mean log loss on documents that were left out of counts and fit alike, or, of the levels below
    "terms", left out of the counts.
    """

    level: Level
    documents: Mapping[Label, int]
    bias: Mapping[Label, float]
    views: Sequence[ViewJudgment] = ()
    temperature: float = 1.0
    penalty: float = float("inf")
    loss: float = float("nan")
    sizes: Mapping[Label, float] | None = None
    """How many documents each class had by their weights, if they had different ones."""

    unlabeled: Unlabeled | None = None
    """What texts without a label were found to say, if there were any."""

    names: float = 0.0
    """The weight of what the names of classes say, 1 before looking; 0 if they say nothing."""

    drift: int = 0
    """The fingerprint of what had been learned and forgotten since, when it was saved; 0 of nothing."""

    @property
    def shares(self) -> Mapping[Label, float]:
        """How much of what it was fitted on each class was."""
        return self.documents if self.sizes is None else self.sizes

    def strangers(self, classes: Iterable[Label]) -> list[Label]:
        """The classes that came after it was made: what it weighs was never weighed for them."""
        return [] if self.level == "temperature" else [each for each in classes if each not in self.documents]

    def biases(self, documents: Mapping[Label, int]) -> Floats:
        """What each class gets before looking; a class that is new gets what others get for their size."""
        total, then = sum(documents.values()), sum(self.shares.values())
        extra = [
            self.bias[label] - np.log((n + 1) / (then + len(self.shares))) for label, n in self.shares.items()
        ]
        mean = float(np.mean(extra)) if extra else 0.0
        share = {label: np.log((n + 1) / (total + len(documents))) for label, n in documents.items()}
        return np.array([self.bias.get(label, mean + share[label]) for label in documents])

    def beside(self, counts: Sequence[Any]) -> list[dict[str, NDArray[Any]]]:
        """The arrays of the counts of each view, and beside them the weights of their terms."""
        arrays = [dict(own.arrays) for own in counts]
        for view, own, each in zip(self.views, counts, arrays, strict=False):
            if view.weights is not None:
                weights = np.full(len(own.nodes), np.nan, np.float32)
                known = own.nodes < len(view.weights)
                weights[known] = view.weights[own.nodes[known]]
                each[WEIGHTS] = weights
            if view.by_class is not None:
                each.update(view.by_class.arrays(own.nodes))
        if self.unlabeled is not None:
            arrays[self.unlabeled.view].update(self.unlabeled.arrays())
        return arrays

    def to_dict(self, drift: int = 0) -> dict[str, Any]:
        """Everything but the weights of terms, ready for JSON; what has not changed says nothing of it."""
        return {
            "level": self.level,
            "documents": list(map(list, self.documents.items())),
            "bias": list(map(list, self.bias.items())),
            "views": [view.to_list() for view in self.views],
            "temperature": self.temperature,
            "penalty": None if np.isinf(self.penalty) else self.penalty,
            "loss": None if np.isnan(self.loss) else self.loss,
            **({"drift": drift} if drift else {}),
            **({"names": self.names} if self.names else {}),
            **({} if self.unlabeled is None else {"unlabeled": self.unlabeled.to_dict()}),
            **({} if self.sizes is None else {"sizes": list(map(list, self.sizes.items()))}),
        }

    @classmethod
    def from_dict(
        cls,
        settings: Mapping[str, Any],
        weights: Sequence[Weights | None],
        by_class: Sequence[ClassRows | None],
        unlabeled: Unlabeled | None = None,
    ) -> Judgment:
        """The judgment with these settings and weights of each view's nodes; ValueError if it is none."""
        if settings["level"] not in LEVELS:
            raise ValueError(f"there is no level {settings['level']!r} of tuning")
        given = settings["views"]
        if given and len(given) != len(weights):
            raise ValueError("there are not as many judgments as views")
        views = [
            ViewJudgment(
                _within(alpha, 0, "alpha"), _groups(groups), own, _whole((least or [MIN_DOCUMENTS])[0]), rows
            )
            for (alpha, groups, *least), own, rows in zip(given, weights, by_class, strict=False)
        ]
        documents = {label: _whole(n) for label, n in settings["documents"]}
        bias = {label: _within(each, -LARGEST, "bias") for label, each in settings["bias"]}
        if given and documents.keys() != bias.keys():
            raise ValueError("a class has no bias, or no documents")
        penalty, loss = settings["penalty"], settings["loss"]
        return cls(
            settings["level"],
            documents,
            bias,
            views,
            _within(settings["temperature"], 0, "temperature"),
            float("inf") if penalty is None else _within(penalty, 0, "penalty"),
            float("nan") if loss is None else _within(loss, -LARGEST, "loss"),
            _sizes(settings.get("sizes")),
            unlabeled,
            _within(settings.get("names", 0.0), -LARGEST, "weight of names"),
            int(settings.get("drift", 0)),
        )


def taken_weights(arrays: dict[str, Any]) -> Weights | None:
    """The weights that a file has beside the counts of a view, which are left alone."""
    weights: Weights | None = arrays.pop(WEIGHTS, None)
    if weights is not None and (weights.dtype.kind != "f" or (np.abs(weights) > LARGEST).any()):
        raise ValueError("a weight of a term is no number, or out of range")
    return weights


def taken_class_rows(arrays: dict[str, Any], classes: int) -> ClassRows | None:
    """The rows of classes that a file has beside the counts of a view; in place of nodes, places of terms."""
    places, weights = arrays.pop(CLASS_TERMS, None), arrays.pop(CLASS_WEIGHTS, None)
    if places is None and weights is None:
        return None
    if places is None or weights is None or len(weights) != len(places) * classes:
        raise ValueError("there are not as many weights of classes as terms times classes")
    if weights.dtype.kind != "f" or not (np.abs(weights) <= LARGEST).all():
        raise ValueError("a weight of a term and class is no number, or out of range")
    if places.dtype.kind != "u" or (np.diff(places.astype(np.int64)) <= 0).any():
        raise ValueError("the terms that have weights of classes are not in order")
    return ClassRows(places, weights.reshape(len(places), classes).astype(np.float32))


def with_nodes(rows: ClassRows, terms: NDArray[Any]) -> ClassRows:
    """Rows of a file with the nodes of their terms."""
    if len(rows.nodes) and rows.nodes[-1] >= len(terms):
        raise ValueError("a weight of classes is of a term that is not there")
    return ClassRows(terms[rows.nodes].astype(np.uint32), rows.weights)


def by_node(weights: Weights | None, terms: NDArray[Any]) -> Weights | None:
    """Weights of terms at their nodes: in a file, places among its words and n-grams (and checked)."""
    if weights is None:
        return None
    if len(weights) != len(terms):
        raise ValueError("there are not as many weights as terms")
    found = np.full(int(terms.max(initial=0)) + 1, np.nan, np.float32)
    found[terms] = weights
    return found


LARGEST = 1e6
"""No weight, bias or temperature that was fitted comes near; beyond it scores would overflow."""


def _within(number: Any, above: float, name: str) -> float:
    if type(number) not in {int, float} or not above < number <= LARGEST:
        raise ValueError(f"the {name} of the judgment is {number!r}, which is out of range")
    return float(number)


def _groups(groups: Any) -> tuple[float, ...]:
    if not groups:
        raise ValueError("a view of the judgment has no weights")
    return tuple(_within(weight, -LARGEST, "weight") for weight in groups)


def _sizes(pairs: Any) -> dict[Label, float] | None:
    return None if pairs is None else {label: _size(size) for label, size in pairs}


def _size(number: Any) -> float:
    if type(number) not in {int, float} or not 0 <= number < 2.0**63:
        raise ValueError(f"the judgment has {number!r} documents of a class")
    return float(number)


def _whole(number: Any) -> int:
    if type(number) is not int or not 0 <= number < 2**63:
        raise ValueError(f"the judgment has {number!r} documents of a class")
    return int(number)
