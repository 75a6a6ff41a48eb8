"""X as the columns that views read, whatever kind of table it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bayleaf.tally import length_of
from bayleaf.views import View, Words

Views = View | Sequence[View] | Mapping[str, View | Sequence[View]]
NamedViews = Sequence[tuple[str, View]]
WHOLE = ""
"""The name of the column when X is one column."""


def named_views(views: Any) -> list[tuple[str, View]]:
    """Views with the names of their columns, if they can stand side by side."""
    if isinstance(views, View):
        views = [views]
    columns = views if isinstance(views, Mapping) else {WHOLE: list(views)}
    named = [
        (name, view)
        for name, own in columns.items()
        for view in (own if isinstance(own, list | tuple) else [own])
    ]
    if not named:
        raise ValueError("`views` is empty; a model needs at least one view, for example [words()].")
    for name, view in named:
        if not isinstance(view, View):
            raise TypeError(f"`views` holds {view!r}, which is not a view such as words() or chars(3, 5).")
        if isinstance(views, Mapping) and (not isinstance(name, str) or name == WHOLE):
            raise TypeError(f"`views` maps column names to views; {name!r} is not a name.")
    facts = [(name, view.facts()) for name, view in named]
    for i, fact in enumerate(facts):
        if fact in facts[:i]:
            raise ValueError(
                f"The views clash: {named[i][1]!r} is there twice, and would count the same terms twice."
            )
    return named


def as_given(views: NamedViews) -> list[View] | dict[str, Any]:
    """Views as a user writes them: a list for one column, or a mapping from columns to a view or a list."""
    columns: dict[str, list[View]] = {}
    for name, view in views:
        columns.setdefault(name, []).append(view)
    if WHOLE in columns:
        return columns[WHOLE]
    return {name: own[0] if len(own) == 1 else own for name, own in columns.items()}


def read(views: NamedViews, X: Any) -> list[Any]:
    """What each view reads of X."""
    if views[0][0] == WHOLE:
        return _read_once([view for _, view in views], X)
    names = column_names(X)
    missing = [name for name in columns_of(views) if name not in names]
    if missing:
        raise ValueError(f"X has no column {missing[0]!r}. Its columns are {names}.")
    columns = [view.read(_looked_at(X, name, view), f"The column {name!r} of X") for name, view in views]
    lengths = [length_of(column) for column in columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"The columns of X have different lengths: {lengths}.")
    return columns


def read_row(views: NamedViews, x: Any) -> list[Any]:
    """What each view reads of one row."""
    if views[0][0] == WHOLE:
        return read(views, [x])
    names = set(x.keys() if hasattr(x, "keys") else column_names(x))
    return read(views, {name: [x[name]] for name in columns_of(views) if name in names})


def rows_of(views: NamedViews, X: Any, rows: Sequence[int]) -> Any:
    """Some rows of X."""
    if views[0][0] == WHOLE:
        return _taken(X, rows)
    return {name: _taken(X[name], rows) for name in columns_of(views)}


def _taken(column: Any, rows: Sequence[int]) -> list[Any]:
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    return [values[row] for row in rows]


def columns_of(views: NamedViews) -> list[str]:
    """The columns that the views look at."""
    return list(dict.fromkeys(name for own, view in views for name in view.columns or (own,)))


def _looked_at(X: Any, name: str, view: View) -> Any:
    return [X[column] for column in view.columns] if view.columns else X[name]


def _read_once(views: Sequence[View], X: Any) -> list[Any]:
    """What each view reads of one column; those that read alike share it."""
    readers = {type(view).read: view for view in views}
    read = {reader: view.read(X, "X") for reader, view in readers.items()}
    return [read[type(view).read] for view in views]


def column_names(X: Any) -> list[Any]:
    """The names of the columns of a table."""
    names = X.keys() if isinstance(X, Mapping) else getattr(X, "column_names", getattr(X, "columns", None))
    if names is None:
        raise TypeError(
            f"The views name columns, so X must be a table with named columns, got {type(X).__name__}."
        )
    return list(names)


def needs_normalizer(settings: Mapping[str, Any]) -> bool:
    """Whether a view with these settings was learned with a function of the user's."""
    functions = [settings.get("tokenizer"), settings.get("normalization")]
    return any(isinstance(each, Mapping) and each.get("function") is not None for each in functions)


def normalizers_of(views: NamedViews) -> list[Callable[[str], str | None] | None]:
    """The user's function of each view that has one."""
    return [view.functions if isinstance(view, Words) else None for _, view in views]
