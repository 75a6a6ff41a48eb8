"""How a scikit-learn estimator takes X (texts, a table, or an array, the same in every call) and y."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d, validate_data

from bayleaf import frames
from bayleaf.labels import holds_lists, plain_labels
from bayleaf.model_views import table_for_column


class TableInput:
    """Turns X into one column, or into a mapping of columns that agrees with what was learned."""

    views: Any
    views_: Any
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _names_: list[str]

    def _columns(self, X: Any, reset: bool) -> Any:
        """X as one column of texts, or as a mapping of columns that agrees with what was learned."""
        if not reset and type(X) is list and isinstance(self.views_, list):
            return X
        if self._is_one_column(X, reset):
            if frames.is_table(X):
                raise table_for_column(self.views if reset else self.views_, X)
            return X
        if not reset and frames.is_text(X):
            raise TypeError(
                f"X is one column of texts, and a table with the columns {self._names_} was learned. Give a "
                "table, or a mapping from columns to lists."
            )
        if frames.holds_records(X) or (not reset and type(X) is list and not X):
            X = self._records(X, reset)
        return self._table(X, reset)

    def _table(self, X: Any, reset: bool) -> Mapping[str, Any]:
        if isinstance(X, Mapping) and frames.is_table(X):
            return self._mapping(X, reset)
        if frames.is_table(X) or frames.has_texts(X):
            X = frames.as_rows(X) if isinstance(X, list | tuple) else X
            validate_data(self, X, reset=reset, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=reset, ensure_all_finite="allow-nan")
        if reset:
            self._names_ = frames.names_in(X)
        return dict(zip(self._names_, frames.columns_in(X), strict=True))

    def _is_one_column(self, X: Any, reset: bool) -> bool:
        if not reset:
            return isinstance(self.views_, list)
        if isinstance(self.views, list | tuple):
            return True
        return not isinstance(self.views, Mapping) and frames.is_text(X)

    def _as_rows(self, x: Any) -> Any:
        return [x]

    def _records(self, X: Any, reset: bool) -> dict[str, list[Any]]:
        """The columns of rows that are mappings; a learned column that no row has is missing in all."""
        absent = {} if reset else {name: [None] * len(X) for name in self._names_}
        return absent | frames.from_records(X)

    def _mapping(self, X: Mapping[str, Any], reset: bool) -> Mapping[str, Any]:
        if reset:
            self._names_ = _column_names(X)
            self.n_features_in_ = len(X)
            self.feature_names_in_ = np.array(self._names_, object)
            return dict(zip(self._names_, X.values(), strict=True))
        missing = [name for name in self._names_ if name not in X]
        extra = [name for name in X if name not in self._names_]
        if missing or extra:
            raise ValueError(
                f"X has other columns than those learned: {missing} are missing, {extra} are extra."
            )
        return X

    def _row(self, x: Any) -> Mapping[str, Any]:
        if isinstance(x, Mapping):
            return dict.fromkeys(self._names_) | dict(x)
        if hasattr(x, "iloc") and not hasattr(x, "columns"):
            return dict(zip(map(str, x.index), x, strict=True))
        if frames.is_table(x):
            return {name: next(iter(column)) for name, column in self._columns(x, reset=False).items()}
        return dict(zip(self._names_, np.ravel(np.asarray(x, object)).tolist(), strict=True))


def _column_names(X: Mapping[Any, Any]) -> list[str]:
    if not X:
        raise ValueError("X has no columns.")
    for name in X:
        if not isinstance(name, str):
            raise TypeError(f"A column of X has the name {name!r}. Give columns names that are strings.")
    return list(X)


def checked_labels(y: Any) -> NDArray[Any]:
    """Labels in one dimension, none of them missing."""
    if y is None:
        raise ValueError("NaiveBayes requires y to be passed, but the target y is None.")
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {shape} instead. If it says which of several "
            "labels each row has, use MultiLabel(NaiveBayes())."
        )
    if holds_lists(y):
        raise ValueError(
            f"y[0] is {next(iter(y))!r}: a row has one label. If it may have several, use "
            "MultiLabel(NaiveBayes())."
        )
    if type(y) is list and {*map(type, y)} == {str}:
        return np.array([*y, None], object)[:-1]  # alone, NumPy would drop zeros from the end of a string
    labels: NDArray[Any] = column_or_1d(plain_labels(y), warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
    return labels
