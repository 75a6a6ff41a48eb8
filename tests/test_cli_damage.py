"""What goes wrong is said in a sentence, with the right exit code, and damages nothing."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from inspect import signature
from pathlib import Path

import pytest

import bayleaf
from bayleaf.cli.reading import Reading, as_options
from bayleaf.corpus import open_corpus
from cli_process import COMMAND, ENVIRONMENT, done, messages, refused, write_tsv

CORPUS = messages()[:200]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    bayleaf.Model().learn([text for _, text in CORPUS], [label for label, _ in CORPUS]).save(tmp_path / "m")
    write_tsv(tmp_path / "train.tsv", CORPUS)
    return tmp_path


WRONG_CALLS = [
    ["train", "train.tsv"],
    ["train", "-o", "x"],
    ["train", "train.tsv", "-o", "x", "--alpha", "-1"],
    ["train", "train.tsv", "-o", "x", "--ngrams", "nine"],
    ["train", "train.tsv", "-o", "x", "--ngrams", "9"],
    ["train", "train.tsv", "-o", "x", "--stemmer", "klingon"],
    ["train", "train.tsv", "-o", "x", "--plain", "--ngrams", "2"],
    ["train", "train.tsv", "-o", "x", "--priors", "ham=much"],
    ["train", "train.tsv", "-o", "x", "--priors", "ham=0.9,spam=0.9"],
    ["train", "train.tsv", "-o", "x", "--holdout", "1.5"],
    ["train", "-", "-o", "x", "--holdout", "0.5"],
    ["train", "train.tsv", "-o", "x", "--format", "docx"],
    ["classify", "m", "--unsure", "2"],
    ["export", "m", "-o", "counts.xlsx"],
    ["prune", "m"],
    ["frobnicate"],
]


@pytest.mark.parametrize("call", WRONG_CALLS, ids=" ".join)
def test_a_wrong_call_is_refused_with_exit_code_2_before_anything_is_done(
    folder: Path, call: list[str]
) -> None:
    before = (folder / "m").read_bytes()
    assert "--help" in refused(2, *call, cwd=folder)
    assert (folder / "m").read_bytes() == before
    assert not (folder / "x").exists()


FAILURES = [
    (["train", "nowhere.tsv", "-o", "m"], "nowhere.tsv does not exist"),
    (["train", "train.tsv", "-o", "nowhere/m"], "there is no folder"),
    (["train", "train.tsv", "-o", "."], "is a folder"),
    (["train", "binary", "-o", "m"], "with --encoding, or choose --on-error skip or --on-error replace."),
    (["train", "train.tsv", "-o", "m", "--label-column", "mood"], "choose with --label-column."),
    (["train", "lines.txt", "-o", "m"], "names of the files with --label-column file."),
    (["train", "empty", "-o", "m"], "empty is empty"),
    (["train", "-", "-o", "m"], "standard input is empty"),
    (["train", "train.tsv", "-o", "m", "--priors", "ham=0.5,eggs=0.5"], "miss the classes ['spam']"),
    (["classify", "nowhere"], "nowhere could not be opened: No such file"),
    (["classify", "m", "nowhere.tsv"], "nowhere.tsv does not exist"),
    (["classify", "half", "train.tsv"], "half is damaged"),
    (["classify", "train.tsv", "train.tsv"], "train.tsv is not a bayleaf model"),
    (["classify", ".", "train.tsv"], "is a folder, not a model"),
    (["evaluate", "m", "lines.txt"], "have no label"),
    (["evaluate", "half", "train.tsv"], "half is damaged"),
    (["explain", "m"], "Standard input is empty"),
    (["explain", "half", "hello"], "half is damaged"),
    (["inspect", "half"], "half is damaged"),
    (["inspect", "m", "--class", "eggs"], "no class 'eggs'"),
    (["update", "half", "train.tsv"], "half is damaged"),
    (["update", "m", "-"], "standard input is empty"),
    (["forget", "m", "other.tsv"], "is as it was"),
    (["merge", "m", "half", "-o", "x"], "half is damaged"),
    (["prune", "half", "--min-count", "2"], "half is damaged"),
    (["export", "half"], "half is damaged"),
    (["import", "train.tsv", "-o", "x", "--like", "m"], "not a table of counts"),
    (["import", "nowhere.csv", "-o", "x"], "could not be opened"),
    (["tokens", "--model", "half", "hello"], "half is damaged"),
    (["tokens"], "Standard input is empty"),
]


@pytest.mark.parametrize(("call", "said"), FAILURES, ids=[" ".join(call) for call, _ in FAILURES])
def test_a_run_that_fails_says_why_with_exit_code_1_and_leaves_the_model_as_it_was(
    folder: Path, call: list[str], said: str
) -> None:
    before = (folder / "m").read_bytes()
    (folder / "half").write_bytes(before[: len(before) // 2])
    (folder / "binary").write_bytes(b"ham\tok\nspam\t\xff\xfe\xfa\n")
    (folder / "lines.txt").write_text("no label here\nnor here\n")
    (folder / "other.tsv").write_text("ham\tnever learned zebra\n")
    (folder / "empty").write_bytes(b"")
    assert said in refused(1, *call, cwd=folder)
    assert (folder / "m").read_bytes() == before
    assert not (folder / "x").exists()
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_what_readers_of_corpora_name_is_an_option_of_the_command_line() -> None:
    named = set(signature(open_corpus).parameters) & set(Reading.__dataclass_fields__)
    assert len(named) == 10
    known = done("train", "--help")
    assert [name for name in named if f"{as_options(f'`{name}`')} " not in known] == []
    assert as_options('Say `label="folder"`, or `else`.') == "Say --label-column folder, or `else`."


def test_a_full_disk_leaves_the_old_model_and_no_fragment(folder: Path) -> None:
    before = (folder / "m").read_bytes()

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for call in (
        ["train", "train.tsv", "-o", "m"],
        ["update", "m", "train.tsv"],
        ["export", "m", "-o", "t.csv"],
    ):
        ran = subprocess.run(
            [*COMMAND, *call],
            cwd=folder,
            env=ENVIRONMENT,
            capture_output=True,
            encoding="utf-8",
            preexec_fn=limited,
            check=False,
        )
        assert ran.returncode == 1, ran.stderr
        assert "could not be written: File too large" in ran.stderr
    assert (folder / "m").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["m", "train.tsv"]


def test_a_folder_without_permission_is_named(folder: Path) -> None:
    locked = folder / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    if os.access(locked, os.W_OK):
        pytest.skip("This user may write everywhere.")
    assert "does not let you" in refused(1, "train", "train.tsv", "-o", locked / "m", cwd=folder)
    secret = folder / "m"
    secret.chmod(0)
    assert "Permission denied" in refused(1, "inspect", secret)


@pytest.mark.parametrize(
    "call", [["train", "-", "-o", "m"], ["update", "m", "-"], ["forget", "m", "-"]], ids=" ".join
)
def test_an_interrupted_run_leaves_the_old_model(folder: Path, call: list[str]) -> None:
    rows = CORPUS * 300
    bayleaf.Model().learn([text for _, text in rows], [label for label, _ in rows]).save(folder / "m")
    before = (folder / "m").read_bytes()
    process = subprocess.Popen(
        [*COMMAND, *call],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stderr
    process.stdin.write("".join(f"{label}\t{text}\n" for label, text in rows).encode()[: 5 << 20])
    process.stdin.flush()
    assert b"Reading standard input" in process.stderr.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.decode() == "bayleaf: Interrupted. No model was changed.\n"
    assert (folder / "m").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["m", "train.tsv"]


@pytest.mark.parametrize(
    "call", [["classify", "-q", "m", "long.tsv", "--keep-text"], ["export", "m"], ["demo"]], ids=" ".join
)
def test_a_reader_that_stops_reading_ends_the_run_quietly(folder: Path, call: list[str]) -> None:
    write_tsv(folder / "long.tsv", CORPUS * 20)
    process = subprocess.Popen(
        [*COMMAND, *call], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    assert process.stdout.read(10)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), said) == (0, b"")


def test_rows_that_are_left_out_are_counted(folder: Path) -> None:
    (folder / "bad.tsv").write_bytes(b"ham\tsee you\nspam\t\xff prize\nham\tat noon\n")
    ran = subprocess.run(
        [*COMMAND, "train", "bad.tsv", "-o", "x", "--on-error", "skip"],
        cwd=folder, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert "1 row was left out" in ran.stderr
    assert "2 documents" in ran.stdout


def test_color_is_for_terminals_and_not_where_it_is_not_wanted(folder: Path) -> None:
    import pty

    shown = {}
    for wanted in (True, False):
        environment = {name: value for name, value in ENVIRONMENT.items() if name != "NO_COLOR"}
        environment |= {"TERM": "xterm-256color"} | ({} if wanted else {"NO_COLOR": "1"})
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*COMMAND, "explain", "m", "free prize"], cwd=folder, env=environment, stdout=theirs
        ) as run:
            run.wait(60)
        os.close(theirs)
        shown[wanted] = os.read(ours, 65536)
        os.close(ours)
    assert b"\x1b[" in shown[True]
    assert b"\x1b[3" not in shown[False]
    assert b"\x1b[48" not in shown[False]
    assert "\x1b" not in done("explain", "m", "free prize", cwd=folder)
