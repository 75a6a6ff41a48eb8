"""Commands on one message: they import little, and both ways to run them say and do the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bayleaf import Model, words
from bayleaf.quick import QuickModel
from cli_process import COMMAND, ENVIRONMENT, bayleaf, done
from quick_models import TEXTS, made, of_three_classes

EML = (
    b"From: a@x.example\nSubject: free prize\nContent-Type: text/plain; charset=utf-8\n\n"
    b"win a free prize n\xc3\xbcw\n"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("quick") / "model"
    made(path, [words(2)], True)
    return path


def test_one_message_is_answered_without_numpy_click_and_regular_expressions(model: Path) -> None:
    script = (
        "import sys, bayleaf.cli\n"
        "try: bayleaf.cli.main()\n"
        "except SystemExit:\n"
        "    slow = {'numpy', 'click', 're', 'json', 'typing'}\n"
        "    print(sorted(slow & set(sys.modules)), file=sys.stderr)"
    )
    for options in (["-e"], ["-p"], ["--format", "eml", "--proba"], ["--json"]):
        call = [sys.executable, "-c", script, "classify", str(model), *options]
        ran = subprocess.run(call, input=EML, capture_output=True, env=ENVIRONMENT, check=True)
        assert ran.stderr.endswith(b"[]\n"), (options, ran.stderr)
    call = [sys.executable, "-c", script, "update", str(model), "--label", "ham", "--format", "eml", "-"]
    ran = subprocess.run(call, input=EML, capture_output=True, env=ENVIRONMENT, check=True)
    assert ran.stderr.endswith(b"[]\n"), ran.stderr


INPUTS = [
    b"",
    b"\n",
    b"a b\n\n \nclaim it",
    b"zzqqxx\n",
    b"\xff b\n",
    b"\xef\xbb\xbfclaim\r\nx\r\n",
    b"From me\nx\n",
    b"x\ty\n",
    b"x\ty\nclaim it\n",
    b"claim it\r\nx y\r\n\r\nwin",
    b"@me claim it\n",
    b">claim it\nnow\n",
    b"__label__a claim it\n",
    b"Hello, Anna; claim it, please, Anna\n",
    b"a, b, c, d\n" * 6,
    b'\n{"text": "a"}\n',
    b'{"text": "a"}\n',
    b"text,label\nc,d\n",
    "ünï cödé 日本語\n".encode(),
    b"a\n" * 30,
    EML,
]


@pytest.mark.parametrize("given", INPUTS, ids=range(len(INPUTS)))
def test_both_ways_to_answer_write_the_same(model: Path, given: bytes) -> None:
    for options in ([], ["--proba", "--json"], ["-q", "--unsure", "0.9"], ["-pe"], ["--format", "eml"]):
        call = [*COMMAND, "classify", str(model), *options]
        quick = subprocess.run(call, input=given, capture_output=True, env=ENVIRONMENT, check=False)
        # An option that changes nothing, and that only the ordinary command knows.
        call += ["--threads", "1"]
        whole = subprocess.run(call, input=given, capture_output=True, env=ENVIRONMENT, check=False)
        assert (quick.returncode, quick.stdout, quick.stderr) == (
            whole.returncode,
            whole.stdout,
            whole.stderr,
        ), options


def test_both_ways_to_change_say_and_do_the_same(tmp_path: Path) -> None:
    made(tmp_path / "quick", [words(2)], True)
    made(tmp_path / "whole", [words(2)], True)
    (tmp_path / "mail").write_bytes(EML)
    mail = ("--format", "eml", str(tmp_path / "mail"))
    (tmp_path / "a.eml").write_bytes(EML)
    for part in ("cur", "new"):
        (tmp_path / "box" / part).mkdir(parents=True)
    (tmp_path / "box" / "cur" / "1:2,S").write_bytes(EML)
    for command in (
        ("update", "--label", "spam", *mail),
        ("relabel", "--from", "spam", "--to", "ham", *mail),
        ("forget", "--label", "ham", *mail),
        ("forget", "--label", "ham", *mail),
        ("update", "--label", "hum", *mail),
        ("update", "--label", "spam", "a.eml", "box/cur/1:2,S"),
    ):
        said = []
        for name, more in (("quick", ()), ("whole", ("--threads", "1"))):
            ran = bayleaf(command[0], name, *command[1:], *more, cwd=tmp_path)
            shown = ran.stdout.rpartition(", ")[0].replace("whole", "quick")
            said.append((ran.returncode, shown, ran.stderr.replace("whole", "quick")))
        assert said[0] == said[1]
    assert Model.load(tmp_path / "quick").to_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("given", INPUTS, ids=range(len(INPUTS)))
def test_both_ways_to_learn_lines_say_and_do_the_same(tmp_path: Path, given: bytes) -> None:
    said, models = [], []
    for more in ([], ["--threads", "1"]):
        path = tmp_path / str(len(more))
        made(path, [words(2)], True)
        call = [*COMMAND, "update", str(path), "--label", "ham", "-", *more]
        ran = subprocess.run(call, input=given, capture_output=True, env=ENVIRONMENT, check=False)
        shown = ran.stdout.rpartition(b", ")[0]
        said.append(
            [ran.returncode] + [part.replace(str(path).encode(), b"") for part in (shown, ran.stderr)]
        )
        models.append(Model.load(path).to_bytes())
    assert said[0] == said[1]
    assert models[0] == models[1]


def test_no_line_of_text_takes_the_whole_model(tmp_path: Path) -> None:
    path = tmp_path / "model"
    made(path, [words(2)], True)
    for text in (
        "Hello, Anna; claim it, please, Anna",
        "a\tb",
        "@you: win",
        "> quoted",
        "From now on, at 12:30",
        '{"text": "win"}',
        "text,label",
    ):
        before = path.read_bytes()
        done("update", path, "--label", "ham", "-", stdin=f"{text} {text}\r\n")
        assert path.read_bytes().startswith(before), text
        assert path.stat().st_size > len(before)


def test_every_command_sees_changes_behind_a_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    whole = made(path, [words()], False)
    done("update", path, "--label", "ham", "-", "-q", stdin="zyxwv zyxwv\n")
    assert QuickModel(str(path)).changes > 0
    whole.learn(["zyxwv zyxwv"], ["ham"])
    assert json.loads(done("inspect", path, "--json"))["documents"] == whole.n_documents
    assert "zyxwv" in done("explain", path, "zyxwv")
    done("merge", path, "-o", tmp_path / "merged", "-q")
    assert (tmp_path / "merged").read_bytes() == whole.to_bytes()
    assert np.array_equal(Model.load(path).log_joint(TEXTS[:5]), whole.log_joint(TEXTS[:5]))


def test_weights_of_words_and_classes_do_not_take_the_whole_model(tmp_path: Path) -> None:
    model, _, labels = of_three_classes()
    path = tmp_path / "model"
    model.save(path)
    before = path.read_bytes()
    done("update", path, "--label", labels[0], "-", "-q", stdin=f"{TEXTS[700]}\n")
    assert path.read_bytes().startswith(before)
    assert Model.load(path).to_bytes() == model.learn([TEXTS[700]], [labels[0]]).to_bytes()
