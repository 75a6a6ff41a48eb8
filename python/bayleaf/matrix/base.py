"""What the matrix classifiers share: a batch becomes counts, counts add and subtract, parameters follow.

`fit` is a fresh start followed by `partial_fit`; a call that fails changes nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from bayleaf.labels import plain_labels
from bayleaf.matrix.counts import Array
from bayleaf.posterior import log_softmax


class NaiveBayesBase(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn is untyped
    """Learning, forgetting, merging and deciding, the same for every model."""

    _checks: ClassVar[dict[str, Any]] = {}
    _counting: tuple[str, ...] = ()
    _smoothing = "alpha"

    classes_: Array
    class_count_: Array
    n_features_in_: int
    _counts_: Any
    _open_: bool

    # What a model adds: how X is counted, what follows from the counts, and how rows are scored.

    def _count(self, X: Any, codes: Array, weight: Array, n_classes: int) -> Any:
        raise NotImplementedError

    def _derive(self) -> None:
        raise NotImplementedError

    def _joint(self, X: Any) -> Array:
        raise NotImplementedError

    def _log_prior(self) -> Array:
        raise NotImplementedError

    def _prepare(self, X: Any) -> Any:
        return X

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from X and y alone, whatever was learned before."""
        with self._all_or_nothing():
            self._reset()
            self._learn(X, y, None, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from X and y as well; naming the `classes` closes their set, otherwise new ones may come."""
        with self._all_or_nothing():
            self._learn(X, y, classes, sample_weight)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Undo having learned X and y; ValueError, and no change, if they cannot have been learned."""
        check_is_fitted(self)
        with self._all_or_nothing():
            X, y, weight = self._validated(X, y, sample_weight, reset=False)
            labels, inverse = np.unique(y, return_inverse=True)
            if len(_union(self.classes_, labels)) > len(self.classes_):
                raise ValueError(
                    f"y has the labels {_missing(labels, self.classes_)}, which were never learned and "
                    f"cannot be forgotten. The classes are {self.classes_.tolist()}."
                )
            places = np.searchsorted(self.classes_, labels)
            counts = self._counts_.minus(self._count(X, places[inverse], weight, len(self.classes_)))
            self._drop_empty(places, counts)
        return self

    def merge(self, other: Self) -> Self:
        """Learn at once all that `other` has learned."""
        if type(other) is not type(self):
            raise TypeError(f"Only another {type(self).__name__} can be merged, got {type(other).__name__}.")
        check_is_fitted(other)
        with self._all_or_nothing():
            self._check_mergeable(other)
            classes, is_open = self._classes_after(other.classes_, None, "`other`")
            counts = other._counts_.placed(np.searchsorted(classes, other.classes_), len(classes))
            self._settle(classes, is_open, counts)
        return self

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        X, y, weight = self._validated(X, y, sample_weight, reset=not self.__sklearn_is_fitted__())
        labels, inverse = np.unique(y, return_inverse=True)
        classes, is_open = self._classes_after(labels, classes, "y")
        codes = np.searchsorted(classes, labels)[inverse]
        self._settle(classes, is_open, self._count(X, codes, weight, len(classes)))

    def _settle(self, classes: Array, is_open: bool, counts: Any) -> None:
        """Add the earlier counts to fresh ones and derive what follows from them."""
        if self.__sklearn_is_fitted__():
            same = len(classes) == len(self.classes_)
            places = np.searchsorted(classes, self.classes_)
            counts.add(self._counts_ if same else self._counts_.placed(places, len(classes)))
        self._become(classes, is_open, counts)

    def _become(self, classes: Array, is_open: bool, counts: Any) -> None:
        _refuse_overflow(counts.rows)
        self.classes_, self._open_, self._counts_, self.class_count_ = classes, is_open, counts, counts.rows
        self._derive()

    def _drop_empty(self, places: Array, counts: Any) -> None:
        """A class that came with its rows goes with them; one that was announced stays."""
        kept = np.ones(len(self.classes_), dtype=bool)
        if self._open_:
            kept[places] = counts.rows[places] > 0
        if not kept.any():
            self._reset()
            return
        if not kept.all():
            counts = counts.placed(np.where(kept, np.cumsum(kept) - 1, -1), int(kept.sum()))
        self._become(self.classes_[kept], self._open_, counts)

    def _classes_after(self, labels: Array, classes: Any, source: str) -> tuple[Array, bool]:
        """Return all classes once `labels` are learned, and whether more may come."""
        before = getattr(self, "classes_", None)
        is_open = getattr(self, "_open_", True)
        if classes is not None:
            classes = _announced(np.unique(classes), before, is_open)
        elif before is not None and not is_open:
            classes = before
        union = _union(*(part for part in (before, classes, labels) if part is not None))
        if classes is None:
            return union, True
        if len(union) > len(classes):
            raise ValueError(
                f"{source} has the labels {_missing(labels, classes)}, which are not among the classes "
                f"{classes.tolist()} given at first. Correct them, or leave out `classes` to let new ones in."
            )
        return classes, False

    def _check_mergeable(self, other: Self) -> None:
        for name in self._counting:
            ours, theirs = (getattr(model, name) for model in (self, other))
            if ours != theirs:
                raise ValueError(
                    f"`{name}` decides what is counted, but it is {ours!r} here and {theirs!r} in `other`."
                )
        for name in ("n_features_in_", "feature_names_in_"):
            theirs = getattr(other, name, None)
            ours = getattr(self, name, None) if self.__sklearn_is_fitted__() else theirs
            if not np.array_equal(np.asarray(ours), np.asarray(theirs)):
                raise ValueError(f"The features differ: `{name}` is {ours} here and {theirs} in `other`.")
            if theirs is not None:
                setattr(self, name, theirs)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        before = vars(self).copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _reset(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    # Input

    def _validated(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, Array, Array]:
        self._refuse(X)
        y = plain_labels(y)
        if isinstance(y, np.ndarray) and y.dtype.kind == "O":
            _union(y)
        X, y = validate_data(self, X, y, reset=reset, **self._checks)
        check_classification_targets(y)
        return self._prepare(X), y, _row_weights(sample_weight, X.shape[0])

    def _refuse(self, X: Any) -> None:
        """Raise ValueError if X holds dates: some of NumPy's functions would take them for numbers."""
        kinds: Any = getattr(X, "dtypes", None)
        for kind in [getattr(X, "dtype", None)] if kinds is None else list(kinds):
            dates = getattr(kind, "kind", "") in ("m", "M")
            if dates or (kind is not None and hasattr(kind, "is_temporal") and kind.is_temporal()):
                raise ValueError(
                    f"X holds dates or times ({kind}), and {type(self).__name__} takes numbers. Turn them "
                    "into numbers, such as the hour, or the days since a first day."
                )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    # Deciding

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return log P(x, class): the log prior plus the log likelihood, a column per class."""
        check_is_fitted(self)
        self._refuse(X)
        return self._joint(self._prepare(validate_data(self, X, reset=False, **self._checks)))

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row; a tie goes to the class that comes first."""
        joint = self._decidable(self.predict_joint_log_proba(X))
        winners: Array = self.classes_[joint.argmax(axis=1)]
        return winners

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log posterior, a column per class."""
        return log_softmax(self._decidable(self.predict_joint_log_proba(X)))

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior, a column per class; each row sums to 1."""
        log_proba = self.predict_log_proba(X)
        return np.exp(log_proba, out=log_proba)

    def _decidable(self, joint: Array) -> Array:
        """Let the prior decide among classes that probabilities of exactly 0 leave on a par."""
        if np.isfinite(joint).all():
            return joint
        top = joint.max(axis=1)
        ruled_out, certain = np.isneginf(top), np.isposinf(top)
        prior = self._log_prior()
        joint[ruled_out] = prior
        joint[certain] = np.where(np.isposinf(joint[certain]), prior, -np.inf)
        undecided = int(ruled_out.sum() + (np.isfinite(joint[certain]).sum(axis=1) > 1).sum())
        if undecided:
            warnings.warn(
                f"{undecided} row(s) rule out every class, or make several certain, by a probability of "
                f"exactly 0; their posterior is the prior. A larger `{self._smoothing}` avoids it.",
                stacklevel=3,
            )
        return joint


def _union(*parts: Array) -> Array:
    """Return all labels, sorted; NumPy alone would make strings of numbers to mix them."""
    if len({isinstance(label, str) for part in parts for label in part.tolist()}) > 1:
        raise ValueError("The labels are strings in one place and numbers in another. Make them alike.")
    return np.unique(np.concatenate(parts))


def _missing(labels: Array, classes: Array) -> list[Any]:
    known = set(classes.tolist())
    return [label for label in labels.tolist() if label not in known]


def _announced(classes: Array, before: Array | None, is_open: bool) -> Array:
    """Return the announced classes if they agree with what came before."""
    if before is not None:
        gone = len(_union(before, classes)) > len(classes)
        if gone or not (is_open or len(before) == len(classes)):
            raise ValueError(
                f"`classes={classes.tolist()}` is not the same as on last call to partial_fit, was: "
                f"{before.tolist()}. Leave `classes` out, or call `fit` to start again."
            )
    return classes


def _row_weights(sample_weight: Any, n_rows: int) -> Array:
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, sample_weight)
    weight: Array = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != (n_rows,):
        raise ValueError(
            f"`sample_weight` needs one weight for each of the {n_rows} rows, got shape {weight.shape}."
        )
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if weight.min() < 0:
        raise ValueError(f"`sample_weight` must be >= 0, got {weight.min()}. Use `forget` to take rows back.")
    _refuse_overflow(weight)
    return weight


def _refuse_overflow(weight: Array) -> None:
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()):
            raise ValueError("The sample weights are too large: their sum is not finite. Scale them down.")


def checked_priors(priors: Any, n_classes: int, name: str) -> Array:
    """Return given priors as an array, one for each class."""
    values = np.asarray(priors, dtype=np.float64)
    if values.shape != (n_classes,):
        raise ValueError(
            f"Number of priors must match number of classes: `{name}` has shape {values.shape}, and there "
            f"are {n_classes} classes. Give one prior per class, in the order of `classes_`."
        )
    if not (values >= 0).all() or not 0 < values.sum() < np.inf:
        raise ValueError(f"Priors must be non-negative, and not all 0; `{name}` is {values.tolist()}.")
    return values


def class_shares(counts: Array) -> Array:
    """Return each class's share of the rows; with no rows at all, the same for each."""
    total = counts.sum()
    return counts / total if total > 0 else np.full(len(counts), 1 / len(counts))


def log(values: Array, out: Array | None = None) -> Array:
    """Return the logarithm, which is -inf at 0 and no reason to warn."""
    with np.errstate(divide="ignore"):
        logs: Array = np.log(values, out=out)
    return logs
