"""What happens to a service within a month: backups, moves, upgrades, people, clocks, crowds."""

import asyncio
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest

from bayleaf import Model, words
from bayleaf.service.http.application import Application
from bayleaf.service.peers import Peer, peer_of
from bayleaf.service.service import Service
from bayleaf.service.store import Store
from bayleaf.service.verifying import verify
from cli_process import done, refused
from service_process import Running, running
from service_store import MAIL, learn, opened

PAIRS = [("win a free prize", "spam"), ("free lunch at noon", "ham"), ("lunch with a prize", "ham")]
OTHER = "nobody"

needs_others = pytest.mark.skipif(
    os.getuid() != 0 or not shutil.which("spamc"),
    reason="Only root can become another user, and spamc is needed (apt-get install spamc).",
)


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    texts, labels = [text for text, _ in PAIRS], [label for _, label in PAIRS]
    Model([words()]).learn(texts, labels).save(tmp_path / "spam.bayleaf")
    return tmp_path / "spam.bayleaf"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user of this machine may enter."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield Path(made)


def who_taught(service: Running) -> list[str]:
    return [each["by"] for each in service.get("/models/spam/versions").json["versions"]]


# People


def test_the_other_end_of_a_unix_socket_is_known_and_that_of_tcp_is_not() -> None:
    one, other = socket.socketpair()
    with one, other, socket.socket() as tcp:
        found = peer_of(one)
        assert found is not None
        assert found.uid == os.getuid()
        assert peer_of(tcp) is None
    assert not Peer(12_345, "ann").may_speak_for_others("bob, vmail")
    assert Peer(12_345, "vmail").may_speak_for_others("bob, vmail")
    assert Peer(0, "root").may_speak_for_others("")


@needs_others
@pytest.mark.parametrize("trusted", ["", OTHER])
def test_on_a_socket_for_all_the_kernel_says_who_teaches(place: Path, model_file: Path, trusted: str) -> None:
    (place / "f").mkdir()
    (place / "f" / "bayleaf.toml").write_text(f'[sockets]\nmode = 0o666\n[spamd]\ntrusted = "{trusted}"\n')
    path = place / "s"
    arguments = ["--model", f"spam={model_file}", "--allow-tell", "--spamd-socket", str(path)]
    with running(place / "f", *arguments) as service:

        def tell(label: str, user: str) -> int:
            command = ["spamc", "-x", "-U", str(path), "-L", label, "-u", user]
            return subprocess.run(command, input=MAIL, user=OTHER, check=False, timeout=60).returncode

        assert tell("spam", OTHER) == 0
        assert who_taught(service)[0] == OTHER
        assert (tell("ham", "ann") == 0) == bool(trusted)
        assert who_taught(service)[0] == ("ann" if trusted else OTHER)


def test_over_http_on_a_unix_socket_the_user_is_who_taught(tmp_path: Path, model_file: Path) -> None:
    path = tmp_path / "h"
    with running(tmp_path / "f", "--model", f"spam={model_file}", "--http-socket", str(path)) as service:
        body = b'{"text": "hello", "label": "ham"}'
        head = b"POST /models/spam/learn HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            assert b"200 OK" in client.recv(4096)
            found = peer_of(client)
        assert found is not None
        assert who_taught(service)[0] == found.name


# Crowds


def test_one_connection_too_many_is_told_when_to_come_back(tmp_path: Path, model_file: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "bayleaf.toml").write_text("[limits]\nconnections = 3\n")
    with running(tmp_path / "f", "--model", f"spam={model_file}") as service:
        idle = [socket.create_connection(("127.0.0.1", service.http)) for _ in range(3)]
        reply = service.post("/models/spam/classify", {"text": "a"})
        assert reply.status == 429
        assert reply.headers["retry-after"] == "1"
        assert "connections" in reply.json["detail"]
        for each in idle:
            each.close()
        while (reply := service.post("/models/spam/classify", {"text": "a"})).status == 429:
            pass
        assert reply.status == 200


def test_as_many_files_are_opened_as_connections_are_allowed(tmp_path: Path, model_file: Path) -> None:
    command = 'ulimit -Sn 64; exec "$0" "$@"'
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "bayleaf.toml").write_text("[limits]\nconnections = 100\n")
    with running(tmp_path / "f", "--model", f"spam={model_file}", shell=command) as service:
        idle = [socket.create_connection(("127.0.0.1", service.http)) for _ in range(90)]
        assert service.ask("win a free prize")["label"] == "spam"
        for each in idle:
            each.close()


def test_a_key_whose_request_is_at_work_is_a_conflict(tmp_path: Path) -> None:
    async def post(application: Application, body: dict[str, str], key: bytes) -> tuple[int, bytes]:
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"idempotency-key", key)]
        path = {"type": "http", "method": "POST", "path": "/models/spam/learn", "query_string": b""}
        await application({**path, "headers": headers, "client": ("127.0.0.1", 1)}, receive, send)
        return sent[0]["status"], sent[1]["body"]

    async def both(application: Application) -> list[tuple[int, bytes]]:
        body = {"text": "once", "label": "ham"}
        return list(await asyncio.gather(post(application, body, b"k"), post(application, body, b"k")))

    with opened(tmp_path / "f") as (store, served):
        first, second = asyncio.run(both(Application(Service(store))))
        assert first[0] == 200
        assert second[0] == 409
        assert b"still at work" in second[1]
        assert served.shared.n_documents == 1


# Disks and folders


def test_a_backup_made_while_it_learns_is_a_folder_that_can_be_proved_and_served(
    tmp_path: Path, model_file: Path
) -> None:
    with running(tmp_path / "f", "--model", f"spam={model_file}") as service:
        ended = threading.Event()

        def teach() -> None:
            number = 0
            while not ended.is_set():
                service.post("/models/spam/learn", {"text": f"lunch number {number}", "label": "ham"})
                number += 1

        busy = threading.Thread(target=teach)
        busy.start()
        try:
            version = service.post("/models/spam/learn", {"text": "first", "label": "ham"}).json["version"]
            done("serve", tmp_path / "f", "--backup", tmp_path / "copy")
        finally:
            ended.set()
            busy.join()
        assert "is there already" in refused(1, "serve", tmp_path / "f", "--backup", tmp_path / "copy")
    (checked,) = verify(tmp_path / "copy")
    assert checked.sound
    assert checked.version >= version
    with running(tmp_path / "copy") as service:
        assert service.ask("win a free prize")["version"] == checked.version
    assert "not the folder" in refused(1, "serve", tmp_path / "none", "--backup", tmp_path / "copy2")
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "copy").rglob("*")} == {0}


def test_a_folder_can_be_moved(tmp_path: Path) -> None:
    with opened(tmp_path / "here") as (store, served):
        learn(store, served, PAIRS)
        before = served.shared.to_bytes()
    (tmp_path / "here").rename(tmp_path / "there")
    with opened(tmp_path / "there") as (_, served):
        assert served.shared.to_bytes() == before
    assert verify(tmp_path / "there")[0].sound


def test_the_folder_of_a_later_version_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, served):
        learn(store, served, PAIRS)
    path = tmp_path / "bayleaf.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = 2 WHERE key = 'format'")
        connection.execute("DROP TABLE kept_answer")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ValueError, match="has format 2; this version reads format 1"):
        Store(tmp_path)
    assert path.read_bytes() == before


def test_what_was_taught_can_be_trained_with_other_views(tmp_path: Path, model_file: Path) -> None:
    with running(tmp_path / "f", "--model", f"spam={model_file}") as service:
        texts, labels = [text for text, _ in PAIRS], [label for _, label in PAIRS]
        service.post("/models", {"name": "new"})
        service.post("/models/new/learn", {"texts": texts, "labels": labels})
        (tmp_path / "taught.jsonl").write_bytes(service.get("/models/new/ledger").body)
    done("train", tmp_path / "taught.jsonl", "-o", tmp_path / "m.bayleaf", "--preset", "messages")
    assert Model.load(tmp_path / "m.bayleaf").class_documents == {"ham": 2, "spam": 1}


# Clocks


def test_questions_of_a_clock_that_was_ahead_stay_in_the_history(tmp_path: Path, model_file: Path) -> None:
    with running(tmp_path / "f", "--model", f"spam={model_file}") as service:
        service.ask("win a free prize", id="then")
        service.get("/models/spam/history")
        service.stop()
    with sqlite3.connect(tmp_path / "f" / "bayleaf.sqlite") as connection:
        connection.execute("UPDATE question SET at = at + 1e6")
    connection.close()
    with running(tmp_path / "f") as service:
        service.ask("lunch at noon", id="now")
        assert [each["id"] for each in service.get("/models/spam/history").json["questions"]] == [
            "now",
            "then",
        ]
