"""L1 and L2 on a real corpus: 25,000 film reviews, learned in every way, are one file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from bayleaf import Model, words
from bayleaf.corpus.slices import Slices
from strategies import Corpus

DATA = os.environ.get("BAYLEAF_DATA")
pytestmark = pytest.mark.skipif(DATA is None, reason="BAYLEAF_DATA names no folder with the corpora")


@pytest.fixture(scope="module")
def reviews() -> Corpus:
    lines = (Path(DATA or "") / "imdb.train.tsv").read_text("utf-8").split("\n")
    pairs = [line.split("\t", 1) for line in lines if line]
    return [text for _, text in pairs], [label for label, _ in pairs]


@pytest.fixture(scope="module")
def expected(reviews: Corpus) -> bytes:
    return Model(threads=1).learn(*reviews).to_bytes()


def test_two_threads_write_the_same_bytes(reviews: Corpus, expected: bytes) -> None:
    assert Model(threads=2).learn(*reviews).to_bytes() == expected


def test_seven_batches_write_the_same_bytes(reviews: Corpus, expected: bytes) -> None:
    model = Model(threads=2)
    for batch in range(7):
        model.learn(reviews[0][batch::7], reviews[1][batch::7])
    assert model.to_bytes() == expected


def test_slices_of_one_buffer_write_the_same_bytes(reviews: Corpus, expected: bytes) -> None:
    assert Model().learn(Slices.of(reviews[0]), reviews[1]).to_bytes() == expected


def test_five_shards_merged_write_the_same_bytes(reviews: Corpus, expected: bytes) -> None:
    whole = Model()
    for shard in (3, 1, 4, 0, 2):
        part = Model(threads=1).learn(reviews[0][shard::5], reviews[1][shard::5])
        whole.merge(Model.from_bytes(part.to_bytes()))
    assert whole.to_bytes() == expected


@pytest.mark.parametrize("ngrams", [1, 2])
def test_forgetting_a_random_tenth_is_never_having_learned_it(reviews: Corpus, ngrams: int) -> None:
    order = np.random.default_rng(0).permutation(len(reviews[0])).tolist()
    tenth = len(order) // 10
    texts, labels = ([column[i] for i in order] for column in reviews)
    views = [words(ngrams)]
    model = Model(views).learn(*reviews).forget(texts[:tenth], labels[:tenth])
    assert model.to_bytes() == Model(views).learn(texts[tenth:], labels[tenth:]).to_bytes()


def test_a_loaded_model_gives_the_same_bits(reviews: Corpus, expected: bytes) -> None:
    first = Model(threads=1).learn(*reviews)
    again = Model.from_bytes(expected)
    assert (again.log_joint(reviews[0][:2000]) == first.log_joint(reviews[0][:2000])).all()
