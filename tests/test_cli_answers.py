"""Answers keep their place and give documents back; a mail is judged as a delivery filter would have it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bayleaf import Model, mail_columns, preset, words
from cli_process import COMMAND, ENVIRONMENT, bayleaf, done, refused

GOOD, BAD = "great movie film", "scsi disk drive"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    Model([words()]).learn([GOOD, BAD], ["good", "bad"]).save(tmp_path / "m.bayleaf")
    return tmp_path / "m.bayleaf"


def test_documents_come_back_as_they_were_with_the_answer_behind_them(model: Path) -> None:
    lines = [
        f'{{"id": 1, "text": "{GOOD}", "meta": {{"n": 3}}, "flag": true, "score": 0.50, "none": null}}',
        f'{{"text": "{BAD}", "new": [1, 2.0]}}',
    ]
    (model.parent / "d.jsonl").write_text("\n".join(lines) + "\n")
    out = done("classify", "-q", model, "d.jsonl", "--json", "--score", "good", cwd=model.parent).splitlines()
    for line, answer in zip(lines, out, strict=True):
        assert answer.startswith(line[:-1] + ", ")
    answers = [json.loads(answer) for answer in out]
    assert [answer["bayleaf_predicted"] for answer in answers] == ["good", "bad"]
    assert answers[0]["score"] == 0.5
    assert answers[0]["bayleaf_score"] > 0 > answers[1]["bayleaf_score"]


def test_a_key_that_is_taken_is_never_overwritten(model: Path) -> None:
    rows = [{"text": GOOD}, {"text": GOOD, "predicted": "x"}]
    (model.parent / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = refused(1, "classify", model, "d.jsonl", "--json", cwd=model.parent)
    assert "d.jsonl, line 2 has a key 'predicted' already" in said
    assert "--prefix" in said
    out = done(
        "classify", model, "d.jsonl", "--json", "--prefix", "b_", "--no-text", cwd=model.parent
    ).splitlines()
    assert [json.loads(line)["b_predicted"] for line in out] == ["good", "good"]
    assert all("text" not in json.loads(line) for line in out)


def test_answers_keep_their_place_and_what_is_left_out_is_listed(model: Path) -> None:
    (model.parent / "d.jsonl").write_bytes(
        b'broken\n{"id": 1, "text": "great movie"}\n{"id": 2, "text": null}\n{"id": 3, "text": "scsi disk"}\n'
    )
    (model.parent / "empty.jsonl").touch()
    given = ("classify", "-q", model, "d.jsonl", "empty.jsonl", "--on-error", "skip", "--rejects", "r.jsonl")
    assert done(*given, cwd=model.parent) == "\ngood\t1\n\nbad\t3\n"
    rejects = [json.loads(line) for line in (model.parent / "r.jsonl").read_text().splitlines()]
    assert [(each["file"], each["line"]) for each in rejects] == [
        ("d.jsonl", 1),
        ("d.jsonl", 3),
        ("empty.jsonl", None),
    ]
    answers = [json.loads(line) for line in done(*given, "--json", cwd=model.parent).splitlines()]
    assert "line 1" in answers[0]["error"]
    assert answers[1]["predicted"] == "good"


def test_a_score_ranks_where_probabilities_cannot(model: Path) -> None:
    lines = "".join(" ".join([GOOD] * times) + "\n" for times in (30, 40)) + BAD + "\n"
    out = [
        line.split("\t")
        for line in done("classify", "-q", model, "--score", "good", "--proba", stdin=lines).splitlines()
    ]
    assert [line[3] for line in out][:2] == ["good=1", "good=1"]
    scores = [float(line[1]) for line in out]
    assert scores[1] > scores[0] > 0 > scores[2]
    assert "no class 'god'" in refused(2, "classify", model, "--score", "god", stdin=lines)


def test_a_text_of_which_nothing_is_known_is_said(model: Path) -> None:
    ran = bayleaf("classify", model, stdin="xyzzy plugh\n")
    assert "knows nothing in the document" in ran.stderr
    assert "knows nothing" not in bayleaf("classify", model, stdin="xyzzy disk\n").stderr


def test_a_long_text_is_explained_and_its_start_is_shown(model: Path) -> None:
    out = done("explain", model, "-q", stdin=" ".join([GOOD] * 5000))
    assert "more characters; --html has them all" in " ".join(out.split())
    assert "movie ×5000" in out


def test_a_model_without_terms_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "s.fasta").write_text(">a\n" + "ACGT" * 200 + "\n>b\n" + "GGCC" * 200 + "\n")
    said = refused(1, "train", "s.fasta", "-o", "m", "--label", "x", "--plain", cwd=tmp_path)
    assert "holds no term" in said
    assert "--preset dna" in said
    assert not (tmp_path / "m").exists()


def test_a_label_column_with_hardly_a_value_twice_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("".join(f"{number}\tword\n" for number in range(1500)))
    said = refused(1, "train", "d.tsv", "-o", "m", "--plain", cwd=tmp_path)
    assert "There are 1,500 classes in 1,500 documents" in said
    done("train", "d.tsv", "-o", "m", "--plain", "--yes", "-q", cwd=tmp_path)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_is_said_or_does_not_matter(model: Path, closed: str) -> None:
    command = " ".join([*COMMAND, "classify", str(model), closed])
    given = None if closed == "<&-" else b"great movie\n"
    ran = subprocess.run(
        ["/bin/sh", "-c", command], env=ENVIRONMENT, input=given, capture_output=True, check=False
    )
    assert b"Attribute" not in ran.stderr
    assert b"Traceback" not in ran.stderr
    if closed == "2>&-":
        assert (ran.returncode, ran.stdout) == (0, b"good\n")
    else:
        assert ran.returncode == 1
        assert b"Bad file descriptor" in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_no_control_characters_of_a_text(model: Path) -> None:
    import pty

    (model.parent / "d.tsv").write_bytes(b"id\ttext\n\x1b]0;owned\x07\tgreat movie\n")
    parent, child = pty.openpty()
    subprocess.run(
        [*COMMAND, "classify", "-q", model, "d.tsv"],
        env=ENVIRONMENT,
        cwd=model.parent,
        stdout=child,
        check=True,
    )
    os.close(child)
    shown = os.read(parent, 4096)
    os.close(parent)
    assert b"good" in shown
    assert b"\x1b" not in shown
    assert b"\x1b" in done("classify", "-q", model, "d.tsv", cwd=model.parent).encode()


SPAM = b"From: a@offers.example\nSubject: free prize\nX-Bayleaf: ham; spam=0\n\nclaim your free prize now\n"
HAM = b"From: b@work.example\nSubject: lunch\n\nsee you at noon\n"


@pytest.fixture
def mail_model(tmp_path: Path) -> Path:
    rows = [SPAM, HAM] * 4
    Model(preset("mail")).learn(mail_columns(rows), ["spam", "ham"] * 4).save(tmp_path / "mail.bayleaf")
    return tmp_path / "mail.bayleaf"


def judged(path: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [*COMMAND, "classify", str(path), *arguments]
    return subprocess.run(command, input=stdin, env=ENVIRONMENT, capture_output=True, check=False)


def test_the_verdict_is_the_exit_code_and_the_mail_passes_through(mail_model: Path) -> None:
    ran = judged(mail_model, "-p", "-e", stdin=SPAM)
    assert ran.returncode == 0
    head, _, body = ran.stdout.partition(b"\n\n")
    assert head.count(b"X-Bayleaf:") == 1
    assert head.split(b"\n")[-1].startswith(b"X-Bayleaf: spam; spam=")
    assert body == b"claim your free prize now\n"
    assert judged(mail_model, "-e", stdin=HAM).returncode == 1
    assert judged(mail_model, "-e", "--unsure", "0.99999999", stdin=b"Subject: x\n\nhm\n").returncode == 2
    for arguments, stdin in ((["-e"], b""), (["-e", "--spam", "junk"], HAM), (["-e", "--nonsense"], HAM)):
        ran = judged(mail_model, *arguments, stdin=stdin)
        assert (ran.returncode, ran.stdout) == (3, b""), arguments
    assert judged(mail_model.parent / "none", "-e", stdin=HAM).returncode == 3


def test_one_mail_from_a_pipe_is_one_mail_and_its_charset_is_honored(mail_model: Path) -> None:
    latin = b"Subject: lunch\nContent-Type: text/plain; charset=latin-1\n\ncaf\xe9 at noon\n"
    ran = judged(mail_model, stdin=latin)
    assert (ran.returncode, ran.stdout) == (0, b"ham\n"), ran.stderr


def test_attachments_are_not_words(tmp_path: Path) -> None:
    text = base64.encodebytes(b"hidden words")
    blob = base64.encodebytes(os.urandom(200_000))
    mail = (
        b'Subject: x\nContent-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/plain\n'
        b"Content-Transfer-Encoding: base64\n\n" + text + b"--b\nContent-Type: application/pdf; name=a.pdf\n"
        b"Content-Transfer-Encoding: base64\n\n" + blob + b"--b--\n"
    )
    for name in ("ham", "spam"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.eml").write_bytes(mail)
    done(
        "train",
        "-q",
        "--plain",
        tmp_path / "ham" / "1.eml",
        tmp_path / "spam" / "1.eml",
        "-o",
        tmp_path / "m",
    )
    found = Model.load(tmp_path / "m")
    assert found.counts(0).n_terms < 40
    assert found.log_joint(["hidden"]).tolist() != found.log_joint(["unknown"]).tolist()


RECIPES = {"procmail": ["procmail", "-m"], "maildrop": ["maildrop"]}
HEADS = {
    "procmail": "DEFAULT={0}/inbox\nSHELL=/bin/sh\nLOGFILE={0}/log\nUMASK=077\n",
    "maildrop": 'DEFAULT="{0}/inbox"\nlogfile "{0}/log"\n',
}


@pytest.mark.parametrize("program", RECIPES)
def test_mail_is_delivered_by_the_recipe_of_the_docs(mail_model: Path, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed here.")
    page = (Path(__file__).parent.parent / "docs" / "commands" / "classify.md").read_text()
    recipe = page.partition(f"For {program}:\n\n```text\n")[2].partition("```")[0]
    folder = mail_model.parent
    launcher = folder / "launch"
    launcher.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n')
    launcher.chmod(0o755)
    rules = recipe.replace("$HOME/", f"{folder}/").replace("bayleaf classify", f"{launcher} classify")
    (folder / "rc").write_text(HEADS[program].format(folder) + rules)
    (folder / "rc").chmod(0o600)
    command = [*RECIPES[program], str(folder / "rc")]
    for mail in (SPAM, HAM):
        subprocess.run(command, input=mail, env=ENVIRONMENT, check=True)
    assert b"X-Bayleaf: spam" in (folder / "junk").read_bytes(), (folder / "log").read_text()
    assert b"X-Bayleaf: ham" in (folder / "inbox").read_bytes(), (folder / "log").read_text()
    if (
        program == "procmail"
    ):  # a filter that fails leaves the mail as it was; maildrop asks to try again later
        mail_model.unlink()
        subprocess.run(command, input=HAM, env=ENVIRONMENT, check=True)
        assert (folder / "inbox").read_bytes().count(b"see you at noon") == 2


def test_the_interface_is_the_usual_one() -> None:
    assert done("-V") == done("--version")
    ran = bayleaf()
    assert (ran.returncode, "Commands:" in ran.stdout, ran.stderr) == (0, True, "")
    assert done("help", "train") == done("train", "--help")
    assert "There is no command 'trian'. Did you mean 'train'?" in refused(2, "trian")
    assert "no encoding is named 'klingon'" in refused(2, "classify", "m", "--encoding", "klingon")
    manual = done("--man")
    assert all(f".SS bayleaf {name} " in manual for name in ("train", "classify", "relabel"))
    assert "\\-\\-max\\-record" in manual
    environment = {
        **ENVIRONMENT,
        "_BAYLEAF_COMPLETE": "bash_complete",
        "COMP_WORDS": "bayleaf inspect mod",
        "COMP_CWORD": "2",
    }
    out = subprocess.run(COMMAND, env=environment, capture_output=True, encoding="utf-8", check=False).stdout
    assert out.split() == ["file,mod"]


def test_a_model_of_which_nothing_could_be_judged_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("ham\tsee you\nham\tsee you\nspam\tfree prize\n", "utf-8")
    done("train", "t.tsv", "-q", "-o", "m", cwd=tmp_path)
    said = done("inspect", "m", cwd=tmp_path)
    assert "nothing could be judged" in said
    assert "-0" not in said


BASES = {"one": "ACGTTGCAAC" * 9, "two": "GGATCCGTAA" * 9}


@pytest.mark.parametrize("name", ["s.tsv", "s.csv", "s.jsonl", "s.txt", "s.fasta", "s.fastq", "s.parquet"])
def test_sequences_are_the_same_bases_in_every_format_and_case(tmp_path: Path, name: str) -> None:
    """Lower-case DNA and RNA were other terms; 93 % fell to 2 %."""
    rows = "".join(f"{label}\t{bases}\n" for label, bases in BASES.items())
    (tmp_path / "train.tsv").write_text(rows)
    done("train", "train.tsv", "-q", "--preset", "dna", "-o", "m", "--tuning", "none", cwd=tmp_path)
    asked = [bases.lower().replace("t", "u") for bases in BASES.values()]
    path = tmp_path / name
    if name.endswith("parquet"):
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pytest.importorskip("pyarrow").table({"text": asked}), path)
    else:
        lines = {
            "s.csv": "id,text\n" + "".join(f"x,{text}\n" for text in asked),
            "s.tsv": "label\ttext\n" + "".join(f"x\t{text}\n" for text in asked),
            "s.jsonl": "".join(json.dumps({"text": text}) + "\n" for text in asked),
            "s.fasta": "".join(f">x\n{text}\n" for text in asked),
            "s.fastq": "".join(f"@x\n{text}\n+\n{'I' * len(text)}\n" for text in asked),
        }
        path.write_text(lines.get(name, "".join(f"{text}\n" for text in asked)))
    out = [
        line.split("\t") for line in done("classify", "m", path, "-q", "--proba", cwd=tmp_path).splitlines()
    ]
    assert [line[0] for line in out] == ["one", "two"]
    capitals = "".join(f"{bases}\n" for bases in BASES.values())
    whole = done("classify", "m", "-", "-q", "--proba", stdin=capitals, cwd=tmp_path).splitlines()
    assert [line[1:3] for line in out] == [line.split("\t")[1:3] for line in whole]
