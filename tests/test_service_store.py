"""What a service keeps: learned once, corrected in one step, forgotten as recorded, and proved by replay."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf import Model, NaiveBayes, category, normal, preset, words
from bayleaf.service.changes import Forget, ForgetWhere, Learn, Taught, Who
from bayleaf.service.database import FILE
from bayleaf.service.refusals import Conflict, Invalid, NotFound
from bayleaf.service.served import facts
from bayleaf.service.store import FolderInUse, Store
from bayleaf.service.verifying import verify
from cli_process import messages
from service_store import MAIL, assert_sound, forget, learn, model_of, opened

PAIRS = [("win a free prize", "spam"), ("free lunch at noon", "ham"), ("lunch with a prize", "ham")]


def test_what_was_learned_is_there_after_a_restart_with_the_same_bytes(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, served):
        learn(store, served, PAIRS)
        version = served.version
    with opened(tmp_path) as (_, served):
        assert facts(served.shared) == model_of(PAIRS)
        assert served.version == version
    assert_sound(tmp_path)


def test_learning_the_same_document_twice_counts_once(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, served):
        learn(store, served, PAIRS)
        again = learn(store, served, [("win  a free\r\nprize ", "spam")])
        assert [each.outcome for each in again.results] == ["already"]
        assert facts(served.shared) == model_of(PAIRS)


def test_another_label_is_a_correction_in_one_transaction(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, served):
        learn(store, served, PAIRS)
        commits = store.writer.commits
        (result,) = learn(store, served, [("free lunch at noon", "spam")]).results
        assert (result.outcome, result.before, result.label) == ("corrected", "ham", "spam")
        assert store.writer.commits == commits + 1
        assert facts(served.shared) == model_of([PAIRS[0], (PAIRS[1][0], "spam"), PAIRS[2]])
    assert_sound(tmp_path)


def test_a_document_that_was_never_learned_cannot_be_forgotten_though_its_terms_were(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, served):
        learn(store, served, PAIRS)
        with pytest.raises(NotFound, match="not learned here"):
            forget(store, served, "lunch with a noon")
        forget(store, served, "free lunch at noon")
        assert facts(served.shared) == model_of([PAIRS[0], PAIRS[2]])
    assert_sound(tmp_path)


def test_forgetting_needs_no_class_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, served):
        learn(store, served, PAIRS)
        document = served.reader.text("win a free prize")
        with pytest.raises(Conflict, match="learned as 'spam', not as 'ham'"):
            store.submit(Forget(Who(served.number, "ann"), [document], "ham")).result(30)
        done = store.submit(Forget(Who(served.number, "ann"), [document])).result(30)
        assert [each.before for each in done.results] == ["spam"]


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["learn", "forget", "reopen", "snapshot"]),
            st.integers(0, 5),
            st.sampled_from(["ham", "spam", "news"]),
        ),
        max_size=25,
    )
)
def test_any_history_leaves_the_model_of_the_documents_that_are_learned_now(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("history")
    texts = ["a b", "b c c", "c d", "a a", "d e f", "f"]
    known: dict[str, str] = {}
    store = Store(folder)
    served = store.add_model("spam", Model([words()]))
    for step, number, label in steps:
        text = texts[number]
        if step == "learn":
            learn(store, served, [(text, label)])
            known[text] = label
        elif step == "forget" and text in known:
            forget(store, served, text)
            del known[text]
        elif step == "snapshot":
            store.writer.call(lambda ledger: store._snapshot(served, ledger)).result(30)  # noqa: B023
        elif step == "reopen":
            store.close()
            store = Store(folder)
            served = store.model("spam")
        assert facts(served.shared) == model_of(list(known.items()))
    store.close()
    assert_sound(folder)


def test_a_mail_is_known_again_after_transport_and_the_recorded_terms_are_forgotten(tmp_path: Path) -> None:
    with opened(tmp_path, preset("mail")) as (store, served):
        learn(store, served, [(MAIL.decode(), "spam")])
        empty = facts(Model(preset("mail")))
        copy = b"Received: from other.example\nX-Spam-Flag: YES\nStatus: RO\n" + MAIL
        again = learn(store, served, [(copy.replace(b"\n", b"\r\n").decode(), "spam")])
        assert [each.outcome for each in again.results] == ["already"]
        with_footer = MAIL + b"-- \nA list's footer\n"
        assert forget(store, served, with_footer).results[0].before == "spam"
        assert facts(served.shared) == empty


def test_the_answers_of_a_user_come_from_the_shared_counts_plus_their_own(tmp_path: Path) -> None:
    import asyncio

    with opened(tmp_path) as (store, served):
        learn(store, served, PAIRS)
        learn(store, served, [("win a free prize", "ham"), ("team lunch", "spam")], user="joe")
        learn(store, served, [("shared later", "ham")])
        asked = [served.reader.text("free lunch prize")]
        own = [*PAIRS, ("shared later", "ham"), ("win a free prize", "ham"), ("team lunch", "spam")]
        merged = Model([words()]).learn([text for text, _ in own], [label for _, label in own])
        expected = merged.posterior(["free lunch prize"])[0].tolist()
        (answer,) = asyncio.run(store.answer(served, asked, "joe"))
        assert list(answer.probabilities.values()) == expected
        learn(store, served, [("one more", "spam")], user="joe")
        (answer,) = asyncio.run(store.answer(served, asked, "joe"))
        merged.learn(["one more"], ["spam"])
        assert list(answer.probabilities.values()) == merged.posterior(["free lunch prize"])[0].tolist()
        (shared,) = asyncio.run(store.answer(served, asked, "ann"))
        assert shared.probabilities != answer.probabilities
    with opened(tmp_path) as (store, served):
        (again,) = asyncio.run(store.answer(served, asked, "joe"))
        assert again.probabilities == answer.probabilities


def test_the_labels_of_a_person_can_be_taken_out_as_a_whole(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, served):
        learn(store, served, PAIRS)
        learn(store, served, [(f"nonsense {i}", "ham") for i in range(20)], by="mallory")
        done = store.submit(ForgetWhere(Who(served.number, "root"), "by", "mallory")).result(30)
        assert len(done.results) == 20
        assert facts(served.shared) == model_of(PAIRS)
    assert_sound(tmp_path)


def test_autolearning_never_overrules_a_person_and_can_be_taken_back(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, served):
        learn(store, served, PAIRS)
        learn(store, served, [(PAIRS[0][0], "ham"), ("new text", "ham")], by="autolearn", source="auto")
        assert json.loads(store.writer.ledger.select(served.number, "source", "auto")[0].label) == "ham"
        learn(store, served, [("new text", "spam")])
        assert facts(served.shared) == model_of([*PAIRS, ("new text", "spam")])
        learn(store, served, [("another", "ham")], by="autolearn", source="auto")
        store.submit(ForgetWhere(Who(served.number, "root"), "source", "auto")).result(30)
        assert facts(served.shared) == model_of([*PAIRS, ("new text", "spam")])


def test_an_erased_document_leaves_no_trace_in_the_folder_and_a_receipt(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, served):
        learn(store, served, [*PAIRS, ("my secret Zanzibar", "ham")])
        store.writer.call(lambda ledger: store._snapshot(served, ledger)).result(30)
        document = served.reader.text("my secret Zanzibar")
        done = store.erase(Forget(Who(served.number, "ann"), [document], erase=True)).result(30)
        assert done.extra["before"] != done.extra["after"]
        assert done.extra["documents"] == [document.identity.hex()]
        for path in tmp_path.rglob("*"):
            if path.is_file():
                assert b"anzibar" not in path.read_bytes(), path
    assert_sound(tmp_path)


def test_erasing_by_subject_takes_all_mail_of_one_sender(tmp_path: Path) -> None:
    with opened(tmp_path, preset("mail")) as (store, served):
        other = MAIL.replace(b"<1@", b"<2@").replace(b"prize", b"price")
        learn(store, served, [(MAIL.decode(), "spam"), (other.decode(), "spam")])
        change = ForgetWhere(Who(served.number, "root"), "subject", "win@deals.example", erase=True)
        assert len(store.erase(change).result(30).results) == 2
        assert served.shared.n_documents == 0


def test_a_table_can_be_served_and_a_cell_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path, {"sender": category(), "hour": normal()}) as (store, served):
        rows = [({"sender": "a", "hour": 3}, "spam"), ({"sender": "b", "hour": 11.5}, "ham")]
        taught = [Taught(served.reader.row(row), label) for row, label in rows]
        store.learn(Who(served.number, "ann"), taught).result(30)
        with pytest.raises(Invalid):
            store.learn(
                Who(served.number, "ann"), [Taught(served.reader.row({"sender": "a", "hour": "x"}), "ham")]
            )
        with pytest.raises(Invalid, match="lacks the column 'hour'"):
            served.reader.row({"sender": "a"})
        assert served.shared.n_documents == 2
    assert_sound(tmp_path)


def test_a_default_model_is_retuned_from_the_ledger_and_keeps_what_came_meanwhile(tmp_path: Path) -> None:
    rows = messages()
    trained = NaiveBayes().fit([text for _, text in rows[:600]], [label for label, _ in rows[:600]]).model_
    store = Store(tmp_path)
    served = store.add_model("spam", trained)
    learn(store, served, [(text, label) for label, text in rows[600:900]])
    stale = [served.shared.stale]
    store.retune(served)
    stale.append(served.shared.stale)
    assert stale == [True, False]
    assert served.shared.judgment is not None
    answers = served.answer([served.reader.text(text) for _, text in rows[900:]])
    store.close()
    assert_sound(tmp_path)
    store = Store(tmp_path)
    again = store.model("spam").answer([served.reader.text(text) for _, text in rows[900:]])
    assert [each.probabilities for each in again] == [each.probabilities for each in answers]
    store.close()


def test_a_refused_change_leaves_the_others_of_its_transaction_alone(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, served):
        who = Who(served.number, "ann")
        unknown = served.reader.text("never learned")
        futures = [
            store.submit(Learn(who, [Taught(served.reader.text(f"text {i}"), "ham")]))
            if i % 2
            else store.submit(Forget(who, [served.reader.text(f"text {i} too"), unknown]))
            for i in range(20)
        ]
        outcomes = [future.exception(30) for future in futures]
        assert [outcome is None for outcome in outcomes] == [bool(i % 2) for i in range(20)]
        assert served.shared.n_documents == 10


def test_one_process_has_the_folder_and_its_files_are_for_its_owner_only(tmp_path: Path) -> None:
    with opened(tmp_path / "folder") as (store, served):
        learn(store, served, PAIRS)
        store.writer.call(lambda ledger: store._snapshot(served, ledger)).result(30)
        with pytest.raises(FolderInUse, match="in use"):
            Store(tmp_path / "folder")
        with pytest.raises(FolderInUse):
            verify(tmp_path / "folder")
        for path in (tmp_path / "folder").rglob("*"):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_setting_that_means_nothing_is_refused_with_its_place(tmp_path: Path) -> None:
    for text, message in [
        ("[limits]\nbodies = 3\n", r"\[limits\] has no setting 'bodies'"),
        ("[limits]\nbody = -3\n", "must not be negative"),
        ("[limits]\nbody = true\n", "must be like"),
        ("[oops]\n", r"\[oops\]"),
        ("[spamd]\nusers = 'all'\n", '"shared" or "personal"'),
        ("[autolearn]\nspam = 0.2\n", "sure enough"),
        ("= 3", "not TOML"),
    ]:
        (tmp_path / "bayleaf.toml").write_text(text)
        with pytest.raises(ValueError, match=message):
            Store(tmp_path)


def test_a_database_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database, but long enough to be looked at " * 50)
    with pytest.raises(ValueError, match="cannot be read"):
        Store(tmp_path)
