"""SPAMD that the core answers by itself: the same answers, kept and counted as if Python had given them."""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bayleaf import Model, mail_columns, preset, words
from bayleaf._core import SpamdServer
from bayleaf.service.changes import Effect
from bayleaf.service.documents import together
from bayleaf.service.metrics import BUCKETS
from bayleaf.service.served import Served
from bayleaf.service.spam_report import Verdict, score_of
from bayleaf.text.mail import MAIL_COLUMNS
from bayleaf.types import Label
from service_process import Running, running
from service_store import MAIL
from test_mail_core import MAILS

HAM = MAIL.replace(b"Win a prize", b"Lunch on Friday").replace(
    b"Claim your free prize now", b"See you at noon"
)
DATA = Path(os.environ.get("BAYLEAF_DATA", "absent")) / "mail.test.tsv"


class Door:
    """The core's server on a Unix socket, with one model; whoever uses it answers what is handed over."""

    def __init__(self, place: Path, model: Model, personal: bool = False, seconds: float = 30) -> None:
        self.served = Served(1, "spam", model, b"key", 4)
        self.served.version = 1
        self.place, self.handed = str(place), 0
        self.server = SpamdServer(
            headers=256, body=1_000_000, seconds=seconds, connections=50, too_slow="Too slow",
            threshold=2.2, personal=personal, uid=os.getuid(),
            questions=100_000, bounds=BUCKETS,
        )  # fmt: skip
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.place)
        listener.listen()
        self.server.listen(listener.detach(), True)
        self.server.answer_by(self.served.standing)

    def answer_handed(self, seconds: float = 0.0) -> None:
        if select.select([self.server], [], [], seconds)[0]:
            for number, method, *_, body, _, _ in self.server.handed():
                self.handed += 1
                if method == "CHECK":
                    document = self.served.reader.mail(body)
                    self.served.answer_one(document)
                    self.served.stand(document, "spam")
                self.server.answer(number, b"handed " + method.encode())

    def raw(self, data: bytes, end: bool = True) -> bytes:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(60)
            client.connect(self.place)
            client.sendall(data)
            if end:
                client.shutdown(socket.SHUT_WR)
            while not select.select([client], [], [], 0.01)[0]:
                self.answer_handed()
            return b"".join(iter(lambda: client.recv(65_536), b""))

    def check(self, mail: bytes, head: bytes = b"") -> bytes:
        return self.raw(b"CHECK SPAMC/1.5\r\n%sContent-length: %d\r\n\r\n" % (head, len(mail)) + mail)


@pytest.fixture
def open_door(tmp_path: Path) -> Iterator[Callable[..., Door]]:
    doors: list[Door] = []

    def made(model: Model, **more: object) -> Door:
        doors.append(Door(tmp_path / f"s{len(doors)}", model, **more))  # type: ignore[arg-type]
        return doors[-1]

    yield made
    for door in doors:
        door.server.stop()
        assert not door.server.failed


def of_mail() -> Model:
    mails = [MAIL + b"free %d" % i for i in range(5)] + [HAM + b"notes %d" % i for i in range(5)]
    return Model(preset("mail")).learn(mail_columns(mails), ["spam"] * 5 + ["ham"] * 5)


def of_text() -> Model:
    return Model([words()]).learn(["free prize now", "see you at noon"], ["spam", "ham"])


def assert_same_as_python(door: Door, mail: bytes) -> bool:
    """Whether the core has answered; if so, as Python would have, and with the same question to keep."""
    before, out = door.handed, door.check(mail)
    if door.handed > before:
        assert out == b"handed CHECK"
        assert not door.server.questions(10)
        return False
    document = door.served.reader.mail(mail)
    answer = door.served.answer_one(document)
    line = Verdict(score_of(answer, "spam"), 2.2, 0.5).line
    assert out == f"SPAMD/1.1 0 EX_OK\r\n{line}\r\n\r\n".encode()
    ((columns, alias, sender, label, probabilities, version, at),) = door.server.questions(10)
    row = dict(zip(MAIL_COLUMNS, columns, strict=True))
    assert door.served.reader.read_mail(row, alias, sender) == document
    assert (label, dict(probabilities), version) == (answer.label, answer.probabilities, answer.version)
    assert at > 1.7e9
    return True


@pytest.mark.parametrize("model", [of_mail, of_text])
def test_ordinary_mail_is_answered_by_the_core_after_the_first(
    open_door: Callable[..., Door], model: Callable[[], Model]
) -> None:
    door = open_door(model())
    assert not assert_same_as_python(door, MAIL), "nobody has let it"
    assert assert_same_as_python(door, MAIL)
    assert assert_same_as_python(door, HAM.replace(b"\n", b"\r\n"))
    assert not assert_same_as_python(door, b"no mail at all"), "a mail in one line"
    assert not assert_same_as_python(door, b"X-Odd: 1\n\n"), "nothing that lasts"


@contextmanager
def lasting_door(place: Path, model: Model) -> Iterator[Door]:
    door = Door(place, model)
    yield door
    door.server.stop()


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with lasting_door(tmp_path_factory.mktemp("door") / "s", of_mail()) as made:
        made.check(MAIL)
        yield made


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mail=MAILS)
@example(mail=b"From: =?utf-8?q?caf=C3=A9?= <a@b>\nMessage-ID:\n <x@y>\n\nCaf\xc3\xa9 e\xcc\x81 &eacute;\n")
@example(mail=b"From: a@, @b, c.d@e_f.g..h\nfrom: x@y\nMessage-id: <ab>\n\nx\n")
def test_the_core_answers_and_keeps_what_python_would(door: Door, mail: bytes) -> None:
    assert_same_as_python(door, mail)


@pytest.mark.skipif(not DATA.exists(), reason="the folder named by BAYLEAF_DATA is absent")
def test_most_mails_of_a_corpus_are_answered_by_the_core_and_all_alike(
    open_door: Callable[..., Door],
) -> None:
    from bayleaf.text.mail_one_line import restored

    lines = [line.partition("\t") for line in DATA.read_text("utf-8").split("\n") if line][::7]
    mails, labels = [restored(text).encode() for _, _, text in lines], [label for label, _, _ in lines]
    door = open_door(Model(preset("mail")).learn(mail_columns(mails[:100]), labels[:100]))
    alone = [assert_same_as_python(door, mail) for mail in mails if len(mail) <= 65_536]
    assert sum(alone) > 0.5 * len(alone)


class Askers:
    """Threads that ask of one mail, again and again, until they are told to stop."""

    def __init__(self, door: Door, count: int) -> None:
        self.door, self.by_core = door, threading.Semaphore(0)
        self.asking = threading.Event()
        self.asking.set()
        self.threads = [threading.Thread(target=self.ask) for _ in range(count)]

    def ask(self) -> None:
        while self.asking.is_set():
            with socket.socket(socket.AF_UNIX) as own:
                own.connect(self.door.place)
                own.sendall(b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(MAIL) + MAIL)
                if not own.recv(65_536).startswith(b"handed"):
                    self.by_core.release()

    def wait_for_an_answer_asked_from_now_on(self) -> None:
        while self.by_core.acquire(blocking=False):
            pass
        for _ in range(len(self.threads) + 1):  # each may have one under way
            assert self.by_core.acquire(timeout=60), "the core answers between changes"


def test_while_it_learns_every_answer_is_of_one_moment(open_door: Callable[..., Door]) -> None:
    """Law of the living model: an answer is that of a moment between two changes."""
    door = open_door(of_mail())
    effects, expected = moments(door.served, 40)
    askers = Askers(door, 4)

    def learn() -> None:
        try:
            for effect in effects:
                door.served.apply([effect])
                askers.wait_for_an_answer_asked_from_now_on()
        finally:
            askers.asking.clear()

    threads = [*askers.threads, threading.Thread(target=learn)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        door.answer_handed(0.01)
    kept = door.server.questions(100_000)
    assert {question[5] for question in kept} >= {effect.seq for effect in effects}
    assert all(dict(probabilities) == expected[version] for *_, probabilities, version, _ in kept)


def moments(served: Served, changes: int) -> tuple[list[Effect], dict[int, dict[Label, float]]]:
    """Changes of a model, and what it says of a mail at first and after each of them."""
    document, twin = served.reader.mail(MAIL), served.shared.copy()
    effects, expected = [], {1: twin.predict_proba_one(document.columns)}
    for seq in range(2, changes + 2):
        own = served.reader.mail(HAM + b"prize %d" % seq)
        effects.append(Effect(1, "", 1, own.columns, "ham", seq))
        twin.learn(together([own.columns]), ["ham"])
        expected[seq] = twin.predict_proba_one(document.columns)
    return effects, expected


def test_others_answer_for_users_with_counts_of_their_own(open_door: Callable[..., Door]) -> None:
    shared, personal = open_door(of_mail()), open_door(of_mail(), personal=True)
    for door, user, alone in [
        (shared, b"", True), (shared, b"User: ann\r\n", True), (shared, b"User: a\x07b\r\n", False),
        (shared, b"User: \xc3\xbc\r\n", False), (shared, b"Compress: zlib\r\n", False),
        (personal, b"", True), (personal, b"User: ann\r\n", False),
    ]:  # fmt: skip
        door.check(MAIL)
        assert (door.check(MAIL, user) != b"handed CHECK") == alone, user


@pytest.mark.parametrize(
    ("classes", "why"),
    [(["ham", "junk"], "none is spam"), (["spam", 1], "one is a number"), (["spam", "ham", "news"], "three")],
)
def test_models_that_are_not_of_spam_and_one_other_class_are_left_to_python(
    open_door: Callable[..., Door], classes: list[object], why: str
) -> None:
    door = open_door(Model([words()]).learn([str(each) for each in classes], classes))
    assert {door.check(MAIL) for _ in range(3)} == {b"handed CHECK"}, why


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=st.binary(max_size=80).filter(lambda line: b"\n" not in line))
@example(line=b'it\'s "so" \\ \t\x7f\xe4')
@example(line=b"it's")
def test_a_line_that_is_no_request_is_shown_as_python_shows_it(door: Door, line: bytes) -> None:
    first, header = b"?" + line, line.replace(b":", b"")
    shown = ascii(first[:60].decode("ascii", "backslashreplace").strip())[1:-1]
    assert door.raw(first + b"\r\n\r\n") == f"SPAMD/1.0 76 Bad header line: {shown}\r\n".encode()
    if header.strip():
        shown = ascii(header.decode("utf-8", "replace").strip()[:60])[1:-1]
        out = door.raw(b"CHECK SPAMC/1.5\r\n" + header + b"\r\n\r\n")
        assert out == f"SPAMD/1.0 76 Bad header line: {shown}\r\n".encode()


def test_a_client_that_is_too_slow_is_told_and_too_many_are_sent_away(open_door: Callable[..., Door]) -> None:
    door = open_door(of_text(), seconds=0.05)
    assert door.raw(b"CHECK SPAMC/1.5\r\n", end=False) == b"SPAMD/1.0 74 Too slow\r\n"
    door = open_door(of_text())
    clients = []
    for _ in range(51):
        clients.append(socket.socket(socket.AF_UNIX))
        clients[-1].connect(door.place)
    assert clients[-1].recv(100) == b"SPAMD/1.0 75 Too many connections. Try again later.\r\n"
    for client in clients:
        client.close()


# In a service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("core")
    of_mail().save(folder / "spam.bayleaf")
    with running(folder / "f", "--model", f"spam={folder / 'spam.bayleaf'}", "--allow-tell") as found:
        yield found


def asked(service: Running, mail: bytes) -> bytes:
    return service.raw(b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(mail) + mail)


def test_what_the_core_answered_is_in_the_history_and_can_be_taught_by_its_id(service: Running) -> None:
    asked(service, HAM)
    for number in range(3):
        asked(service, MAIL.replace(b"prize", b"core%d" % number))
    entries = service.get("/models/spam/history?search=core1").json["questions"]
    assert len(entries) == 1
    assert (entries[0]["label"], entries[0]["user"], entries[0]["taught"]) == ("spam", None, None)
    before = service.get("/models/spam").json
    taught = service.post("/models/spam/learn", {"id": entries[0]["id"], "label": "ham"})
    assert taught.status == 200
    now = service.get("/models/spam").json
    assert now["documents"]["ham"] == before["documents"]["ham"] + 1
    assert now["progressive"]["asked"] == before["progressive"]["asked"] + 1
    assert service.get("/models/spam/history?search=core1").json["questions"][0]["taught"] == "ham"


def test_a_mail_that_is_told_after_it_was_checked_counts_as_asked(service: Running) -> None:
    mail = MAIL.replace(b"<1@", b"<told@").replace(b"prize", b"told")
    asked(service, HAM)
    asked(service, mail)
    before = service.get("/models/spam").json["progressive"]["asked"]
    tell = b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\nContent-length: %d\r\n\r\n" % len(mail)
    assert service.raw(tell + mail) == b"SPAMD/1.1 0 EX_OK\r\nDidSet: local\r\n\r\n"
    assert service.get("/models/spam").json["progressive"]["asked"] == before + 1


def metric(service: Running, name: str) -> float:
    lines = service.get("/metrics").body.decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


def test_what_the_core_answered_is_counted_at_once(service: Running) -> None:
    checks = 'bayleaf_requests_total{operation="CHECK",protocol="spamd",status="0"}'
    pings = 'bayleaf_request_seconds_count{operation="PING",protocol="spamd"}'
    refused = 'bayleaf_requests_total{operation="unknown",protocol="spamd",status="76"}'
    before = [metric(service, name) for name in (checks, pings, refused)]
    for _ in range(20):
        asked(service, HAM)
        service.raw(b"PING SPAMC/1.2\r\n\r\n")
    service.raw(b"nonsense\r\n\r\n")
    now = [metric(service, name) for name in (checks, pings, refused)]
    assert [after - was for was, after in zip(before, now, strict=True)] == [20, 20, 1]
    assert metric(service, 'bayleaf_class_share{label="ham"') > 0


def test_what_the_core_answered_before_a_stop_is_there_after_it(tmp_path: Path) -> None:
    of_mail().save(tmp_path / "spam.bayleaf")
    with running(tmp_path / "f", "--model", f"spam={tmp_path / 'spam.bayleaf'}") as service:
        for number in range(5):
            asked(service, MAIL.replace(b"prize", b"last%d" % number))
        service.stop()
    with running(tmp_path / "f") as service:
        assert len(service.get("/models/spam/history?search=last").json["questions"]) == 5
