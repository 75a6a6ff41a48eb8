"""`Model(ledger=True)`: which documents were learned is known by identity, not by terms."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, ModelFileError, NaiveBayes, category, load, words
from cli_process import bayleaf

TEXTS = ["win a free prize", "free lunch at noon", "lunch with a prize"]
LABELS = ["spam", "ham", "ham"]

documents = st.lists(
    st.tuples(st.sampled_from(["a b", "b a", "a", "", "ünï"]), st.sampled_from(["ham", "spam"])), max_size=8
)


def kept(**settings: Any) -> Model:
    return Model(ledger=True, **settings).learn(TEXTS, LABELS)


def refused(model: Model, texts: list[str], labels: list[str], why: str) -> None:
    before = model.to_bytes()
    with pytest.raises(ValueError, match=why):
        model.forget(texts, labels)
    assert model.to_bytes() == before


def test_a_document_made_of_terms_of_others_is_refused_and_the_learned_one_is_not() -> None:
    counts_only = Model().learn(TEXTS, LABELS)
    counts_only.forget(["lunch with a noon"], ["ham"])
    refused(kept(), ["lunch with a noon"], ["ham"], "Document 0 was never learned")
    assert kept().forget(TEXTS, LABELS).to_bytes() == Model(ledger=True).to_bytes()


def test_another_label_is_named() -> None:
    refused(kept(), [TEXTS[1], TEXTS[0]], ["ham", "ham"], r"Document 1 was learned as 'spam', not as 'ham'")


def test_a_document_is_forgotten_as_often_as_it_was_learned() -> None:
    model = kept()
    model.learn(TEXTS[1:2], ["ham"])
    assert model.learned(TEXTS[1:2]) == [{"ham": 2}]
    refused(model, TEXTS[1:2] * 3, ["ham"] * 3, "less often")
    assert model.forget(TEXTS[1:2] * 2, ["ham"] * 2).learned(TEXTS[1:2]) == [{}]


def test_what_was_learned_before_can_be_noticed() -> None:
    assert kept().learned([TEXTS[0], "new"]) == [{"spam": 1}, {}]
    with pytest.raises(ValueError, match=r"keeps no ledger.*`ledger=True`"):
        Model().learned(TEXTS)


@given(documents, documents)
def test_the_ledger_adds_merges_saves_and_forgets_as_counts_do(first: Any, second: Any) -> None:
    def of(held: list[tuple[str, str]]) -> Model:
        return Model(ledger=True).learn([text for text, _ in held], [label for _, label in held])

    both = of(first + second)
    assert of(first).merge(of(second)).to_bytes() == both.to_bytes()
    assert Model.from_bytes(both.to_bytes()).to_bytes() == both.to_bytes()
    texts, labels = [text for text, _ in second], [label for _, label in second]
    assert Model.from_bytes(both.to_bytes()).forget(texts, labels).to_bytes() == of(first).to_bytes()
    assert len(both.ledger or []) == len(first) + len(second)


def test_a_ledger_is_off_unless_asked_for_and_changes_no_answer(tmp_path: Path) -> None:
    plain = Model().learn(TEXTS, LABELS)
    assert plain.ledger is None
    assert b"ledger" not in plain.to_bytes()
    kept().save(tmp_path / "kept.bayleaf")
    loaded = Model.load(tmp_path / "kept.bayleaf")
    assert loaded.learned(TEXTS[:1]) == [{"spam": 1}]
    assert (loaded.log_joint(TEXTS) == plain.log_joint(TEXTS)).all()


def test_models_are_merged_if_both_have_a_ledger_with_the_same_key_or_neither() -> None:
    with pytest.raises(ValueError, match="keeps a ledger of its documents and the other does not"):
        kept().merge(Model().learn(TEXTS, LABELS))
    with pytest.raises(ValueError, match="different keys"):
        kept().merge(Model(ledger="secret").learn(TEXTS, LABELS))
    theirs = Model(ledger=b"secret").learn(TEXTS, LABELS)
    assert Model(ledger="secret").learn(TEXTS, LABELS).merge(theirs).learned(TEXTS[:1]) == [{"spam": 2}]


@pytest.mark.parametrize("key", [3, "", b"x" * 65, ["k"]])
def test_a_key_that_is_none_is_named(key: Any) -> None:
    with pytest.raises(ValueError, match="`ledger` must be True, False or a key of 1 to 64 bytes"):
        Model(ledger=key)


def test_rows_of_tables_are_known_by_all_their_columns() -> None:
    model = Model({"subject": words(), "sender": category()}, ledger=True)
    row = {"subject": ["hello"], "sender": ["ann"]}
    model.learn(row, ["ham"])
    assert model.learned(row) == [{"ham": 1}]
    assert model.learned({"subject": ["hello"], "sender": ["bob"]}) == [{}]


def test_a_text_is_the_same_as_string_and_as_bytes() -> None:
    model = Model(ledger=True).learn(["grün"], ["a"])
    assert model.learned(["grün".encode()]) == [{"a": 1}]


def test_a_ledger_that_does_not_fit_its_counts_is_a_damaged_file() -> None:
    from bayleaf import storage

    settings, arrays = storage.unpack(kept().to_bytes(), "the bytes")
    for wrong in ({"ledger_times": arrays[0]["ledger_times"] + 1}, {"ledger": arrays[0]["ledger"][1:]}):
        with pytest.raises(ModelFileError, match="ledger"):
            Model.from_bytes(storage.pack(settings, [arrays[0] | wrong]))


def test_a_classifier_keeps_a_ledger_through_weights_a_file_and_a_merge(tmp_path: Path) -> None:
    made = [f"{text} {number}" for number in range(20) for text in TEXTS]
    estimator = NaiveBayes(ledger=True).fit(made, LABELS * 20)
    estimator.save(tmp_path / "model.bayleaf")
    kept = load(tmp_path / "model.bayleaf")
    assert kept.ledger is True
    assert kept.learned([made[0], "new"]) == [{"spam": 1}, {}]
    with pytest.raises(ValueError, match="Document 0 was never learned"):
        kept.forget(["lunch with a noon 3"], ["ham"])
    kept.merge(NaiveBayes(kept.views_, ledger=True, tuning=None).fit(["new"], ["ham"]))
    assert kept.forget(["new"], ["ham"]).learned(["new"]) == [{}]
    with pytest.raises(ValueError, match=r"keeps no ledger.*`ledger=True`"):
        NaiveBayes(tuning=None).fit(TEXTS, LABELS).learned(TEXTS)


def test_a_classifier_with_a_key_of_its_own_keeps_it(tmp_path: Path) -> None:
    NaiveBayes(ledger="secret", tuning=None).fit(TEXTS, LABELS).save(tmp_path / "model.bayleaf")
    kept = load(tmp_path / "model.bayleaf")
    assert kept.ledger == b"secret"
    assert kept.learned(TEXTS[:1]) == [{"spam": 1}]
    with pytest.raises(ValueError, match=r"`ledger` must be True, False or a key"):
        NaiveBayes(ledger=7, tuning=None).fit(TEXTS, LABELS)  # type: ignore[arg-type]


def test_the_command_line_refuses_to_forget_what_the_ledger_does_not_know(tmp_path: Path) -> None:
    model, like, wrong, right = (
        tmp_path / name for name in ("a.bayleaf", "b.bayleaf", "wrong.tsv", "right.tsv")
    )
    corpus = tmp_path / "corpus.tsv"
    corpus.write_text("".join(f"{label}\t{text}\n" for label, text in zip(LABELS, TEXTS, strict=True)))
    wrong.write_text("ham\tlunch with a noon\n")
    right.write_text(f"ham\t{TEXTS[1]}\n")
    assert bayleaf("train", corpus, "-o", model, "--plain", "--ledger", "-q").returncode == 0
    before = model.read_bytes()
    refused = bayleaf("forget", model, wrong)
    assert refused.returncode == 1
    assert "Document 0 was never learned, says the ledger" in refused.stderr
    assert model.read_bytes() == before
    assert json.loads(bayleaf("inspect", model, "--json").stdout)["ledger"] is True
    assert "Ledger" in bayleaf("inspect", model).stdout
    assert bayleaf("forget", model, right, "-q").returncode == 0
    assert bayleaf("train", right, "-o", like, "--like", model, "-q").returncode == 0
    assert bayleaf("merge", model, like, "-o", tmp_path / "merged.bayleaf", "-q").returncode == 0
    assert Model.load(tmp_path / "merged.bayleaf").learned(TEXTS[1:2]) == [{"ham": 1}]
    clash = bayleaf("train", right, "-o", like, "--like", model, "--ledger")
    assert clash.returncode == 2
    assert "drop one of --like and --ledger" in clash.stderr
