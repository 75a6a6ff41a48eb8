"""What every view is: it reads a column, keeps a tally of it, and makes a scorer of the tally."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, fields, replace
from typing import Any, ClassVar, Self, cast

from bayleaf.events import Unseen
from bayleaf.scoring import Scorer
from bayleaf.tables import Arrays, Tally
from bayleaf.tally import Classes


class View:
    """How to look at one column: what is counted in it, and what the counts say.

    A view reads a column, keeps a tally of it, and compiles the tally into a scorer. The settings in
    `judgements` only decide what is made of the counts, and can be changed at any time; all others are facts.
    """

    kind: ClassVar[str]
    judgements: ClassVar[frozenset[str]] = frozenset()
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
        return {name: value for name, value in settings.items() if name not in self.judgements}

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
        """The same view with other judgements; those it does not have are left out."""
        own = {name: value for name, value in settings.items() if name in self.judgements}
        changed: Self = replace(cast(Any, self), **own)
        return changed
