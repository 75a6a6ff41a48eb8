"""The views of a table's columns if none are given: chosen by what is in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bayleaf.columns import as_list, as_values, is_missing, is_numeric
from bayleaf.model_views import TEXT
from bayleaf.table.dates import date_part, parts_of
from bayleaf.table.pairs import Pairs, pairs
from bayleaf.table.views import Category, CountsView, category, counts, normal
from bayleaf.text.views import TextView, View


def declared(column: Any) -> list[str]:
    """The categories that the type of a column declares (of pandas; Polars' Enum), if they occur or not."""
    own = getattr(getattr(column, "cat", None), "categories", None) if hasattr(column, "iloc") else None
    kind: Any = getattr(column, "dtype", None)
    found = own if own is not None else getattr(kind, "categories", None) if "Enum" in str(kind) else None
    return [] if found is None else as_values(list(found), "The categories").values


MOST_WORDS = 2.5
"""Values of more words in the mean are texts, however often each occurs: a corpus may repeat itself."""


def is_text(values: Sequence[str | bytes]) -> bool:
    """Whether strings are texts and not names of categories: mostly different ones, or sentences."""
    different = set(values)
    words = sum(len(value.split()) for value in different)
    return 2 * len(different) > len(values) or words > MOST_WORDS * len(different)


def view_for(column: Any, name: str) -> View | list[View]:
    """The view of a column by what is in it: numbers, categories, or texts; of dates, one for each part."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if kind.startswith(("category", "categorical", "enum", "dictionary")):
        return category(values=declared(column))
    if is_numeric(column):
        return normal()
    dates = parts_of(column)
    if dates:
        return _one_or_more([date_part(part) for part in dates])
    values = [value for value in as_list(column, f"The column {name!r} of X") if not is_missing(value)]
    kinds = {type(value) for value in values}
    if kinds <= {str, bytes}:
        return TEXT if is_text(values) else category()
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
        "`views`, a mapping from columns to views such as category(), normal() or date_part(), or numbers."
    )


def views_for(
    views: Any, names: list[str], columns: list[Any], texts: Callable[[Any], list[View]]
) -> dict[str, Any]:
    """The view of each column: the one given for all, or one by what is in it; of texts, those of `texts`."""
    if isinstance(views, CountsView) and not views.columns:
        return {"counts": counts(*names, alpha=views.alpha)}
    if isinstance(views, Pairs) and not views.columns:
        return {"pairs": pairs(*names, alpha=views.alpha, least=views.least)}
    if views is None:
        found = {name: view_for(column, name) for name, column in zip(names, columns, strict=True)}
        both = zip(found.items(), columns, strict=True)
        return {
            name: _one_or_more(texts(column)) if isinstance(view, TextView) else view
            for (name, view), column in both
        }
    return dict.fromkeys(names, views)


def paired(views: Any) -> dict[str, Any]:
    """The views of a table with all its columns of categories looked at together, two by two."""
    own = views if isinstance(views, Mapping) else {}
    together = [name for name, view in own.items() if isinstance(view, Category)]
    if len(together) < 2:
        raise ValueError(
            f"`pairs=True` needs a table with two or more columns of categories; the views are {views}. Give "
            "`views`, a mapping from columns to views with category() for more columns, or leave it False."
        )
    name = "pairs"
    while name in own:
        name += "_"
    alphas = {own[column].alpha for column in together}
    if len(alphas) > 1:
        raise ValueError(f"`pairs=True` takes one alpha for all categories, got {sorted(alphas, key=str)}.")
    found: dict[str, Any] = {}
    for column, view in own.items():
        if column not in together:
            found[column] = view
        elif name not in found:
            found[name] = pairs(*together, alpha=alphas.pop())
    return found


def _one_or_more(views: list[View]) -> View | list[View]:
    return views[0] if len(views) == 1 else views
