"""The OpenAPI 3.1 description, made of the messages themselves."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import msgspec

from bayleaf import __version__
from bayleaf.service.http import messages
from bayleaf.service.page import replies

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

KINDS = {
    "metrics": ("text/plain",),
    "file": ("application/octet-stream",),
    "ledger": ("application/x-ndjson",),
    "classify": ("application/json", "application/x-ndjson"),
    "page export": (
        "text/tab-separated-values",
        "application/x-ndjson",
        "application/json",
        "application/octet-stream",
    ),
}
"""What is answered, where it is not JSON alone."""

QUERY = {"history": ("search", "label", "limit", "before"), "versions": ("limit", "before")}
STATUS = {"create": "201", "retune": "202"}


PAGE_SCOPE = "learn"


@cache
def document() -> bytes:
    """The description as JSON."""
    return msgspec.json.encode(description())


def description() -> dict[str, Any]:
    """The whole description."""
    from bayleaf.service.http.application import OPERATIONS

    pages = {f"page {name}": both for name, both in replies.BODIES.items()}
    bodies: dict[str, tuple[Any, Any]] = BODIES | pages
    kinds = [*dict.fromkeys(kind for pair in bodies.values() for kind in pair if kind), messages.Problem]
    schemas, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    described = _Described(bodies, dict(zip(kinds, schemas, strict=True)))
    paths: dict[str, Any] = {}
    for (method, path), (name, handler, scope) in OPERATIONS.items():
        made = described.operation(name, path, handler.__doc__ or "This description.", scope)
        paths.setdefault(path, {})[method.lower()] = made
    for name, (asked, answered) in replies.BODIES.items():
        path, told = f"/models/{{name}}/page/{name}", str((answered or asked).__doc__)
        paths[path] = {"post": described.operation(f"page {name}", path, told, PAGE_SCOPE)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "bayleaf",
            "version": __version__,
            "description": "Classify, learn, forget, explain; and teach, on a page.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


class _Described(NamedTuple):
    """Requests and answers of the operations by name, and the schema of each."""

    bodies: dict[str, tuple[Any, Any]]
    schemas: dict[Any, dict[str, Any]]

    def operation(self, name: str, path: str, told: str, scope: str | None) -> dict[str, Any]:
        """One operation."""
        asked, answered = self.bodies.get(name, (None, None))
        summary = told.partition("\n")[0]
        parameters = [_parameter("name", "path", True)] if "{name}" in path else []
        parameters += [_parameter(each, "query", False) for each in QUERY.get(name, ())]
        done: dict[str, Any] = {"description": summary, "content": self._content(name, answered)}
        made: dict[str, Any] = {
            "operationId": name.replace(" ", "_").replace("-", "_"),
            "summary": summary,
            "parameters": parameters,
            "responses": {
                STATUS.get(name, "200"): done,
                "default": {
                    "description": "What went wrong.",
                    "content": {"application/problem+json": {"schema": self.schemas[messages.Problem]}},
                },
            },
        }
        if name in ("ready", "v2 ready"):
            made["responses"]["503"] = done
        if asked:
            content = {"application/json": {"schema": self.schemas[asked]}}
            content |= {"application/x-ndjson": {"schema": {}}} if name == "classify" else {}
            made["requestBody"] = {"required": True, "content": content}
        if scope:
            made["security"] = [{"token": []}, {}]
        return made

    def _content(self, name: str, answered: Any) -> dict[str, Any]:
        schema = self.schemas[answered] if answered else {}
        kinds = KINDS.get(name, ("application/json",))
        return {kind: {"schema": schema if kind == "application/json" else {}} for kind in kinds}


def _parameter(name: str, place: str, required: bool) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": {"type": "string"}}
