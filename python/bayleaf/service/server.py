"""Run a service: HTTP and SPAMD in one event loop, until SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from bayleaf.service.http.application import Application
from bayleaf.service.http.connection import Connection
from bayleaf.service.service import Service
from bayleaf.service.settings import Sockets
from bayleaf.service.spamd import Spamd

logger = logging.getLogger("bayleaf.service")
GRACE_SECONDS = 10
SPARE_FILES = 100
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
        settings = service.store.settings
        _raise_open_files(2 * settings.limits.connections + SPARE_FILES)
        for listener, place in _listeners(addresses.http, addresses.http_socket, "HTTP", settings.sockets):
            https.append((_http(application), listener))
            places.append(place)
        tasks = [asyncio.create_task(http.serve([listener])) for http, listener in https]
        spamd = Spamd(service, allow_tell)
        for listener, place in _listeners(addresses.spamd, addresses.spamd_socket, "SPAMD", settings.sockets):
            spamd.listen(listener)
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


def written(host: str, port: int) -> str:
    """An address as it stands in a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _listeners(
    address: tuple[str, int] | None, path: str | None, protocol: str, sockets: Sockets
) -> Iterator[tuple[socket.socket, str]]:
    if address is not None:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            listener.close()
            raise ValueError(f"{written(*address)} cannot be listened on: {error.strerror}.") from None
        listener.listen(2_048)
        prefix = "http://" if protocol == "HTTP" else ""
        yield listener, f"{protocol} on {prefix}{written(*listener.getsockname()[:2])}"
    if path is not None:
        yield _unix(path, sockets.mode), f"{protocol} on the Unix socket {path}"


def _raise_open_files(wanted: int) -> None:
    """Let the process have as many connections as the settings allow, if the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _unix(path: str, mode: int) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    if Path(path).is_socket():
        _check_unused(path)
    before = os.umask(0o077)
    try:
        listener.bind(path)
        os.chmod(path, mode)
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
