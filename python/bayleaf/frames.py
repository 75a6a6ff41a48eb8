"""Tables of any library told apart from texts and matrices: their columns, the names of these, some rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import date
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import as_list, is_missing

SAMPLE = 100


def is_table(X: Any) -> bool:
    """Whether X has columns with names; a sparse matrix has not, though one kind of it is a mapping."""
    if type(X) in {list, tuple} or hasattr(X, "tocsr"):
        return False
    if hasattr(X, "collect"):
        raise TypeError(
            f"X is a {type(X).__name__}, whose rows are not here yet. Give what X.collect() gives."
        )
    return isinstance(X, Mapping) or hasattr(X, "column_names") or hasattr(X, "columns")


def is_text(X: Any) -> bool:
    """Whether X is one column of texts."""
    if isinstance(X, Iterator | Set):
        raise TypeError(
            f"X is a {type(X).__name__}, which has no order or can be read only once. Give a list: list(X)."
        )
    if is_table(X) or getattr(X, "ndim", 1) != 1:
        return False
    if hasattr(X, "buffer") and hasattr(X, "starts"):
        return True
    if not isinstance(X, list | tuple) and not hasattr(X, "__getitem__"):
        return False
    if str(getattr(X, "dtype", "")).lower().startswith(("category", "categorical", "enum")):
        return False
    sample = as_list(X[:SAMPLE], "X")
    first = next((value for value in sample if not is_missing(value)), None)
    return isinstance(first, str | bytes) or (
        isinstance(X, list | tuple) and {*map(type, sample)} == {NoneType}
    )


def has_texts(X: Any) -> bool:
    """Whether rows without names of columns hold strings or dates, so that they are no matrix of numbers."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and (X.dtype.kind == "M" or _any_text(X[:SAMPLE].ravel().tolist()))
    rows = X[:SAMPLE] if isinstance(X, list | tuple) else []
    return any(isinstance(row, list | tuple) and _any_text(row) for row in rows)


def _any_text(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str | bytes | date | np.datetime64) for value in values)


def as_rows(X: Sequence[Any]) -> NDArray[Any]:
    """Rows of values as an array of two dimensions."""
    rows = np.asarray(X, object)
    if rows.ndim == 2:
        return rows
    lengths = [len(row) if isinstance(row, list | tuple) else 0 for row in X]
    place = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
    raise ValueError(
        f"Row {place} of X has {lengths[place]} values, and row 0 has {lengths[0]}. Give rows of equal "
        "length, one value a column; if they are the words of texts, join them: [' '.join(row) for row in X]."
    )


def holds_records(X: Any) -> bool:
    """Whether X is a list of mappings, a row each, as lines of JSON are read."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def from_records(X: Sequence[Any]) -> dict[str, list[Any]]:
    """The columns of rows that are mappings; what a row does not have is missing."""
    for place, row in enumerate(X):
        if not isinstance(row, Mapping):
            raise TypeError(
                f"Row {place} of X is {row!r}, and row 0 is a mapping. Give all rows as mappings."
            )
    names = dict.fromkeys(name for row in X for name in row)
    return {name: [row.get(name) for row in X] for name in names}


def columns_in(X: Any) -> list[Any]:
    """The columns of a table, or of an array."""
    if isinstance(X, Mapping):
        return list(X.values())
    if hasattr(X, "iloc"):
        return [X.iloc[:, i] for i in range(X.shape[1])]
    if is_table(X):
        return [X[name] for name in getattr(X, "column_names", X.columns)]
    return list(np.asarray(X).T)


def names_in(X: Any) -> list[str]:
    """The names of the columns; x0, x1, … if they are not strings."""
    names: list[Any] = []
    if isinstance(X, Mapping):
        names = list(X)
    elif is_table(X):
        names = list(getattr(X, "column_names", getattr(X, "columns", [])))
    if names and all(isinstance(name, str) for name in names):
        return names
    return [f"x{i}" for i in range(len(names) or np.shape(X)[1])]


def rows_of(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a column, or of the columns in a mapping."""
    if isinstance(X, Mapping):
        return {name: rows_of(column, rows) for name, column in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, np.ndarray):
        return X[rows]
    values = as_list(X, "X")
    return [values[row] for row in rows.tolist()]
