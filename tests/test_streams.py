"""One document at a time, and windows over the latest."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import base, evaluate, metrics

from bayleaf import Model, NaiveBayes, Window, category, chars, words

texts = st.lists(st.sampled_from(["a", "b", "win", "prize", "lunch"]), max_size=6).map(" ".join)
streams = st.lists(st.tuples(texts, st.sampled_from(["ham", "spam", "eggs"])), min_size=1, max_size=15)


@given(streams)
def test_one_by_one_is_all_at_once(stream: list[tuple[str, str]]) -> None:
    one = Model([words(ngrams=2)])
    for text, label in stream:
        one.predict_one(text)
        one.learn_one(text, label)
    every = Model([words(ngrams=2)]).learn([text for text, _ in stream], [label for _, label in stream])
    assert one.to_bytes() == every.to_bytes()
    asked = [text for text, _ in stream]
    assert [one.predict_one(text) for text in asked] == every.predict(asked).tolist()
    assert [list(one.predict_proba_one(text).values()) for text in asked] == every.posterior(asked).tolist()


@pytest.mark.parametrize("tuning", [None, "auto"])
def test_one_row_of_several_texts_gets_the_bits_of_a_batch(tuning: Any) -> None:
    subjects = ["win", "lunch", "prize prize", "", "noon", "win lunch"] * 8
    rows = {"subject": subjects, "body": [f"{text} at {i % 5}" for i, text in enumerate(subjects)]}
    views = {"subject": words(), "body": words(ngrams=2)}
    model = NaiveBayes(views=views, tuning=tuning).fit(
        rows, ["spam", "ham", "spam", "ham", "ham", "eggs"] * 8
    )
    asked = {"subject": ["win", "", "lunch\0", "ünknown"], "body": ["prize at 3", "", "noon", "win\ud800"]}
    one_by_one = [
        model.predict_proba_one({"subject": subject, "body": body})
        for subject, body in zip(asked["subject"], asked["body"], strict=True)
    ]
    assert [list(each.values()) for each in one_by_one] == model.predict_proba(asked).tolist()


def in_one_batch(model: Model, asked: list[str]) -> None:
    """What is asked one by one has the bits of a batch."""
    assert [list(model.predict_proba_one(text).values()) for text in asked] == model.posterior(asked).tolist()
    assert [model.predict([text]).tolist() for text in asked] == [[each] for each in model.predict(asked)]


@pytest.mark.parametrize("priors", ["empirical", "uniform", {"ham": 0.7, "spam": 0.3}], ids=str)
@pytest.mark.parametrize("level", [None, "temperature", "views", "terms"])
@settings(max_examples=10, deadline=None)
@given(more=st.lists(st.tuples(texts, st.sampled_from(["ham", "spam"])), max_size=6))
def test_one_document_has_the_bits_of_a_batch_after_every_change(level: Any, priors: Any, more: Any) -> None:
    model = Model([words(ngrams=2), chars(2, 3)], priors=priors)
    held = [(f"win{i % 3} prize {i % 5} a", ["ham", "spam"][i % 2]) for i in range(12)]
    model.learn([text for text, _ in held], [label for _, label in held])
    model.tune([text for text, _ in held], [label for _, label in held], level)
    asked = ["", "win1 prize", "ünknown words\ud800", *(text for text, _ in more)]
    in_one_batch(model, asked)
    for text, label in more:
        model.learn([text], [label])
        in_one_batch(model, asked)
    model.forget([held[0][0]], [held[0][1]])
    in_one_batch(model, asked)


@given(streams, st.integers(1, 6))
def test_a_window_is_a_model_of_its_documents_byte_for_byte(stream: list[tuple[str, str]], size: int) -> None:
    window = Window(Model(), size=size)
    for text, label in stream:
        window.learn_one(text, label)
        window.predict_proba_one(text)
    latest = stream[-size:]
    assert len(window) == len(latest)
    alone = Model().learn([text for text, _ in latest], [label for _, label in latest])
    assert window.model.to_bytes() == alone.to_bytes()  # type: ignore[attr-defined]
    assert window.predict_one("win") == alone.predict_one("win")


def test_a_window_forgets_by_age() -> None:
    window = Window(Model(), age=timedelta(seconds=10))
    for second, (text, label) in enumerate([("win", "spam"), ("lunch", "ham"), ("prize", "spam")]):
        window.learn_one(text, label, at=5.0 * second)
    assert len(window) == 3
    window.expire(now=16.0)
    assert len(window) == 1
    assert window.predict_one("lunch") == "spam"
    window.expire(now=100.0)
    assert window.predict_one("lunch") is None
    assert window.predict_proba_one("lunch") == {}


@pytest.mark.parametrize(
    ("given_", "said"), [({}, "`size`"), ({"size": 0}, "got 0"), ({"age": -1.0}, "got -1.0")]
)
def test_a_window_needs_a_size_or_an_age(given_: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Window(Model(), **given_)


def test_rows_of_tables_come_one_by_one_too() -> None:
    classifier = NaiveBayes({"subject": words(), "sender": category()}, tuning=None)
    assert classifier.predict_one({"subject": "win", "sender": "x"}) is None
    for subject, sender, label in [("win", "x", "spam"), ("lunch", "y", "ham"), ("win", "x", "spam")]:
        classifier.learn_one({"subject": subject, "sender": sender}, label)
    assert classifier.predict_one({"subject": "win", "sender": "x"}) == "spam"


def test_river_evaluates_bayleaf_as_its_own() -> None:
    base.Classifier.register(Model)
    stream: Any = [("win a prize", "spam"), ("lunch at noon", "ham")] * 20
    score: Any = evaluate.progressive_val_score
    accuracy = score(stream, Model(), metrics.Accuracy())  # type: ignore[no-untyped-call]
    assert accuracy.get() >= 38 / 40
    loss = score(stream, Model(), metrics.CrossEntropy())  # type: ignore[no-untyped-call]
    assert 0 < loss.get() < 1


@pytest.mark.parametrize("make", [Model, NaiveBayes])
def test_a_table_is_refused_by_a_model_of_texts_and_nothing_is_learned(make: Any) -> None:
    model = make()
    for text, label in [("win", "spam"), ("lunch", "ham")]:
        model.learn_one(text, label)
    table = {"text": "win"}
    for ask, given_ in ((model.learn_one, (table, "spam")), (model.predict_one, (table,))):
        with pytest.raises(TypeError, match=r"X is a table with the columns|Document 0 is \{'text': 'win'\}"):
            ask(*given_)
    assert getattr(model, "model_", model).n_documents == 2
