"""L11: nothing acknowledged is lost: kill -9, a full disk, a failing fsync, a damaged snapshot, a cut log."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bayleaf.service import snapshots
from bayleaf.service.database import FILE
from bayleaf.service.refusals import Broken, DiskFull
from bayleaf.service.served import facts
from bayleaf.service.verifying import verify
from service_process import running
from service_store import assert_sound, learn, model_of, opened, run_python

KILLS = int(os.environ.get("BAYLEAF_KILLS", "15"))
"""How often the writer is killed; the figure in the documentation is of 300."""


def learned_in(folder: Path) -> dict[str, str]:
    with opened(folder) as (store, served):
        rows = list(store.writer.ledger.documents(served.number))
        known = {json.loads(row.columns): json.loads(row.label) for row in rows}
        assert facts(served.shared) == model_of(list(known.items()))
        return known


def test_kill_9_at_any_moment_loses_nothing_acknowledged_and_leaves_no_half(tmp_path: Path) -> None:
    script = Path(__file__).with_name("service_kills.py")
    command = [sys.executable, str(script), str(tmp_path / "f"), str(KILLS)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert f"{KILLS} kills" in ran.stdout


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int failing(const char *what) {
    const char *file = getenv(what);
    return file && access(file, F_OK) == 0;
}
int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    if (failing("FAIL_FSYNC")) { errno = EIO; return -1; }
    return real(fd);
}
int fdatasync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    if (failing("FAIL_FSYNC")) { errno = EIO; return -1; }
    return real(fd);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    if (failing("FAIL_WRITE")) { errno = ENOSPC; return -1; }
    return real(fd, data, size, at);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }
"""

FAILING = """
import os, sys
from pathlib import Path
from service_process import running
from service_store import opened, learn
folder, switch, permanent = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
with opened(folder) as (store, served):
    learn(store, served, [("before it", "ham")])
    switch.touch()
    for text in ("while it fails", "while it fails again"):
        try:
            learn(store, served, [(text, "spam")])
        except Exception as error:
            print(type(error).__name__)
    print(served.answer([served.reader.text("before")])[0].label)
    switch.unlink()
    try:
        learn(store, served, [("after it", "spam")])
        print("learned")
    except Exception as error:
        print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("There is no C compiler to make the disk fail with.")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    command = [compiler, "-shared", "-fPIC", "-o", str(folder / "shim.so"), str(folder / "shim.c"), "-ldl"]
    subprocess.run(command, check=True)
    return folder / "shim.so"


def failing(shim: Path, folder: Path, what: str) -> list[str]:
    switch = folder.parent / f"{what}.switch"
    process = run_python(FAILING, folder, switch, what, LD_PRELOAD=str(shim), **{what: str(switch)})
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return out.split()


def test_a_failing_fsync_stops_learning_for_good_and_answers_go_on(shim: Path, tmp_path: Path) -> None:
    said = failing(shim, tmp_path / "folder", "FAIL_FSYNC")
    assert said == [Broken.__name__, Broken.__name__, "ham", Broken.__name__]
    assert_sound(tmp_path / "folder")
    assert learned_in(tmp_path / "folder").keys() <= {"before it", "while it fails"}


def test_a_full_disk_refuses_and_learning_goes_on_when_there_is_room(shim: Path, tmp_path: Path) -> None:
    said = failing(shim, tmp_path / "folder", "FAIL_WRITE")
    assert said == [DiskFull.__name__, DiskFull.__name__, "ham", "learned"]
    assert_sound(tmp_path / "folder")
    assert learned_in(tmp_path / "folder") == {"before it": "ham", "after it": "spam"}


@pytest.mark.parametrize(("what", "status", "after"), [("FAIL_FSYNC", 503, 503), ("FAIL_WRITE", 507, 200)])
def test_clients_are_told_of_a_failing_disk_and_still_get_answers(
    shim: Path, tmp_path: Path, what: str, status: int, after: int
) -> None:
    switch = tmp_path / "switch"
    (tmp_path / "m.bayleaf").write_bytes(model_of([("free prize", "spam"), ("see you", "ham")]))
    arguments = ["--model", f"spam={tmp_path / 'm.bayleaf'}", "--allow-tell"]
    with running(tmp_path / "f", *arguments, LD_PRELOAD=str(shim), **{what: str(switch)}) as service:
        learn = {"text": "one", "label": "ham"}
        assert service.post("/models/spam/learn", learn).status == 200
        switch.touch()
        failed = service.post("/models/spam/learn", {"text": "two", "label": "ham"})
        assert (failed.status, failed.headers["content-type"]) == (status, "application/problem+json")
        tell = b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\n\r\nthree"
        assert service.raw(tell).startswith(b"SPAMD/1.0 75 ")
        assert service.ask("free prize")["label"] == "spam"
        switch.unlink()
        assert service.post("/models/spam/learn", {"text": "four", "label": "ham"}).status == after
        assert service.get("/health/ready").status == after
        assert service.get("/health/live").status == 200
        service.stop()
    assert_sound(tmp_path / "f")


def taught(folder: Path, snapshots_at: list[int], last: int) -> dict[str, str]:
    """A folder with snapshots, in which documents were learned, corrected and forgotten."""
    known: dict[str, str] = {}
    with opened(folder) as (store, served):
        for number in range(last):
            text, label = f"text {number % 17} {number % 5}", ["ham", "spam"][number % 3 == 0]
            learn(store, served, [(text, label)])
            known[text] = label
            if number in snapshots_at:
                store.writer.call(lambda ledger: store._snapshot(served, ledger)).result(30)
        store._changes.clear()  # so that closing does not write another
    return known


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone"])
def test_a_damaged_newest_snapshot_is_passed_over_for_the_one_before_it(tmp_path: Path, damage: str) -> None:
    known = taught(tmp_path, [40, 80, 100], 120)
    newest, older = (path for _, path in snapshots.list_of(tmp_path, 1))
    for path in (newest, older):
        data = bytearray(path.read_bytes())
        if damage == "flip":
            data[-20] ^= 1
        path.write_bytes({"cut": bytes(data[:100]), "empty": b""}.get(damage, bytes(data)))
        if damage == "gone":
            path.unlink()
        assert learned_in(tmp_path) == known
        if damage != "gone":
            assert not all(found.sound for found in verify(tmp_path))
    with opened(tmp_path) as (store, served):
        store.writer.call(lambda ledger: store._snapshot(served, ledger)).result(30)
        store.writer.call(lambda ledger: store._snapshot(served, ledger)).result(30)


def test_a_cut_log_gives_an_earlier_state_as_a_whole_and_newer_snapshots_are_not_taken(
    tmp_path: Path,
) -> None:
    source = tmp_path / "running"
    with opened(source) as (store, served):
        learn(store, served, [("kept for sure", "ham")])
        store.writer.call(lambda _: store.writer.checkpoint("TRUNCATE")).result(30)
        sizes = []
        for number in range(6):
            learn(store, served, [(f"text {number}", "spam")])
            sizes.append((source / f"{FILE}-wal").stat().st_size)
        store.writer.call(lambda ledger: store._snapshot(served, ledger)).result(30)
        whole = (source / f"{FILE}-wal").read_bytes()
        for number, cut in enumerate([*sizes, sizes[2] + 1000, 50]):
            copy = tmp_path / f"copy {number}"
            shutil.copytree(source, copy)
            (copy / f"{FILE}-wal").write_bytes(whole[:cut])
            (copy / f"{FILE}-shm").unlink()
            complete = sum(size <= cut for size in sizes)
            expected = {"kept for sure": "ham"} | {f"text {n}": "spam" for n in range(complete)}
            assert learned_in(copy) == expected


def test_verify_finds_a_snapshot_that_is_another_model(tmp_path: Path) -> None:
    taught(tmp_path, [40], 60)
    assert_sound(tmp_path)
    (_, path), *_ = snapshots.list_of(tmp_path, 1)
    path.write_bytes(model_of([("something else", "ham")]))
    (found,) = verify(tmp_path)
    assert not found.sound
    assert found.snapshots[0][1] == "DIFFERENT"
