"""Blobs by hash range: no task has all terms, the sum is that of one process, pruning is exact (L12)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, category, chars, words
from bayleaf.engines import core, ranges
from bayleaf.exchange import pruned
from strategies import Corpus, corpora

VIEWS: list[Any] = [[words()], [words(3), chars(2, 3)], [words(2, normalizer=str.upper)]]


def divided(corpus: Corpus, empty: Model, number: int, draw: random.Random) -> list[list[bytes]]:
    """What each of some partitions sends to each range."""
    texts, labels = corpus
    partitions: list[list[int]] = [[] for _ in range(draw.randint(1, 4))]
    for row in range(len(texts)):
        draw.choice(partitions).append(row)
    parts = [
        ranges.divided(
            core.count([([texts[row] for row in rows], [labels[row] for row in rows])], empty), number
        )
        for rows in partitions
    ]
    return [[part[own] for part in parts if part[own] is not None] for own in range(number)]  # type: ignore[misc]


@given(
    corpora(min_size=1),
    st.sampled_from(VIEWS),
    st.integers(1, 5),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_ranges_merged_apart_are_the_model_of_one_process_and_prune_exactly(
    corpus: Corpus, views: Any, number: int, least: int, draw: random.Random
) -> None:
    texts, labels = corpus
    empty = Model(views)
    sums = [core.merge(own, empty) for own in divided(corpus, empty, number, draw)]
    blobs = ranges.complete([ranges.without_rare(blob, least, empty) for blob in sums], number)
    found = ranges.rejoined(blobs, number, empty)
    assert found is not None
    assert found.to_bytes() == pruned(Model(views).learn(texts, labels), least).to_bytes()


def test_each_range_has_its_own_terms_and_about_as_many_as_any_other() -> None:
    texts = [f"word{i} word{i + 1} word{i + 2}" for i in range(2000)]
    empty = Model([words(2)])
    blob = core.count([(texts, ["a"] * len(texts))], empty)
    names = [
        set(core.restored(part, empty).counts().term_names)
        for part in ranges.divided(blob, 4)
        if part is not None
    ]
    assert blob is not None
    assert sum(map(len, names)) == len(core.restored(blob, empty).counts().term_names)
    assert len(set.union(*names)) == sum(map(len, names))
    assert min(map(len, names)) > 0.8 * max(map(len, names))


@pytest.mark.parametrize("number", [0, -1, 1.5, True, 1 << 20])
def test_a_number_of_ranges_that_cannot_be_meant_is_refused(number: Any) -> None:
    with pytest.raises(ValueError, match="ranges"):
        ranges.check_ranges(number, Model([words()]))


def test_a_table_cannot_be_divided_by_terms() -> None:
    with pytest.raises(ValueError, match="table"):
        ranges.check_ranges(2, Model({"color": category()}))


def test_a_range_that_is_missing_is_an_error_and_not_a_smaller_model() -> None:
    with pytest.raises(RuntimeError, match="1 ranges"):
        list(ranges.complete([b"x", None], 2))
