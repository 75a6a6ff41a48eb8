"""The service under load, from a client in a process of its own; bounded in count and time.

    python benchmarks/serve.py [--seconds 5] [--mlflow PYTHON] [--rows http,check] [--json FILE]

PYTHON is an interpreter with MLflow, whose scoring server answers with an identity model. spamd and
bogofilter take part if they are installed; all are taught and asked the same mails.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serve_peers import (
    Mails,
    Server,
    ask_bogofilter,
    ask_spamd,
    bayleaf_service,
    mails,
    mlflow_service,
    spamd_program,
    spamd_service,
    teach_bogofilter,
)

TEXT = "Claim your free prize now, see you at noon"
ASKING = 8
"""Clients that ask without a pause, enough to keep a server of one thread busy: more only wait longer."""


@dataclass(frozen=True)
class Load:
    """Answers a second, and how long one took, in milliseconds."""

    per_second: float
    p50: float
    p99: float
    failed: int
    per_cpu_second: float

    def __str__(self) -> str:
        waited = f"p50 {self.p50:6.2f} ms   p99 {self.p99:6.2f} ms"
        busy = f"{self.per_cpu_second:7,.0f} for a second of its processor time"
        return f"{self.per_second:7,.0f}/s   {waited}   {busy}"


# The client


class Client(asyncio.Protocol):
    """One connection: sends a request, waits for the whole answer, sends the next."""

    def __init__(self, load: _Run) -> None:
        self.run, self.buffer, self.began = load, b"", 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.send()

    def send(self) -> None:
        if time.perf_counter() >= self.run.end:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(self.run.request())

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head = self.buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        at = self.buffer.lower().find(b"content-length:")
        length = int(self.buffer[at + 15 : self.buffer.find(b"\r", at)])
        if len(self.buffer) < head + 4 + length:
            return
        self.run.times.append(time.perf_counter() - self.began)
        self.run.failed += not self.buffer.startswith(b"HTTP/1.1 200")
        self.buffer = b""
        self.send()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.run.left()


class _Run:
    def __init__(self, connections: int, seconds: float, request: Callable[[], bytes]) -> None:
        self.times: list[float] = []
        self.failed = 0
        self.request = request
        self.end = time.perf_counter() + seconds
        self._open = connections
        self.done = asyncio.Event()

    def left(self) -> None:
        self._open -= 1
        if not self._open:
            self.done.set()


def http_post(path: str, body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    kind = "Content-Type: application/json"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def requests(kind: str) -> Callable[[], bytes]:
    """What a client sends, one after the other."""
    classify = http_post("/models/spam/classify", {"text": TEXT})
    count = iter(range(10**9))

    def learn() -> bytes:
        text = f"{TEXT} {os.getpid()} {next(count)}"
        return http_post("/models/spam/learn", {"text": text, "label": "spam"})

    if kind == "classify":
        return lambda: classify
    if kind == "learn":
        return learn
    if kind == "mixed":
        turns = iter(range(10**9))
        return lambda: learn() if next(turns) % 10 == 9 else classify
    mlflow = http_post("/invocations", {"inputs": [TEXT]})
    return lambda: mlflow


async def _client(port: int, connections: int, seconds: float, kind: str) -> None:
    run = _Run(connections, seconds, requests(kind))
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    for _ in range(connections):
        await loop.create_connection(lambda: Client(run), "127.0.0.1", port)
    await run.done.wait()
    took = time.perf_counter() - began
    print(json.dumps({"times": run.times, "failed": run.failed, "took": took}))


def loaded(server: Server, connections: int, seconds: float, kind: str) -> Load:
    """Run the client in a process of its own."""
    busy = server.cpu_seconds()
    command = [sys.executable, __file__, "--client", str(server.port), str(connections), str(seconds), kind]
    out = subprocess.run(command, check=True, capture_output=True, text=True, timeout=seconds + 60).stdout
    found = json.loads(out)
    times = sorted(1000 * each for each in found["times"])
    rate = len(times) / max(server.cpu_seconds() - busy, 0.01)
    return Load(len(times) / found["took"], _part(times, 0.5), _part(times, 0.99), found["failed"], rate)


def _part(times: Sequence[float], share: float) -> float:
    return times[min(len(times) - 1, int(share * len(times)))] if times else 0.0


# The rows


def http_rows(server: Server, seconds: float) -> dict[str, Load]:
    """Classify, classify and learn, learn."""
    loaded(server, 8, 1, "classify")
    rows = {
        f"classify, one short text, {ASKING} clients": loaded(server, ASKING, seconds, "classify"),
        f"classify and learn 9:1, durable, {ASKING} clients": loaded(server, ASKING, seconds, "mixed"),
        "learn, durable, 64 clients": loaded(server, 64, seconds, "learn"),
    }
    for name, row in rows.items():
        print(f"{name:48} {row}   failed {row.failed}", flush=True)
    return rows


def mlflow_rows(server: Server, python: str, folder: Path, seconds: float) -> dict[str, Load]:
    """MLflow's server, and bayleaf's again."""
    with mlflow_service(python, folder) as other:
        loaded(other, 8, 1, "mlflow")
        theirs = loaded(other, ASKING, seconds, "mlflow")
    ours = loaded(server, ASKING, seconds, "classify")
    print(f"{f'MLflow, identity model, {ASKING} clients':48} {theirs}")
    print(f"{'bayleaf again':48} {ours}   {ours.per_second / theirs.per_second:.1f} × MLflow")
    print(f"for the same processor time: {ours.per_cpu_second / theirs.per_cpu_second:.1f} × MLflow")
    return {"mlflow": theirs, "again": ours}


@dataclass(frozen=True)
class Checks:
    """Mails asked by one client after the other, in seconds, and mails a second of several clients."""

    median: float
    mean: float
    p99: float
    together: float
    cpu: float

    def __str__(self) -> str:
        one = f"median {1000 * self.median:6.2f}   mean {1000 * self.mean:6.2f}   p99 {1000 * self.p99:6.2f}"
        return f"{one} ms   {CLIENTS} clients {self.together:7,.0f}/s   processor {1000 * self.cpu:.3f} ms"


CLIENTS = 4
ASK: dict[str, Callable[[str, bytes], None]] = {"spamd": ask_spamd, "bogofilter": ask_bogofilter}


def _check_client(kind: str, place: str, seconds: float) -> None:
    """Ask about the mails one after the other, round and round; the first round is not counted."""
    asked, ask = mails().asked, ASK[kind]
    for mail in asked[:40]:
        ask(place, mail)
    times, end = [], time.perf_counter() + seconds
    for mail in itertools.cycle(asked):
        began = time.perf_counter()
        if began >= end:
            break
        ask(place, mail)
        times.append(time.perf_counter() - began)
    print(json.dumps(times))


def _asked(kind: str, place: str, clients: int, seconds: float) -> list[float]:
    """Clients, each a process of its own, the same for every server; gives how long each answer took."""
    command = [sys.executable, __file__, "--check-client", kind, place, str(seconds)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(clients)]
    return [took for each in running for took in json.loads(each.communicate(timeout=seconds + 60)[0])]


def checks(kind: str, place: str, seconds: float, busy: Callable[[], float] = lambda: 0.0) -> Checks:
    """Ask from one client, then from several at once."""
    times = sorted(_asked(kind, place, 1, seconds))
    before = busy()
    together = _asked(kind, place, CLIENTS, seconds)
    cpu = (busy() - before) / (len(together) + CLIENTS * 40)
    return Checks(
        _part(times, 0.5), sum(times) / len(times), _part(times, 0.99), len(together) / seconds, cpu
    )


UNIX = ", Unix socket"


def _tcp_and_unix(name: str, server: Server, seconds: float) -> dict[str, Checks]:
    """The same server over TCP and over its Unix socket."""
    places = {name: str(server.port), name + UNIX: server.socket}
    return {each: checks("spamd", place, seconds, server.cpu_seconds) for each, place in places.items()}


def check_rows(server: Server, folder: Path, found: Mails, seconds: float) -> dict[str, Checks]:
    """CHECK of the same mails: bayleaf, spamd, and bogofilter as a process."""
    rows = _tcp_and_unix("bayleaf", server, seconds)
    if spamd_program():
        with spamd_service(folder, found) as other:
            rows |= _tcp_and_unix("spamd", other, seconds)
        rows |= _tcp_and_unix("bayleaf again", server, seconds)
    else:
        print("spamd is not installed (apt packages spamassassin, spamd)")
    if shutil.which("bogofilter"):
        teach_bogofilter(folder, found)
        rows["bogofilter"] = checks("bogofilter", str(folder), seconds)
    print(f"CHECK of {len(found.asked)} mails of {found.size:,.0f} bytes in the mean, a connection each")
    for name, row in rows.items():
        print(f"  {name:26} {row}", flush=True)
        if "bayleaf" not in name:
            _print_ratios(name, row, rows["bayleaf" + UNIX * name.endswith(UNIX)])
    return rows


def _print_ratios(name: str, theirs: Checks, ours: Checks) -> None:
    mean, median = theirs.mean / ours.mean, theirs.median / ours.median
    more = ours.together / theirs.together
    print(f"  {name} takes {median:.1f} × as long (median; mean {mean:.1f} ×)", end="; ")
    print(f"{CLIENTS} clients get {more:.1f} × the answers")
    if theirs.cpu:
        print(f"  for the same processor time of the server: {theirs.cpu / ours.cpu:.1f} × the mails")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--mlflow", metavar="PYTHON", help="an interpreter that has MLflow")
    parser.add_argument("--rows", default="http,check", help="http, check, or both")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder, asked = Path(scratch), mails()
        with bayleaf_service(folder / "service", asked) as (http, spamd):
            if "check" in options.rows:
                found |= check_rows(spamd, folder, asked, options.seconds)
            if "http" in options.rows:
                found |= http_rows(http, options.seconds)
            if options.mlflow:
                found |= mlflow_rows(http, options.mlflow, folder, options.seconds)
        command = [sys.executable, "-m", "bayleaf", "verify", str(folder / "service")]
        verified = subprocess.run(command, capture_output=True, text=True)
        print(verified.stdout + verified.stderr)
    if options.json:
        Path(options.json).write_text(json.dumps({name: vars(row) for name, row in found.items()}, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--client"]:
        import uvloop

        port, connections, seconds, kind = sys.argv[2:]
        uvloop.run(_client(int(port), int(connections), float(seconds), kind))
    elif sys.argv[1:2] == ["--check-client"]:
        _check_client(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    else:
        main()
