"""Learn, correct, forget, retune, and new models."""

from __future__ import annotations

import asyncio
import hashlib

import msgspec

from bayleaf.model import Model
from bayleaf.model_views import TEXT, preset
from bayleaf.service.changes import Done, Forget, ForgetWhere, Who
from bayleaf.service.http import telling
from bayleaf.service.http.asgi import Call, Reply, decoded
from bayleaf.service.http.documents import has_documents, ids_of, labels_for, named
from bayleaf.service.http.messages import (
    Change,
    Changes,
    CreateRequest,
    ForgetRequest,
    LearnRequest,
    Receipt,
)
from bayleaf.service.refusals import Forbidden, Invalid
from bayleaf.service.served import Served
from bayleaf.service.service import Service
from bayleaf.service.tokens import SCOPES
from bayleaf.service.writer import Once

encode = msgspec.json.encode
_LEARN = msgspec.json.Decoder(LearnRequest)
_FORGET = msgspec.json.Decoder(ForgetRequest)
_CREATE = msgspec.json.Decoder(CreateRequest)
REMARK = "Backups, and copies of the model file made before, may still hold it."
STALE = " The weights were earned with it and are stale until the model is retuned."


async def learn(service: Service, call: Call) -> Reply:
    """Learn; a document that a person taught under another label is a conflict."""
    return await _taught(service, call, correct=False)


async def correct(service: Service, call: Call) -> Reply:
    """Learn, and where another label was learned, forget it in the same transaction."""
    return await _taught(service, call, correct=True)


async def _taught(service: Service, call: Call, correct: bool) -> Reply:
    served = service.store.model(call.name)
    data = await call.body()
    body = decoded(data, _LEARN)
    documents = named(service, served, body, call, body.subject)
    labels = labels_for(served, body.label, body.labels, len(documents))
    who = Who(served.number, body.by or call.person, body.user)
    pairs = list(zip(documents, labels, strict=True))
    with service.running(_key(call)):
        done = await service.learn(served, who, pairs, _once(call, data), correct)
    return Reply(done if isinstance(done, bytes) else _encoded(done))


async def forget(service: Service, call: Call) -> Reply:
    """Forget documents, or all by a person, a source or about a subject; erase leaves no trace here."""
    served = service.store.model(call.name)
    data = await call.body()
    body = decoded(data, _FORGET)
    change = _forgetting(service, served, call, body)
    once = None if body.erase else _once(call, data)
    with service.running(_key(call)):
        done = await service.forget(served, change, once)
    return Reply(done if isinstance(done, bytes) else _encoded(done))


def _forgetting(service: Service, served: Served, call: Call, body: ForgetRequest) -> Forget | ForgetWhere:
    who = Who(served.number, call.person, body.user)
    wanted = {"by": body.by, "subject": body.subject, "source": body.source or ""}
    where = [name for name, value in wanted.items() if value]
    if not where:
        documents = named(service, served, body, call)
        label = None if body.label is None else served.fitting_label(body.label)
        return Forget(who, documents, label, erase=body.erase)
    if len(where) > 1 or has_documents(body) or ids_of(body):
        raise Invalid('Give documents, or one of "by", "subject" and "source".')
    _check_admin(service, call)
    return ForgetWhere(who, where[0], wanted[where[0]], body.erase)  # type: ignore[arg-type]


def _check_admin(service: Service, call: Call) -> None:
    """What takes out the labels of many at once needs more than the right to teach."""
    if call.token:
        try:
            service.tokens.check(call.header(b"authorization"), "admin")
        except Forbidden:
            raise Forbidden(f"Forgetting as a whole needs the scope {SCOPES[-1]}.") from None


def _encoded(done: Done) -> bytes:
    receipt = None
    if done.extra:
        receipt = Receipt(**done.extra, remark=REMARK + (STALE if done.extra["stale"] else ""))
    answers = [
        Change(each.outcome, each.label, each.before, each.version, each.identity.hex())
        for each in done.results
    ]
    return encode(Changes(answers, done.version, receipt))


def _key(call: Call) -> str:
    key = call.header(b"idempotency-key")
    if len(key) > 200:
        raise Invalid("The Idempotency-Key has more than 200 characters.")
    return f"{call.token}:{call.scope['path']}:{key}" if key else ""


def _once(call: Call, data: bytes) -> Once | None:
    key = _key(call)
    return Once(key, hashlib.sha256(data).digest(), _encoded) if key else None


async def retune(service: Service, call: Call) -> Reply:
    """Weigh the evidence anew on the kept documents, in the background."""
    served = service.store.model(call.name)
    service.start_retune(served)
    return Reply(encode(telling.info(service, served)), 202)


async def create(service: Service, call: Call) -> Reply:
    """A new model that has learned nothing."""
    body = await call.read(_CREATE)
    views = [TEXT] if body.preset == "text" else preset(body.preset)
    try:
        model = Model(views, classes=body.classes)
    except (TypeError, ValueError) as error:
        raise Invalid(str(error)) from None
    served = await asyncio.to_thread(service.store.add_model, body.name, model)
    return Reply(encode(telling.info(service, served)), 201, headers={"Location": f"/models/{served.name}"})
