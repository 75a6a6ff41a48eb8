"""SPAMD as the real clients speak it: Debian's spamc in every mode, and the patterns of other software."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayleaf import Model, mail_columns, preset, words
from bayleaf.service.spam_report import Verdict
from service_process import Running, running
from service_store import MAIL

HAM = b"""\
Received: from a.example
Message-ID: <2@home.example>
From: Ann <ann@home.example>
To: bob@home.example
Subject: Lunch on Friday
Date: Mon, 16 Nov 2026 11:00:00 +0000

See you at noon, the usual place. M\xc3\xbcnchen
"""
SCORE = rb"-?\d{1,3}\.\d"
SPAM_LINE = rb"Spam: (True|False) ; (" + SCORE + rb") / (" + SCORE + rb")\r\n"

needs_spamc = pytest.mark.skipif(
    not shutil.which("spamc"), reason="Debian's spamc is not installed (apt-get install spamc)."
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("spamd")
    spam = [MAIL.replace(b"<1@", b"<s%d@" % i) + b"free prize money %d" % i for i in range(20)]
    ham = [HAM.replace(b"<2@", b"<h%d@" % i) + b"meeting notes %d" % i for i in range(20)]
    model = Model(preset("mail")).learn(mail_columns(spam + ham), ["spam"] * 20 + ["ham"] * 20)
    model.save(folder / "spam.bayleaf")
    socket = folder / "s"
    arguments = ["--model", f"spam={folder / 'spam.bayleaf'}", "--allow-tell", "--spamd-socket", str(socket)]
    with running(folder / "f", *arguments) as found:
        found.socket = socket  # type: ignore[attr-defined]
        yield found


def spamc(service: Running, *arguments: str, mail: bytes = MAIL, unix: bool = False) -> tuple[int, bytes]:
    where = ["-U", str(service.socket)] if unix else ["-d", "127.0.0.1", "-p", str(service.spamd)]  # type: ignore[attr-defined]
    command = ["spamc", *where, "-x", *arguments]
    ran = subprocess.run(command, input=mail, capture_output=True, timeout=60, check=False)
    return ran.returncode, ran.stdout


@needs_spamc
@pytest.mark.parametrize("unix", [False, True])
def test_spamc_checks_reports_and_filters(service: Running, unix: bool) -> None:
    code, out = spamc(service, "-c", unix=unix)
    assert (code, bool(re.fullmatch(SCORE + b"/2.2\n", out))) == (1, True), out
    code, out = spamc(service, "-c", mail=HAM, unix=unix)
    assert (code, out[:1]) == (0, b"-"), out
    _, out = spamc(service, "-R", unix=unix)
    assert b"points, 2.2 required)\n\n pts rule name              description\n----" in out
    assert b"BAYLEAF_TERM" in out
    _, out = spamc(service, "-r", unix=unix)
    assert b"Content analysis details:" in out
    assert spamc(service, "-r", mail=HAM, unix=unix)[1].strip() == b""
    _, out = spamc(service, "-y", unix=unix)
    assert re.search(rb"BAYLEAF_99,TERM_\w+", out)
    assert spamc(service, "-E", unix=unix)[0] == 1
    assert spamc(service, "-E", mail=HAM, unix=unix)[0] == 0
    assert spamc(service, "-r", "-E", unix=unix)[0] == 1
    assert spamc(service, "-r", "-E", mail=HAM, unix=unix)[0] == 0
    assert spamc(service, "-K", unix=unix) == (0, b"SPAMD/1.5 0\n")


def test_terms_that_look_alike_in_capitals_are_one_symbol() -> None:
    reasons = [("fre [chars]", 1, 0.5), ("\u2423fre [chars]", 1, 0.4), ("free", 2, 0.3)]
    assert Verdict(3.0, 2.2, 0.99, reasons).symbols() == ["BAYLEAF_99", "TERM_FRE_CHARS", "TERM_FREE"]


@needs_spamc
@pytest.mark.parametrize(
    "mail", [MAIL, HAM, MAIL.replace(b"\n", b"\r\n"), b"From x Mon\n" + HAM, b"\n", HAM + b"\0\xff"]
)
def test_a_filtered_mail_is_the_same_but_for_the_added_headers(service: Running, mail: bytes) -> None:
    _, out = spamc(service, mail=mail)
    kept = [
        line for line in out.splitlines(keepends=True) if not line.startswith((b"X-Spam-", b"X-Bayleaf-"))
    ]
    assert b"".join(kept) == mail
    assert b"X-Spam-Status: " in out


@needs_spamc
def test_spamc_gets_the_headers_alone(service: Running) -> None:
    _, out = spamc(service, "--headers")
    assert out.count(b"X-Spam-Flag: YES") == 1
    assert out.endswith(MAIL)  # spamc puts the body behind the headers itself


@needs_spamc
def test_spamc_teaches_corrects_and_forgets(service: Running) -> None:
    mail = MAIL.replace(b"<1@", b"<tell@").replace(b"prize", b"voucher")
    documents = service.get("/models/spam").json["documents"]
    assert spamc(service, "-L", "spam", mail=mail) == (0, b"Message successfully un/learned\n")
    assert spamc(service, "-L", "spam", mail=mail.replace(b"\n", b"\r\n")) == (
        0,
        b"Message was already un/learned\n",
    )
    assert service.get("/models/spam").json["documents"]["spam"] == documents["spam"] + 1
    assert (
        spamc(service, "-L", "ham", mail=b"X-Spam-Flag: YES\n" + mail)[1]
        == b"Message successfully un/learned\n"
    )
    now = service.get("/models/spam").json["documents"]
    assert now == {"ham": documents["ham"] + 1, "spam": documents["spam"]}
    assert (
        spamc(service, "-L", "forget", mail=b"Received: from z\n" + mail)[1]
        == b"Message successfully un/learned\n"
    )
    assert service.get("/models/spam").json["documents"] == documents
    assert spamc(service, "-L", "forget", mail=mail)[1] == b"Message was already un/learned\n"
    spamc(service, "-C", "report", mail=mail)
    assert service.get("/models/spam").json["documents"]["spam"] == documents["spam"] + 1
    spamc(service, "-C", "revoke", mail=mail)
    assert service.get("/models/spam").json["documents"]["ham"] == documents["ham"] + 1
    spamc(service, "-L", "forget", mail=mail)
    assert service.get("/models/spam").json["documents"] == documents


@needs_spamc
def test_spamc_fails_where_teaching_is_not_allowed(tmp_path: Path) -> None:
    Model(preset("mail")).save(tmp_path / "spam.bayleaf")
    with running(tmp_path / "f", "--model", f"spam={tmp_path / 'spam.bayleaf'}") as found:
        assert spamc(found, "-L", "spam")[0] == 74
        assert spamc(found, "-c") == (0, b"0.0/2.2\n"), "what has learned nothing lets mail pass"
        assert found.raw(b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\n\r\nx").startswith(
            b"SPAMD/1.0 69 "
        )


@needs_spamc
def test_one_delivery_through_procmail(service: Running, tmp_path: Path) -> None:
    if not shutil.which("procmail"):
        pytest.skip("procmail is not installed.")
    (tmp_path / "rc").write_text(
        f"MAILDIR={tmp_path}\nDEFAULT={tmp_path}/inbox\nLOGFILE={tmp_path}/log\n"
        f":0fw\n| spamc -d 127.0.0.1 -p {service.spamd}\n\n:0:\n* ^X-Spam-Flag: YES\nspam\n"
    )
    (tmp_path / "rc").chmod(0o600)
    for mail in (MAIL, HAM):
        command = ["procmail", "-m", str(tmp_path / "rc")]
        subprocess.run(command, input=mail, check=True, timeout=60)
    assert b"Win a prize" in (tmp_path / "spam").read_bytes()
    assert b"Lunch on Friday" in (tmp_path / "inbox").read_bytes()


def test_exim_gets_the_spam_line_first_and_alone(service: Running) -> None:
    mail = MAIL
    out = service.raw(b"REPORT SPAMC/1.2\r\nUser: nobody\r\nContent-length: %d\r\n\r\n" % len(mail) + mail)
    pattern = rb"SPAMD/1\.1 0 EX_OK\r\n" + SPAM_LINE + rb"\r\n(.*)"
    found = re.fullmatch(pattern, out, re.DOTALL)
    assert found, out
    assert len(found[4]) < 32_768


def test_haraka_reads_to_the_end_without_a_length(service: Running) -> None:
    out = service.raw(b"HEADERS SPAMC/1.4\r\nUser: x\r\n\r\n" + MAIL)
    head, _, headers = out.partition(b"\r\n\r\n")
    assert re.match(rb"SPAMD/1\.\d 0 EX_OK\r\n", head)
    assert re.search(rb"\r\nSpam: (True|False) ; (-?\d+\.\d) / (-?\d+\.\d)$", head)
    assert re.search(
        rb"^X-Spam-Status: (Yes|No), score=(\S+) required=(\S+) tests=(\S*)", headers, re.MULTILINE
    )
    assert b"Claim your" not in headers


def test_james_splits_at_single_spaces(service: Running) -> None:
    out = service.raw(b"CHECK SPAMC/1.2\r\n\r\n" + MAIL).split(b"\r\n")
    words = out[1].split(b" ")
    assert (words[0], words[1], words[2], words[4]) == (b"Spam:", b"True", b";", b"/")
    assert float(words[3]) > float(words[5])


def test_rspamd_finds_status_score_and_tests(service: Running) -> None:
    out = service.raw(b"HEADERS SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(MAIL) + MAIL)
    pattern = rb"X-Spam-Status: Yes, score=(\S+) required=(\S+) tests=(\S+) autolearn=no"
    found = re.search(pattern, out)
    assert found
    assert b"," in found[3]


def test_compressed_mail_is_read_and_a_bomb_is_not(service: Running) -> None:
    body = zlib.compress(MAIL)
    out = service.raw(b"CHECK SPAMC/1.5\r\nCompress: zlib\r\nContent-length: %d\r\n\r\n" % len(body) + body)
    assert re.search(SPAM_LINE, out)
    bomb = zlib.compress(b"\0" * 50_000_000)
    out = service.raw(b"CHECK SPAMC/1.5\r\nCompress: zlib\r\nContent-length: %d\r\n\r\n" % len(bomb) + bomb)
    assert out == b"SPAMD/1.0 65 The mail has more than 5242880 bytes.\r\n"


def test_skip_is_answered_with_nothing_and_ping_with_pong(service: Running) -> None:
    assert service.raw(b"SKIP SPAMC/1.5\r\n\r\n") == b""
    assert service.raw(b"PING SPAMC/1.2\r\n\r\n") == b"SPAMD/1.5 0 PONG\r\n"


WHOLE = b"CHECK SPAMC/1.5\r\nUser: ann\r\nContent-length: %d\r\n\r\n" % len(MAIL) + MAIL


def sent_in_pieces(service: Running, pieces: list[bytes]) -> bytes:
    with socket.create_connection(("127.0.0.1", service.spamd), timeout=60) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            client.sendall(piece)
        return b"".join(iter(lambda: client.recv(65_536), b""))


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, len(WHOLE)), max_size=6).map(sorted))
def test_a_request_is_the_same_in_however_many_pieces_it_comes(service: Running, cuts: list[int]) -> None:
    pieces = [WHOLE[start:end] for start, end in zip([0, *cuts], [*cuts, len(WHOLE)], strict=True)]
    assert sent_in_pieces(service, pieces) == service.raw(WHOLE)


def test_a_request_in_pieces_of_one_byte_is_answered(service: Running) -> None:
    assert sent_in_pieces(service, [bytes([byte]) for byte in WHOLE]) == service.raw(WHOLE)


@pytest.mark.parametrize("behind", [b"", b"more than was announced"])
@pytest.mark.parametrize("shutdown", [False, True])
def test_a_client_that_sends_too_much_or_never_ends_gets_its_answer(
    service: Running, behind: bytes, shutdown: bool
) -> None:
    assert re.search(SPAM_LINE, service.raw(WHOLE + behind, shutdown=shutdown))


BAD = {
    b"": b"76",
    b"\r\n": b"76",
    b"GET / HTTP/1.1\r\n\r\n": b"76",
    b"CHECK\0 SPAMC/1.5\r\n\r\n": b"76",
    b"check SPAMC/1.5\r\n\r\n": b"76",
    b"CHECK SPAMC/x.y\r\n\r\n": b"76",
    b"CHECKSPAMC/1.5\r\n\r\n": b"76",
    b"CHECK SPAMD/1.5\r\n\r\n": b"76",
    b"EXPLODE SPAMC/1.5\r\n\r\n": b"76",
    b"CHECK SPAMC/1.5\r\nno colon\r\n\r\n": b"76",
    b"CHECK SPAMC/1.5\r\nContent-length: -1\r\n\r\n": b"76",
    b"CHECK SPAMC/1.5\r\nContent-length: 1e3\r\n\r\n": b"76",
    b"CHECK SPAMC/1.5\r\nContent-length: 0x10\r\n\r\n": b"76",
    b"CHECK SPAMC/1.5\r\nContent-length: \xb2\r\n\r\n": b"76",
    b"CHECK SPAMC/1.5\r\nContent-length: 99999999999999999999\r\n\r\n": b"76",
    b"CHECK SPAMC/1.5\r\nContent-length: 999999999\r\n\r\n": b"65",
    b"CHECK SPAMC/1.5\r\nContent-length: 10\r\n\r\nshort": b"76",
    b"CHECK SPAMC/1.5\r\nCompress: zlib\r\nContent-length: 3\r\n\r\nabc": b"65",
    b"CHECK SPAMC/1.5\r\n" + b"X: y\r\n" * 300 + b"\r\n": b"76",
    b"CHECK SPAMC/1.5\r\nX: " + b"y" * 20_000 + b"\r\n\r\n": b"76",
    b"A" * 100_000: b"76",
    b"TELL SPAMC/1.5\r\n\r\nx": b"76",
    b"TELL SPAMC/1.5\r\nSet: local\r\n\r\nx": b"76",
    b"TELL SPAMC/1.5\r\nMessage-class: eggs\r\nSet: local\r\n\r\nx": b"76",
    b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: remote\r\n\r\nx": b"76",
    b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\nUser: a\x07b\r\n\r\nx": b"64",
}


def test_what_is_no_request_gets_one_line_with_a_code_and_changes_nothing(service: Running) -> None:
    before = service.get("/models/spam/file").body
    for data, code in BAD.items():
        out = service.raw(data)
        assert re.fullmatch(rb"SPAMD/1\.0 " + code + rb" [^\r\n]+\r\n", out), (
            data[:60],
            out,
        )
        assert not out.endswith(b"'\r\n"), "what was sent is shown without quotes"
    assert service.get("/models/spam/file").body == before


@pytest.mark.parametrize(
    "mail",
    [b"", b"\0", b"\n\n\n", b"\xff" * 1000, b"Subject: =?utf-8?q?" + b"=" * 5000, b"From: \r\n" * 2000,
     b"a" * 400_000, b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n" * 5000],
)  # fmt: skip
def test_any_mail_gets_an_answer(service: Running, mail: bytes) -> None:
    for method in (b"CHECK", b"SYMBOLS", b"REPORT", b"PROCESS", b"HEADERS"):
        out = service.raw(method + b" SPAMC/1.5\r\n\r\n" + mail)
        assert re.search(SPAM_LINE, out), out[:200]


def test_users_with_models_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "bayleaf.toml").write_text('[spamd]\nusers = "personal"\n')
    Model(preset("mail")).learn(mail_columns([MAIL, HAM]), ["spam", "ham"]).save(tmp_path / "spam.bayleaf")
    with running(tmp_path / "f", "--model", f"spam={tmp_path / 'spam.bayleaf'}", "--allow-tell") as found:
        mail = MAIL.replace(b"prize", b"voucher")
        told = b"TELL SPAMC/1.5\r\nMessage-class: ham\r\nSet: local\r\nUser: joe\r\n\r\n" + mail
        assert found.raw(told) == b"SPAMD/1.1 0 EX_OK\r\nDidSet: local\r\n\r\n"
        scores = {}
        for user in (b"joe", b"ann"):
            out = found.raw(b"CHECK SPAMC/1.5\r\nUser: " + user + b"\r\n\r\n" + mail)
            matched = re.search(SPAM_LINE, out)
            assert matched
            scores[user] = float(matched[2])
        assert scores[b"joe"] < scores[b"ann"]


def test_a_model_that_spamd_asks_and_that_is_not_there_is_said_at_the_start(tmp_path: Path) -> None:
    Model([words()]).learn(["win", "lunch"], ["spam", "ham"]).save(tmp_path / "mail.bayleaf")
    with running(tmp_path / "service", "--model", f"mail={tmp_path / 'mail.bayleaf'}") as service:
        assert any("asks the model 'spam'" in line and "are: mail." in line for line in service.said)
        assert service.raw(b"CHECK SPAMC/1.5\r\n\r\nwin").startswith(b"SPAMD/1.0 69 There is no model 'spam'")
