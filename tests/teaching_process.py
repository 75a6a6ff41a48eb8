"""`bayleaf teach` as a process, and a client that speaks as its page does."""

from __future__ import annotations

import itertools
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bayleaf.service import database
from bayleaf.service.store import Store
from cli_process import COMMAND, ENVIRONMENT, messages
from service_process import Reply, Running

KEYS = itertools.count(1)
ROWS = messages()
TRUTH = {text: label for label, text in ROWS}
TEXTS = [text for _, text in ROWS]


class Teaching(Running):
    """A page that is served, and what it is asked by."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url = process, url
        self.http = self.spamd = int(url.rpartition(":")[2])
        self.model = self.get("/").json["models"][0]

    def page(self, name: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
        reply = self.reply(name, body, **headers)
        assert reply.status == 200, reply.body
        return reply.json

    def reply(self, name: str, body: dict[str, Any] | None = None, **headers: str) -> Reply:
        return self.post(f"/models/{self.model}/page/{name}", body or {}, **headers)

    def label(self, shown: dict[str, Any], label: str | None, person: str = "", **more: Any) -> Any:
        """Answer a document; gives the next."""
        body = {"item": shown["item"], "how": shown["how"], "label": label, "person": person}
        return self.page("label", {"key": f"k{next(KEYS)}", **body, **more})["next"]

    def digest(self) -> str:
        """The hash of the counts, learned again from the ledger."""
        found = self.post(f"/models/{self.model}/verify", {}).json
        assert found["sound"], found
        return str(found["sha256"])


@contextmanager
def teaching(*arguments: str | Path, folder: Path, port: int = 0) -> Iterator[Teaching]:
    """The page of a corpus; killed at the end, if it was not stopped. What is drawn is the same each time."""
    if not folder.exists():
        with_key(folder)
    options = ["--folder", folder, "--port", port, "--no-browser", "--quiet"]
    command = [*COMMAND, "teach", *map(str, [*arguments, *options])]
    with _served(command, folder.parent / f"{folder.name}.log") as found:
        wait_until_read(found)
        yield found


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Teaching]:
    """The same page, served by `bayleaf serve`."""
    command = [*COMMAND, "serve", str(folder), "--http", "127.0.0.1:0", *arguments]
    with _served(command, folder.parent / f"{folder.name}.serve.log") as found:
        yield found


@contextmanager
def _served(command: list[str], log: Path) -> Iterator[Teaching]:
    with log.open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=ENVIRONMENT)
        try:
            assert process.stdout
            said = []
            for line in process.stdout:
                said.append(line)
                if line.startswith("Ready"):
                    break
            assert said[-1:] == ["Ready.\n"], log.read_text()
            url = next(word for line in said for word in line.split() if word.startswith("http://"))
            yield Teaching(process, url)
        finally:
            process.kill()
            process.communicate()
    assert "Traceback" not in log.read_text(), log.read_text()


def wait_until_read(page: Teaching) -> None:
    """Wait for the end of the corpus."""
    deadline = time.monotonic() + 60
    while not (sources := page.page("state")["pool"]["sources"]) or not all(map(is_read, sources)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_read(source: dict[str, Any]) -> bool:
    return bool(source["done"] or source["problem"])


def with_key(folder: Path, key: bytes = b"k" * 32) -> Path:
    """A folder whose documents are drawn and held out in the same way each time."""
    Store(folder).close()
    connection = database.connect(folder)
    connection.execute("UPDATE meta SET value = ? WHERE key = 'key'", (key,))
    connection.close()
    return folder


def write_jsonl(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    return path


def session(page: Teaching, labels: int, person: str = "", order: str = "ask") -> dict[str, Any] | None:
    """Label so many documents by their truth."""
    shown: dict[str, Any] | None = page.page("next", {"person": person, "order": order})["next"]
    for _ in range(labels):
        assert shown is not None
        shown = page.label(shown, TRUTH[shown["text"]], person, order=order)
    return shown


def rows_of(page: Teaching) -> list[dict[str, Any]]:
    """The labels, as the page exports them."""
    lines = page.reply("export", {"format": "jsonl"}).body.splitlines()
    return [json.loads(line) for line in lines]
