"""classify answers as the library does, line by line, and writes what it was asked for."""

from __future__ import annotations

import json
import os
import select
import subprocess
from pathlib import Path

import numpy as np
import pytest

import bayleaf
from cli_process import COMMAND, ENVIRONMENT, done, messages, write_tsv

CORPUS = messages()
TEXTS = [text for _, text in CORPUS]
MODEL = bayleaf.Model([bayleaf.words(ngrams=2)]).learn(TEXTS, [label for label, _ in CORPUS])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("classify")
    MODEL.save(made / "m")
    write_tsv(made / "messages.tsv", CORPUS)
    return made


def test_lines_of_text_are_answered_by_lines_of_labels(folder: Path) -> None:
    out = done("classify", "-q", "m", stdin="".join(text + "\n" for text in TEXTS), cwd=folder)
    assert out.splitlines() == list(MODEL.predict(TEXTS))


def test_the_other_columns_stay_and_the_text_does_if_asked_for(folder: Path) -> None:
    answers = MODEL.predict(TEXTS)
    out = done("classify", "-q", "m", "messages.tsv", cwd=folder).splitlines()
    assert out == [f"{answer}\t{label}" for answer, (label, _) in zip(answers, CORPUS, strict=True)]
    out = done("classify", "-q", "m", "messages.tsv", "--keep-text", cwd=folder).splitlines()
    assert out[5] == f"{answers[5]}\t{CORPUS[5][0]}\t{CORPUS[5][1]}"


def test_a_table_keeps_its_columns_and_a_break_inside_one_is_a_space(folder: Path) -> None:
    table = 'id,text,note\n7,"free prize, claim now","two\nlines"\n8,see you at noon,\n'
    out = done("classify", "-q", "m", "-", "--format", "csv", stdin=table, cwd=folder)
    assert out == "spam\t7\ttwo lines\nham\t8\t\n"
    rows = done("classify", "-q", "m", "-", "--format", "csv", "--json", stdin=table, cwd=folder).splitlines()
    assert [(json.loads(row)["id"], json.loads(row)["note"]) for row in rows] == [
        ("7", "two\nlines"),
        ("8", ""),
    ]


def test_probabilities_and_log_odds_are_those_of_the_library(folder: Path) -> None:
    text = "Will you claim the prize tonight"
    posterior = MODEL.posterior([text])[0]
    out = done("classify", "-q", "m", "--proba", "--log-odds", stdin=text + "\n", cwd=folder).rstrip("\n")
    label, odds, ham, spam = out.split("\t")
    assert label == MODEL.predict([text])[0]
    assert (ham, spam) == tuple(f"{n}={p:.6g}" for n, p in zip(("ham", "spam"), posterior, strict=True))
    assert float(odds) == pytest.approx(abs(np.log(posterior[1] / posterior[0])), abs=1e-3)
    said = json.loads(done("classify", "-q", "m", "--proba", "--json", stdin=text + "\n", cwd=folder))
    assert list(said["probabilities"].values()) == pytest.approx(posterior.tolist(), rel=1e-12)


def test_an_answer_below_the_threshold_is_unsure(folder: Path) -> None:
    lines = "zzz\nclaim your free prize http\n"
    assert done("classify", "-q", "m", "--unsure", "0.9", stdin=lines, cwd=folder) == "unsure\nspam\n"


def test_the_terms_that_decided_are_named(folder: Path) -> None:
    out = done("classify", "-q", "m", "--explain", stdin="claim the prize\n", cwd=folder)
    strongest = MODEL.explain("claim the prize").terms()[0]
    assert out.split("\t")[1].split()[0] == f"{strongest[0].replace(' ', '_')}:{strongest[2]:+.2f}"


def test_as_a_filter_each_line_is_answered_before_the_next_one_comes(folder: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "classify", "-q", "m"],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    for text, label in (("claim your free prize\n", b"spam\n"), ("see you at noon\n", b"ham\n")):
        process.stdin.write(text.encode())
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], 60)
        assert ready
        assert os.read(process.stdout.fileno(), 100) == label
    process.stdin.close()
    assert process.wait(60) == 0
    process.stdout.close()


def test_of_nothing_nothing_is_asked_and_of_an_empty_line_the_prior(folder: Path) -> None:
    for options in ([], ["--threads", "1"], ["--json"], ["--format", "eml"]):
        assert done("classify", "m", *options, cwd=folder) == ""
    prior = done("classify", "m", cwd=folder, stdin=" \n")
    assert done("classify", "m", cwd=folder, stdin="\n") == prior
    assert done("classify", "m", cwd=folder, stdin="\n\n") == prior * 2


def test_an_empty_line_gets_the_prior_and_the_last_line_needs_no_break(folder: Path) -> None:
    assert done("classify", "-q", "m", stdin="\nclaim your free prize", cwd=folder) == "ham\nspam\n"
