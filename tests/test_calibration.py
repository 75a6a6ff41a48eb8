"""What documents held out say of the scores: which classes they lean to, and how sure to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.tuning.calibration import against_leaning, sureness
from bayleaf.tuning.class_weights import HeldOut
from bayleaf.tuning.examples import Examples


def judged(scores: NDArray[Any], y: NDArray[Any]) -> tuple[list[HeldOut], Examples]:
    """Two folds of documents with these scores."""
    rows = np.arange(len(y), dtype=np.uint32)
    folds = [HeldOut(rows[k::2], rows[1 - k :: 2], scores[1 - k :: 2]) for k in (0, 1)]
    return folds, Examples(rows, y.astype(np.uint32), scores.shape[1])


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_a_class_that_scores_lean_to_gets_less_and_the_more_documents_say_so_the_less(classes: int) -> None:
    found = []
    for each in (10, 100):
        y = np.tile(np.arange(classes), each)
        scores = np.eye(classes)[y] + np.eye(classes)[0]
        more = against_leaning(*judged(scores, y))
        assert (more[0] < more[1:]).all()
        found.append(more[1] - more[0])
    assert 0 < found[0] < found[1] < 1


def test_scores_that_lean_to_no_class_stay_as_they_are() -> None:
    y = np.tile([0, 1, 2], 20)
    assert against_leaning(*judged(2 * np.eye(3)[y], y)) == pytest.approx(0, abs=1e-3)


def test_a_class_that_never_judged_gets_nothing() -> None:
    y = np.tile([0, 1], 20)
    scores = np.column_stack([np.eye(2)[y] + [1.0, 0.0], np.full(40, 3.0)])
    more = against_leaning(*judged(scores, y))
    assert more[2] == 0
    assert more[0] < 0 < more[1]


def test_classes_drawn_more_often_by_chance_do_not_move_scores_that_know_nothing() -> None:
    y = np.array([0] * 14 + [1] * 16)
    more = against_leaning(*judged(np.zeros((30, 2)), y))
    assert abs(more[1] - more[0]) < 0.05


def test_scores_that_know_nothing_are_trusted_least_and_more_documents_say_so_better() -> None:
    random = np.random.default_rng(0)
    y = random.integers(2, size=300).astype(np.uint32)
    by_chance = np.eye(2)[random.integers(2, size=300)] * 3
    few, many = (sureness(judged(by_chance[:n], y[:n])[0], y[:n]) for n in (30, 300))
    assert many < few < 0.5
    assert sureness(judged(3 * np.eye(2)[y], y)[0], y) > 0.9
