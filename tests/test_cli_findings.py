"""What the command line got wrong when users tried it: D1 to D12 of docs/trust.md, as real processes."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayleaf import Model, words
from cli_process import COMMAND, ENVIRONMENT, done, refused, write_tsv

ROOT = Path(__file__).parent.parent
GOOD = [("good", "great movie film"), ("good", "a great film"), ("bad", "scsi disk"), ("bad", "a scsi drive")]
MAIL = "From: a@x.example\nSubject: prize\n\nwin a free prize\nsee you at noon\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a corpus and a model."""
    write_tsv(tmp_path / "t.tsv", GOOD)
    texts, labels = [text for _, text in GOOD], [label for label, _ in GOOD]
    Model([words()]).learn(texts, labels).save(tmp_path / "m.bl")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def jsonl(name: str, *rows: dict[str, Any]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return name


@pytest.mark.parametrize(
    "command", [("train", "-q", "--plain", "t.tsv", "-o"), ("explain", "m.bl", "a film", "--html")]
)
def test_a_pipe_or_a_device_is_written_to_and_stays_what_it_is(here: Path, command: tuple[str, ...]) -> None:
    """D1: `-o` and `--html` replaced devices, pipes and any file, by renaming."""
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        done(*command, "pipe")
        assert reader.communicate(timeout=60)[0]
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    done(*command, os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert sorted(path.name for path in here.iterdir()) == ["m.bl", "pipe", "t.tsv"]


def test_changes_at_once_are_all_there(here: Path) -> None:
    """D2: of two updates at once one was lost, and both said that they had succeeded."""
    running = []
    for number in range(6):
        row = write_tsv(here / f"{number}.tsv", [("good", f"word{number}")])
        running.append(subprocess.Popen([*COMMAND, "update", "-q", "m.bl", row], env=ENVIRONMENT))
    assert [process.wait(timeout=120) for process in running] == [0] * 6
    assert json.loads(done("inspect", "m.bl", "--json"))["documents"] == 10


def test_a_shard_whose_first_record_lacks_a_text_is_not_scored_by_its_id(here: Path) -> None:
    """D3: the first record of a shard decided which column is the text."""
    first = jsonl("s1.jsonl", {"id": "a1", "text": "great movie film"}, {"id": "a2", "text": "scsi disk"})
    later = jsonl("s2.jsonl", {"id": "b0"}, {"id": "b1", "text": "great movie film"})
    said = refused(1, "classify", "m.bl", first, later)
    assert "s2.jsonl, line 1" in said
    assert "'text'" in said
    answers = done("classify", "-q", "m.bl", first, later, "--on-error", "skip")
    assert [line.split("\t")[0] for line in answers.split("\n")] == ["good", "bad", "", "good", ""]
    later = jsonl("s3.jsonl", {"id": "b0", "label": "good"}, {"id": "b1", "label": "bad"})
    assert "text" in refused(1, "train", "--plain", later, "-o", "new.bl")
    assert not (here / "new.bl").exists()


@pytest.mark.usefixtures("here")
def test_documents_come_back_as_they_were() -> None:
    """D4: `--json` gave numbers, objects and null back as strings, dropped keys and overwrote others."""
    rows: list[dict[str, Any]] = [
        {"id": 1, "text": "a film", "metadata": {"lang": "en", "n": 3}, "flag": True, "none": None},
        {"id": 2, "text": "a film", "later": [1, 2.5], "predicted": "mine"},
    ]
    given = jsonl("d.jsonl", *rows)
    assert "--prefix" in refused(1, "classify", "m.bl", given, "--json")
    found = list(
        map(json.loads, done("classify", "-q", "m.bl", given, "--json", "--prefix", "b.").splitlines())
    )
    assert [{name: each[name] for name in row} for each, row in zip(found, rows, strict=True)] == rows
    assert [each["b.predicted"] for each in found] == ["good", "good"]


def test_a_file_beside_a_folder_is_not_left_out_silently(here: Path) -> None:
    """D5: a file beside a subfolder was skipped, so that one subfolder erased a class."""
    for name in ("ham/1", "ham/2", "ham/old/3", "spam/4", "spam/5"):
        path = here / "m" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a text")
    said = refused(1, "train", "m", "-o", "b.bl")
    assert re.search(r"m/ham/[12]", said)
    done("train", "-q", "--plain", "m", "--label-column", "folder", "-o", "b.bl")
    assert Model.load("b.bl").class_documents == {"ham": 2, "old": 1, "spam": 2}


def test_one_mail_is_one_document_wherever_it_comes_from(here: Path) -> None:
    """D6: a mail from a pipe was answered line by line, and one of a Maildir learned as the class `cur`."""
    for name, text in (("ham", "see you at noon"), ("spam", "a free prize")):
        for part in ("cur", "new", "tmp"):
            (here / "box" / name / part).mkdir(parents=True)
        for number in range(3):
            (here / "box" / name / "cur" / f"17{number}:2,S").write_text(
                f"Subject: {text}\n\n{text} {number}\n"
            )
    done("train", "-q", "--preset", "mail", "box", "-o", "b.bl")
    assert Model.load("b.bl").class_documents == {"ham": 3, "spam": 3}
    assert len(done("classify", "-q", "b.bl", stdin=MAIL).splitlines()) == 1
    assert len(done("classify", "-q", "b.bl", "--format", "eml", "-", stdin=MAIL).splitlines()) == 1
    assert done("classify", "-q", "b.bl", "box/spam/cur/171:2,S").split("\t")[0].strip() == "spam"
    done("update", "-q", "b.bl", "box/spam/cur/171:2,S")
    assert Model.load("b.bl").class_documents == {"ham": 3, "spam": 4}
    assert "--label" in refused(1, "update", "b.bl", "--format", "eml", "-", stdin=MAIL)
    done("update", "-q", "b.bl", "--label", "spam", "--format", "eml", "-", stdin=MAIL)
    assert "Did you mean 'spam'" in refused(1, "update", "b.bl", "--label", "spm", "-", stdin=MAIL)
    assert Model.load("b.bl").class_documents == {"ham": 3, "spam": 5}


@pytest.mark.parametrize(
    "lines",
    [
        "From now on, at 12:30, a film\nscsi\ngreat\n",
        ">claim a film\nGREAT\n",
        "a\tfilm\nscsi disk\n",
        '{"text": "x"}\n',
    ],
)
def test_standard_input_is_lines_whatever_it_begins_with_and_however_it_comes(here: Path, lines: str) -> None:
    """D7: lines were guessed to be mail, sequences or tables, depending on how fast they came."""
    expected = done("classify", "-q", "m.bl", "--format", "lines", stdin=lines)
    assert len(expected.splitlines()) == lines.count("\n")
    assert done("classify", "-q", "m.bl", stdin=lines) == expected
    slowly = (
        "import sys, time\n"
        "for line in sys.argv[1].splitlines(True): print(line, end='', flush=True); time.sleep(0.1)"
    )
    with subprocess.Popen([sys.executable, "-c", slowly, lines], stdout=subprocess.PIPE) as writer:
        call = [*COMMAND, "classify", "-q", "m.bl"]
        ran = subprocess.run(
            call, stdin=writer.stdout, capture_output=True, env=ENVIRONMENT, check=True, cwd=here
        )
    assert ran.stdout.decode() == expected


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        (("train", "--plain", "t.tsv", "-o", "t.tsv"), "t.tsv"),
        (("evaluate", "m.bl", "t.tsv", "--html", "t.tsv"), "t.tsv"),
        (("explain", "m.bl", "a film", "--html", "m.bl"), "m.bl"),
        (("export", "m.bl", "-o", "m.bl"), "m.bl"),
    ],
)
def test_an_output_that_is_an_input_is_refused_and_stays(
    here: Path, command: tuple[str, ...], kept: str
) -> None:
    """D8: a corpus was overwritten by its model, and a model by the page about it."""
    before = (here / kept).read_bytes()
    ran = subprocess.run([*COMMAND, *command], capture_output=True, env=ENVIRONMENT, check=False)
    assert ran.returncode != 0
    assert kept.encode() in ran.stderr
    assert (here / kept).read_bytes() == before


def test_what_cannot_have_been_learned_is_not_forgotten(here: Path) -> None:
    """D9: `forget` accepted what was never learned, against its promise, and gave wrong reasons.

    Counts know terms and not documents: an empty one, or "red pear" of "red apple" and "green pear", is
    accepted, as the README and docs/trust.md say; a ledger refuses it.
    """
    rows = write_tsv(here / "f.tsv", [("ham", "red apple"), ("ham", "green pear"), ("spam", "free prize")])
    done("train", "-q", rows, "-o", "f.bl")
    before = (here / "f.bl").read_bytes()
    for text in ("apple", "red red apple", "prize"):
        said = refused(1, "forget", "f.bl", "-", stdin=f"ham\t{text}\n")
        assert "'ham'" in said or "learned" in said
        assert (here / "f.bl").read_bytes() == before
    Model([words()], ledger=True).learn(["red apple", "green pear"], ["ham", "ham"]).save("ledger.bl")
    for text in ("", "red pear"):
        assert "never learned" in refused(1, "forget", "ledger.bl", "-", stdin=f"ham\t{text}\n")
    assert Model.load("ledger.bl").n_documents == 2


@pytest.mark.usefixtures("here")
def test_an_empty_text_gets_what_explain_says_it_gets() -> None:
    """D10: an empty text got neither the prior nor a word about what it got instead."""
    done("train", "-q", "--plain", "t.tsv", "-o", "plain.bl")
    done("update", "-q", "plain.bl", "--label", "good", "-", stdin="another\n")
    answer = done("classify", "-q", "plain.bl", "--proba", "--format", "lines", stdin="\n")
    assert answer == "good\tbad=0.4\tgood=0.6\n"
    done("train", "-q", "t.tsv", "-o", "tuned.bl")
    told = json.loads(done("explain", "tuned.bl", "", "--json"))
    answer = done("classify", "-q", "tuned.bl", "--json", "--proba", "--format", "lines", stdin="\n")
    shares = json.loads(answer)["probabilities"]
    assert shares == pytest.approx(told["posterior"])
    assert "intercept" in done("explain", "tuned.bl", "")


def test_a_label_is_one_class_in_every_format_and_null_is_none(here: Path) -> None:
    """D11: null was a text in Parquet, "" a class in JSON lines, and 1, 1.0 and true differed silently."""
    for value in (1, 1.0, True):
        written = json.dumps(value)
        write_tsv(here / "a.tsv", [(written, "x")])
        (here / "a.csv").write_text(f"label,text\n{written},x\n")
        jsonl("a.jsonl", {"label": value, "text": "x"})
        pq.write_table(pa.table({"label": [value], "text": ["x"]}), "a.parquet")
        for kind in ("tsv", "csv", "jsonl", "parquet"):
            done("train", "-q", "--plain", f"a.{kind}", "-o", f"{kind}.bl")
        assert {Model.load(f"{kind}.bl").to_bytes() for kind in ("tsv", "csv", "jsonl", "parquet")} == {
            Model([words()]).learn(["x"], [written]).to_bytes()
        }
    mixed = jsonl(
        "mixed.jsonl", {"label": 1, "text": "x"}, {"label": 1.0, "text": "y"}, {"label": 2, "text": "z"}
    )
    ran = subprocess.run(
        [*COMMAND, "train", "--plain", mixed, "-o", "mixed.bl"],
        capture_output=True,
        env=ENVIRONMENT,
        check=True,
    )
    assert b"'1' and '1.0' are kept apart" in ran.stderr
    rows: list[dict[str, Any]] = [
        {"label": "a", "text": "x"},
        {"label": "a", "text": None},
        {"label": "", "text": "y"},
    ]
    jsonl("n.jsonl", *rows)
    pq.write_table(pa.Table.from_pylist(rows), "n.parquet")
    for kind in ("jsonl", "parquet"):
        assert "2" in refused(1, "train", "--plain", f"n.{kind}", "-o", "n.bl")
        done("train", "-q", "--plain", f"n.{kind}", "-o", "n.bl", "--on-error", "skip")
        assert Model.load("n.bl").class_documents == {"a": 1}


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        ([1, 0], ["1", "0", "1.0"]),
        ([True, False], ["true", "false", "True"]),
        ([1.0, 2.5], ["1", "2.5", "1.0"]),
    ],
)
def test_classes_that_python_learned_as_numbers_are_found_by_any_spelling(
    here: Path, classes: list[Any], labels: list[str]
) -> None:
    """D11: in Python, too: what is a number or a truth value there goes by its spellings in files."""
    Model([words()]).learn(["great film", "scsi disk"], classes).save("py.bl")
    write_tsv(here / "e.tsv", list(zip(labels, ["great film", "scsi disk", "film"], strict=True)))
    assert json.loads(done("evaluate", "-q", "py.bl", "e.tsv", "--json"))["accuracy"] == 1
    done("update", "-q", "py.bl", "e.tsv")
    assert list(Model.load("py.bl").class_documents.values()) in ([2, 3], [3, 2])
    assert done("classify", "-q", "py.bl", stdin="film\n") == f"{json.dumps(classes[0])}\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.usefixtures("here")
def test_a_model_stays_with_its_owner_and_a_read_only_one_is_not_replaced() -> None:
    """D12: root's update took the model away from its owner, and a read-only model was replaced."""
    os.chown("m.bl", 1234, 1234)
    os.chmod("m.bl", 0o640)
    done("update", "-q", "m.bl", "--new-class", "-", stdin="new\tanother\n")
    found = os.stat("m.bl")
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (1234, 1234, 0o640)
    os.chmod("m.bl", 0o444)
    assert "read-only" in refused(1, "update", "m.bl", "t.tsv")


@pytest.mark.parametrize("command", [("update", "m.bl", "t.tsv"), ("update", "m.bl", "--label", "good", "-")])
def test_other_names_of_a_model_keep_it_as_it_was_and_this_is_said(
    here: Path, command: tuple[str, ...]
) -> None:
    """D12: hard links were parted without a word; a full write and one behind the model now do the same."""
    os.link("m.bl", "backup.bl")
    before = (here / "backup.bl").read_bytes()
    ran = subprocess.run(
        [*COMMAND, *command, "-q"], input=b"a new film\n", capture_output=True, env=ENVIRONMENT, check=True
    )
    assert b"m.bl had 2 names (hard links)" in ran.stderr
    assert (here / "backup.bl").read_bytes() == before
    assert Model.load("m.bl").n_documents > 4
    (here / "link.bl").symlink_to("m.bl")
    done("update", "-q", "link.bl", "--label", "good", "-", stdin="a newer film\n")
    assert (here / "link.bl").is_symlink()


def test_every_finding_has_its_row_on_the_page_and_a_test_that_names_it() -> None:
    """Like the laws: no finding without a test, no test of a finding that is not on the page."""
    page = (ROOT / "docs" / "trust.md").read_text("utf-8")
    rows = re.findall(r"^\| (D\d+) ", page, re.MULTILINE)
    source = Path(__file__).read_text("utf-8")
    assert rows == [f"D{number}" for number in range(1, 13)]
    assert set(re.findall(r'^    """(D\d+): ', source, re.MULTILINE)) == set(rows)
