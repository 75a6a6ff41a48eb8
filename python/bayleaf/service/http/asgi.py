"""The seam to ASGI: a request read within its limits, a reply sent, a problem said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from bayleaf.service.http.messages import Problem
from bayleaf.service.refusals import Invalid, Refusal, TooLarge, TooSlow, WrongType
from bayleaf.service.settings import Limits

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
T = TypeVar("T")

JSON = b"application/json"
NDJSON = b"application/x-ndjson"

logger = logging.getLogger("bayleaf.service")


class Gone(Exception):  # noqa: N818 (no client is left to be told)
    """The client went away."""


@dataclass(slots=True)
class Reply:
    """What is sent back."""

    body: bytes | AsyncIterator[bytes]
    status: int = 200
    kind: bytes = JSON
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Call:
    """One request: where it goes, who asks, and its body."""

    scope: Scope
    receive: Receive
    limits: Limits
    admit: Callable[[Call], None]
    admitted: bool = False
    name: str = ""
    by: str = ""
    token: str = ""

    def header(self, name: bytes) -> str:
        """The value of a header, or nothing."""
        for key, value in self.scope["headers"]:
            if key == name:
                return str(value, "latin-1")
        return ""

    @property
    def person(self) -> str:
        """Who asks: the name of the token, or on a Unix socket of the user."""
        peer = self.scope.get("bayleaf.peer")
        return self.token or (peer.name if peer else "anonymous")

    def query(self, allowed: tuple[str, ...] = ()) -> dict[str, str]:
        """The query parameters; an unknown one is refused."""
        found = dict(parse_qsl(self.scope["query_string"].decode("latin-1"), keep_blank_values=True))
        unknown = sorted(set(found) - set(allowed))
        if unknown:
            known = ", ".join(allowed) or "none"
            raise Invalid(f"There is no query parameter {unknown[0]!r}. The parameters here: {known}.")
        return found

    async def body(self) -> bytes:
        """The whole body, if it is JSON and not too large, and comes in time."""
        self.check_kind("application/json")
        self._check_length()
        try:
            async with asyncio.timeout(self.limits.seconds):
                data = await self._whole()
        except TimeoutError:
            raise self._too_slow() from None
        self.admit(self)
        return data

    async def _whole(self) -> bytes:
        message = await self.received()
        data: bytes = message.get("body", b"")
        while message.get("more_body", False):
            message = await self.received()
            data += message.get("body", b"")
            if len(data) > self.limits.body:
                break
        if len(data) > self.limits.body:
            raise self._too_large()
        return data

    def check_kind(self, *kinds: str) -> None:
        """Refuse a body of another type: a page of another site could send it from a visitor's browser."""
        kind = self.header(b"content-type").partition(";")[0].strip().lower()
        if kind not in kinds:
            wanted = " or ".join(kinds)
            raise WrongType(f"The Content-Type is {kind!r}; send {wanted} (curl: --json '…').")

    def _check_length(self) -> None:
        length = self.header(b"content-length")
        if length.isdecimal() and int(length) > self.limits.body:
            raise self._too_large()

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The body has more than {self.limits.body} bytes. Send less, or raise limits.body.")

    def _too_slow(self) -> TooSlow:
        return TooSlow(f"The request was not complete after {self.limits.seconds:g} s.", Connection="close")

    async def received(self) -> MutableMapping[str, Any]:
        """The next part of the body."""
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise Gone
        return message

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes, each part in time."""
        more = True
        while more:
            try:
                async with asyncio.timeout(self.limits.seconds):
                    message = await self.received()
            except TimeoutError:
                raise self._too_slow() from None
            more = message.get("more_body", False)
            if message.get("body"):
                yield message["body"]

    async def read(self, decoder: msgspec.json.Decoder[T]) -> T:
        """The body as a message; what is wrong with it is said."""
        return decoded(await self.body(), decoder)


def decoded(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """A message, or a refusal that says what is wrong with it."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise Invalid(f"{error}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(f"The body is not JSON: {error}.") from None


def problem(refusal: Refusal) -> Reply:
    """A refusal as RFC 9457 has it."""
    body = Problem("about:blank", refusal.title, refusal.status, refusal.detail)
    headers = {name.replace("_", "-"): value for name, value in refusal.headers.items()}
    return Reply(msgspec.json.encode(body), refusal.status, b"application/problem+json", headers)


async def send_reply(reply: Reply, send: Send) -> None:
    """Send a reply, whole or as it comes."""
    headers = [(b"content-type", reply.kind)]
    headers += [
        (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers.items()
    ]
    if isinstance(reply.body, bytes):
        headers.append((b"content-length", b"%d" % len(reply.body)))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})
        return
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    async for chunk in reply.body:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
