"""The service under any bytes of a client: the real servers on sockets of their own, in a thread."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import socket
import tempfile
import threading
from functools import cache
from pathlib import Path

from bayleaf import Model, words
from bayleaf.service import server
from bayleaf.service.http.application import Application
from bayleaf.service.service import Service
from bayleaf.service.spamd import Spamd
from bayleaf.service.store import Store

PATIENCE = 20
"""Seconds until a client gives up; the service answers, or closes, long before."""


WHILE = 0.003
"""Seconds to wait before the client says that it is done."""


class Faults(logging.Handler):
    """What the service, its servers and the event loop report as their own fault."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.found.append(self.format(record))


class Running:
    """A service that has learned a little, and listens."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.place = Path(self._folder.name)
        self.faults = Faults()
        logging.getLogger().addHandler(self.faults)
        for name in ("bayleaf.service", "bayleaf.audit"):
            logging.getLogger(name).setLevel(logging.ERROR)
        store = Store(self.place / "service")
        model = Model([words()]).learn(["win a prize", "see you at noon"], ["spam", "ham"])
        store.add_model("spam", model)
        self._service = Service(store)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(PATIENCE)
        atexit.register(self._end)

    async def _listen(self) -> None:
        http = server._http(Application(self._service))
        self._http = asyncio.ensure_future(http.serve([self._socket("http")]))
        while not http.started:
            await asyncio.sleep(0.001)
        self._spamd = Spamd(self._service, allow_tell=True)
        self._spamd.listen(self._socket("spamd"))

    def _socket(self, name: str) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.place / name))
        listener.listen(16)
        return listener

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._folder.cleanup()

    def answer(self, name: str, data: bytes) -> bytes:
        """Send these bytes, in two pieces, and no more; what comes back until the service closes."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(str(self.place / name))
            answer = bytearray()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(data[: len(data) // 3])
                client.sendall(data[len(data) // 3 :])
                # Who says at once that nothing more will come is gone, to an HTTP server.
                with contextlib.suppress(TimeoutError):
                    client.settimeout(WHILE)
                    answer += client.recv(65_536)
                client.settimeout(PATIENCE)
                client.shutdown(socket.SHUT_WR)
                while more := client.recv(65_536):
                    answer += more
        assert not self.faults.found, self.faults.found
        return bytes(answer)


running = cache(Running)


def spamd(data: bytes) -> None:
    """Any bytes are a request over SPAMD, or refused with a code; never a fault of the service."""
    answer = running().answer("spamd", data)
    assert not answer or answer.startswith(b"SPAMD/"), answer[:100]


def http(data: bytes) -> None:
    """Any bytes are requests over HTTP, or refused; never a fault of the service."""
    answer = running().answer("http", data)
    assert not answer or answer.startswith(b"HTTP/1.1 "), answer[:100]
    assert not answer.startswith(b"HTTP/1.1 500"), answer[:1000]
