"""What every view is: it reads a column, keeps a tally of it, and makes a scorer of the tally."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import Coded
from bayleaf.types import Arrays, Classes, Floats, Unseen


def as_floats(name: str) -> cached_property[Floats]:
    """A property of counts: one of their `arrays` as floating point numbers, made when it is asked for."""

    def read(counts: Any) -> Floats:
        return counts.arrays[name].astype(np.float64)  # type: ignore[no-any-return]

    return cached_property(read)


def taken(column: Any, rows: NDArray[Any]) -> Any:
    """Some rows of what a view has read."""
    if isinstance(column, Coded):
        return Coded(column.values, column.codes[rows])
    if isinstance(column, np.ndarray):
        return column[rows]
    if isinstance(column, list):
        return [column[row] for row in rows.tolist()]
    return column.take(rows) if hasattr(column, "take") else [column[row] for row in rows.tolist()]


class NotCounted(ValueError):  # noqa: N818 # the sibling of the core's NotLearned
    """These rows were not counted: (what is too much, class number)."""


class View:
    """How to look at one column: what is counted in it, and what the counts say.

    A view reads a column, keeps a tally of it, and compiles the tally into a scorer. The settings in
    `judgments` only decide what is made of the counts, and can be changed at any time; all others are facts.
    """

    kind: ClassVar[str]
    judgments: ClassVar[frozenset[str]] = frozenset()
    columns: tuple[str, ...] = ()
    """The columns that are looked at together, if it is not one column with the view's own name."""

    def __repr__(self) -> str:
        values = [(field, getattr(self, field.name)) for field in self._fields() if field.repr]
        chosen = [f"{field.name}={value!r}" for field, value in values if value != field.default]
        return f"{self.kind}({', '.join(chosen)})"

    def __getstate__(self) -> dict[str, Any]:
        """The settings alone: what is computed from them is computed again in a copy."""
        return {field.name: getattr(self, field.name) for field in self._fields()}

    def _fields(self) -> tuple[Field[Any], ...]:
        return fields(cast(Any, self))

    def read(self, raw: Any, where: str) -> Any:
        """The column in the form that the tally and the scorer take; `where` names it in errors."""
        raise NotImplementedError

    def tally(self) -> Tally:
        """Counts of nothing yet."""
        raise NotImplementedError

    def restore(self, arrays: Arrays) -> Tally:
        """The counts that a file holds."""
        raise NotImplementedError

    def compile(self, tally: Any, order: Classes, alpha: float, unseen: Unseen) -> Scorer:
        """Make the counts of the classes in this order ready to answer."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """The settings that decide what is counted, ready for JSON."""
        settings = self.to_dict()
        return {name: value for name, value in settings.items() if name not in self.judgments}

    def to_dict(self) -> dict[str, Any]:
        """All settings, ready for JSON."""
        return {"kind": self.kind} | {field.name: getattr(self, field.name) for field in self._fields()}

    @classmethod
    def from_dict(
        cls, settings: Mapping[str, Any], normalizer: Callable[[str], str | None] | None = None
    ) -> Self:
        """The view with these settings."""
        if normalizer is not None:
            raise ValueError(f"A view of {cls.kind} has no normalizer.")
        return cls(**{name: value for name, value in settings.items() if name != "kind"})

    def configured(self, **settings: Any) -> Self:
        """The same view with other judgments; those it does not have are left out."""
        own = {name: value for name, value in settings.items() if name in self.judgments}
        changed: Self = replace(cast(Any, self), **own)
        return changed


class Counts(Protocol):
    """Counts in canonical order: the same facts give the same arrays."""

    @property
    def arrays(self) -> Arrays:
        """What the model file holds."""


class Tally(Protocol):
    """The counts of one view: whatever is counted, it adds, subtracts and merges."""

    @property
    def changes(self) -> int:
        """How often the counts have changed: tells, after an interrupt, whether they did."""

    def add(self, column: Any, classes: Classes, threads: int) -> None:
        """Count rows: all of them, or none."""

    def subtract(self, column: Any, classes: Classes) -> None:
        """Take rows back: all of them, or none and an error."""

    def merge(self, other: Any, classes: Classes) -> None:
        """Add another tally's counts; its class i is `classes[i]` here."""

    def check_merge(self, other: Any, classes: Classes) -> None:
        """Raise what `merge` would raise; after that it raises nothing."""

    def counts(self, order: Classes) -> Any:
        """The counts of the classes in this order."""


class Piece(NamedTuple):
    """One term of a document, where it stands, and what it adds to each class's score."""

    term: str
    start: int
    end: int
    scores: Floats


class Scorer(Protocol):
    """What a view makes of its counts, to answer questions."""

    @property
    def bias(self) -> Floats:
        """What every document gets, whatever is in it."""

    @property
    def may_rule_out(self) -> bool:
        """Whether a document can be impossible in a class."""

    def scores(self, column: Any, threads: int) -> Floats:
        """The log likelihood of each document in each class."""

    def shown(self, column: Any, name: str) -> str:
        """The text by which the only document of a column is shown."""

    def parts(self, column: Any, name: str) -> list[Piece]:
        """The parts of the score of the only document of a column."""

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The terms that speak most for a class."""
