"""Which documents to label next."""

import threading
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, NaiveBayes, category, next_labels, normal, words
from bayleaf.next_labels import Question

WIN = ["win a prize", "free prize inside", "win money now", "a free ticket"]
LUNCH = ["lunch at noon", "see you at lunch", "the minutes of noon", "at home by noon"]
texts = st.lists(st.sampled_from(["win", "prize", "lunch", "noon", "a", "b", "c", "d"]), max_size=6)
pools = st.lists(texts.map(" ".join), min_size=1, max_size=30)


def learned() -> Model:
    return Model([words()]).learn(WIN + LUNCH, ["spam"] * 4 + ["ham"] * 4)


@given(pools, st.integers(1, 40), st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.integers(0, 3))
def test_each_row_is_asked_once_and_the_share_at_random_is_kept(
    pool: list[str], n: int, share: float, seed: int
) -> None:
    for model in (Model(), Model().learn(WIN, ["spam"] * 4), learned()):
        asked = model.ask(pool, n, at_random=share, seed=seed)
        assert len({each.row for each in asked}) == len(asked) == min(n, len(pool))
        assert sum(each.at_random for each in asked) == int(np.ceil(share * min(n, len(pool))))
        assert all(0 <= each.unsure <= 1 and 0 <= each.row < len(pool) for each in asked)
        assert asked == model.ask(pool, n, at_random=share, seed=seed)


def test_the_less_certain_a_document_the_more_often_it_is_asked_first() -> None:
    pool = ["win a free prize now", "free lunch", "see you at noon at home", "win a prize"]
    firsts = [learned().ask(pool, 3, at_random=0, seed=seed)[0] for seed in range(100)]
    assert np.bincount([first.row for first in firsts]).argmax() == 1
    best = np.sort(learned().posterior(pool)[1])
    unsure = next(first.unsure for first in firsts if first.row == 1)
    assert unsure == pytest.approx(1 - (best[-1] - best[-2]))


def _doubtful_firsts(clear: float) -> int:
    """How often, of 300 times, the doubtful one of 30 documents is asked first; the others are this clear."""
    pool = [f"text number {i}" for i in range(30)]
    chances = np.full(30, clear)
    chances[7] = 0.5

    def posterior(columns: list[Any]) -> Any:
        best = chances[[int(text.split()[-1]) for text in columns[0]]]
        return np.column_stack([best, 1 - best])

    asked = [next_labels.ask([pool], posterior, 2, 1, 0, seed)[0] for seed in range(300)]
    return sum(each.row == 7 for each in asked)


def test_the_surer_a_model_is_the_more_it_asks_for_what_it_doubts() -> None:
    by_chance, young, grown = (_doubtful_firsts(clear) for clear in (0.5, 0.65, 0.95))
    assert by_chance < 30
    assert by_chance < young < 150
    assert grown > 250


def test_a_model_that_knows_one_class_asks_at_random() -> None:
    pool = [f"text number {i} of {i % 7}" for i in range(40)]
    model = Model([words()]).learn(WIN, ["spam"] * 4)
    firsts = {model.ask(pool, 1, at_random=0, seed=seed)[0].row for seed in range(100)}
    assert len(firsts) > 20


def test_near_copies_are_not_asked_in_one_batch_while_others_are_left() -> None:
    pool = [f"free lunch, offer number one of the day for all our readers {'!' * i}" for i in range(20)]
    pool += ["a prize at noon", "money for lunch", "the ticket is free at home"]
    asked = learned().ask(pool, 4, at_random=0)
    assert sum(each.row < 20 for each in asked) == 1
    assert len(learned().ask(pool, 20, at_random=0)) == 20


def test_documents_drawn_at_random_are_a_fair_sample_of_the_pool() -> None:
    pool = [f"win a free prize {i}" for i in range(40)]
    drawn = [each.row for seed in range(200) for each in learned().ask(pool, 10, seed=seed) if each.at_random]
    times = np.bincount(drawn, minlength=40)
    assert len(drawn) == 400
    assert times.min() >= 1
    assert times.max() <= 25


def test_documents_without_a_word_come_last() -> None:
    asked = Model().ask(["", "lunch", " \n", "win", "noon"], 3, at_random=0)
    assert {each.row for each in asked} == {1, 3, 4}


def test_a_pool_too_large_to_score_is_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_labels, "MOST_SCORES", 100)
    monkeypatch.setattr(next_labels, "BATCH", 16)
    pool = [f"{text} {i}" for i in range(500) for text in (WIN[0], LUNCH[0])]
    asked = learned().ask(pool, 2)
    assert len(asked) == 2
    assert sum(each.unsure > 0 for each in learned().ask(pool, 1000)) == 1000
    assert asked == learned().ask(pool, 2)


def test_an_estimator_asks_before_it_is_fitted_and_after() -> None:
    unfitted = NaiveBayes()
    pool = WIN + LUNCH
    start = unfitted.ask(pool, 4)
    assert len(start) == 4
    assert all(each.unsure == 1 for each in start)
    assert not hasattr(unfitted, "model_")
    fitted = NaiveBayes().fit(pool, ["spam"] * 4 + ["ham"] * 4)
    assert fitted.ask(pool, 4) == fitted.model_.ask(pool, 4)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pa.array])
def test_pools_of_every_library_are_asked_alike(kind: Any) -> None:
    pool = [*WIN, *LUNCH, "free lunch", "a prize at noon"]
    assert learned().ask(kind(pool), 5) == learned().ask(pool, 5)


def test_tables_are_asked_by_their_rows() -> None:
    frame = pd.DataFrame(
        {
            "text": [*WIN, *LUNCH],
            "sender": ["x", "y"] * 4,
            "hour": [1.0, 2.0, np.nan, 4.0, 11.0, 12.0, 13.0, 14.0],
        }
    )
    classifier = NaiveBayes({"text": words(), "sender": category(), "hour": normal()})
    assert len(classifier.ask(frame, 3)) == 3
    classifier.fit(frame, ["spam"] * 4 + ["ham"] * 4)
    pool = pd.concat([frame] * 5, ignore_index=True)
    rows = [each.row % 8 for each in classifier.ask(pool, 5, at_random=0)]
    assert len(set(rows)) == 5


def test_what_cannot_be_asked_is_refused_with_a_sentence() -> None:
    model = learned()
    for bad in (0, -1, 2.5, True, "ten", None):
        with pytest.raises(ValueError, match=r"`n` must be a whole number >= 1"):
            model.ask(WIN, bad)  # type: ignore[arg-type]
    for share in (-0.1, 1.1, float("nan"), True, "some"):
        with pytest.raises(ValueError, match=r"`at_random` is a share"):
            model.ask(WIN, 1, at_random=share)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"`seed` must be a whole number >= 0"):
        model.ask(WIN, 1, seed=-1)
    with pytest.raises(TypeError, match="single str"):
        model.ask("win a prize", 1)


def test_an_empty_pool_has_nothing_to_ask() -> None:
    assert learned().ask([], 3) == []
    assert Model().ask([], 3) == []


def test_texts_of_any_kind_can_be_asked() -> None:
    pool = ["\x00", "\ud800 lone", b"win", "プロジェクト", "!!! ???", "", "a" * 100_000]
    asked = learned().ask(pool, 7)
    assert sorted(each.row for each in asked) == list(range(7))
    assert isinstance(asked[0], Question)
    with pytest.raises(ValueError, match="Document 2 is not UTF-8"):
        learned().ask([*WIN[:2], b"\xff\xfe"], 1)


def test_a_model_that_others_change_meanwhile_still_asks() -> None:
    """As a page does whose people label and take everything back while the next document is chosen."""
    model, pool = Model([words()]), [f"text {i} of the pool" for i in range(200)]
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            model.learn(["a b", "c d"], ["x", "y"])
            model.learn(["e"], ["z"])
            model.forget(["a b", "c d", "e"], ["x", "y", "z"])

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for seed in range(300):
            assert len({question.row for question in model.ask(pool, 5, seed=seed)}) == 5
    finally:
        stop.set()
        changing.join()
