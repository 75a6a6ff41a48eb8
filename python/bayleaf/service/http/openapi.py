"""The OpenAPI 3.1 description, made of the messages themselves."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from bayleaf import __version__
from bayleaf.service.http import messages

BODIES: dict[str, tuple[type | None, type | None]] = {
    "live": (None, messages.Health),
    "ready": (None, messages.Health),
    "models": (None, messages.Models),
    "create": (messages.CreateRequest, messages.ModelInfo),
    "model": (None, messages.ModelInfo),
    "classify": (messages.ClassifyRequest, messages.Answers),
    "explain": (messages.ExplainRequest, messages.ExplainAnswer),
    "learn": (messages.LearnRequest, messages.Changes),
    "correct": (messages.LearnRequest, messages.Changes),
    "forget": (messages.ForgetRequest, messages.Changes),
    "retune": (None, messages.ModelInfo),
    "verify": (None, messages.Verified),
    "history": (None, messages.History),
    "versions": (None, messages.Versions),
    "v2 infer": (messages.InferRequest, messages.InferResponse),
    "v2 ready": (None, messages.Health),
}
"""The request and the answer of each operation that has them in JSON."""

KINDS = {"metrics": "text/plain", "file": "application/octet-stream", "ledger": "application/x-ndjson"}
QUERY = {"history": ("search", "label", "limit", "before"), "versions": ("limit", "before")}
STATUS = {"create": "201", "retune": "202"}


@cache
def document() -> bytes:
    """The description as JSON."""
    return msgspec.json.encode(description())


def description() -> dict[str, Any]:
    """The whole description."""
    from bayleaf.service.http.application import OPERATIONS

    kinds = [kind for pair in BODIES.values() for kind in pair if kind] + [messages.Problem]
    _, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    paths: dict[str, Any] = {}
    for (method, path), operation in OPERATIONS.items():
        summary = (operation.handler.__doc__ or "This description.").partition("\n")[0]
        paths.setdefault(path, {})[method.lower()] = _operation(
            operation.name, path, summary, operation.scope
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "bayleaf",
            "version": __version__,
            "description": "Classify, learn, forget, explain.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(name: str, path: str, summary: str, scope: str | None) -> dict[str, Any]:
    asked, answered = BODIES.get(name, (None, None))
    parameters = [_parameter("name", "path", True)] if "{name}" in path else []
    parameters += [_parameter(each, "query", False) for each in QUERY.get(name, ())]
    done: dict[str, Any] = {"description": summary}
    kind = KINDS.get(name, "application/json")
    done["content"] = {kind: {"schema": _ref(answered) if answered else {}}}
    made: dict[str, Any] = {
        "operationId": name.replace(" ", "_"),
        "summary": summary,
        "parameters": parameters,
        "responses": {
            STATUS.get(name, "200"): done,
            "default": {
                "description": "What went wrong.",
                "content": {"application/problem+json": {"schema": _ref(messages.Problem)}},
            },
        },
    }
    if name in ("ready", "v2 ready"):
        made["responses"]["503"] = done
    if asked:
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref(asked)}}}
    if name == "classify":
        made["requestBody"]["content"]["application/x-ndjson"] = {"schema": {}}
        done["content"]["application/x-ndjson"] = {"schema": {}}
    if scope:
        made["security"] = [{"token": []}, {}]
    return made


def _parameter(name: str, place: str, required: bool) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": {"type": "string"}}


def _ref(kind: type) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}
