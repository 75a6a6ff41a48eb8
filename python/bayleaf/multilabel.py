"""Several labels for a row: one binary judgment for each label, all from one count of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayleaf.estimator_settings import Settled
from bayleaf.explanation import Explanation
from bayleaf.labels import holds_lists
from bayleaf.model import Model
from bayleaf.model_views import as_given
from bayleaf.naive_bayes import _ALL, NaiveBayes
from bayleaf.row_weights import ClassSizes
from bayleaf.types import Floats, Label


class MultiLabel(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn is untyped
    """Naive Bayes for rows that have any number of labels: Y is an indicator matrix, or lists of names.

    | parameter | values | meaning |
    |---|---|---|
    | `estimator` | None, a `NaiveBayes` | how each label is judged; None is `NaiveBayes()` |

    Rows are counted once, by the set of labels they have; the counts of each label and of all rows without it
    are sums of these. Each label then earns weights and probabilities of its own.

    Attributes: `classes_` (the names of the columns of Y, or their numbers), `estimators_` (a `NaiveBayes`
    for each label, whose classes are 0 and 1), `model_` (the counts by set of labels).
    """

    classes_: NDArray[Any]
    estimators_: list[NaiveBayes]
    model_: Model

    def __init__(self, estimator: NaiveBayes | None = None) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def fit(self, X: Any, Y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from X and Y alone; weights and groups as in `NaiveBayes.fit`."""
        labels, names = _indicator(Y)
        base = NaiveBayes() if self.estimator is None else self.estimator
        whole = clone(base)._start(X, _sets(labels), _ALL, None)
        estimators = [self._of_label(base, whole, number) for number in range(labels.shape[1])]
        for number, each in enumerate(estimators):
            rows = each._rows(X, labels[:, number], sample_weight, groups)
            each._sizes_.change(rows.labels, rows.weights, 1, {})
            each._judged(rows)
        self._whole_, self.model_, self.classes_, self.estimators_ = whole, whole.model_, names, estimators
        return self

    def _of_label(self, base: NaiveBayes, whole: NaiveBayes, number: int) -> NaiveBayes:
        """An estimator whose counts are those of the rows with a label, and of those without."""
        found: NaiveBayes = clone(base)
        kept = ("views_", "_names_", "n_features_in_", "feature_names_in_")
        found.__dict__ |= {name: value for name, value in whole.__dict__.items() if name in kept}
        found.model_ = relabeled(whole.model_, lambda labels: int(str(labels)[number]))
        found._sizes_, found._weighed_with_, found._settled_ = ClassSizes(), {}, Settled()
        return found._refreshed()

    def partial_fit(self, X: Any, Y: Any) -> Self:
        """Learn more rows; the weights stay, and `estimators_[i].retune` earns them anew."""
        if not self.__sklearn_is_fitted__():
            return self.fit(X, Y)
        labels = self._known(Y)
        self._whole_.partial_fit(X, _sets(labels))
        for number, each in enumerate(self.estimators_):
            each.partial_fit(X, labels[:, number])
        return self

    def forget(self, X: Any, Y: Any) -> Self:
        """Undo having learned rows; ValueError, and no change, if they cannot have been learned."""
        check_is_fitted(self)
        labels = self._known(Y)
        self._whole_.forget(X, _sets(labels))
        for number, each in enumerate(self.estimators_):
            each.forget(X, labels[:, number])
        return self

    def _known(self, Y: Any) -> NDArray[np.int64]:
        labels, _ = _indicator(Y, self.classes_.tolist())
        if labels.shape[1] != len(self.classes_):
            raise ValueError(
                f"Y has {labels.shape[1]} columns, and {len(self.classes_)} labels were learned."
            )
        return labels

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The labels of each row, as an indicator matrix."""
        check_is_fitted(self)
        return np.stack([np.asarray(each.predict(X), np.int64) for each in self.estimators_], axis=1)

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each label of each row, a column for each label."""
        check_is_fitted(self)
        columns = []
        for each in self.estimators_:
            posterior = each.predict_proba(X)
            place = np.flatnonzero(each.classes_ == 1)
            columns.append(posterior[:, place[0]] if len(place) else np.zeros(len(posterior)))
        return np.stack(columns, axis=1)

    def decision_function(self, X: Any) -> Floats:
        """The log odds of each label of each row; a label that no row, or every row, had is at infinity."""
        with np.errstate(divide="ignore"):
            posterior = self.predict_proba(X)
            odds: Floats = np.log(posterior) - np.log1p(-posterior)
        return odds

    def explain(self, x: Any, label: Label) -> Explanation:
        """Why one row has a label or not: the parts of the log odds of that label."""
        check_is_fitted(self)
        names = self.classes_.tolist()
        if label not in names:
            raise ValueError(f"There is no label {label!r}. The labels are {names!r}.")
        judge: Any = self.estimators_[names.index(label)]
        explanation: Explanation = judge.explain(x)
        return explanation


def relabeled(model: Model, name: Callable[[Label], Label]) -> Model:
    """A model of the same documents under other labels, from the counts alone; several may become one."""
    settings: Any = {"alpha": model.alpha, "priors": model.priors, "unseen": model.unseen}
    other = Model(as_given(model.views), threads=model.threads, **settings)
    with model._turn:
        other._counts.merge(model._counts, [name(label) for label in model._counts.labels.names])
    return other


def _of_lists(
    rows: Sequence[set[Any]], known: Sequence[Any] | None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    found = set[Any]().union(*rows)
    odd = next((name for name in found if not isinstance(name, str)), None)
    if odd is not None:
        raise ValueError(f"Y names the label {odd!r}; in lists, labels are named by strings.")
    names = sorted(found) if known is None else list(known)
    strange = sorted(found.difference(names))
    if strange:
        raise ValueError(
            f"Y names the label {strange[0]!r}, which was not learned. The labels are {names!r}."
        )
    table = np.array([[name in row for name in names] for row in rows], np.int64)
    return table.reshape(len(rows), len(names)), np.array([*names, None], object)[:-1]


def _indicator(Y: Any, known: Sequence[Any] | None = None) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Y as a dense matrix of 0 and 1, and the names of its columns; lists of names are made into one."""
    if holds_lists(Y):
        return _of_lists([set(names) for names in Y], known)
    names = getattr(Y, "columns", None)
    dense = Y.toarray() if hasattr(Y, "toarray") else np.asarray(Y)
    if dense.ndim != 2 or not dense.shape[1]:
        raise ValueError(
            "Y must be an indicator matrix, a row for each row and a column for each label, got shape "
            f"{dense.shape}, or a list of names for each row. For one label a row use NaiveBayes."
        )
    if not np.isin(dense, (0, 1)).all():
        raise ValueError(
            f"Y holds {dense[~np.isin(dense, (0, 1))].tolist()[0]!r}; an indicator matrix holds 0 and 1."
        )
    named = np.arange(dense.shape[1]) if names is None else np.array(list(names), object)
    return dense.astype(np.int64), named


def _sets(labels: NDArray[np.int64]) -> NDArray[Any]:
    """The labels of each row as one name: a digit for each label."""
    return np.array(["".join(map(str, row)) for row in labels.tolist()], object)
