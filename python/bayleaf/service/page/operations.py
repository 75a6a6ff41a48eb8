"""The page over HTTP: its files, with a strict policy, and what its scripts ask for.

A token comes in the Authorization header only, there is no cookie, a request that changes something must be
JSON and come from the page itself: no other site can make a visitor's browser send it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from bayleaf.service.http import telling
from bayleaf.service.http.asgi import Call, Reply
from bayleaf.service.http.operation import Handler, Operation
from bayleaf.service.page import exports, holdout, reasons, replies, requests, reviewing
from bayleaf.service.page.actions import Shown
from bayleaf.service.page.leaving import left_out
from bayleaf.service.page.reviewing import SHORT
from bayleaf.service.page.teacher import Teacher
from bayleaf.service.refusals import Forbidden, Invalid
from bayleaf.service.service import Service
from bayleaf.service.tokens import SCOPES

T = TypeVar("T")
encode = msgspec.json.encode

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
KINDS = {
    ".html": b"text/html; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}


AGAIN = ("ask", "random", "hold-out", "newest", "search", "suspect", "second")
"""A label that was given to the document on the screen: undone, the document is shown again."""


def read_files() -> dict[str, tuple[bytes, bytes]]:
    """The files of the page by name, each with its kind."""
    folder = files("bayleaf.service.page").joinpath("static")
    return {
        each.name: (each.read_bytes(), kind)
        for each in folder.iterdir()
        for ending, kind in KINDS.items()
        if each.name.endswith(ending)
    }


class Page:
    """The operations of the page, and a teacher for each model that somebody looks at."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._teachers: dict[str, Teacher] = {}
        self._files = read_files()

    def operations(self) -> dict[tuple[str, str], Operation]:
        """What the paths of the page do."""
        made = {("GET", f"/page/{name}"): Operation("page", self._file, None) for name in self._files}
        made["GET", "/"] = Operation("index", self._index, None)
        handlers: dict[str, Callable[[Teacher, str, Any, Call], Awaitable[Any]]] = {
            "state": self._state,
            "next": self._next,
            "label": self._label,
            "label-all": self._label_all,
            "undo": self._undo,
            "classes": self._classes,
            "why": self._why,
            "effect": self._effect,
            "word": self._word,
            "hits": self._hits,
            "labeled": self._labeled,
            "suspects": self._suspects,
            "disagreements": self._disagreements,
            "history": self._history,
            "progress": self._progress,
            "curve": self._curve,
            "watch": self._watch,
            "export": self._export,
        }
        for name, (kind, _) in replies.BODIES.items():
            operation = Operation(f"page {name}", self._handled(kind, handlers[name]), "learn")
            made["POST", f"/models/{{name}}/page/{name}"] = operation
        return made

    # Files

    async def _index(self, service: Service, call: Call) -> Reply:
        """The page for a browser, a list of models for others."""
        if "text/html" not in call.header(b"accept"):
            return await telling.index(service, call)
        content, kind = self._files["index.html"]
        return Reply(content, kind=kind, headers=dict(HEADERS))

    async def _file(self, service: Service, call: Call) -> Reply:
        """A file of the page."""
        del service
        content, kind = self._files[call.scope["path"].rpartition("/")[2]]
        return Reply(content, kind=kind, headers=dict(HEADERS))

    # Requests

    def _handled(self, kind: type[T], handler: Callable[[Teacher, str, T, Call], Awaitable[Any]]) -> Handler:
        decoder = msgspec.json.Decoder(kind)

        async def handle(service: Service, call: Call) -> Reply:
            check_origin(call)
            served = service.store.model(call.name)
            body = await call.read(decoder)
            if served.name not in self._teachers:
                self._teachers[served.name] = Teacher(service, served)
            person = call.token or getattr(body, "person", "").strip() or call.person
            answer = await handler(self._teachers[served.name], person, body, call)
            return answer if isinstance(answer, Reply) else Reply(encode(answer))

        return handle

    async def _state(self, teacher: Teacher, person: str, body: requests.Request, call: Call) -> Any:
        del body, call
        lessons, store = teacher.lessons, self._service.store
        people = store.questions.read(
            "SELECT by, count(*) FROM action WHERE model = ? AND undone IS NULL GROUP BY by ORDER BY by",
            teacher.served.number,
        )
        return {
            "model": telling.info(self._service, teacher.served),
            "classes": teacher.classes.all(),
            "person": person,
            "people": [{"name": by, "actions": count} for by, count in people],
            "pool": lessons.size(),
            "left_out": left_out(store, teacher.served),
        }

    async def _next(self, teacher: Teacher, person: str, body: requests.Next, call: Call) -> Any:
        del call
        found = await asyncio.to_thread(teacher.lessons.next, person, body.order, body.search)
        return {"next": teacher.said(found), "classes": teacher.classes.all()}

    async def _label(self, teacher: Teacher, person: str, body: requests.Label, call: Call) -> Any:
        shown = await asyncio.to_thread(teacher.lessons.shown_as, person, body.item, body.how)
        if body.label is None:
            await teacher.act(person, body.key, [shown], None, "skip")
        else:
            label = teacher.served.fitting_label(body.label)
            kind = "opinion" if shown.how == "second" else "label"
            await teacher.act(person, body.key, [shown], label, "opinion" if kind == "opinion" else "label")
        return await self._next(teacher, person, body, call) | {"version": teacher.served.version}

    async def _label_all(self, teacher: Teacher, person: str, body: requests.LabelAll, call: Call) -> Any:
        del call
        label = teacher.served.fitting_label(body.label)
        shown = [Shown(item, teacher.lessons.find(item), body.how) for item in dict.fromkeys(body.items)]
        done = await teacher.act(person, body.key, shown, label)
        return {"labeled": len(done.results), "classes": teacher.classes.all()}

    async def _undo(self, teacher: Teacher, person: str, body: requests.Undo, call: Call) -> Any:
        of = body.of or person
        if of != person and call.token:
            self._check_admin(call)
        since = {"last": None, "today": body.midnight, "all": 0.0}[body.what]
        actions = await teacher.undo(person, of, since)
        lessons, last = teacher.lessons, actions[0] if actions else None
        if body.what == "last" and last is not None and last.item and last.how in AGAIN and of == person:
            again = lessons.shown_as(person, last.item, last.how)
            lessons.show(person, again, f"{body.order} {body.search}")
        found = await asyncio.to_thread(lessons.next, person, body.order, body.search)
        labels = [msgspec.json.decode(each.label) for each in actions[:1] if each.label]
        told = {"undone": len(actions), "label": labels[0] if labels else None}
        return told | {"next": teacher.said(found), "classes": teacher.classes.all()}

    def _check_admin(self, call: Call) -> None:
        try:
            self._service.tokens.check(call.header(b"authorization"), "admin")
        except Forbidden:
            raise Forbidden(f"To undo what others did needs the scope {SCOPES[-1]}.") from None

    async def _classes(self, teacher: Teacher, person: str, body: requests.Classes, call: Call) -> Any:
        del person, call
        if body.add is not None:
            await _kept(teacher.classes.add(teacher.served.fitting_label(body.add.strip())))
        if body.remove is not None:
            await _kept(teacher.classes.remove(teacher.served.fitting_label(body.remove)))
        return {"classes": teacher.classes.all()}

    # Why

    async def _why(self, teacher: Teacher, person: str, body: requests.Why, call: Call) -> Any:
        del person, call
        label = None if body.label is None else teacher.served.fitting_label(body.label)
        document = await asyncio.to_thread(teacher.lessons.find, body.item)
        return await asyncio.to_thread(reasons.why, teacher.served, document, label)

    async def _effect(self, teacher: Teacher, person: str, body: requests.Effect, call: Call) -> Any:
        del call
        document = await asyncio.to_thread(teacher.lessons.find, body.item)
        return await asyncio.to_thread(
            reasons.effect, teacher.lessons, person, document, teacher.classes.all()
        )

    async def _word(self, teacher: Teacher, person: str, body: requests.Word, call: Call) -> Any:
        del call
        if body.leave_out:
            await teacher.leave_out(person, body.key, body.word)
        elif body.label is not None:
            label = teacher.served.fitting_label(body.label)
            await teacher.teach_word(person, body.key, body.word, label)
        found = await asyncio.to_thread(reasons.word, self._service.store, teacher.served, body.word)
        return found | {"left_out": left_out(self._service.store, teacher.served)}

    # Review

    async def _hits(self, teacher: Teacher, person: str, body: requests.Hits, call: Call) -> Any:
        del call
        if not body.search.strip():
            raise Invalid("There is nothing to search for. Type a text.")
        found = await asyncio.to_thread(_found_hits, teacher, person, body.search, body.limit)
        return {"hits": found}

    async def _labeled(self, teacher: Teacher, person: str, body: requests.Labeled, call: Call) -> Any:
        del person, call
        query = msgspec.structs.asdict(body)
        if body.label is not None:
            query["label"] = teacher.served.fitting_label(body.label)
        found = await asyncio.to_thread(reviewing.labeled, self._service.store, teacher.served, query)
        return {"documents": found}

    async def _suspects(self, teacher: Teacher, person: str, body: requests.Request, call: Call) -> Any:
        del person, body, call
        found = await asyncio.to_thread(reviewing.suspects, self._service.store, teacher.served, 5_000)
        return {"documents": found}

    async def _disagreements(self, teacher: Teacher, person: str, body: requests.Request, call: Call) -> Any:
        del person, body, call
        return await asyncio.to_thread(reviewing.disagreements, self._service.store, teacher.served)

    async def _history(self, teacher: Teacher, person: str, body: requests.HistoryQuery, call: Call) -> Any:
        del person, call
        label = None if body.label is None else teacher.served.fitting_label(body.label)
        found = await asyncio.to_thread(
            reviewing.history, self._service.store, teacher.served, body.search, label, body.limit
        )
        return {"questions": found}

    # Watch

    async def _progress(self, teacher: Teacher, person: str, body: requests.Request, call: Call) -> Any:
        del person, body, call
        store, served = self._service.store, teacher.served
        found = await asyncio.to_thread(lambda: holdout.measured(served.shared, holdout.held(store, served)))
        learned = {"documents": served.shared.n_documents, "version": served.version}
        return {"hold_out": found, "pool": teacher.lessons.size(), **learned}

    async def _curve(self, teacher: Teacher, person: str, body: requests.Request, call: Call) -> Any:
        del person, body, call
        return await asyncio.to_thread(holdout.curve, self._service.store, teacher.served)

    async def _watch(self, teacher: Teacher, person: str, body: requests.Watch, call: Call) -> Any:
        del person, call
        return await asyncio.to_thread(reviewing.watched, self._service.store, teacher.served, body.midnight)

    async def _export(self, teacher: Teacher, person: str, body: requests.Export, call: Call) -> Any:
        del person, call
        made = await asyncio.to_thread(exports.export, self._service.store, teacher.served, body.format)
        named = {
            "Content-Disposition": f'attachment; filename="{made.name}"',
            "X-Content-Type-Options": "nosniff",
        }
        return Reply(made.content, kind=made.kind.encode(), headers=named)


async def _kept(future: Future[Any] | None) -> None:
    if future is not None:
        await asyncio.wrap_future(future)


def check_origin(call: Call) -> None:
    """Refuse what a browser says comes from another site; older ones only name it, and the Host with it."""
    site, origin = call.header(b"sec-fetch-site"), call.header(b"origin")
    named = origin and urlsplit(origin).netloc != call.header(b"host")
    if site not in ("same-origin", "none") if site else named:
        raise Forbidden("This request comes from another site's page. Open bayleaf's own page instead.")


def _found_hits(teacher: Teacher, person: str, search: str, limit: int) -> list[dict[str, Any]]:
    """Documents that hold a text and have no label yet."""
    found = []
    for shown in teacher.lessons.all_hits(person, search, limit):
        text = str(teacher.said(shown)["text"])  # type: ignore[index]
        found.append({"item": shown.item, "text": text[:SHORT], "cut": len(text) > SHORT})
    return found
