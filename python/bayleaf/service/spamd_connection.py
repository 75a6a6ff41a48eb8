"""One SPAMD connection: bytes come in until they are a request, one answer goes out."""

from __future__ import annotations

import asyncio
import re
import time
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bayleaf.service.peers import Peer, peer_of

USAGE, DATA, UNAVAILABLE, SOFTWARE, IO, LATER, PROTOCOL, PERMISSION = 64, 65, 69, 70, 74, 75, 76, 77
"""Codes of sysexits.h."""

METHODS = ("CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "HEADERS", "PROCESS", "TELL", "PING", "SKIP")
LONGEST_LINE = 8_192
LONGEST_HEAD = 65_536
LINGER_SECONDS = 1.0
_REQUEST = re.compile(rb"([A-Z_]+)(?: SPAMC/(\d)\.(\d))?\s*")
_HEAD_END = re.compile(rb"\r?\n\r?\n")


class SpamdError(Exception):
    """A request that is refused with a code of sysexits.h."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Version(NamedTuple):
    """What the client speaks."""

    major: int
    minor: int


@dataclass
class Request:
    """One request."""

    method: str
    version: Version
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    peer: Peer | None = None

    def names(self, header: str) -> list[str]:
        """The words of a header such as `Set: local,remote`."""
        return [word.strip().lower() for word in self.headers.get(header, "").split(",") if word.strip()]


@dataclass(frozen=True)
class Limits:
    """What one client may send."""

    headers: int
    body: int
    seconds: float


class Reading:
    """Bytes of one client, until they are a request."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._bytes: bytes | bytearray = b""
        self._searched = self._start = 0
        self._request: Request | None = None
        self._length: int | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the client has sent as much as it announced, and nothing behind it."""
        return self._length is not None and len(self._bytes) - self._start == self._length

    def add(self, data: bytes) -> None:
        """More has come; most requests come in one piece, which is not copied."""
        if not self._bytes:
            self._bytes = data
            return
        if isinstance(self._bytes, bytes):
            self._bytes = bytearray(self._bytes)
        self._bytes += data

    def request(self, ended: bool) -> Request | None:
        """The request, if it is complete; `ended` says that nothing more will come."""
        request = self._request or self._read_head(ended)
        if request is None or request.method in ("PING", "SKIP"):
            return request
        got = len(self._bytes) - self._start
        if got > self._limits.body:
            raise self._too_large()
        if not ended and (self._length is None or got < self._length):
            return None
        request.body = self._body(request)
        return request

    def _read_head(self, ended: bool) -> Request | None:
        found = _HEAD_END.search(self._bytes, self._searched)
        if found is None and not ended:
            if len(self._bytes) > LONGEST_HEAD:
                raise SpamdError(PROTOCOL, "Bad header line: the head of the request does not end")
            self._searched = max(len(self._bytes) - 3, 0)  # the end of a head has four bytes at most
            return None
        end, self._start = found.span() if found else (len(self._bytes), len(self._bytes))
        first, *lines = bytes(self._bytes[:end]).split(b"\n")
        self._request = request = _opened(first)
        if len(lines) > self._limits.headers:
            raise SpamdError(PROTOCOL, f"Bad header line: more than {self._limits.headers} of them")
        for line in lines:
            if line.strip():
                _read_header(line, request.headers)
        self._length = self._announced(request.headers.get("content-length"))
        return request

    def _announced(self, length: str | None) -> int | None:
        if length is None:
            return None
        if not (length.isascii() and length.isdecimal() and len(length) < 16):
            raise SpamdError(PROTOCOL, f"Bad header line: Content-length: {ascii(length[:40])[1:-1]}")
        if int(length) > self._limits.body:
            raise self._too_large()
        return int(length)

    def _body(self, request: Request) -> bytes:
        got = len(self._bytes) - self._start
        if self._length is not None and got < self._length:
            raise SpamdError(
                PROTOCOL, f"Content length mismatch: expected {self._length} bytes, got {got} bytes"
            )
        end = None if self._length is None else self._start + self._length
        body = bytes(self._bytes[self._start : end])
        if request.headers.get("compress", "").lower() != "zlib":
            return body
        try:
            body = zlib.decompressobj().decompress(body, self._limits.body + 1)
        except zlib.error:
            raise SpamdError(
                DATA, "The mail is not compressed with zlib, as its Compress header says."
            ) from None
        if len(body) > self._limits.body:
            raise self._too_large()
        return body

    def _too_large(self) -> SpamdError:
        return SpamdError(DATA, f"The mail has more than {self._limits.body} bytes.")


def _opened(line: bytes) -> Request:
    found = _REQUEST.fullmatch(line)
    method = found[1].decode() if found else ""
    if not found or method not in METHODS:
        shown = line[:60].decode("ascii", "backslashreplace").strip()
        raise SpamdError(PROTOCOL, f"Bad header line: {ascii(shown)[1:-1]}")
    return Request(method, Version(int(found[2] or 1), int(found[3] or 0)))


def _read_header(line: bytes, headers: dict[str, str]) -> None:
    if len(line) > LONGEST_LINE:
        raise SpamdError(PROTOCOL, f"Bad header line: longer than {LONGEST_LINE} bytes")
    name, colon, value = line.decode("utf-8", "replace").partition(":")
    if not colon:
        raise SpamdError(PROTOCOL, f"Bad header line: {ascii(name.strip()[:60])[1:-1]}")
    headers[name.strip().lower()] = value.strip()


class Answering(NamedTuple):
    """What a connection needs of the service."""

    at_once: Callable[[Request, float], bytes | None]
    answer: Callable[[Request, float], Awaitable[bytes]]
    refuse: Callable[[SpamdError, float], bytes]
    limits: Limits
    most: int
    connections: set[Connection]


class Connection(asyncio.Protocol):
    """Reads one request, writes one answer, and closes when nothing of the client can be left unread."""

    def __init__(self, service: Answering, loop: asyncio.AbstractEventLoop, local: bool) -> None:
        self._service, self._loop, self._local = service, loop, local
        self._reading: Reading | None = Reading(service.limits)
        self._began = time.perf_counter()
        self._ended = False
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the clock."""
        self._transport: Any = transport
        self._timer = self._loop.call_later(self._service.limits.seconds, self._too_slow)
        self._service.connections.add(self)
        if len(self._service.connections) > self._service.most:
            self._refuse(SpamdError(LATER, "Too many connections. Try again later."))

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        del exc
        self._timer.cancel()
        self._reading = None
        self._service.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        """Go on reading; what comes behind the request is passed over."""
        if self._reading is not None:
            self._reading.add(data)
            self._read()

    def eof_received(self) -> bool:
        """The client has said everything."""
        self._ended = True
        if self._reading is not None:
            self._read()
        elif self.task is None:
            self._transport.close()
        return True

    def _read(self) -> None:
        assert self._reading is not None
        try:
            request = self._reading.request(self._ended)
        except SpamdError as error:
            self._refuse(error)
            return
        if request is not None:
            self._ended = self._ended or self._reading.is_exact
            self._reading = None
            self._timer.cancel()
            if self._local:
                request.peer = peer_of(self._transport.get_extra_info("socket"))
            data = self._service.at_once(request, self._began)
            if data is not None:
                self._finish(data)
                return
            self.task = self._loop.create_task(self._answer(request))

    async def _answer(self, request: Request) -> None:
        data = await self._service.answer(request, self._began)
        self.task = None
        self._finish(data)

    def _refuse(self, error: SpamdError) -> None:
        if self._reading is not None:
            self._reading = None
            self._timer.cancel()
            self._finish(self._service.refuse(error, self._began))

    def _too_slow(self) -> None:
        seconds = self._service.limits.seconds
        self._refuse(SpamdError(IO, f"The request was not complete after {seconds:g} s"))

    def _finish(self, data: bytes) -> None:
        """Answer; to close with data unread would take the answer back, so wait for the client's end."""
        if self._transport.is_closing():
            return
        self._transport.write(data)
        if self._ended:
            self._transport.close()
            return
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._timer = self._loop.call_later(LINGER_SECONDS, self._transport.close)
