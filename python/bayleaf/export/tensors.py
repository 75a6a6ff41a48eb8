"""Documents as the tensors that an exported graph takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf import model_views
from bayleaf.columns import Coded, as_list
from bayleaf.export.frozen import MISSING, model_of
from bayleaf.text.views import TextView

PADDING = ""
"""Behind the terms of a document that has fewer than the longest."""


def inputs_of(model: Any, X: Any) -> dict[str, NDArray[Any]]:
    """One tensor for each view, by its name in the graph."""
    inner = model_of(model)
    if not isinstance(model, type(inner)):
        X = model._columns(X, reset=False)
    columns = model_views.read(inner.views, X)
    named = zip(input_names(inner.views), inner.views, columns, strict=True)
    return {name: _tensor(view, column) for name, (_, view), column in named}


def input_names(views: Any) -> list[str]:
    """The names of the inputs: the column and the kind of the view, with a number if there are several."""
    found: list[str] = []
    for column, view in views:
        kind = view["settings"]["kind"] if isinstance(view, dict) else view.kind
        name = base = f"{column}_{kind}" if column else kind
        number = 1
        while name in found:
            number += 1
            name = f"{base}_{number}"
        found.append(name)
    return found


def _tensor(view: Any, column: Any) -> NDArray[Any]:
    if isinstance(view, TextView):
        return padded([view.tokens(text) for text in as_list(column, "X")])
    if view.kind == "date_part":
        return np.asarray(column.codes, np.int64)
    if isinstance(column, Coded):
        return np.array([*column.values, MISSING], object)[column.codes]
    return np.asarray(column, np.float64)


def padded(documents: list[list[str]]) -> NDArray[Any]:
    """Lists of terms side by side, filled up with empty strings."""
    longest = max([1, *map(len, documents)])
    rows = [[*terms, *[PADDING] * (longest - len(terms))] for terms in documents]
    return np.array(rows, object).reshape(len(documents), longest)
