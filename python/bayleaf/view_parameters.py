"""Settings of views as parameters of an estimator, so that a grid search can change them: `views__…`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.text.normalization import Top
from bayleaf.text.views import TextView, Words
from bayleaf.view import View

PREFIX = "views__"
Path = tuple[Any, ...]


class ViewParameters:
    """Parameters of the views of an estimator, and the names of what they look at."""

    views: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters; with `deep` those of the views as well, `views__` and their place before each."""
        own: dict[str, Any] = super().get_params(deep)  # type: ignore[misc] # of scikit-learn's BaseEstimator
        if deep:
            own |= {name: value for name, (_, _, value) in parameters_of(self.views).items()}
        return own

    def set_params(self, **params: Any) -> Self:
        """Change parameters; those of views make a new view in the place of the old one."""
        own = {name: value for name, value in params.items() if not name.startswith(PREFIX)}
        super().set_params(**own)  # type: ignore[misc]
        for name, value in params.items():
            if name.startswith(PREFIX):
                self.views = self._with(name, value)
        return self

    def _with(self, name: str, value: Any) -> Any:
        known = parameters_of(self.views)
        if name not in known:
            hint = "give `views`, which are None" if self.views is None else f"choose from {sorted(known)}"
            raise ValueError(f"There is no parameter {name!r}: {hint}.")
        path, setting, _ = known[name]
        return _replaced(self.views, path, setting, value)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """What the evidence is made of: terms, values and columns, each behind the name of its view."""
        model = self._ready()  # type: ignore[attr-defined]
        names = [
            feature
            for number, (column, view) in enumerate(model.views)
            for feature in _features(column, view, model.counts(number))
        ]
        return np.array(names, object)


def _features(column: str, view: View, counts: Any) -> list[str]:
    if isinstance(view, TextView):
        start = f"{column}__{view.kind}" if column else view.kind
        return [f"{start}__{term}" for term in counts.term_names]
    if view.kind == "pairs":
        known = np.flatnonzero(counts.is_known).tolist()
        return [f"{view.columns[counts.column_of[i]]}={counts.names[i]}" for i in known]
    if view.kind in ("category", "flag", "date_part"):
        return [f"{column}={value}" for value in counts.values]
    return list(view.columns) or [column]


def parameters_of(views: Any) -> dict[str, tuple[Path, str, Any]]:
    """By the name of each parameter of each view: where the view is, which setting it is, and its value."""
    places = list(_places(views))
    found: dict[str, tuple[Path, str, Any]] = {}
    for path, view in places:
        name = "__".join(map(str, path))
        for setting, value in settings_of(view).items():
            found[PREFIX + (f"{name}__{setting}" if name else setting)] = path, setting, value
            if len(places) == 1:
                found[PREFIX + setting] = path, setting, value
    return found


def _places(views: Any, path: Path = ()) -> Iterator[tuple[Path, View]]:
    if isinstance(views, View):
        yield path, views
    elif isinstance(views, Mapping):
        for name, own in views.items():
            yield from _places(own, (*path, name))
    elif isinstance(views, list | tuple):
        for place, own in enumerate(views):
            yield from _places(own, (*path, place))


def settings_of(view: View) -> dict[str, Any]:
    """The settings of a view under the names by which it is made."""
    found = {field.name: getattr(view, field.name) for field in fields(view)}  # type: ignore[arg-type]
    if isinstance(view, Words):
        steps = found.pop("normalization")
        found |= {"ngrams": (found.pop("shortest"), found.pop("longest")), "stemmer": steps.stemmer}
        found |= {"lemmatizer": steps.lemmatizer, "strip_accents": steps.strip_accents}
        found |= {"digits": steps.digits, "normalizer": steps.function}
        found["stop_words"] = found["stop_words"] if steps.stop_words is None else steps.stop_words
    return found


def changed(view: View, setting: str, value: Any) -> View:
    """The view with another value of one setting."""
    new: dict[str, Any] = {setting: value}
    if isinstance(view, Words):
        if setting == "ngrams":
            shortest, longest = value if isinstance(value, tuple | list) else (1, value)
            new = {"shortest": shortest, "longest": longest}
        elif setting == "stop_words":
            counted = isinstance(value, Top)
            steps = replace(view.normalization, stop_words=None if counted else value)
            new = {"stop_words": value if counted else None, "normalization": steps}
        elif setting in ("stemmer", "lemmatizer", "strip_accents", "digits", "normalizer"):
            own = "function" if setting == "normalizer" else setting
            new = {"normalization": replace(view.normalization, **{own: value})}
    made: View = replace(view, **new)  # type: ignore[type-var]
    return made


def _replaced(views: Any, path: Path, setting: str, value: Any) -> Any:
    if not path:
        return changed(views, setting, value)
    if isinstance(views, Mapping):
        return {
            name: _replaced(own, path[1:], setting, value) if name == path[0] else own
            for name, own in views.items()
        }
    return [
        _replaced(own, path[1:], setting, value) if place == path[0] else own
        for place, own in enumerate(views)
    ]
