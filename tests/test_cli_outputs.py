"""What a command writes never replaces what it should not, and no change that succeeded is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from bayleaf import Model, words
from bayleaf.atomic import write
from cli_process import COMMAND, ENVIRONMENT, done, refused, write_tsv

ROWS = [("ham", "see you at noon"), ("spam", "free prize")]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of two documents, and the file that it was learned from."""
    texts = [text for _, text in ROWS]
    Model([words()]).learn(texts, [label for label, _ in ROWS]).save(tmp_path / "m.bayleaf")
    write_tsv(tmp_path / "t.tsv", ROWS)
    return tmp_path / "m.bayleaf"


def started(*arguments: str | Path, cwd: Path, stdin: bytes = b"") -> subprocess.Popen[bytes]:
    given = cwd / f"stdin-{random.random()}"
    given.write_bytes(stdin)
    with given.open("rb") as file:
        return subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            env=ENVIRONMENT, cwd=cwd, stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip


def n_documents(path: Path) -> int:
    return Model.load(path).n_documents


def test_a_pipe_is_written_to_and_stays_a_pipe(model: Path) -> None:
    pipe = model.parent / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    done("update", model, "-", "-o", pipe, "-q", stdin="ham\tsee you\n")
    assert Model.from_bytes(reader.communicate(timeout=60)[0]).n_documents == 3
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_device_is_written_to_and_stays_a_device(model: Path) -> None:
    device = model.parent / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("This system lets nobody make devices.")
    for arguments in (
        ("train", "-q", "--plain", "t.tsv", "-o", device),
        ("explain", model, "free", "--html", device),
        ("evaluate", "-q", model, "t.tsv", "--html", device),
    ):
        done(*arguments, cwd=model.parent)
        assert stat.S_ISCHR(device.stat().st_mode), arguments


@pytest.mark.parametrize("how", ["pipe", "file"])
def test_standard_output_is_a_place_for_a_model(model: Path, how: str) -> None:
    command = [*COMMAND, "train", "-q", "--plain", "t.tsv", "-o", "/dev/stdout"]
    if how == "pipe":
        ran = subprocess.run(command, env=ENVIRONMENT, cwd=model.parent, capture_output=True, check=True)
        written = ran.stdout
    else:
        with open(model.parent / "out", "wb") as out:
            subprocess.run(
                command, env=ENVIRONMENT, cwd=model.parent, stdout=out, stderr=subprocess.DEVNULL, check=True
            )
        written = (model.parent / "out").read_bytes()
    assert written == model.read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "t.tsv", "-o", "t.tsv"),
        ("train", ".", "-o", "t.tsv"),
        ("train", "*.tsv", "-o", "link.tsv"),
        ("evaluate", "m.bayleaf", "t.tsv", "--html", "t.tsv"),
        ("evaluate", "m.bayleaf", "t.tsv", "--html", "m.bayleaf"),
        ("explain", "m.bayleaf", "free", "--html", "m.bayleaf"),
        ("update", "m.bayleaf", "t.tsv", "-o", "t.tsv"),
        ("import", "counts.csv", "-o", "counts.csv", "--plain"),
    ],
)
def test_an_output_that_is_an_input_is_refused(model: Path, arguments: tuple[str, ...]) -> None:
    (model.parent / "link.tsv").symlink_to("t.tsv")
    (model.parent / "counts.csv").write_text("view,term\n")
    before = {path: path.read_bytes() for path in model.parent.iterdir()}
    assert "would be replaced" in refused(1, *arguments, cwd=model.parent)
    assert {path: path.read_bytes() for path in model.parent.iterdir()} == before


def test_a_read_only_model_is_not_replaced(model: Path) -> None:
    model.chmod(0o444)
    assert "read-only" in refused(1, "update", model, "t.tsv", cwd=model.parent)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_replaced_file_keeps_its_owner_and_its_attributes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 1234, 2345)
    path.chmod(0o640)
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        os.chown(path, 1234, 2345)
    before, attributes = path.stat(), os.listxattr(path)
    write(path, b"all")
    after = path.stat()
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
    assert os.listxattr(path) == attributes


def test_no_link_that_was_laid_beside_an_output_is_written_through(model: Path) -> None:
    victim = model.parent / "victim"
    victim.write_text("precious")
    names = '"out.csv.$$" "out.csv.$$.part" ".out.csv.$$" "out.csv.part" "out.csv.tmp"'
    lay = f'for name in {names}; do ln -s victim "$name"; done'
    command = f'{lay}; exec "$@"'
    call = [*COMMAND, "export", str(model), "-o", "out.csv"]
    subprocess.run(["sh", "-c", command, "sh", *call], env=ENVIRONMENT, cwd=model.parent, check=True)
    assert victim.read_text() == "precious"
    assert (model.parent / "out.csv").read_text().count("\n") > 2


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "file"
    code = (
        "import sys, os, bayleaf.atomic as a\nwith a.replacing(sys.argv[1]) as f:\n os.kill(os.getpid(), 9)"
    )
    subprocess.run([COMMAND[0], "-c", code, path], check=False)
    assert len(os.listdir(tmp_path)) == 1
    (tmp_path / ".file.notes").touch()
    write(path, b"all")
    assert sorted(os.listdir(tmp_path)) == [".file.notes", "file"]


def test_ten_changes_at_once_are_all_there(model: Path) -> None:
    whole = Model.load(model)
    whole.learn(["old mail", "older mail"], ["ham", "ham"])
    whole.save(model)
    changes: list[tuple[tuple[str, ...], bytes]] = [
        *[(("update", str(model), "-q", "-"), f"spam\tword{number}\n".encode()) for number in range(5)],
        (("forget", str(model), "-q", "-"), b"ham\told mail\n"),
        (("forget", str(model), "-q", "-"), b"ham\tolder mail\n"),
        (("retune", str(model), "-q", "--tuning", "none", "t.tsv"), b""),
        (("relabel", str(model), "-q", "--from", "ham", "--to", "spam", "-"), b"see you at noon\n"),
        (("merge", str(model), "part.bayleaf", "-o", str(model)), b""),
    ]
    Model([words()]).learn(["merged"], ["spam"]).save(model.parent / "part.bayleaf")
    running = [started(*arguments, cwd=model.parent, stdin=stdin) for arguments, stdin in changes]
    for process in running:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    expected = Model([words()]).learn(
        ["free prize", "see you at noon", "merged", *(f"word{number}" for number in range(5))], ["spam"] * 8
    )
    assert Model.load(model).class_documents == {"spam": 8}
    assert model.read_bytes() == expected.to_bytes()
    assert [name for name in os.listdir(model.parent) if name.startswith(".")] == []


def test_a_command_that_is_not_to_wait_says_so(model: Path) -> None:
    code = (
        "import sys, time\nfrom bayleaf.cli.locking import locked\n"
        "with locked(sys.argv[1], True, print):\n print('held', flush=True)\n time.sleep(60)"
    )
    holder = subprocess.Popen([COMMAND[0], "-c", code, model], stdout=subprocess.PIPE, text=True)
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    assert "being changed by another command" in refused(
        1, "update", model, "t.tsv", "--no-wait", cwd=model.parent
    )
    waiting = started("update", model, "t.tsv", cwd=model.parent)
    assert waiting.stderr
    assert b"Waiting for another command" in waiting.stderr.readline()
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    waiting.communicate(timeout=60)
    assert (waiting.returncode, n_documents(model)) == (0, 4)


def test_a_killed_change_leaves_the_old_model_or_the_new_one(model: Path) -> None:
    chance, count = random.Random(7), n_documents(model)
    for _ in range(12):
        process = started("update", model, "-q", "-", cwd=model.parent, stdin=b"ham\tsee you\n")
        time.sleep(chance.random() * 1.5)
        process.kill()
        process.communicate()
        found = n_documents(model)
        assert found in (count, count + 1)
        count = found
    done("update", model, "-q", "-", cwd=model.parent, stdin="ham\tsee you\n")
    assert [name for name in os.listdir(model.parent) if name.startswith(".")] == []


def test_a_label_that_is_new_is_refused_unless_it_is_let_in(model: Path) -> None:
    said = refused(1, "update", model, "-", stdin="Spam\tfree\n")
    assert "no class 'Spam'; its classes are 'ham', 'spam'. Did you mean 'spam'?" in said
    assert n_documents(model) == 2
    done("update", model, "-", "--new-class", stdin="Spam\tfree\n")
    done("update", model, "-", "--label", "ham", stdin="see you\nat lunch\n")
    assert Model.load(model).class_documents == {"ham": 3, "spam": 1, "Spam": 1}


def test_relabeling_is_all_or_nothing(model: Path) -> None:
    before = model.read_bytes()
    said = refused(
        1, "relabel", model, "--from", "ham", "--to", "spam", "-", stdin="see you at noon\nnever seen\n"
    )
    assert "is as it was" in said
    assert model.read_bytes() == before
    told = json.loads(
        done("relabel", model, "--from", "ham", "--to", "spam", "-", "--json", stdin="see you at noon\n")
    )
    assert told["after"]["documents"] == 2
    assert Model.load(model).class_documents == {"spam": 2}


def test_a_change_that_succeeded_is_not_reported_as_failed(model: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("There is no /dev/full.")
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [*COMMAND, "update", "-q", model, "t.tsv"],
            env={**ENVIRONMENT, "PYTHONUNBUFFERED": ""}, cwd=model.parent, stdout=full,
            stderr=subprocess.PIPE, check=False, text=True,
        )  # fmt: skip
    assert (ran.returncode, n_documents(model)) == (0, 4), ran.stderr
    assert "is written, but standard output is not" in ran.stderr


def test_changes_behind_the_model_survive_kills_and_ten_writers_at_once(tmp_path: Path) -> None:
    from cli_kills import run

    said = run(tmp_path, 10, seed=3)
    assert said.startswith("10 kills")
    model = tmp_path / "model"
    count = n_documents(model)
    running = [
        started("update", model, "-q", "--label", "ham", "-", cwd=tmp_path, stdin=f"word{number}\n".encode())
        for number in range(10)
    ]
    for process in running:
        _, told = process.communicate(timeout=120)
        assert process.returncode == 0, told
    assert n_documents(model) == count + 10
