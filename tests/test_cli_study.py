"""`bayleaf study` as a process: the table, the files it writes, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from cli_process import bayleaf, done, messages, refused, write_tsv
from outline import Outline


def test_the_command_shows_a_table_and_writes_the_same_study_as_csv_html_and_json(tmp_path: Path) -> None:
    corpus = write_tsv(tmp_path / "mail.tsv", messages())
    grid_ = ["--ngrams", "1", "--stop-words", "none", "--normalizer", "none", "--folds", "5"]
    out = done("study", corpus, *grid_, "--csv", "s.csv", "--html", "s.html", "--curve", cwd=tmp_path)
    assert "6 combinations x 5 folds = 30 models of 956 documents" in out
    assert "= multinomial" in out
    assert "Accuracy in % as the vocabulary grows" in out
    found = json.loads(done("study", "-q", corpus, *grid_, "--json"))
    table = list(csv.DictReader((tmp_path / "s.csv").read_text("utf-8").splitlines()))
    assert [float(row["accuracy"]) for row in table] == [row["accuracy"] for row in found["rows"]]
    assert Outline((tmp_path / "s.html").read_text("utf-8")).seen.count("svg") == 4


def test_rivals_are_measured_in_the_same_folds(tmp_path: Path) -> None:
    corpus = write_tsv(tmp_path / "mail.tsv", messages())
    one = ["--ngrams", "1", "--weighting", "tf", "--event", "multinomial", "--stop-words", "none"]
    call = ["study", str(corpus), "-q", *one, "--normalizer", "none", "--folds", "3"]
    rivals = ["--rival", "default", "--rival", "logistic", "--rival", "default", "--rival", "svm"]
    found = json.loads(done(*call, *rivals, "--json"))["rows"]
    assert sorted(row["event"] for row in found) == ["default", "logistic", "multinomial", "svm"]
    assert all(row["accuracy"] > 0.9 for row in found)
    assert "logistic" in done(*call, *rivals)
    assert "'tree' is not one of 'default', 'logistic', 'svm'" in refused(2, *call, "--rival", "tree")


def test_the_command_refuses_what_the_library_refuses(tmp_path: Path) -> None:
    corpus = write_tsv(tmp_path / "mail.tsv", messages())
    assert "got 'idf'" in refused(2, "study", "-q", corpus, "--weighting", "idf")
    assert "there is no folder" in refused(1, "study", "-q", corpus, "--html", tmp_path / "no" / "s.html")
    assert bayleaf("study", "-q", corpus, "--folds", "1").returncode == 2
