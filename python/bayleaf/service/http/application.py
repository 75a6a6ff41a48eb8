"""The HTTP application: finds the operation of a path, checks who asks, and answers within the limits."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping

from bayleaf.service.http import asking, inference, openapi, teaching, telling
from bayleaf.service.http.asgi import (
    Call,
    Gone,
    Receive,
    Reply,
    Scope,
    Send,
    problem,
    send_reply,
)
from bayleaf.service.http.operation import Operation
from bayleaf.service.page.operations import Page
from bayleaf.service.refusals import Failed, Forbidden, NotFound, Refusal, TooMany, WrongMethod
from bayleaf.service.service import Service

logger = logging.getLogger("bayleaf.service")

LOOPBACK = ("localhost", "127.0.0.1", "::1", "")


async def _openapi(service: Service, call: Call) -> Reply:
    del service, call
    return Reply(openapi.document())


OPERATIONS: dict[tuple[str, str], Operation] = {
    ("GET", "/"): Operation("index", telling.index, None),
    ("GET", "/health/live"): Operation("live", telling.live, None),
    ("GET", "/health/ready"): Operation("ready", telling.ready, None),
    ("GET", "/openapi.json"): Operation("openapi", _openapi, None),
    ("GET", "/metrics"): Operation("metrics", telling.metrics, "read"),
    ("GET", "/models"): Operation("models", telling.models, "read"),
    ("POST", "/models"): Operation("create", teaching.create, "admin"),
    ("GET", "/models/{name}"): Operation("model", telling.model, "read"),
    ("POST", "/models/{name}/classify"): Operation("classify", asking.classify, "read"),
    ("POST", "/models/{name}/explain"): Operation("explain", asking.explain, "read"),
    ("POST", "/models/{name}/learn"): Operation("learn", teaching.learn, "learn"),
    ("POST", "/models/{name}/correct"): Operation("correct", teaching.correct, "learn"),
    ("POST", "/models/{name}/forget"): Operation("forget", teaching.forget, "learn"),
    ("POST", "/models/{name}/retune"): Operation("retune", teaching.retune, "admin"),
    ("POST", "/models/{name}/verify"): Operation("verify", telling.verify, "admin"),
    ("GET", "/models/{name}/history"): Operation("history", telling.history, "read"),
    ("GET", "/models/{name}/versions"): Operation("versions", telling.versions, "read"),
    ("GET", "/models/{name}/file"): Operation("file", telling.file, "read"),
    ("GET", "/models/{name}/ledger"): Operation("ledger", telling.ledger, "admin"),
    ("GET", "/v2"): Operation("v2", inference.server, None),
    ("GET", "/v2/health/live"): Operation("v2 live", inference.live, None),
    ("GET", "/v2/health/ready"): Operation("v2 ready", telling.ready, None),
    ("GET", "/v2/models/{name}"): Operation("v2 model", inference.model, "read"),
    ("GET", "/v2/models/{name}/ready"): Operation("v2 model ready", inference.model_ready, None),
    ("POST", "/v2/models/{name}/infer"): Operation("v2 infer", inference.infer, "read"),
}


def _tree(
    operations: Mapping[tuple[str, str], Operation],
) -> dict[tuple[int, str, str], dict[str, Operation]]:
    """The operations by the number of parts of their paths, the first and the last part."""
    tree: dict[tuple[int, str, str], dict[str, Operation]] = {}
    for (method, path), operation in operations.items():
        tree.setdefault(_key(path.replace("{name}", "*").split("/")), {})[method] = operation
    return tree


def _key(parts: list[str]) -> tuple[int, str, str]:
    """What tells paths apart: a name stands third behind /models and fourth behind /v2/models."""
    place = 2 if parts[1] == "models" else 3
    named = len(parts) > place and (place == 2 or parts[2] == "models")
    last = "" if named and len(parts) == place + 1 else parts[-1]
    return len(parts), parts[1], last


class Application:
    """An ASGI application around a service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.limits = service.store.settings.limits
        self._tree = _tree(OPERATIONS | Page(service).operations())
        self.at_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        began = time.perf_counter()
        call = Call(scope, receive, self.limits, self._admit)
        operation = "unknown"
        try:
            found = self._find(scope["method"], scope["path"], call)
            operation = found.name
            reply = await self._answered(found, call)
        except Refusal as refusal:
            reply = problem(refusal)
        except (Gone, asyncio.CancelledError):
            return
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            reply = problem(Failed("The service has failed at this request; its log says where."))
        finally:
            self.at_work -= call.admitted
        await self._send(reply, send)
        self.service.metrics.request("http", operation, str(reply.status), time.perf_counter() - began)

    @staticmethod
    async def _send(reply: Reply, send: Send) -> None:
        try:
            await send_reply(reply, send)
        except Refusal as refusal:  # in the middle of a stream: there is no other way left to say so
            logger.warning("A stream was cut: %s", refusal.detail)
        except Gone:
            logger.debug("The client of a stream went away.")

    def _find(self, method: str, path: str, call: Call) -> Operation:
        parts = path.split("/")
        methods = self._tree.get(_key(parts)) if len(parts) > 1 else None
        if methods is None:
            raise NotFound(f"There is no path {path!r}. GET / lists them.")
        operation = methods.get("GET" if method == "HEAD" else method)
        if operation is None:
            allowed = ", ".join(methods)
            raise WrongMethod(f"{method} means nothing here; {path} has {allowed}.", Allow=allowed)
        if len(parts) > 2 and parts[1] == "models":
            call.name = parts[2]
        elif len(parts) > 3 and parts[2] == "models":
            call.name = parts[3]
        return operation

    async def _answered(self, operation: Operation, call: Call) -> Reply:
        if call.scope["method"] == "GET":
            self._admit(call)
        if operation.scope is not None:
            call.token = self.service.tokens.check(call.header(b"authorization"), operation.scope)
            if not call.token:
                self._check_origin(call)
        return await operation.handler(self.service, call)

    def _admit(self, call: Call) -> None:
        """Count a request as at work: when its body is there, so that slow clients take nobody's place."""
        if self.at_work >= self.limits.requests:
            raise TooMany(
                f"{self.limits.requests} requests are at work. Try again in a second.", Retry_After="1"
            )
        call.admitted = True
        self.at_work += 1

    def _check_origin(self, call: Call) -> None:
        """Without tokens, only this machine: no page whose name leads here, nobody behind a web server."""
        host = call.header(b"host")
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        if call.scope.get("client") and name.lower() not in LOOPBACK:
            raise Forbidden(f"The Host is {host!r}. Without tokens, the service answers to localhost only.")
        if call.header(b"x-forwarded-for") or call.header(b"forwarded"):
            raise Forbidden(
                "This comes from elsewhere, through a web server. Without tokens, the service answers this "
                "machine only: bayleaf serve FOLDER --token NAME makes one."
            )
