"""What is told of models: state, history, versions, files; health and metrics."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from bayleaf.service import snapshots, verifying
from bayleaf.service.documents import unpacked
from bayleaf.service.http.asgi import NDJSON, Call, Reply
from bayleaf.service.http.messages import (
    Health,
    History,
    HistoryEntry,
    ModelInfo,
    Models,
    Progress,
    Verified,
    Version,
    Versions,
)
from bayleaf.service.refusals import Invalid
from bayleaf.service.served import Served
from bayleaf.service.service import Service

encode = msgspec.json.encode
MOST = 1_000
PAGE = 500
METRICS = b"text/plain; version=0.0.4; charset=utf-8"


async def index(service: Service, call: Call) -> Reply:
    """Where to look."""
    del call
    names = sorted(service.store.served)
    return Reply(encode({"models": names, "description": "/openapi.json", "health": "/health/ready"}))


async def live(service: Service, call: Call) -> Reply:
    """The service is there."""
    del service, call
    return Reply(encode(Health("live")))


async def ready(service: Service, call: Call) -> Reply:
    """The service answers and learns; 503 when the disk has failed and it only answers."""
    del call
    broken = service.store.writer.broken
    if broken is None:
        return Reply(encode(Health("ready")))
    return Reply(encode(Health("not ready", broken)), 503)


async def metrics(service: Service, call: Call) -> Reply:
    """What Prometheus reads."""
    del call
    service.catch_up()
    return Reply(service.metrics.text(), kind=METRICS)


def info(service: Service, served: Served) -> ModelInfo:
    """The state of one model."""
    service.catch_up()
    record, model = service.record(served), served.shared
    (taught,) = service.store.questions.read("SELECT count(*) FROM document WHERE model = ?", served.number)[
        0
    ]
    return ModelInfo(
        name=served.name,
        version=served.version,
        documents={str(label): count for label, count in model.class_documents.items()},
        taught=taught,
        views=[f"{name}: {view!r}" if name else repr(view) for name, view in model.views],
        columns=served.reader.names,
        tuned=model.judgment is not None,
        stale=model.stale,
        closed=model.closed,
        progressive=Progress(record.asked, record.accuracy, record.log_loss),
        shares=record.shares(),
        drift=record.drift(),
        retuning=service.retuning.get(served.name, "no"),
    )


async def models(service: Service, call: Call) -> Reply:
    """All models."""
    call.query()
    return Reply(encode(Models([info(service, served) for served in service.store.served.values()])))


async def model(service: Service, call: Call) -> Reply:
    """One model."""
    call.query()
    return Reply(encode(info(service, service.store.model(call.name))))


async def history(service: Service, call: Call) -> Reply:
    """What was asked, newest first; `search` looks into the texts, `label` into the answers."""
    served = service.store.model(call.name)
    query = call.query(("search", "label", "limit", "before"))
    limit = _number(query.get("limit", "50"), "limit", 1, MOST)
    before = _number(query.get("before", "1e12"), "before", 0, 1e12)
    rows = await asyncio.to_thread(
        service.store.questions.history,
        served,
        query.get("search", ""),
        query.get("label", ""),
        int(limit),
        before,
    )
    entries = [HistoryEntry(**row) for row in rows]
    following = entries[-1].at if len(entries) == int(limit) else None
    return Reply(encode(History(entries, following)))


async def versions(service: Service, call: Call) -> Reply:
    """Who changed the model, when and how."""
    served = service.store.model(call.name)
    query = call.query(("limit", "before"))
    limit = _number(query.get("limit", "50"), "limit", 1, MOST)
    before = _number(query.get("before", "1e18"), "before", 0, 1e18)
    rows = service.store.questions.read(
        "SELECT seq, operation, label, identity, by, source, at, user FROM change "
        "WHERE model = ? AND seq < ? ORDER BY seq DESC LIMIT ?",
        served.number,
        int(before),
        int(limit),
    )
    listed = [
        Version(seq, operation, _label(label), _hex(identity), by, source, at, user or None)
        for seq, operation, label, identity, by, source, at, user in rows
    ]
    kept = [seq for seq, _ in snapshots.list_of(service.store.folder, served.number)]
    return Reply(encode(Versions(listed, kept)))


def _label(label: str | None) -> Any:
    return None if label is None else json.loads(label)


def _hex(identity: bytes | None) -> str | None:
    return None if identity is None else bytes(identity).hex()


def _number(text: str, name: str, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise Invalid(f"`{name}` must be a number from {least:g} to {most:g}, got {text[:50]!r}.")
    return value


async def file(service: Service, call: Call) -> Reply:
    """The model file, as `bayleaf classify` and `Model.load` read it."""
    call.query()
    served = service.store.model(call.name)
    data, version = await asyncio.wrap_future(
        service.store.writer.call(lambda _: (served.shared.to_bytes(), served.version))
    )
    name = f'attachment; filename="{served.name}.bayleaf"'
    headers = {"Content-Disposition": name, "Bayleaf-Version": str(version)}
    return Reply(data, kind=b"application/octet-stream", headers=headers)


async def ledger(service: Service, call: Call) -> Reply:
    """Everything that is learned now, as NDJSON: the documents, their labels, and who taught them."""
    call.query()
    return Reply(_ledger(service, service.store.model(call.name)), kind=NDJSON)


async def _ledger(service: Service, served: Served) -> AsyncIterator[bytes]:
    after = 0
    while True:
        rows = service.store.questions.read(
            "SELECT seq, label, columns, by, source, at, user, subject, identity FROM document "
            "WHERE model = ? AND seq > ? ORDER BY seq LIMIT ?",
            served.number,
            after,
            PAGE,
        )
        if not rows:
            return
        after = rows[-1][0]
        yield b"".join(_ledger_line(row) for row in rows)


def _ledger_line(row: tuple[Any, ...]) -> bytes:
    seq, label, columns, by, source, at, user, subject, identity = row
    document = unpacked(columns)
    entry = {"version": seq, "label": json.loads(label), "by": by, "source": source, "at": at}
    entry |= {"user": user or None, "subject": subject or None, "document": bytes(identity).hex()}
    entry |= {"text": document} if isinstance(document, str) else {"row": document}
    return encode(entry) + b"\n"


async def verify(service: Service, call: Call) -> Reply:
    """Prove the model: snapshots plus log must be what is learned from the ledger."""
    served = service.store.model(call.name)
    found = await asyncio.wrap_future(
        service.store.writer.call(lambda ledger: verifying.verify_ledger(service.store.folder, ledger))
    )
    own = next(each for each in found if each.name == served.name)
    shown = {str(seq): finding for seq, finding in own.snapshots}
    return Reply(encode(Verified(own.name, own.sound, own.documents, own.version, own.digest, shown)))
