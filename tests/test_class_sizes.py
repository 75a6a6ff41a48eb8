"""Few documents do not tell which of two classes is more frequent, and are not taken to."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import NaiveBayes
from bayleaf.tuning.class_sizes import chance_of_even, evening


def test_one_document_of_each_of_two_classes_makes_even_shares_as_probable_as_by_hand() -> None:
    # Even: 1/4. Any shares: the integral of p (1 - p), 1/6.
    assert chance_of_even(np.array([1.0, 1.0])) == pytest.approx((1 / 4) / (1 / 4 + 1 / 6))


def test_many_classes_are_of_one_size_by_no_coincidence() -> None:
    # Before looking 1/4 for three classes. Even: 1/27. Any shares: 2! / 5!.
    even, any_shares = 1 / 4 / 27, 3 / 4 * 2 / 120
    assert chance_of_even(np.ones(3)) == pytest.approx(even / (even + any_shares))


@pytest.mark.parametrize("counts", [[14, 16], [3, 27], [5, 0, 7, 7], [40, 1, 1, 1], [6]])
def test_evening_brings_shares_nearer_to_each_other_and_loses_no_document(counts: list[int]) -> None:
    n = np.array(counts, float)
    after = evening(n) * n
    assert after.sum() == pytest.approx(n.sum())
    assert (np.abs(after - n[n > 0].mean())[n > 0] <= np.abs(n - n[n > 0].mean())[n > 0] + 1e-9).all()
    assert (after[n == 0] == 0).all()


def test_documents_enough_to_tell_are_taken_as_they_are_to_the_last_digit() -> None:
    assert (evening(np.array([3000.0, 1000.0])) == 1).all()
    assert (evening(np.array([86.0, 1162.0, 1250.0, 1223.0, 835.0, 896.0])) == 1).all()


def test_what_was_drawn_more_often_by_chance_is_not_answered_more_often() -> None:
    shares = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        texts = [" ".join(f"w{i}" for i in random.integers(60, size=12)) for _ in range(340)]
        model = NaiveBayes().fit(texts[:30], ["more"] * 17 + ["less"] * 13)
        shares.append(float((model.predict(texts[30:]) == "more").mean()))
    assert np.mean(shares) < 0.6  # 0.67 if the draw is taken as it is
