"""Any table as columns with names; and which view a column gets if none is given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import as_list, is_missing, is_numeric
from bayleaf.table_views import CountsView, category, counts, normal
from bayleaf.view import View
from bayleaf.views import chars, words

TEXT = words(ngrams=2)
"""How texts are looked at if nothing is said: words and pairs of words."""
LETTERS = chars(3, 5)
SHORT = 60
"""Texts of fewer words on average are looked at as letters, too (measured in docs/tuning.md)."""
WORD = re.compile(r"\w+")
SAMPLE = 100


def text_views(texts: Any, fewest: int | None) -> list[View]:
    """How texts are looked at; from `fewest` on, short ones (judged by 2,000 of them) as letters as well."""
    if fewest is None or len(texts) < fewest:
        return [TEXT]
    step = -(-len(texts) // 2000)
    some = as_list(texts[::step] if isinstance(texts, list | tuple) else texts, "X")
    some = some if isinstance(texts, list | tuple) else some[::step]
    shown = [text if isinstance(text, str) else str(text, "utf-8", "replace") for text in some]
    mean = sum(len(WORD.findall(text)) for text in shown) / len(shown)
    return [TEXT, LETTERS] if mean < SHORT else [TEXT]


def is_table(X: Any) -> bool:
    """Whether X has columns with names; a sparse matrix has not, though one kind of it is a mapping."""
    if hasattr(X, "tocsr"):
        return False
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
    first = next((value for value in as_list(X[:SAMPLE], "X") if not is_missing(value)), None)
    return isinstance(first, str | bytes)


def has_texts(X: Any) -> bool:
    """Whether rows without names of columns hold strings, so that they are no matrix of numbers."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and _any_text(X[:SAMPLE].ravel().tolist())
    rows = X[:SAMPLE] if isinstance(X, list | tuple) else []
    return any(isinstance(row, list | tuple) and _any_text(row) for row in rows)


def _any_text(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str | bytes) for value in values)


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


def view_for(column: Any, name: str) -> View:
    """The view of a column by what is in it: numbers, categories, or texts."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if kind.startswith(("category", "categorical", "enum", "dictionary")):
        return category()
    if is_numeric(column):
        return normal()
    values = [value for value in as_list(column, f"The column {name!r} of X") if not is_missing(value)]
    kinds = {type(value) for value in values}
    if kinds <= {str, bytes}:
        return category() if 2 * len(set(values)) <= len(values) or not values else TEXT
    if any(issubclass(kind, bool | np.bool_) for kind in kinds):
        return category()
    if all(
        hasattr(kind, "__float__") and not issubclass(kind, str | np.datetime64 | np.timedelta64)
        for kind in kinds
    ):
        return normal()
    odd = next((value for value in values if not isinstance(value, str | bytes | int | float)), None)
    if odd is None:
        raise TypeError(
            f"The column {name!r} of X holds texts and numbers. Make them alike, or give `views`, a mapping "
            "from columns to views: category() takes both, and knows them by their texts."
        )
    raise TypeError(
        f"The column {name!r} of X holds {odd!r}, a {type(odd).__name__}, which has no view of its own. Give "
        "`views`, a mapping from columns to views such as category() or normal(), or turn it into numbers."
    )


def views_for(views: Any, names: list[str], columns: list[Any]) -> dict[str, View]:
    """The view of each column: the one given for all, or one by what is in it."""
    if isinstance(views, CountsView) and not views.columns:
        return {"counts": counts(*names, alpha=views.alpha)}
    if views is None:
        return {name: view_for(column, name) for name, column in zip(names, columns, strict=True)}
    return dict.fromkeys(names, views)
