"""What grew faster than its input, or by a product of two sizes: linear, refused, or a MemoryError."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf import Model, category, words
from bayleaf.exchange import from_cells
from programs import run


@pytest.mark.parametrize(
    ("pattern", "letter"),
    [(r"<[^>]*>|\S", "<"), (r".*[^A-Z]|[A-Z]", "A"), (r"(?:\w+@)?(\w)", "é"), (r"(?u)\b\w+@\b|\w", "x")],
)
def test_a_pattern_that_looks_far_ahead_for_each_token_takes_linear_time(pattern: str, letter: str) -> None:
    # 10**11 steps if each of the half a million searches went to the end of the text.
    view = words(tokenizer=pattern, lower=False)
    model = Model([view]).learn([letter * 500_000, "b"], ["x", "y"])
    assert model.counts().occurrences.max() == 500_000
    assert model.predict([letter * 500_000]) == ["x"]


INTERRUPTED_SEARCH = """
import signal
from bayleaf import Model, words

model = Model([words(tokenizer=r"<[^>]*>|\\S")], threads=1).learn(["a"], ["x"])
before = model.to_bytes()
signal.signal(signal.SIGALRM, signal.default_int_handler)
for call in (lambda: model.learn(["<" * 20_000_000], ["x"]), lambda: model.predict(["<" * 20_000_000])):
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        call()
        print("went on to the end")
    except KeyboardInterrupt:
        assert model.to_bytes() == before
print("stopped")
"""


def test_ctrl_c_stops_a_search_in_one_long_text() -> None:
    assert run(INTERRUPTED_SEARCH) == "stopped"


def test_a_pattern_that_would_have_to_remember_too_much_is_refused_in_a_sentence() -> None:
    model = Model([words(tokenizer=r"<[^>]*>|\S")]).learn(["a"], ["x"])
    with pytest.raises(ValueError, match="looks too far ahead in document 1 "):
        model.learn(["b", "<" * 40_000_000], ["x", "x"])
    assert model.n_documents == 1


def test_the_best_terms_are_those_of_the_dense_definition() -> None:
    texts = [f"w{i % 7} w{i % 3} v{i % 5} v{i}" for i in range(40)]
    labels = [i % 4 for i in range(40)]
    for view in (words(), words(event="complement"), words(event="bernoulli"), words(tf="tf-idf")):
        model = Model([view], threads=1).learn(texts, labels)
        names = model.counts().term_names
        scorer: Any = model._answers.current(model._compiled).scorers[0]
        counted, weights, _ = scorer._whole()
        rows = weights.finite.rows(counted, np.arange(len(names)))
        for number, label in enumerate(model.classes):
            others = np.delete(rows, number, axis=1).mean(axis=1)
            odds = dict(zip(names, rows[:, number] - others, strict=True))
            for term, value in model.top_terms(label, 5):
                assert value == pytest.approx(odds[term], abs=1e-9)


def test_categories_that_were_announced_are_compared_once() -> None:
    values = [f"v{i}" for i in range(5_000)]
    model = Model({"c": category(values=values)}, threads=1).learn({"c": values}, ["x", "y"] * 2_500)
    assert model.predict({"c": ["v1"]}) == ["y"]


def test_terms_of_more_words_than_the_view_looks_at_are_not_imported() -> None:
    like = Model([words(2)]).learn(["a b"], ["x"])
    cells = {(0, "", "x"): [1, 0, 0, 0, 0], (0, "a " * 20_000 + "a", "x"): [1, 1, 1, 0, 0]}
    with pytest.raises(ValueError, match="up to 2 words together, and a term has 20001"):
        from_cells(cells, like)


def test_counts_of_more_cells_than_there_is_memory_are_a_memory_error() -> None:
    view = words()
    tally = view.tally()
    documents = view.read(["a b", "c"], "the texts")
    classes = np.array([0, 1], np.uint32)
    tally.add(documents, classes, 1)
    rows = tally.rows(documents, np.arange(3), 1)
    place = np.zeros(3, np.uint32)
    with pytest.raises(MemoryError, match="there is no memory"):
        rows.counts(np.arange(2, dtype=np.uint32), classes, 1 << 30, place, 1 << 30)


def test_labels_that_come_one_by_one_cost_no_more_each() -> None:
    # Each call copied all labels: 11 s for 8,000, two minutes for these.
    model = Model(threads=1)
    for number in range(30_000):
        model.learn([f"w{number % 50}"], [number])
    assert len(model.classes) == 30_000
