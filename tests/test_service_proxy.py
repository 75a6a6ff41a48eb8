"""The service behind nginx, below a path, with the configuration of docs/service.md."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli_process import done
from service_process import Running, running

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
PAGE = Path(__file__).parent.parent / "docs" / "service.md"
LEARNED = [("win a prize", "spam"), ("lunch at noon", "ham")]

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


def block(service: Running) -> str:
    found = re.search(r"```nginx\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found
    assert "127.0.0.1:8080" in found[1]
    return found[1].replace("127.0.0.1:8080", f"127.0.0.1:{service.http}")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def proxied(service: Running, folder: Path) -> Iterator[str]:
    """nginx in front of a service; gives its address."""
    folder.mkdir()
    port = free_port()
    places = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nworker_processes 1;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}server {{\nlisten 127.0.0.1:{port};\n{block(service)}}}\n}}\n"
    )
    assert NGINX
    command = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(200):
            assert process.poll() is None, process.communicate()[1]
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/filter/"
    finally:
        process.terminate()
        process.communicate()


def asked(url: str, body: bytes | None = None, token: str = "", kind: str = "application/json") -> Any:
    headers = {"Content-Type": kind} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "texts.tsv").write_text("".join(f"{label}\t{text}\n" for text, label in LEARNED * 20))
    done("train", tmp_path / "texts.tsv", "-o", tmp_path / "spam.bayleaf", "--quiet")
    return tmp_path


def test_without_a_token_nobody_behind_the_web_server_is_answered(folder: Path) -> None:
    model = f"spam={folder / 'spam.bayleaf'}"
    with running(folder / "service", "--model", model) as service, proxied(service, folder / "nginx") as url:
        status, said = asked(f"{url}models/spam/classify", b'{"text": "win a prize"}')
        assert (status, b"--token NAME" in said) == (403, True)
        assert service.ask("win a prize")["label"] == "spam"


def test_with_a_token_everything_works_below_a_path(folder: Path) -> None:
    model = f"spam={folder / 'spam.bayleaf'}"
    with running(folder / "service", "--model", model) as service, proxied(service, folder / "nginx") as url:
        token = done("serve", folder / "service", "--token", "ann", "--scope", "learn").strip()
        assert asked(f"{url}models/spam/classify", b'{"text": "win a prize"}')[0] == 401
        status, said = asked(f"{url}models/spam/classify", b'{"text": "win a prize"}', token)
        assert (status, json.loads(said)["answers"][0]["label"]) == (200, "spam")
        lines = b"".join(b'{"text": "lunch at noon"}\n' for _ in range(300))
        status, said = asked(f"{url}models/spam/classify", lines, token, "application/x-ndjson")
        assert (status, len(said.splitlines())) == (200, 300)


def test_the_page_works_below_a_path(folder: Path, chromium: Any) -> None:
    model = f"spam={folder / 'spam.bayleaf'}"
    with running(folder / "service", "--model", model) as service, proxied(service, folder / "nginx") as url:
        token = done("serve", folder / "service", "--token", "ann", "--scope", "admin").strip()
        context = chromium.new_context()
        context.add_init_script(f"sessionStorage.setItem('bayleaf:token', {token!r})")
        sheet = context.new_page()
        wrong: list[str] = []
        sheet.on(
            "response",
            lambda reply: wrong.extend(
                [f"{reply.status} {reply.url} {reply.text()}"] if reply.status >= 400 else []
            ),
        )
        sheet.on("pageerror", lambda error: wrong.append(str(error)))
        sheet.goto(f"{url}#watch")
        sheet.wait_for_selector("main h1")
        assert sheet.text_content("main h1") == "Watch"
        sheet.wait_for_function("[...document.querySelectorAll('option')].some(o => o.value === 'spam')")
        context.close()
    assert wrong == []
