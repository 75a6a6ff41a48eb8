"""A day in a few minutes: many mixed requests in one process, and the memory that it holds meanwhile.

    python benchmarks/soak.py [--requests 1000000]

The application is called without a network: 90 % questions, the rest documents learned, corrected and
forgotten again, so that the model ends as it began.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, MutableMapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from bayleaf import Model, words
from bayleaf.service.http.application import Application
from bayleaf.service.served import digest
from bayleaf.service.service import Service
from bayleaf.service.store import Store

OWN = 500
"""Documents that are learned, corrected and forgotten in turn."""


def resident() -> float:
    """Megabytes that the process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def requests() -> Iterator[tuple[str, dict[str, Any]]]:
    """Path and body of each request, without end."""
    lines = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
    texts = [line.partition("\t")[2] for line in lines]
    number = 0
    while True:
        turn, own = divmod(number // 10, OWN)
        if number % 10:
            yield "classify", {"text": f"{texts[number % len(texts)]} {number}"}
        elif turn % 3 == 0:
            yield "learn", {"text": f"soak {own}", "label": "ham"}
        elif turn % 3 == 1:
            yield "correct", {"text": f"soak {own}", "label": "spam"}
        else:
            yield "forget", {"text": f"soak {own}"}
        number += 1


async def ask(application: Application, path: str, body: dict[str, Any]) -> int:
    """The status of the answer to one request."""
    data = json.dumps(body).encode()
    statuses: list[int] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": data, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if "status" in message:
            statuses.append(message["status"])

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": f"/models/spam/{path}", "query_string": b""}
    await application({**scope, "headers": headers, "client": ("127.0.0.1", 1)}, receive, send)
    return statuses[0]


async def soak(service: Service, count: int) -> None:
    """Ask, and say once in a while what is held."""
    application = Application(service)
    background = asyncio.create_task(service.background())
    began, step = time.perf_counter(), max(count // 20, 1)
    for number, (path, body) in zip(range(count), requests(), strict=False):
        status = await ask(application, path, body)
        assert status == 200, (path, body, status)
        if number % 100 == 0:
            await asyncio.sleep(0)
        if number % step == step - 1:
            log = (service.store.folder / "bayleaf.sqlite-wal").stat().st_size / 1e6
            print(f"{number + 1:>9,} {resident():7.1f} MB held, log {log:.1f} MB", flush=True)
    background.cancel()
    print(f"{count / (time.perf_counter() - began):,.0f} requests/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1_000_000)
    options = parser.parse_args()
    whole = 10 * OWN * 3
    count = -(-options.requests // whole) * whole
    lines = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
    pairs = [line.split("\t", 1) for line in lines]
    model = Model([words()]).learn([text for _, text in pairs], [label for label, _ in pairs])
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        served = store.add_model("spam", model)
        before = digest(served.shared)
        asyncio.run(soak(Service(store), count))
        assert digest(served.shared) == before, "The model is another than at the beginning."
        store.close()
    print("The model is the same, byte for byte.")


if __name__ == "__main__":
    main()
