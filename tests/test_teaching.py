"""The page without a browser: what is labeled is learned, kept, held out, undone and taken away exactly."""

from __future__ import annotations

import io
import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf import Model, words
from bayleaf.service.changes import Who
from bayleaf.service.page.actions import HELD, Act, Shown, Undo, in_hold_out
from bayleaf.service.page.holdout import advice, interval
from bayleaf.service.page.lessons import Lessons
from bayleaf.service.page.pool import CorpusPool, Source, path_of
from bayleaf.service.page.reviewing import kappa
from bayleaf.service.served import facts
from cli_process import bayleaf, done, messages, refused
from service_store import assert_sound, opened
from teaching_process import Teaching, serving, teaching, wait_until_read, with_key, write_jsonl

ROWS = messages()
TRUTH = {text: label for label, text in ROWS}
TEXTS = [text for _, text in ROWS]


def session(page: Teaching, labels: int, person: str = "", order: str = "ask") -> dict[str, Any] | None:
    """Label so many documents by their truth."""
    shown: dict[str, Any] | None = page.page("next", {"person": person, "order": order})["next"]
    for _ in range(labels):
        assert shown is not None
        shown = page.label(shown, TRUTH[shown["text"]], person, order=order)
    return shown


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "texts.jsonl", TEXTS)


def rows_of(page: Teaching) -> list[dict[str, Any]]:
    lines = page.reply("export", {"format": "jsonl"}).body.splitlines()
    return [json.loads(line) for line in lines]


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
                own = [each for each in standing if each[0] == person]
                for each in own[-1:] if what == "undo" else own:
                    standing.remove(each)  # of equal ones any: they say the same
        expected = Model([words()])
        final = {text: label for _, text, label in standing}
        if final:
            expected.learn(list(final), list(final.values()))
        assert facts(served.shared) == facts(expected)


def test_undo_brings_back_the_label_that_a_file_gave(tmp_path: Path) -> None:
    corpus = tmp_path / "some.csv"
    rows = ["text,label", "win a prize,spam", "lunch at noon,ham", "free tickets,", "prize draw,"]
    corpus.write_text("\n".join(rows) + "\n")
    with teaching(corpus, folder=tmp_path / "given") as page:
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


# The hold-out


def test_the_hold_out_is_a_tenth_drawn_at_random_and_never_learned(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=with_key(tmp_path / "held")) as page:
        session(page, 150)
        rows = rows_of(page)
        held = [row for row in rows if row["held"]]
        assert 4 <= len(held) <= 30
        assert {row["how"] for row in held} == {"hold-out"}
        assert all(row["chance"] == pytest.approx(1 / len(TEXTS)) for row in held)
        assert {row["how"] for row in rows if not row["held"]} <= {"ask", "random"}
        learned = [row for row in rows if not row["held"]]
        views = page.get("/models/texts").json["views"]
        found, data = {}, b""
        while data != (data := page.get("/models/texts/file").body):  # weights may be renewed meanwhile
            found = page.page("progress")["hold_out"]
        model = Model.from_bytes(data)
        assert model.n_documents == len(learned)
        assert views == [repr(view) for _, view in model.views]
        assert found["documents"] == len(held)
        right = sum(
            a == row["label"] for a, row in zip(model.predict([r["text"] for r in held]), held, strict=True)
        )
        assert found["accuracy"] == pytest.approx(right / len(held))
        assert (found["low"], found["high"]) == pytest.approx(interval(right, len(held)))


def test_the_interval_is_wilsons() -> None:
    """Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    for right, of, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605),
                                 (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)):  # fmt: skip
        assert interval(right, of) == pytest.approx((low, high), abs=5e-5)


def test_the_advice_says_when_to_stop() -> None:
    points = [{"labels": n, "accuracy": a} for n, a in ((10, 0.5), (20, 0.7), (40, 0.8), (80, 0.9))]
    assert advice(points, 10).startswith("Go on: 20 more")
    assert advice(points, 100).startswith("Go on: 40 → 80 labels brought +10.0 points")
    points += [{"labels": 160, "accuracy": 0.905}]
    assert advice(points, 100).startswith("You may stop")


def test_the_learning_curve_ends_where_the_model_is(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=with_key(tmp_path / "curve")) as page:
        session(page, 60)
        curve = page.page("curve")
        learned = sum(page.get("/models/texts").json["documents"].values())
        assert [point["labels"] for point in curve["points"]] == [10, 20, 40, learned]
        rows = rows_of(page)
        known, held = ([row for row in rows if row["held"] == which] for which in (False, True))
        texts, labels = [row["text"] for row in known], [row["label"] for row in known]
        views = [view for _, view in Model.from_bytes(page.get("/models/texts/file").body).views]
        model = Model(views).learn(texts, labels).tune(texts, labels)
        right = model.predict([row["text"] for row in held]) == [row["label"] for row in held]
        assert curve["points"][-1]["accuracy"] == pytest.approx(right.mean())


# The corpus


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


def test_the_pieces_of_an_explanation_are_the_text_and_its_odds(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "why") as page:
        shown = session(page, 30)
        assert shown is not None
        found = page.page("why", {"item": shown["item"]})
        assert "".join(piece for piece, _ in found["pieces"]) == shown["text"]
        assert {found["label"], found["against"]} == {"ham", "spam"}
        other = page.page("why", {"item": shown["item"], "label": found["against"]})
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


# Taking away


def test_bayleaf_train_on_the_export_gives_the_bytes_of_the_model(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "export") as page:
        session(page, 50)
        (tmp_path / "labels.tsv").write_bytes(page.reply("export", {"format": "tsv"}).body)
        (tmp_path / "model.bayleaf").write_bytes(page.reply("export", {"format": "model"}).body)
    done("train", "labels.tsv", "-o", "plain.bayleaf", cwd=tmp_path)
    done("train", "labels.tsv", "-o", "like.bayleaf", "--like", "model.bayleaf", cwd=tmp_path)
    wanted = (tmp_path / "model.bayleaf").read_bytes()
    assert (tmp_path / "like.bayleaf").read_bytes() == wanted
    assert (tmp_path / "plain.bayleaf").read_bytes() == wanted


def test_texts_with_tabs_quotes_and_lines_come_back_from_every_format(tmp_path: Path) -> None:
    hard = [
        'a "quoted" one',
        "two\nlines",
        "tab\there",
        "comma, semicolon;",
        "  spaces  ",
        "ünï ç ☂",
        "label",
    ]
    with teaching(write_jsonl(tmp_path / "hard.jsonl", hard), folder=tmp_path / "hard") as page:
        shown = page.page("next", {"order": "random"})["next"]
        while shown is not None:
            shown = page.label(shown, "odd" if len(shown["text"]) % 2 else "even", order="random")
        rows = {row["text"]: row["label"] for row in rows_of(page)}
        assert set(rows) == set(hard)
        for name in ("tsv", "prodigy", "doccano", "label-studio", "parquet"):
            verbatim = rows if name != "tsv" else {re.sub(r"\s", " ", text): rows[text] for text in rows}
            assert _read_back(name, page.reply("export", {"format": name}).body) == verbatim, name
        (tmp_path / "labels.tsv").write_bytes(page.reply("export", {"format": "tsv"}).body)
        (tmp_path / "labels.jsonl").write_bytes(page.reply("export", {"format": "jsonl"}).body)
        (tmp_path / "model.bayleaf").write_bytes(page.reply("export", {"format": "model"}).body)
        assert page.reply("export", {"format": "xml"}).status == 422
    for name in ("labels.tsv", "labels.jsonl"):
        done("train", name, "-o", "again.bayleaf", "--like", "model.bayleaf", cwd=tmp_path)
        assert (tmp_path / "again.bayleaf").read_bytes() == (tmp_path / "model.bayleaf").read_bytes()


def _read_back(name: str, data: bytes) -> dict[str, str]:
    if name == "tsv":
        first, *lines = data.decode().splitlines()
        assert first == "label\ttext"
        return {text: label for label, text in (line.split("\t") for line in lines)}
    if name == "parquet":
        import pyarrow.parquet as pq

        found = pq.read_table(io.BytesIO(data)).to_pylist()
        return {row["text"]: row["label"] for row in found}
    if name == "label-studio":
        tasks = json.loads(data)
        return {
            each["data"]["text"]: each["annotations"][0]["result"][0]["value"]["choices"][0] for each in tasks
        }
    found = [json.loads(line) for line in data.splitlines()]
    return {each["text"]: each["accept" if name == "prodigy" else "label"][0] for each in found}


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


# Safety


def test_the_page_has_a_strict_policy_and_every_file_is_served(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "policy") as page:
        index = page.get("/", Accept="text/html,*/*")
        assert "default-src 'none'" in index.headers["content-security-policy"]
        assert "unsafe" not in index.headers["content-security-policy"]
        assert index.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in index.headers
        assert page.get("/").json["models"] == ["texts"]
        names = set(re.findall(r'"(?:/page|\.)/([\w.]+)"', index.body.decode()))
        while names:
            name = names.pop()
            found = page.get(f"/page/{name}")
            assert found.status == 200, name
            if name.endswith(".js") and "seen" not in found.headers:
                body = found.body.decode()
                assert "innerHTML" not in body
                assert "http://" not in body.replace("http://www.w3.org/2000/svg", "")
                assert "https://" not in body
        assert page.get("/page/nothing.js").status == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Host": "evil.example"},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
    ],
)
def test_a_page_of_another_site_can_change_nothing(
    headers: dict[str, str], corpus: Path, tmp_path: Path
) -> None:
    with teaching(corpus, folder=tmp_path / "csrf") as page:
        shown = page.page("next")["next"]
        body = {"item": shown["item"], "how": shown["how"], "label": "spam", "key": "evil"}
        assert page.reply("label", body, **headers).status in (403, 415)
        assert rows_of(page) == []


def test_nonsense_is_refused_with_a_sentence(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "nonsense") as page:
        shown = page.page("next")["next"]
        good = {"item": shown["item"], "how": "ask", "label": "x", "key": "1"}
        for changed in (
            {"item": "p999999"}, {"item": "d" + "0" * 40}, {"item": "dzz"}, {"item": "'; DROP TABLE text"},
            {"label": ""}, {"label": "a\nb"}, {"label": True}, {"label": "x" * 300}, {"key": ""}, {"odd": 1},
        ):  # fmt: skip
            reply = page.reply("label", good | changed)
            assert reply.status in (404, 422), changed
            assert reply.json["detail"].endswith(".")
        assert rows_of(page) == []
        assert page.reply("why", {"item": shown["item"]}).status == 409


def test_a_hold_out_user_cannot_be_sent_by_a_client(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "user") as page:
        reply = page.post("/models/texts/learn", {"text": "x", "label": "ham", "user": HELD})
        assert reply.status == 422


def test_the_tenth_is_a_tenth() -> None:
    share = sum(in_hold_out(bytes([first])) for first in range(256)) / 256
    assert abs(share - 0.1) < 0.005


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
