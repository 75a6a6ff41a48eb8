# ruff: noqa: E501 (a table of bad requests reads best with one on a line)
"""The service in bad company: tokens, limits, slow clients, and two hundred kinds of bad input."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bayleaf import Model, words
from cli_process import COMMAND, ENVIRONMENT, bayleaf, done, refused
from service_process import Running, running

CLASSIFY, LEARN, FORGET = (f"/models/spam/{verb}" for verb in ("classify", "learn", "forget"))
DEEP = b"[" * 100_000


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "spam.bayleaf"
    Model([words()]).learn(["free prize", "see you at noon"], ["spam", "ham"]).save(path)
    return path


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, model_file: Path) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("safety")
    (folder / "bayleaf.toml").write_text(
        "[limits]\nbody = 20_000\ndocuments = 10\nseconds = 2\nheaders = 50\n"
    )
    with running(folder, "--model", f"spam={model_file}") as found:
        yield found


def each(
    status: int, *bodies: Any, paths: Sequence[str] = (CLASSIFY, LEARN, FORGET)
) -> list[tuple[str, Any, int]]:
    """The same bodies for several paths."""
    return [(path, body, status) for path in paths for body in bodies]


BODIES: list[tuple[str, Any, int]] = [
    *each(400,
        b"", b"{", b"nope", b"\xff\xfe", b"{'text': 1}", DEEP[:19_000], b'{"text": "\xed\xa0\x80"}', b"NaN", b'{"text": "a"} x',
        b'{"text": "a', b"\0",
    ),
    *each(422,
        [], 3, "text", None, {"text": 3}, {"text": ["a"]}, {"texts": "a"}, {"texts": [3]}, {"texts": {}},
        {"unknown": 1}, {"text": "a", "texts": ["b"]}, {"row": {"a": 1}}, {"rows": [{}]}, {"row": 3}, {"rows": 3},
        {"id": 3}, {"id": ""}, {"ids": "x"}, {"id": "x" * 201}, {"id": "\n"}, {"user": 3}, {"user": "a\0b"},
        {"text": "a", "row": {}}, {},
    ),
    *each(422,
        {"text": "a", "ids": ["x", "y"]}, {"text": "a", "probabilities": "yes"}, {"id": "x"},
        {"text": "a", "id": "x", "ids": ["x"]}, {"text": "a", "user": "x" * 201}, {"text": "a", "label": "ham"},
        paths=[CLASSIFY],
    ),
    *each(422,
        {"text": "a"}, {"text": "a", "label": ""}, {"text": "a", "label": "  "}, {"text": "a", "label": "x" * 201},
        {"text": "a", "label": "a\nb"}, {"text": "a", "label": "a\0"}, {"text": "a", "label": None}, {"text": "a", "label": []},
        {"text": "a", "label": {}}, {"text": "a", "label": True}, {"text": "a", "labels": ["ham", "spam"]}, {"text": "a", "labels": []},
        {"text": "a", "label": "ham", "labels": ["ham"]}, {"texts": ["a", "b"], "labels": ["ham"]}, {"label": "ham"},
        {"text": "a", "label": "ham", "by": 3}, {"text": "a", "label": "ham", "subject": "a\x07"},
        {"text": "a", "label": "ham", "source": "auto"},
        paths=[LEARN],
    ),
    *each(422,
        {"by": "x", "subject": "y"}, {"by": "x", "text": "a"}, {"source": "other"}, {"text": "a", "erase": "yes"}, {"by": "x", "id": "y"},
        paths=[FORGET],
    ),
    (LEARN, {"id": "never asked", "label": "ham"}, 404),
    (FORGET, {"id": "never asked"}, 404),
    (FORGET, {"text": "never learned"}, 404),
    (FORGET, {"texts": ["free prize", "never learned"]}, 404),
    ("/models/none/classify", {"text": "a"}, 404),
    ("/models/..%2f..%2fetc%2fpasswd/classify", {"text": "a"}, 404),
    ("/models/spam/../spam/classify", {"text": "a"}, 404),
    ("/models/spam/explode", {"text": "a"}, 404),
    ("/models//classify", {"text": "a"}, 404),
    ("/nowhere", {}, 404),
    ("//", {}, 404),
    ("/models/spam", {}, 405),
    ("/metrics", {}, 405),
    (CLASSIFY, {"text": "a" * 30_000}, 413),
    (CLASSIFY, {"texts": ["a"] * 11}, 413),
    (LEARN, {"texts": ["a"] * 11, "label": "ham"}, 413),
    (LEARN, {"ids": ["a"] * 11, "label": "ham"}, 413),
    ("/models", {"name": "../x"}, 422),
    ("/models", {"name": ""}, 422),
    ("/models", {"name": "a/b"}, 422),
    ("/models", {"name": "x" * 65}, 422),
    ("/models", {"name": "x", "preset": "pickle"}, 422),
    ("/models", {"name": "x", "file": "/etc/passwd"}, 422),
    ("/models", {"name": "x", "classes": [1]}, 422),
    ("/models", {"name": "spam"}, 409),
    ("/models", {}, 422),
    ("/models/spam/explain", {"texts": ["a", "b"]}, 422),
    ("/models/spam/explain", {"text": "a", "most": -1}, 422),
    ("/models/spam/explain", {"text": "a", "label": "eggs"}, 422),
    *each(422,
        {}, {"inputs": []}, {"inputs": 3}, {"inputs": [{"name": "t", "shape": [1], "datatype": "FP32", "data": [1]}]},
        {"inputs": [{"name": "t", "shape": [2], "datatype": "BYTES", "data": ["a"]}]},
        {"inputs": [{"name": "t", "shape": [1], "datatype": "BYTES", "data": [3]}]},
        {"inputs": [{"name": "t", "shape": [], "datatype": "BYTES", "data": []}]},
        {"inputs": [{"name": "t", "shape": [1], "datatype": "BYTES", "data": ["%"], "parameters": {"content_type": "base64"}}]},
        paths=["/v2/models/spam/infer"],
    ),
]  # fmt: skip

PATHS = [
    ("GET", "/models/spam/history?limit=0", 422),
    ("GET", "/models/spam/history?limit=x", 422),
    ("GET", "/models/spam/history?limit=nan", 422),
    ("GET", "/models/spam/history?limit=99999", 422),
    ("GET", "/models/spam/history?before=inf", 422),
    ("GET", "/models/spam/history?oops=1", 422),
    ("GET", "/models/spam/versions?limit=-1", 422),
    ("GET", "/models/spam/file?x=1", 422),
    ("GET", "/models/none/file", 404),
    ("GET", "/models/none", 404),
    ("GET", "/models/spam/classify", 405),
    ("DELETE", "/models/spam", 405),
    ("PUT", "/models", 405),
    ("PATCH", "/", 405),
    ("OPTIONS", "/models", 405),
    ("GET", "/models/%00", 404),
    ("GET", "/models/" + "x" * 5000, 404),
    ("GET", "/.git/config", 404),
    ("GET", "/v2/models/none/ready", 404),
    ("GET", "/v2/nothing", 404),
]


def assert_problem(reply: Any, status: int, about: object) -> None:
    assert reply.status == status, (about, reply)
    assert reply.headers["content-type"] == "application/problem+json", about
    assert reply.json["status"] == status
    assert reply.json["detail"].endswith("."), reply.json


def test_two_hundred_kinds_of_bad_input_get_the_right_answer_and_change_nothing(service: Running) -> None:
    before = service.get("/models/spam/file").body
    for path, body, status in BODIES:
        reply = service.post(path, body)
        expected = {400, 422} if status in (400, 422) and isinstance(body, bytes) else {status}
        assert reply.status in expected, (path, body if len(repr(body)) < 300 else "…", reply)
        assert_problem(reply, reply.status, (path, body))
    for method, path, status in PATHS:
        assert_problem(service.request(method, path), status, (method, path))
    assert len(BODIES) + len(PATHS) >= 150  # and those of SPAMD
    assert service.get("/models/spam/file").body == before
    assert service.get("/models").json["models"][0]["name"] == "spam"


def test_a_body_that_is_not_json_is_refused_whatever_it_holds(service: Running) -> None:
    body = b'{"text": "a", "label": "ham"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        reply = service.request("POST", LEARN, body, {"Content-Type": kind} if kind else {})
        assert_problem(reply, 415, kind)


def test_without_tokens_only_the_names_of_this_machine_are_answered(service: Running) -> None:
    assert_problem(service.get("/models", Host="evil.example"), 403, "rebinding")
    for host in ("localhost", f"127.0.0.1:{service.http}", "[::1]:80"):
        assert service.get("/models", Host=host).status == 200


def test_broken_http_is_refused_and_the_service_goes_on(service: Running) -> None:
    for data, expected in [
        (b"\0\1\2\3\r\n\r\n", b"400"),
        (b"GET\r\n\r\n", b"400"),
        (b"POST " + CLASSIFY.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", b"400"),
        (
            b"POST " + CLASSIFY.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
            b"400",
        ),
        (b"GET / HTTP/1.1\r\n" + b"X-Y: z\r\n" * 60 + b"\r\n", b"431"),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 65_600, b"431"),
    ]:
        assert service.raw(data, service.http, shutdown=False)[9:12] == expected, data[:60]
    assert service.get("/health/ready").status == 200


def test_slow_clients_are_told_so_and_do_not_stop_the_others(service: Running) -> None:
    clients = []
    for number in range(500):
        client = socket.create_connection(("127.0.0.1", service.http if number % 2 else service.spamd))
        head = (
            b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" % CLASSIFY.encode()
        )
        slow = [head, head + b"Content-Length: 50\r\n\r\n{", b""][number % 3]
        client.sendall(
            slow
            if number % 2
            else [b"CHECK SPAMC/1.5\r\n", b"CHECK SPAMC/1.5\r\nContent-length: 9\r\n\r\n"][number % 4 == 0]
        )
        clients.append(client)
    for _ in range(20):
        assert service.ask("free prize")["label"] == "spam"
    answers = []
    for client in clients:
        client.settimeout(30)
        answers.append(client.recv(4096))
        client.close()
    assert {answer[:12] for answer in answers if answer.startswith(b"HTTP")} <= {
        b"HTTP/1.1 408",
        b"HTTP/1.1 429",
    }
    assert {answer[:12] for answer in answers if answer.startswith(b"SPAMD")} == {b"SPAMD/1.0 74"}


def test_more_requests_at_once_than_allowed_are_told_when_to_come_back(
    tmp_path: Path, model_file: Path
) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "bayleaf.toml").write_text("[limits]\nrequests = 0\n")
    with running(tmp_path / "f", "--model", f"spam={model_file}") as found:
        reply = found.post(CLASSIFY, {"text": "a"})
        assert_problem(reply, 429, "many")
        assert reply.headers["retry-after"] == "1"


def test_tokens_open_what_their_scope_allows_and_can_be_revoked(tmp_path: Path, model_file: Path) -> None:
    folder = tmp_path / "f"
    tokens = {
        scope: done("serve", folder, "--token", scope, "--scope", scope).strip()
        for scope in ("read", "learn", "admin")
    }
    kept = (folder / "tokens.json").read_text()
    assert not any(token in kept for token in tokens.values())
    assert stat.S_IMODE((folder / "tokens.json").stat().st_mode) == 0o600
    with running(folder, "--model", f"spam={model_file}") as found:
        assert not any("no tokens" in line for line in found.said)

        def status(scope: str | None, path: str, body: Any) -> int:
            headers = {} if scope is None else {"Authorization": f"Bearer {tokens.get(scope, scope)}"}
            return found.post(path, body, **headers).status

        learn = {"text": "a", "label": "ham"}
        assert [
            status(scope, CLASSIFY, {"text": "a"}) for scope in (None, "wrong", "read", "learn", "admin")
        ] == [401, 401, 200, 200, 200]
        assert [status(scope, LEARN, learn) for scope in (None, "wrong", "read", "learn", "admin")] == [
            401,
            401,
            403,
            200,
            200,
        ]
        assert [status(scope, FORGET, {"by": "x"}) for scope in ("read", "learn", "admin")] == [403, 403, 200]
        assert [status(scope, "/models", {"name": scope}) for scope in ("read", "learn", "admin")] == [
            403,
            403,
            201,
        ]
        assert found.get("/health/ready").status == 200
        assert found.get("/metrics").status == 401
        assert found.get("/models", Authorization=f"Basic {tokens['admin']}").status == 401
        ledger = found.get("/models/spam/ledger", Authorization=f"Bearer {tokens['admin']}").body
        assert json.loads(ledger.splitlines()[0])["by"] == "learn"
        done("serve", folder, "--revoke", "read")
        time.sleep(0.3)
        assert status("read", CLASSIFY, {"text": "a"}) == 401
    log = (tmp_path / "f.log").read_text()
    assert '"by": "learn"' in log
    assert not any(token in log for token in tokens.values())


def test_bad_calls_of_serve_are_refused_in_sentences(tmp_path: Path, model_file: Path) -> None:
    assert "no token" in refused(1, "serve", tmp_path / "f", "--http", "0.0.0.0:0")
    assert "no token" in refused(1, "serve", tmp_path / "f", "--http", "[::]:0")
    assert "HOST:PORT" in refused(2, "serve", tmp_path / "f", "--http", "nonsense")
    assert "HOST:PORT" in refused(2, "serve", tmp_path / "f", "--http", "1.2.3.4:99999")
    assert "NAME=FILE" in refused(2, "serve", tmp_path / "f", "--model", "spam")
    assert "no name" in refused(1, "serve", tmp_path / "f", "--model", f"../x={model_file}")
    assert "could not be opened" in refused(1, "serve", tmp_path / "f", "--model", "x=/nowhere")
    assert "FOLDER" in refused(2, "serve")
    assert "scope" in refused(2, "serve", tmp_path / "f", "--token", "x", "--scope", "root")
    assert "There is no token" in refused(1, "serve", tmp_path / "f", "--revoke", "nobody")
    assert "not the folder of a service" in refused(1, "verify", tmp_path)
    (tmp_path / "file").write_text("")
    refused(1, "serve", tmp_path / "file" / "x")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = refused(1, "serve", tmp_path / "f", "--http", f"127.0.0.1:{taken.getsockname()[1]}")
        assert "cannot be listened on" in said
    assert bayleaf("verify", tmp_path / "f").returncode == 0


def test_unix_sockets_are_for_the_owner_and_are_removed_at_the_end(tmp_path: Path, model_file: Path) -> None:
    path = tmp_path / "h"
    with running(tmp_path / "f", "--model", f"spam={model_file}", "--http-socket", str(path)) as found:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(b"GET /health/live HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n")
            assert b"200 OK" in client.recv(4096)
        found.stop()
    assert not path.exists()


def test_a_folder_is_served_once(tmp_path: Path, model_file: Path) -> None:
    with running(tmp_path / "f", "--model", f"spam={model_file}"):
        assert "in use" in refused(1, "serve", tmp_path / "f", "--http", "0")
        assert "in use" in refused(1, "verify", tmp_path / "f")


def test_the_labels_of_one_person_are_forgotten_from_the_command_line(
    tmp_path: Path, model_file: Path
) -> None:
    with running(tmp_path / "f", "--model", f"spam={model_file}") as found:
        found.post(LEARN, {"texts": ["a", "b"], "label": "ham", "by": "mallory"})
        found.stop()
    assert "2 documents" in done("serve", tmp_path / "f", "--forget-by", "mallory")
    (shown,) = json.loads(done("verify", tmp_path / "f", "--json"))
    assert (shown["sound"], shown["documents"]) == (True, 0)


def test_ctrl_c_ends_the_service_in_order(tmp_path: Path, model_file: Path) -> None:
    import signal

    with running(tmp_path / "f", "--model", f"spam={model_file}") as found:
        found.post(LEARN, {"text": "a", "label": "ham"})
        found.process.send_signal(signal.SIGINT)
        found.process.wait(60)
        assert found.process.returncode == 0


def test_autolearning_is_off_and_can_be_turned_on(tmp_path: Path, model_file: Path) -> None:
    for sure, learned in (("", 0), ("[autolearn]\nspam = 0.6\n", 1)):
        folder = tmp_path / f"f{learned}"
        folder.mkdir()
        (folder / "bayleaf.toml").write_text(sure)
        with running(folder, "--model", f"spam={model_file}") as found:
            found.ask("free prize for you")
            found.post(LEARN, {"text": "wait for it", "label": "ham"})
            assert found.get("/models/spam").json["taught"] == learned + 1
            taken = found.post(FORGET, {"source": "auto"}).json["answers"]
            assert len(taken) == learned


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("raise ImportError('gone', name='msgspec')")
    environment = {**ENVIRONMENT, "PYTHONPATH": str(tmp_path)}
    command = [*COMMAND, "serve", str(tmp_path / "f")]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "pip install 'bayleaf[serve]'" in ran.stderr
    assert os.listdir(tmp_path) != []
