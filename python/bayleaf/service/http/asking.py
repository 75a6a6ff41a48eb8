"""Classify (one, many, a stream) and explain."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator

import msgspec

from bayleaf.service.http.asgi import NDJSON, Call, Reply, decoded, problem
from bayleaf.service.http.documents import asked_about, named
from bayleaf.service.http.messages import (
    Answer,
    Answers,
    ClassifyRequest,
    ExplainAnswer,
    ExplainRequest,
    Reason,
)
from bayleaf.service.refusals import Invalid, Refusal, TooLarge
from bayleaf.service.served import Served
from bayleaf.service.service import Service

encode = msgspec.json.encode
_CLASSIFY = msgspec.json.Decoder(ClassifyRequest)
_EXPLAIN = msgspec.json.Decoder(ExplainRequest)
IN_THE_LOOP = 16_384
"""Requests of fewer bytes are answered in the event loop: handing them to a thread takes longer."""


async def classify(service: Service, call: Call) -> Reply:
    """The class of each document."""
    served = service.store.model(call.name)
    if call.header(b"content-type").startswith("application/x-ndjson"):
        return Reply(_stream(service, served, call), kind=NDJSON)
    data = await call.body()
    body = decoded(data, _CLASSIFY)
    return Reply(encode(Answers(await _answers(service, served, call, body, len(data)))))


async def _answers(
    service: Service, served: Served, call: Call, body: ClassifyRequest, size: int
) -> list[Answer]:
    if size > IN_THE_LOOP:
        documents, ids = await asyncio.to_thread(asked_about, served, body, call)
    else:
        documents, ids = asked_about(served, body, call)
    answers = await service.ask(served, documents, ids, body.user, in_thread=size > IN_THE_LOOP)
    return [
        Answer(id, answer.label, answer.probability, answer.version)
        if not body.probabilities
        else Answer(
            id,
            answer.label,
            answer.probability,
            answer.version,
            {str(name): p for name, p in answer.probabilities.items()},
        )
        for id, answer in answers
    ]


async def _stream(service: Service, served: Served, call: Call) -> AsyncIterator[bytes]:
    """An answer, or a problem, for each line, as they come."""
    rest = b""
    async for chunk in call.chunks():
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield b"".join([await _line(service, served, call, line) for line in lines if line.strip()])
        if len(rest) > call.limits.body:
            refusal = TooLarge(f"A line has more than {call.limits.body} bytes. The stream ends here.")
            yield _problem_line(refusal)
            return
    if rest.strip():
        yield await _line(service, served, call, rest)


async def _line(service: Service, served: Served, call: Call, line: bytes) -> bytes:
    try:
        body = decoded(line, _CLASSIFY)
        answers = await _answers(service, served, call, body, len(line))
    except Refusal as refusal:
        return _problem_line(refusal)
    return b"".join(encode(answer) + b"\n" for answer in answers)


def _problem_line(refusal: Refusal) -> bytes:
    body = problem(refusal).body
    assert isinstance(body, bytes)
    return body + b"\n"


async def explain(service: Service, call: Call) -> Reply:
    """The reasons for one answer."""
    served = service.store.model(call.name)
    body = await call.read(_EXPLAIN)
    documents = named(service, served, body, call)
    if len(documents) != 1:
        raise Invalid(f"One document can be explained at a time, got {len(documents)}.")
    label = None if body.label is None else served.fitting_label(body.label)
    found, version = await service.store.explain(served, documents[0], label, body.user)
    terms = found.terms()
    return Reply(
        encode(
            ExplainAnswer(
                label=found.label,
                against=found.against,
                probability=found.probability,
                log_odds=_finite(found.log_odds(found.log_joint)),
                prior=_finite(found.log_odds(found.log_prior) + found.log_odds(found.bias)),
                terms=[Reason(term, count, _finite(odds)) for term, count, odds in terms[: body.most]],
                more=_finite(sum(odds for *_, odds in terms[body.most :])),
                version=version,
            )
        )
    )


def _finite(value: float) -> float | None:
    """A number; what is infinite, which JSON cannot say, is null."""
    return float(value) if math.isfinite(value) else None
