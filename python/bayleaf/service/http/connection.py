"""One HTTP connection: closed with an answer if it is one too many, or its request too long or too slow."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bayleaf.service.http.asgi import problem
from bayleaf.service.peers import peer_of
from bayleaf.service.refusals import HeadTooLarge, Refusal, TooMany, TooSlow
from bayleaf.service.settings import Limits

LONGEST_HEAD = 65_536
LINGER_SECONDS = 1.0


class Connection(HttpToolsProtocol):
    """Reads requests within the limits; what goes beyond them is told so, and the connection is closed."""

    _timer: asyncio.TimerHandle | None = None
    _head = 0
    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock of a client that may never send a request."""
        super().connection_made(transport)
        self._limits: Limits = self.config.loaded_app.limits
        self._peer = peer_of(transport.get_extra_info("socket"))
        if len(self.connections) > self._limits.connections:
            self._refuse(TooMany("There are too many connections. Try again in a second.", Retry_After="1"))
            return
        self.on_head_begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Start the clock."""
        super().on_message_begin()
        self.scope["bayleaf.peer"] = self._peer  # type: ignore[typeddict-unknown-key]
        self._stop_clock()
        self.on_head_begin()

    def on_head_begin(self) -> None:
        """Give the client so many seconds for the head of its request."""
        self._head = 1
        self._timer = self.loop.call_later(self._limits.seconds, self._too_slow)

    def on_headers_complete(self) -> None:
        """Stop the clock; the body has one of its own."""
        if self._refused:
            return
        self._stop_clock()
        self._head = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass over the body of a request that is refused."""
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request, unless it is refused."""
        if not self._refused:
            super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Count the bytes of a head that does not end."""
        if self._refused:
            return
        super().data_received(data)
        if self._head:
            self._head += len(data)
            if self._head > LONGEST_HEAD:
                self._too_long()

    def eof_received(self) -> None:
        """The client has said everything; one that was refused is let go."""
        if self._refused:
            self.transport.close()
            return
        super().eof_received()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count the header lines."""
        super().on_header(name, value)
        if len(self.headers) > self._limits.headers:
            self._too_long()

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._refuse(TooSlow("The request was not complete in time."))

    def _too_long(self) -> None:
        self._refuse(HeadTooLarge("The head of the request is too long."))

    def _refuse(self, refusal: Refusal) -> None:
        """Answer; to close with data unread would take the answer back, so wait for the client's end."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self._stop_clock()
        reply = problem(refusal)
        assert isinstance(reply.body, bytes)
        named = {"Content-Type": reply.kind.decode(), "Content-Length": str(len(reply.body)), **reply.headers}
        lines = [f"HTTP/1.1 {refusal.status} {refusal.title}", *(f"{k}: {v}" for k, v in named.items())]
        self.transport.write("\r\n".join([*lines, "Connection: close", "", ""]).encode() + reply.body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.close)
