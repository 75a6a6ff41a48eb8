"""A real service as a process, and a client that sends exactly what it is told."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cli_process import COMMAND, ENVIRONMENT


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Running:
    """A service that runs, with the addresses that it said."""

    def __init__(self, process: subprocess.Popen[str], said: list[str]) -> None:
        self.process, self.said = process, said
        ports = [int(line.rpartition(":")[2]) for line in said if " on " in line and "Unix" not in line]
        self.http, self.spamd = ports[0], ports[-1]

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Reply:
        client = http.client.HTTPConnection("127.0.0.1", self.http, timeout=60)
        try:
            client.request(method, path, body, headers or {})
            answer = client.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            client.close()

    def get(self, path: str, **headers: str) -> Reply:
        return self.request("GET", path, None, headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Reply:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.request("POST", path, data, {"Content-Type": "application/json"} | named)

    def ask(self, text: str, **more: Any) -> Any:
        return self.post("/models/spam/classify", {"text": text, **more}).json["answers"][0]

    def raw(self, data: bytes, port: int | None = None, shutdown: bool = True) -> bytes:
        """Send bytes, read to the end."""
        with socket.create_connection(("127.0.0.1", port or self.spamd), timeout=60) as client:
            client.sendall(data)
            if shutdown:
                client.shutdown(socket.SHUT_WR)
            parts = []
            while part := client.recv(65_536):
                parts.append(part)
        return b"".join(parts)

    def stop(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        rest, _ = self.process.communicate(timeout=60)
        return rest


@contextmanager
def running(folder: Path, *arguments: str, shell: str = "", **environment: str) -> Iterator[Running]:
    """A service in a folder; killed at the end, if it was not stopped. A shell may prepare its process."""
    command = [*COMMAND, "serve", str(folder), "--http", "127.0.0.1:0", "--spamd", "127.0.0.1:0", *arguments]
    command = ["sh", "-c", shell, *command] if shell else command
    log = folder.parent / f"{folder.name}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=ENVIRONMENT | environment
        )
        try:
            assert process.stdout
            said = []
            for line in process.stdout:
                said.append(line.strip())
                if line.startswith("Ready"):
                    break
            assert said[-1:] == ["Ready."], log.read_text()
            yield Running(process, said)
        finally:
            process.kill()
            process.communicate()
    assert "Traceback" not in log.read_text(), log.read_text()
