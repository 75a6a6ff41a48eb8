"""How much rows count: weights of rows and of classes weigh the evidence, and leave the counts alone."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import as_list, is_missing
from bayleaf.frames import is_text, rows_of
from bayleaf.types import Floats, Label


def checked_weights(sample_weight: Any, rows: int) -> Floats | None:
    """One finite weight >= 0 for each row, or None if all rows count alike."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.shape != (rows,):
        raise ValueError(
            f"`sample_weight` has shape {weights.shape}; give one weight for each of {rows} rows."
        )
    wrong = ~((weights >= 0) & np.isfinite(weights))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"sample_weight[{row}] is {weights[row]:g}; a weight says how much a row counts: a finite "
            "number >= 0, whole or not."
        )
    if rows and not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def check_class_weight(class_weight: Any) -> None:
    """Raise unless `class_weight` is None, "balanced" or a mapping from class to a finite number > 0."""
    if class_weight is None:
        return
    if not isinstance(class_weight, Mapping):
        if isinstance(class_weight, str) and class_weight == "balanced":
            return
        raise ValueError(
            f"`class_weight` must be None, 'balanced' or a mapping of classes, got {class_weight!r}."
        )
    bad = {label: weight for label, weight in class_weight.items() if not 0 < weight < float("inf")}
    if bad:
        raise ValueError(f"The weight of a class must be a finite number > 0, got {bad!r}.")


def class_weights(class_weight: Any, sizes: Mapping[Label, Any]) -> dict[Label, float]:
    """The weight of each class: 1, as given, or so that all classes together weigh the same."""
    if class_weight is None:
        return dict.fromkeys(sizes, 1.0)
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in sizes]
        if unknown:
            raise ValueError(
                f"`class_weight` names the class {unknown[0]!r}, which is not there. The classes are "
                f"{list(sizes)!r}."
            )
        return {label: float(class_weight.get(label, 1.0)) for label in sizes}
    total = sum(sizes.values())
    return {label: float(total / (len(sizes) * size)) if size else 1.0 for label, size in sizes.items()}


class ClassSizes:
    """The summed weights of each class, exactly, so that they can be taken back; None while all weigh 1."""

    def __init__(self, sums: Mapping[Label, Fraction] | None = None) -> None:
        self.sums: dict[Label, Fraction] | None = None if sums is None else dict(sums)

    def change(
        self, labels: Iterable[Label], weights: Floats | None, sign: int, before: Mapping[Label, int]
    ) -> None:
        """Add rows of these labels, or take them back; `before` are the rows of each class until now."""
        if self.sums is None and weights is None:
            return
        if self.sums is None:
            self.sums = {label: Fraction(count) for label, count in before.items()}
        names = list(labels)
        each = [1.0] * len(names) if weights is None else weights.tolist()
        for label, weight in zip(names, each, strict=True):
            self.sums[label] = self.sums.get(label, Fraction(0)) + sign * Fraction(weight)

    def before(self, weights: Floats | None, model: Any) -> Mapping[Label, int]:
        """The rows of each class until now, if rows that weigh so much need them."""
        return {} if self.sums is None and weights is None else model.class_documents

    def merge(self, other: ClassSizes, before: Mapping[Label, int], theirs: Mapping[Label, int]) -> None:
        """Add the sizes of another estimator; the rows of each class were so many, here and there."""
        if self.sums is None and other.sums is None:
            return
        mine = self.sums or {label: Fraction(count) for label, count in before.items()}
        more = other.sums or {label: Fraction(count) for label, count in theirs.items()}
        self.sums = {
            label: mine.get(label, Fraction(0)) + more.get(label, Fraction(0)) for label in {*mine, *more}
        }

    def of(self, documents: Mapping[Label, int]) -> dict[Label, Any]:
        """The size of each class that exists."""
        if self.sums is None:
            return dict(documents)
        return {label: max(self.sums.get(label, Fraction(0)), Fraction(0)) for label in documents}

    def to_list(self) -> list[list[Any]] | None:
        """Ready for JSON, or None if all rows weigh 1."""
        if self.sums is None:
            return None
        return [[label, str(size)] for label, size in sorted(self.sums.items(), key=repr) if size]

    @classmethod
    def from_list(cls, kept: Any) -> ClassSizes:
        """The sizes in a file."""
        return cls(None if kept is None else {label: Fraction(size) for label, size in kept})


def prior_of(
    sizes: Mapping[Label, Any], class_weight: Any, documents: Mapping[Label, int]
) -> dict[Label, float]:
    """The prior of each class: its size times its weight, as part of the whole."""
    weights = class_weights(class_weight, documents)
    parts = {label: Fraction(size) * Fraction(weights[label]) for label, size in sizes.items()}
    total = sum(parts.values())
    return {label: float(part / total) if total else 1 / len(parts) for label, part in parts.items()}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that count: X, y, how much each counts (None: all alike), and the names of their groups."""

    X: Any
    y: NDArray[Any]
    weights: Floats | None
    groups: list[Any] | None

    @classmethod
    def of(cls, X: Any, y: NDArray[Any], sample_weight: Any, groups: Any = None) -> Rows:
        """Rows without those of weight 0."""
        weights = checked_weights(sample_weight, len(y))
        names = None if groups is None else as_list(groups, "groups")
        if names is not None and len(names) != len(y):
            raise ValueError(f"There are {len(y)} rows and {len(names)} groups; each row needs one.")
        if weights is None or weights.all():
            return cls(X, y, weights, names)
        kept = np.flatnonzero(weights)
        names = None if names is None else [names[row] for row in kept.tolist()]
        return cls(rows_of(X, kept), y[kept], weights[kept], names)

    @property
    def labels(self) -> list[Label]:
        """The labels as Python's own values."""
        found: list[Label] = self.y.tolist()
        return found

    def weighed(self, class_weight: Any) -> Floats | None:
        """How much each row counts with the weight of its class; None if all count alike."""
        if class_weight is None:
            return self.weights
        by_class = class_weights(class_weight, Counter(self.labels))
        own = np.array([by_class[label] for label in self.labels])
        return own if self.weights is None else own * self.weights


@dataclass(frozen=True, eq=False)
class Labeled:
    """The rows that have a label, and the texts that have none; None if all have one."""

    X: Any
    y: Any
    sample_weight: Any
    groups: Any
    unlabeled: list[Any] | None = None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, groups: Any) -> Labeled:
        """Texts parted by whether they have a label; rows of a table must have one."""
        without = _without_label(y) if y is not None and is_text(X) else np.zeros(0, bool)
        if not without.any():
            return cls(X, y, sample_weight, groups)
        if without.all():
            raise ValueError("No text has a label: y is None or -1 throughout. Label at least one.")
        texts, labels = as_list(X, "X"), as_list(y, "y")
        if len(texts) != len(labels):
            raise ValueError(f"X has {len(texts)} texts and y has {len(labels)} labels; give None for none.")
        known, rest = np.flatnonzero(~without), np.flatnonzero(without).tolist()
        weights = None if sample_weight is None else rows_of(as_list(sample_weight, "sample_weight"), known)
        names = None if groups is None else rows_of(as_list(groups, "groups"), known)
        some = [texts[row] for row in rest if not is_missing(texts[row])]
        return cls(rows_of(texts, known), rows_of(labels, known), weights, names, some)


def _without_label(y: Any) -> NDArray[np.bool_]:
    """Where y is None or NaN; where it is -1, as in scikit-learn, if two other classes are from 0 on."""
    labels = as_list(y, "y")
    without = np.array([is_missing(label) for label in labels], bool)
    kinds = {type(label) for label, none in zip(labels, without, strict=True) if not none}
    numbers = {label for label in labels if not is_missing(label)} if kinds == {int} else set()
    # Labels that number the classes are fewer than the rows; others, such as codes, keep their -1.
    if -1 not in numbers or len(numbers) < 3 or min(numbers) < -1 or max(numbers) >= len(labels):
        return without
    if numbers == {-1, 0, 1}:
        warnings.warn(
            f"{labels.count(-1)} texts with the label -1 are taken as texts without a label, as in "
            "scikit-learn. If -1 is a class, name the classes by strings; if not, write None.",
            stacklevel=4,
        )
    return np.array([none or label == -1 for none, label in zip(without, labels, strict=True)], bool)
