"""Views of fixed size: terms fall into buckets by a hash that is the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayleaf
from bayleaf import Model, NaiveBayes, bytes_, chars, words
from bayleaf.engines.core import count, empty_like, merged
from cli_process import done, messages, refused, write_tsv
from strategies import corpora

VIEWS: dict[str, Any] = {
    "words": words(buckets=5),
    "pairs": words(2, sparse=3, stemmer="porter", stop_words=["the"], buckets=64),
    "function": words(2, normalizer=lambda word: word[::-1], buckets=16),
    "letters": chars(1, 3, buckets=32),
    "across": chars(2, 3, within_words=False, buckets=32),
    "bytes": bytes_(2, 3, buckets=16),
}
HALF = 2**64


def fnv(data: bytes) -> int:
    found = 0xCBF29CE484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001B3 % HALF
    return found


def bucket(found: int, buckets: int) -> str:
    found = (found ^ found >> 33) * 0xFF51AFD7ED558CCD % HALF
    found = (found ^ found >> 33) * 0xC4CEB9FE1A85EC53 % HALF
    return f"#{(found ^ found >> 33) % buckets:x}"


def term_hash(term: list[str]) -> int:
    found = fnv(term[0].encode())
    for word in term[1:]:
        found = fnv(found.to_bytes(8, "little") + fnv(word.encode()).to_bytes(8, "little"))
    return found


@given(st.text("abAB ,é漢", max_size=30), st.sampled_from([1, 7, 1000, 2**20, 2**31]))
def test_the_bucket_of_a_term_is_the_documented_hash(text: str, buckets: int) -> None:
    for plain, hashed in [
        (words(), words(buckets=buckets)),
        (words((1, 3)), words((1, 3), buckets=buckets)),
    ]:
        expected = [bucket(term_hash(term.split(" ")), buckets) for term in plain.tokens(text)]
        assert hashed.tokens(text) == expected
    expected = [bucket(term_hash([term]), buckets) for term in chars(1, 3).tokens(text)]
    assert chars(1, 3, buckets=buckets).tokens(text) == expected


def test_names_of_buckets_never_change() -> None:
    found = words(2, buckets=2**20).tokens("win a free prize")
    assert found == ["#5726a", "#ece5b", "#ae2de", "#9b19f", "#f1ab9", "#cf6b6", "#d2cb6"]


@pytest.mark.parametrize("name", VIEWS)
@given(corpora(), st.integers(0, 12))
def test_buckets_add_merge_and_forget_exactly(name: str, corpus: Any, cut: int) -> None:
    """Law L1: counts of two parts add up to the counts of the whole, and subtracting undoes adding."""
    texts, labels = corpus
    view = VIEWS[name]
    whole = Model([view]).learn(texts, labels)
    assert whole.counts().n_terms <= view.buckets
    parts = Model([view], threads=2)
    for some in (slice(None, cut), slice(cut, None)):
        if labels[some]:
            parts.learn(texts[some], labels[some])
    assert parts.to_bytes() == whole.to_bytes()
    one, other = Model([view]).learn(texts, labels), Model([view]).learn(texts, labels)
    before = one.to_bytes()
    assert one.merge(other).forget(texts, labels).to_bytes() == before


def test_the_model_of_an_engine_is_that_of_one_process() -> None:
    texts, labels = _messages()
    model = Model([words(2, buckets=1000), chars(3, buckets=500)])
    blobs = [count([(texts[i::3], labels[i::3])], empty_like(model)) for i in range(3)]
    whole = model.learn(texts, labels).to_bytes()
    total = merged([blob for blob in blobs if blob], empty_like(model))
    assert total is not None
    assert total.to_bytes() == whole


def test_models_whose_buckets_differ_are_not_merged() -> None:
    model = Model([words(buckets=8)]).learn(["a b"], ["x"])
    for other in (words(), words(buckets=16)):
        with pytest.raises(ValueError, match=r"look at their documents differently.*buckets=8"):
            model.merge(Model([other]).learn(["a b"], ["x"]))


def test_a_file_keeps_the_buckets_and_one_without_them_is_as_before(tmp_path: Path) -> None:
    texts, labels = _messages()
    model = NaiveBayes([words(2, buckets=4096)]).fit(texts, labels)
    model.save(tmp_path / "hashed.bayleaf")
    again = bayleaf.load(tmp_path / "hashed.bayleaf")
    assert again.views_ == model.views_
    assert "buckets=4096" in repr(again.views_)
    assert (again.predict_proba(texts[:50]) == model.predict_proba(texts[:50])).all()
    assert all("buckets" not in view.to_dict() for view in (words(), chars(1, 3), bytes_(8)))


def test_an_explanation_names_buckets_and_sums_to_the_score() -> None:
    texts, labels = _messages()
    model = Model([words(buckets=4096)]).learn(texts, labels)
    found = model.explain("win a free prize").to_dict()
    names = [part["term"] for part in found["parts"]]
    assert names == words(buckets=4096).tokens("win a free prize")
    total = found["prior"] + sum(part["log_odds"] for part in found["parts"])
    assert total == pytest.approx(found["log_odds"])
    assert model.top_terms("spam", 3)[0][0].startswith("#")


def test_two_views_with_other_rules_do_not_share_what_they_remember() -> None:
    texts, labels = ["running runs", "ran runner"], ["a", "b"]
    stems, forms = words(stemmer="porter", buckets=2**20), words(buckets=2**20)
    for view in (stems, forms, stems):
        model = Model([view]).learn(texts, labels)
        learned = {name for text in texts for name in view.tokens(text)}
        assert set(model.counts().term_names) == learned
        assert model.predict(["runs", "ran"]).tolist() == ["a", "b"]


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "many", 2**31 + 1])
def test_a_wrong_number_of_buckets_is_named(wrong: Any) -> None:
    with pytest.raises(ValueError, match="`buckets` must be"):
        words(buckets=wrong)


def test_the_command_line_takes_buckets(tmp_path: Path) -> None:
    write_tsv(tmp_path / "mail.tsv", [("spam", "win a prize"), ("ham", "see you at noon")] * 3)
    path = tmp_path / "hashed.bayleaf"
    done("train", tmp_path / "mail.tsv", "-o", path, "--buckets", "6")
    model = Model.load(path)
    assert "buckets=6" in repr(model.views)
    assert model.counts().n_terms <= 6
    assert done("classify", path, stdin="win a prize\n").startswith("spam")
    wrong = refused(2, "train", tmp_path / "mail.tsv", "-o", path, "--buckets", "0")
    assert "0 is not in the range" in wrong


def _messages() -> tuple[list[str], list[str]]:
    rows = messages()
    return [text for _, text in rows], [label for label, _ in rows]
