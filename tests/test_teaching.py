"""The page without a browser: what is labeled is learned, kept and undone exactly, by several people."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf import Model, words
from bayleaf.service.changes import Who
from bayleaf.service.page.actions import Act, Shown, Undo
from bayleaf.service.page.reviewing import kappa
from bayleaf.service.served import facts
from cli_process import done
from service_store import assert_sound, opened
from teaching_process import (
    ROWS,
    TEXTS,
    TRUTH,
    Teaching,
    rows_of,
    serving,
    session,
    teaching,
    wait_until_read,
    with_key,
)

# Labeling and undoing


def test_what_is_labeled_is_learned_or_held_out_and_survives_a_kill(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with teaching(corpus, "--classes", "ham,spam", folder=folder) as page:
        shown = session(page, 40)
        before = rows_of(page)
        assert len(before) == 40
        assert all(TRUTH[row["text"]] == row["label"] for row in before)
        page.process.kill()
    assert_sound(folder)
    with teaching(corpus, folder=folder) as page:
        assert rows_of(page) == before
        learned = [row for row in before if not row["held"]]
        assert sum(page.get("/models/texts").json["documents"].values()) == len(learned)
        assert page.page("state")["classes"] == ["ham", "spam"]
        again = page.label(shown or {}, "ham")
        assert again is not None
        assert again["text"] not in [row["text"] for row in before]


def test_undo_has_no_limit_and_restores_the_bytes(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "undone") as page:
        empty = page.digest()
        first = page.page("next")["next"]
        digests, shown = [], first
        for _ in range(25):
            digests.append(page.digest())
            shown = page.label(shown, TRUTH[shown["text"]])
        for digest in reversed(digests):
            reply = page.page("undo")
            assert reply["undone"] == 1
            assert page.digest() == digest
        assert page.digest() == empty
        assert reply["next"]["item"] == first["item"]
        assert page.page("undo")["undone"] == 0
        assert rows_of(page) == []


def test_an_answer_that_is_sent_again_counts_once(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "twice") as page:
        shown = page.page("next")["next"]
        page.label(shown, "spam", key="same")
        digest = page.digest()
        page.label(shown, "spam", key="same")
        assert page.digest() == digest
        assert page.page("undo")["undone"] == 1
        assert page.page("undo")["undone"] == 0


def test_a_skip_is_not_shown_again_and_can_be_undone(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "skipped") as page:
        shown = page.page("next")["next"]
        after = page.label(shown, None)
        assert after["item"] != shown["item"]
        assert page.page("undo")["next"]["item"] == shown["item"]


def test_everything_of_today_or_of_one_person_is_undone_at_once(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "many") as page:
        session(page, 8, "ann")
        own = {row["text"] for row in rows_of(page)}
        session(page, 7, "bob")
        assert page.page("undo", {"person": "ann", "what": "all", "of": "bob"})["undone"] == 7
        assert {row["text"] for row in rows_of(page)} == own
        later = time.time() + 60
        assert page.page("undo", {"person": "ann", "what": "today", "midnight": later})["undone"] == 0
        assert page.page("undo", {"person": "ann", "what": "today", "midnight": 0})["undone"] == 8
        assert rows_of(page) == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob"]),
        st.sampled_from(["label", "undo", "undo all"]),
        st.integers(0, 3),
        st.sampled_from(["ham", "spam"]),
    ),
    max_size=25,
)


@settings(max_examples=40)
@given(steps=STEPS)
def test_undoing_in_any_order_leaves_the_last_label_that_stands(
    steps: list[tuple[str, str, int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any sequence of labels and undos by two people: the counts are those of the labels that stand."""
    texts = ["win a prize", "lunch at noon", "free lunch", "prize of the free"]
    standing: list[tuple[str, str, str]] = []
    with opened(tmp_path_factory.mktemp("steps")) as (store, served):
        number = served.number
        for step, (person, what, at, label) in enumerate(steps):
            who = Who(number, person)
            if what == "label":
                shown = Shown(f"p{at}", served.reader.text(texts[at]))
                store.submit(Act(who, f"k{step}", [shown], label)).result(30)
                standing.append((person, texts[at], label))
            else:
                store.submit(Undo(who, person, None if what == "undo" else 0.0)).result(30)
                own = [place for place, each in enumerate(standing) if each[0] == person]
                for place in reversed(own[-1:] if what == "undo" else own):
                    del standing[place]
        expected = Model([words()])
        final = {text: label for _, text, label in standing}
        if final:
            expected.learn(list(final), list(final.values()))
        assert facts(served.shared) == facts(expected)


def test_undo_brings_back_the_label_that_a_file_gave(tmp_path: Path) -> None:
    corpus = tmp_path / "some.csv"
    rows = ["text,label", "win a prize,spam", "lunch at noon,ham", "free tickets,", "prize draw,"]
    corpus.write_text("\n".join(rows) + "\n")
    with teaching(corpus, folder=with_key(tmp_path / "given", b"o" * 32)) as page:
        wait_until_read(page)
        before = page.digest()
        found = page.page("labeled", {"search": "prize"})["documents"]
        assert [(each["label"], each["by"]) for each in found] == [("spam", "some.csv")]
        page.page("label-all", {"items": [found[0]["item"]], "label": "ham", "key": "a", "how": "review"})
        assert page.digest() != before
        page.page("undo")
        assert page.digest() == before
        assert page.page("labeled", {"search": "prize"})["documents"][0]["by"] == "some.csv"
        unlabeled = {page.page("next")["next"]["text"]}
        assert unlabeled <= {"free tickets", "prize draw"}


# Orders and people


def test_the_orders_give_what_they_say(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=with_key(tmp_path / "orders", b"o" * 32)) as page:
        wait_until_read(page)
        newest = {page.page("next", {"order": "newest", "person": f"p{n}"})["next"]["text"] for n in range(8)}
        assert len(newest & set(TEXTS[-8:])) >= 5
        found = page.page("next", {"order": "search", "search": "FREE"})["next"]
        assert "free" in found["text"].lower()
        assert page.page("next", {"order": "search", "search": "100%_\\"})["next"] is None
        assert page.reply("next", {"order": "search", "search": " "}).status == 422
        assert page.reply("next", {"order": "best"}).status == 422


def test_no_document_is_given_to_two_people_unless_asked_for(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "people") as page:
        people = [f"p{n}" for n in range(6)]
        given = [page.page("next", {"person": person})["next"]["item"] for person in people for _ in range(2)]
        assert len(set(given)) == len(people), "each got one, and the same after a reload"
        for _ in range(5):
            for person in people:
                shown = page.page("next", {"person": person})["next"]
                page.label(shown, TRUTH[shown["text"]], person)
        texts = [row["text"] for row in rows_of(page)]
        assert len(set(texts)) == len(texts) == 30
        second = page.page("next", {"person": "p0", "order": "second"})["next"]
        assert second["text"] in texts
        wrong = "ham" if second["label"] == "spam" else "spam"
        page.label(second, wrong, "p0", order="second")
        found = page.page("disagreements")
        assert [each["text"] for each in found["documents"]] == [second["text"]]
        assert len(rows_of(page)) == 30
        (row,) = [each for each in rows_of(page) if each["text"] == second["text"]]
        assert row["label"] == second["label"], "an opinion changes no label"


def test_kappa_is_cohens() -> None:
    """Cohen's example: 50 applications, 20 and 15 agreed, 5 and 10 not: kappa is 0.4."""
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    assert kappa(pairs) == pytest.approx(0.4)
    assert kappa([("yes", "yes")] * 3) is None


def test_a_person_with_a_token_has_its_name_and_others_are_refused(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tokens"
    done("teach", corpus, "--folder", folder, "--check")
    token = done("serve", folder, "--token", "ann").strip()
    boss = done("serve", folder, "--token", "boss", "--scope", "admin").strip()
    done("serve", folder, "--token", "guest", "--scope", "read")
    with serving(folder) as page:
        head = {"Authorization": f"Bearer {token}"}
        shown = page.page("next", {"person": "mallory"}, **head)["next"]
        body = {"item": shown["item"], "how": shown["how"], "label": "ham", "key": "1", "person": "mallory"}
        page.page("label", body, **head)
        rows = [
            json.loads(line) for line in page.reply("export", {"format": "jsonl"}, **head).body.splitlines()
        ]
        assert [row["by"] for row in rows] == ["ann"]
        assert page.reply("next").status == 401
        assert page.reply("undo", {"what": "all", "of": "boss"}, **head).status == 403
        undone = page.page("undo", {"what": "all", "of": "ann"}, Authorization=f"Bearer {boss}")
        assert undone["undone"] == 1


# Why


def _both_ways(page: Teaching, item: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The reasons for a label and those against it, by one version: weights may be renewed meanwhile."""
    while True:
        found = page.page("why", {"item": item})
        other = page.page("why", {"item": item, "label": found["against"]})
        if found["version"] == other["version"]:
            return found, other


def test_the_pieces_of_an_explanation_are_the_text_and_its_odds(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "why") as page:
        shown = session(page, 30)
        assert shown is not None
        found, other = _both_ways(page, shown["item"])
        assert "".join(piece for piece, _ in found["pieces"]) == shown["text"]
        assert {found["label"], found["against"]} == {"ham", "spam"}
        for (_, one), (_, two) in zip(found["pieces"], other["pieces"], strict=True):
            assert one == pytest.approx(-two, abs=1e-3)
        changes = page.page("effect", {"item": shown["item"]})
        assert set(changes["changes"]) == {"ham", "spam"}
        assert all(0 <= count <= changes["documents"] for count in changes["changes"].values())


def test_a_word_is_taught_and_left_out_and_both_are_undone(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "word"
    with teaching(corpus, folder=folder) as page:
        for search, label in (("free", "spam"), ("lunch", "ham")):
            hits = page.page("hits", {"search": search})["hits"]
            assert hits
            page.page(
                "label-all", {"items": [hit["item"] for hit in hits[:6]], "label": label, "key": search}
            )
        before = page.digest()
        found = page.page("word", {"word": "free"})
        assert {row["label"]: row["with"] for row in found["counts"]}["spam"] >= 5
        assert all("free" in each["text"].lower() for each in found["documents"])
        page.page("word", {"word": "tickets", "label": "ham", "key": "w1"})
        taught = page.digest()
        assert taught != before
        page.page("word", {"word": "Free", "leave_out": True, "key": "w2"})
        left = page.digest()
        assert left not in (before, taught)
        assert page.page("state")["left_out"] == ["free"]
        page.process.kill()
    assert_sound(folder)
    with teaching(corpus, folder=folder) as page:
        assert page.digest() == left
        model = Model.from_bytes(page.get("/models/texts/file").body)
        assert "free" not in model.views[0][1].tokens("free lunch")  # type: ignore[attr-defined]
        page.page("undo")
        assert page.digest() == taught
        page.page("undo")
        assert page.digest() == before


# A running filter


def test_a_running_filter_is_corrected_from_its_history_and_taught_from_its_questions(tmp_path: Path) -> None:
    path = tmp_path / "spam.bayleaf"
    Model([words()]).learn(TEXTS[:300], [label for label, _ in ROWS[:300]]).save(path)
    with serving(tmp_path / "filter", "--model", f"spam={path}") as page:
        for text in TEXTS[300:330]:
            page.post("/models/spam/classify", {"text": text})
        history = page.page("history", {})["questions"]
        assert [each["text"] for each in history] == TEXTS[300:330][::-1]
        first = history[0]
        wrong = "ham" if first["answer"] == "spam" else "spam"
        page.page("label-all", {"items": [first["item"]], "label": wrong, "key": "h", "how": "review"})
        assert page.page("history", {})["questions"][0]["label"] == wrong
        shown = page.page("next", {"order": "newest"})["next"]
        assert shown["text"] in TEXTS[300:329]
        page.page("undo")
        assert page.page("history", {})["questions"][0]["label"] is None
