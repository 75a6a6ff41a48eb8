"""The page in a real browser: by keyboard, reloaded, offline, killed, by two people."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from service_store import assert_sound
from teaching_browser import KEYS, NEXT, Tab, opened
from teaching_process import ROWS, TRUTH, rows_of, teaching, wait_until_read, with_key, write_jsonl

DATA = os.environ.get("BAYLEAF_DATA")


def read_sms() -> dict[str, str]:
    """The SMS corpus where it is at hand, else the bundled messages."""
    if not DATA:
        return {text: label for label, text in ROWS[:700]}
    lines = (Path(DATA) / "sms.train.tsv").read_text("utf-8").splitlines()
    return {
        text.strip(): label for label, text in (line.split("\t", 1) for line in lines) if text.isprintable()
    }


LEAST = 0.95 if DATA else 0.8
"""Of documents that the page never saw; the bundled messages are harder than the SMS corpus, and few."""


def read_tests(truth: dict[str, str]) -> list[tuple[str, str]]:
    """A thousand documents of the test file; of the bundled messages, those that were not in the pool."""
    if not DATA:
        return [row for row in ROWS if row[1] not in truth]
    lines = (Path(DATA) / "sms.test.tsv").read_text("utf-8").splitlines()[:1000]
    return [(label, text) for label, text in (line.split("\t", 1) for line in lines)]


def test_two_hundred_labels_by_keyboard_are_right_and_undone_to_the_byte(
    chromium: Any, tmp_path: Path
) -> None:
    truth = read_sms()
    corpus = write_jsonl(tmp_path / "sms.jsonl", list(truth))
    with teaching(corpus, "--classes", "ham,spam", folder=with_key(tmp_path / "sms")) as page:
        wait_until_read(page)
        empty = page.digest()
        with opened(chromium, page) as tab:
            tab.label(truth, 100)
            before = tab.text
            tab.page.reload()
            tab.ready()
            assert tab.text == before, "a reload shows the same document"
            tab.label(truth, 100)
            found = page.page("progress")["hold_out"]
            assert found["documents"] >= 10
            # Of some twenty documents one error is 5 %: of ten sessions seven end above 95 %. What twenty can
            # say is the interval; the messages that were never seen, below, say it of hundreds.
            assert found["low"] < found["accuracy"] <= found["high"]
            assert found["high"] > 0.95
            tab.page.wait_for_function(
                "() => document.getElementById('measure').textContent.includes('Accuracy')"
            )
            tests = read_tests(truth)
            answers = page.post("/models/sms/classify", {"texts": [text for _, text in tests]}).json[
                "answers"
            ]
            right = sum(each["label"] == label for each, (label, _) in zip(answers, tests, strict=True))
            assert right / len(tests) > LEAST
            for _ in range(15):
                tab.press("z")
            tab.page.keyboard.press("h")
            tab.page.click("text=Undo everything I did today")
            tab.says("185 ")
            tab.page.keyboard.press("z")
            tab.says("nothing left")
        assert page.digest() == empty
    assert_sound(tmp_path / "sms")


def test_nothing_on_the_screen_moves(chromium: Any, corpus: Path, tmp_path: Path) -> None:
    with (
        teaching(corpus, "--classes", "ham,spam", folder=tmp_path / "still") as page,
        opened(chromium, page) as tab,
    ):
        places = set()
        for _ in range(25):
            tab.label(TRUTH)
            boxes = tab.page.eval_on_selector_all(
                "#document, #classes button, #undo, #said",
                "all => all.map(e => JSON.stringify(e.getBoundingClientRect()))",
            )
            places.add(tuple(boxes))
        assert len(places) == 1
        before = tab.text, page.page("state")["model"]["version"]
        tab.page.wait_for_timeout(300)
        assert (tab.text, page.page("state")["model"]["version"])[0] == before[0]


def test_two_people_at_once_get_different_documents(chromium: Any, corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, "--classes", "ham,spam", folder=tmp_path / "two") as page:
        with opened(chromium, page) as ann, opened(chromium, page) as bob:
            for tab, name in ((ann, "ann"), (bob, "bob")):
                before = tab.text
                tab.page.fill("#person", name)
                tab.page.press("#person", "Tab")
                tab.page.wait_for_function(NEXT, arg=before)
            for _ in range(12):
                assert ann.text != bob.text
                ann.label(TRUTH)
                bob.label(TRUTH)
            bob.press("z")
        rows = rows_of(page)
        assert sorted(row["by"] for row in rows) == ["ann"] * 12 + ["bob"] * 11
        assert len({row["text"] for row in rows}) == 23


def test_a_kill_in_the_middle_loses_nothing_and_the_page_goes_on(
    chromium: Any, corpus: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    with teaching(corpus, "--classes", "ham,spam", folder=folder) as page:
        tab = Tab(chromium, page.url)
        tab.label(TRUTH, 10)
        given = tab.text
        page.process.kill()
        page.process.wait()
        tab.page.keyboard.press(KEYS[TRUTH[given]])
        tab.says("kept in this browser")
        port = page.http
    with teaching(corpus, folder=folder, port=port) as again:
        tab.page.wait_for_function(NEXT, arg=given)
        assert again.page("state")["people"] == [{"name": "anonymous", "actions": 11}]
        tab.label(TRUTH, 3)
        assert again.page("state")["people"][0]["actions"] == 14
        tab.context.close()
        assert all("net::ERR_" in wrong for wrong in tab.wrong), tab.wrong
    assert_sound(folder)


def test_offline_for_a_moment_keeps_the_answer_and_sends_it_later(
    chromium: Any, corpus: Path, tmp_path: Path
) -> None:
    with teaching(corpus, "--classes", "ham,spam", folder=tmp_path / "offline") as page:
        tab = Tab(chromium, page.url)
        tab.label(TRUTH, 3)
        given = tab.text
        tab.context.set_offline(True)
        tab.page.keyboard.press("2")
        tab.says("kept in this browser")
        tab.page.keyboard.press("1")
        assert tab.text == given, "one answer at a time"
        assert page.page("state")["people"][0]["actions"] == 3
        tab.context.set_offline(False)
        tab.page.wait_for_function(NEXT, arg=given)
        assert page.page("state")["people"][0]["actions"] == 4
        found = page.page("labeled", {"search": given})["documents"]
        assert [each["label"] for each in found] == ["spam"]
        tab.context.close()
        assert all("ERR_INTERNET_DISCONNECTED" in wrong for wrong in tab.wrong)


def test_a_new_class_is_typed_a_word_is_taught_and_all_is_undone(
    chromium: Any, corpus: Path, tmp_path: Path
) -> None:
    with (
        teaching(corpus, "--classes", "ham,spam", folder=tmp_path / "typed") as page,
        opened(chromium, page) as tab,
    ):
        tab.label(TRUTH, 6)
        before = page.digest()
        tab.page.keyboard.press("n")
        given = tab.text
        tab.page.keyboard.type("newsletter")
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_function(NEXT, arg=given)
        assert page.page("state")["classes"] == ["ham", "spam", "newsletter"]
        tab.press("3")
        tab.page.keyboard.press("w")
        tab.page.wait_for_selector("#reasons .legend")
        shown = tab.text
        tab.page.click("#reasons button >> nth=0")
        tab.page.wait_for_selector("dialog[open] table")
        tab.page.click("dialog button:text-is('newsletter')")
        tab.says("is taught as")
        assert tab.text == shown, "the colors change, the text stays"
        tab.page.keyboard.press("e")
        tab.says("changes")
        for _ in range(3):
            status = tab.status
            tab.page.keyboard.press("z")
            tab.page.wait_for_function("x => document.getElementById('status').textContent !== x", arg=status)
            tab.page.evaluate("document.getElementById('status').textContent = ''")
            tab.page.wait_for_function("() => !document.querySelector('#document[aria-busy]')")
        assert page.digest() == before
        tab.page.keyboard.press("h")
        tab.page.click("text=Remove newsletter")
        tab.page.wait_for_function("() => document.querySelectorAll('#classes button').length === 2")


def test_suggestions_can_be_hidden_until_the_answer(chromium: Any, corpus: Path, tmp_path: Path) -> None:
    with (
        teaching(corpus, "--classes", "ham,spam", folder=tmp_path / "hide") as page,
        opened(chromium, page) as tab,
    ):
        tab.label(TRUTH, 8)
        assert "The model says" in tab.page.text_content("#said")
        tab.page.check("#hide")
        tab.page.evaluate("document.activeElement.blur()")
        assert tab.page.text_content("#said") == ""
        assert "%" not in tab.page.text_content("#classes")
        tab.label(TRUTH, 5)
        assert tab.page.text_content("#said") == ""
        tab.page.uncheck("#hide")
        tab.page.evaluate("document.activeElement.blur()")
        tab.press("Enter")
        assert tab.status.startswith("Labeled ")


def test_review_corrects_with_one_key_and_labels_all_hits(
    chromium: Any, corpus: Path, tmp_path: Path
) -> None:
    with (
        teaching(corpus, "--classes", "ham,spam", folder=tmp_path / "review") as page,
        opened(chromium, page) as tab,
    ):
        tab.label(TRUTH, 20)
        tab.view("review")
        tab.page.select_option("#list", "labeled")
        tab.page.wait_for_selector("#cards > li")
        tab.page.evaluate("document.activeElement.blur()")
        tab.page.keyboard.press("ArrowDown")
        item = tab.page.evaluate("document.activeElement.dataset.item")
        label = page.page("labeled")["documents"][0]["label"]
        other = "ham" if label == "spam" else "spam"
        tab.page.keyboard.press(KEYS[other])
        tab.says("z undoes")
        found = {each["item"]: each["label"] for each in page.page("labeled", {"limit": 100})["documents"]}
        assert found[item] == other
        tab.page.select_option("#list", "search")
        tab.page.fill("#by-text", "free")
        tab.page.press("#by-text", "Enter")
        tab.page.click("#above button >> text=spam")
        tab.says("are labeled spam")
        assert page.page("hits", {"search": "free"})["hits"] == []


def test_the_files_are_downloaded(chromium: Any, corpus: Path, tmp_path: Path) -> None:
    with (
        teaching(corpus, "--classes", "ham,spam", folder=tmp_path / "take") as page,
        opened(chromium, page) as tab,
    ):
        tab.label(TRUTH, 6)
        tab.view("take")
        with tab.page.expect_download() as waiting:
            tab.page.click("button:text-is('TSV')")
        waiting.value.save_as(tmp_path / "got.tsv")
        assert waiting.value.suggested_filename == "texts-labels.tsv"
        assert len((tmp_path / "got.tsv").read_text().splitlines()) == 7
