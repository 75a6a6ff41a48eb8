"""What the page sends: the bodies of its requests."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bayleaf.service.http.messages import AnyLabel, Id, Name
from bayleaf.service.page.lessons import Order

Search = Annotated[str, Meta(max_length=1_000)]


class Request(Struct, forbid_unknown_fields=True, kw_only=True):
    """Who asks: with tokens, the token's name counts."""

    person: Name = ""


class Next(Request, kw_only=True):
    """Show a document."""

    order: Order = "ask"
    search: Search = ""


class Label(Next, kw_only=True):
    """Label a document and show the next; without a label, skip it."""

    item: Id
    how: str = ""
    key: Id
    label: AnyLabel | None = None


class LabelAll(Request, kw_only=True):
    """Label several documents."""

    items: Annotated[list[Id], Meta(max_length=1_000)]
    label: AnyLabel
    key: Id
    how: Literal["all", "review"] = "all"


class Undo(Next, kw_only=True):
    """Take back the last action, all of today, or all of a person."""

    what: Literal["last", "today", "all"] = "last"
    of: Name = ""
    midnight: float = 0.0


class Classes(Request, kw_only=True):
    """Announce a class, or take back one that has no documents."""

    add: str | None = None
    remove: AnyLabel | None = None


class Why(Request, kw_only=True):
    """Explain a document."""

    item: Id
    label: AnyLabel | None = None


class Effect(Request, kw_only=True):
    """What would each label change?"""

    item: Id


class Word(Request, kw_only=True):
    """Look at a word; teach it by itself, or leave it out."""

    word: Annotated[str, Meta(min_length=1, max_length=200)]
    label: AnyLabel | None = None
    leave_out: bool = False
    key: Id = "-"


class Hits(Request, kw_only=True):
    """Search documents without a label."""

    search: Search
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100


class Labeled(Request, kw_only=True):
    """Labeled documents by class, person, date, sureness."""

    label: AnyLabel | None = None
    by: str | None = None
    since: float | None = None
    until: float | None = None
    asked_below: float | None = None
    search: Search = ""
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class HistoryQuery(Request, kw_only=True):
    """What a running filter was asked."""

    search: Search = ""
    label: AnyLabel | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


class Watch(Request, kw_only=True):
    """What happened since midnight, which only the browser knows."""

    midnight: float = 0.0


class Export(Request, kw_only=True):
    """Labels or the model to take away."""

    format: str
