"""Run a service: HTTP and SPAMD in one event loop, until SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bayleaf.service.http.application import Application
from bayleaf.service.service import Service
from bayleaf.service.settings import Limits
from bayleaf.service.spamd import Spamd

logger = logging.getLogger("bayleaf.service")
GRACE_SECONDS = 10
LONGEST_HEAD = 65_536
SWITCH_SECONDS = 0.0005
"""How long the event loop waits for the writer's thread at most; Python's 5 ms are half of a slow answer."""


@dataclass(frozen=True)
class Addresses:
    """Where to listen."""

    http: tuple[str, int] | None = None
    spamd: tuple[str, int] | None = None
    http_socket: str | None = None
    spamd_socket: str | None = None

    def open_to_others(self) -> list[str]:
        """The addresses that other machines reach."""
        given = [each for each in (self.http, self.spamd) if each is not None]
        return [f"{host}:{port}" for host, port in given if not is_loopback(host)]


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Connection(HttpToolsProtocol):
    """One HTTP connection, which is closed if the head of a request is too long or takes too long."""

    _timer: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock of a client that may never send a request."""
        super().connection_made(transport)
        self._limits: Limits = self.config.loaded_app.limits
        if len(self.connections) > self._limits.connections:
            transport.close()
            return
        self.on_head_begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Start the clock."""
        super().on_message_begin()
        self._stop_clock()
        self.on_head_begin()

    def on_head_begin(self) -> None:
        """Give the client so many seconds for the head of its request."""
        self._head = 1
        self._timer = self.loop.call_later(self._limits.seconds, self._too_slow)

    def on_headers_complete(self) -> None:
        """Stop the clock; the body has one of its own."""
        self._stop_clock()
        self._head = 0
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Count the bytes of a head that does not end."""
        super().data_received(data)
        if self._head:
            self._head += len(data)
            if self._head > LONGEST_HEAD:
                self._too_long()

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
        self._refuse(408, "Request Timeout", "The request was not complete in time.")

    def _too_long(self) -> None:
        self._refuse(431, "Request Header Fields Too Large", "The head of the request is too long.")

    def _refuse(self, status: int, title: str, detail: str) -> None:
        if self.transport.is_closing():
            return
        body = b'{"type":"about:blank","title":"%s","status":%d,"detail":"%s"}' % (
            title.encode(), status, detail.encode(),
        )  # fmt: skip
        head = b"HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\n" % (
            status, title.encode(), len(body),
        )  # fmt: skip
        self.transport.write(head + b"Connection: close\r\n\r\n" + body)
        self.transport.close()


class _Quiet(uvicorn.Server):
    """uvicorn without its own signal handlers: several servers share ours."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


async def serve(
    service: Service, addresses: Addresses, allow_tell: bool, ready: Callable[[list[str]], None]
) -> None:
    """Listen until the process is told to stop, then finish what is at work."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()  # what is there at the start stays, and need not be looked through again
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    application = Application(service)
    background = asyncio.create_task(service.background())
    https, places = [], []
    try:
        for listener, place in _listeners(addresses.http, addresses.http_socket, "HTTP"):
            https.append((_http(application), listener))
            places.append(place)
        tasks = [asyncio.create_task(http.serve([listener])) for http, listener in https]
        spamd = Spamd(service, allow_tell)
        for listener, place in _listeners(addresses.spamd, addresses.spamd_socket, "SPAMD"):
            await spamd.listen(listener)
            places.append(place)
        await _started([http for http, _ in https], tasks)
        ready(places)
        await stop.wait()
        for http, _ in https:
            http.should_exit = True
        await spamd.close()
        if tasks:
            await asyncio.wait(tasks, timeout=2 * GRACE_SECONDS)
    finally:
        background.cancel()
        for path in (addresses.http_socket, addresses.spamd_socket):
            if path:
                Path(path).unlink(missing_ok=True)


def _http(application: Application) -> uvicorn.Server:
    config = uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        proxy_headers=False,
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=GRACE_SECONDS,
        backlog=2_048,
    )
    return _Quiet(config)


async def _started(servers: list[uvicorn.Server], tasks: list[asyncio.Task[None]]) -> None:
    while not all(server.started for server in servers):
        await asyncio.sleep(0.005)
        for task in tasks:
            if task.done():
                task.result()


def _listeners(
    address: tuple[str, int] | None, path: str | None, protocol: str
) -> Iterator[tuple[socket.socket, str]]:
    if address is not None:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            listener.close()
            raise ValueError(f"{address[0]}:{address[1]} cannot be listened on: {error.strerror}.") from None
        listener.listen(2_048)
        host, port = listener.getsockname()[:2]
        prefix = "http://" if protocol == "HTTP" else ""
        yield listener, f"{protocol} on {prefix}{f'[{host}]' if ':' in host else host}:{port}"
    if path is not None:
        yield _unix(path), f"{protocol} on the Unix socket {path}"


def _unix(path: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    if Path(path).is_socket():
        _check_unused(path)
    before = os.umask(0o077)
    try:
        listener.bind(path)
    except OSError as error:
        listener.close()
        raise ValueError(f"{path} cannot be listened on: {error.strerror}.") from None
    finally:
        os.umask(before)
    listener.listen(2_048)
    return listener


def _check_unused(path: str) -> None:
    """Remove a socket that a killed process left behind, not one that is in use."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            Path(path).unlink()
            return
    raise ValueError(f"{path} is in use by another process.")
