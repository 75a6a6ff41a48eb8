"""The corpus of the page: read in the background, once, with its labels, from whatever is given."""

from __future__ import annotations

import signal
from pathlib import Path

from bayleaf.service.page.lessons import Lessons
from bayleaf.service.page.pool import CorpusPool, Source, path_of
from cli_process import bayleaf, done, refused
from service_store import opened
from teaching_process import ROWS, rows_of, teaching, wait_until_read, with_key, write_jsonl


def test_a_corpus_goes_on_where_it_was_and_grows(tmp_path: Path) -> None:
    corpus, folder = tmp_path / "grow.jsonl", tmp_path / "grow"
    for count in (5, 5, 9):
        write_jsonl(corpus, [f"text number {n}" for n in range(count)])
        assert f"{count} documents" in done("teach", corpus, "--folder", folder, "--check")
        assert _pool_texts(folder) == [f"text number {n}" for n in range(count)]


def test_another_corpus_under_the_same_name_is_read_anew(tmp_path: Path) -> None:
    corpus, folder = tmp_path / "new.jsonl", tmp_path / "new"
    write_jsonl(corpus, ["one", "two", "three"])
    done("teach", corpus, "--folder", folder, "--check")
    write_jsonl(corpus, ["four", "five", "six", "seven"])
    done("teach", corpus, "--folder", folder, "--check")
    assert _pool_texts(folder) == ["one", "two", "three", "four", "five", "six", "seven"]


def _pool_texts(folder: Path) -> list[str]:
    import sqlite3

    (path,) = (folder / "pools").glob("*.sqlite")
    return [text for (text,) in sqlite3.connect(path).execute("SELECT text FROM text ORDER BY id")]


def test_a_corpus_that_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path) -> None:
    assert "does not exist" in refused(1, "teach", tmp_path / "missing.csv", "--check").lower()
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3,4\n")
    assert "--text-column" in refused(1, "teach", bad, "--check", "--folder", tmp_path / "bad")
    good = write_jsonl(tmp_path / "good.jsonl", ["one"])
    assert "--classes" in refused(
        2, "teach", good, "--classes", "a\tb", "--check", "--folder", tmp_path / "g"
    )


def test_labels_of_a_corpus_are_learned_and_a_tenth_is_held_out(tmp_path: Path) -> None:
    corpus = tmp_path / "labeled.tsv"
    corpus.write_text("".join(f"{label}\t{text}\n" for label, text in ROWS[:300]))
    with teaching(corpus, folder=with_key(tmp_path / "labeled")) as page:
        wait_until_read(page)
        rows = rows_of(page)
        assert {row["text"] for row in rows} == {text for _, text in ROWS[:300]}
        assert 10 <= sum(row["held"] for row in rows) <= 60
        assert page.page("next")["next"] is None
        assert page.page("suspects")["documents"] is not None


def test_the_same_text_twice_is_asked_once(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "twice.jsonl", ["same text", "same  text", "same text"])
    with teaching(corpus, folder=tmp_path / "t") as page:
        shown = page.page("next")["next"]
        assert page.label(shown, "ham") is None


def test_a_pool_of_which_almost_all_is_labeled_still_finds_the_rest(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as (store, served):
        pool = CorpusPool(path_of(store.folder, served.name), served)
        rows = [(f"text {n}", int(n != 7_777)) for n in range(20_000)]
        pool.add(rows, Source("x", "", len(rows), 0, None, 1, "", ""))
        pool.close()
        found = Lessons(store, served).next("ann", "random")
        assert found is not None
        assert found.document.columns == "text 7777"
        assert Lessons(store, served).next("ann", "newest") is not None


def test_the_name_of_a_flat_folder_is_no_label_but_those_of_folders_in_it_are(tmp_path: Path) -> None:
    for place in ("flat", "deep/ham", "deep/spam"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "a.txt").write_text(f"a text of {place}")
    assert "nothing learned" in done("teach", "flat", "--check", cwd=tmp_path)
    assert "learned" not in done("teach", "deep", "--check", cwd=tmp_path)
    assert "nothing learned" in done(
        "teach", "deep", "--ignore-labels", "--folder", "x", "--check", cwd=tmp_path
    )


def test_a_folder_in_use_is_refused_and_ctrl_c_ends_the_page(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "busy") as page:
        assert "in use by another process" in refused(
            1, "teach", corpus, "--folder", tmp_path / "busy", "--check"
        )
        page.process.send_signal(signal.SIGINT)
        assert page.process.wait(30) == 0


def test_an_empty_corpus_says_so() -> None:
    assert bayleaf("teach", "-", "--check", stdin="").returncode != 0
