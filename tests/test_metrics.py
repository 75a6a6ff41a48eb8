"""Metrics that are counted in batches equal those of scikit-learn on everything at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import metrics as peer

from bayleaf.metrics import BINS, Scorecard


@st.composite
def answered(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Truths, log posteriors and a number of classes; every class is a truth at least once."""
    classes = draw(st.integers(2, 5))
    rows = draw(st.integers(classes, 40))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(classes), random.integers(0, classes, rows - classes)])
    scores = random.normal(size=(rows, classes)) * draw(st.sampled_from([0.1, 1.0, 30.0]))
    scores[np.arange(rows), truth] += draw(st.sampled_from([0.0, 2.0]))
    return truth, scores - np.logaddexp.reduce(scores, axis=1, keepdims=True), classes


def card_of(truth: NDArray[Any], scores: NDArray[Any], classes: int, cut: int = 0) -> Scorecard:
    card = Scorecard(classes)
    for part in (slice(0, cut), slice(cut, None)):
        card.add(truth[part], scores[part])
    return card


@given(answered(), st.integers(0, 40))
def test_what_is_counted_in_two_batches_is_what_scikit_learn_measures(answers: Any, cut: int) -> None:
    truth, scores, classes = answers
    card = card_of(truth, scores, classes, cut)
    best = scores.argmax(axis=1)
    assert card.accuracy == pytest.approx(peer.accuracy_score(truth, best))
    assert card.mcc == pytest.approx(peer.matthews_corrcoef(truth, best))
    assert card.log_loss == pytest.approx(peer.log_loss(truth, np.exp(scores), labels=range(classes)))
    assert (card.confusion == peer.confusion_matrix(truth, best, labels=range(classes))).all()
    expected = peer.precision_recall_fscore_support(truth, best, zero_division=0.0, labels=range(classes))
    for ours, theirs in zip((card.precision, card.recall, card.f1, card.support), expected, strict=True):
        assert ours == pytest.approx(theirs)
    assert card.macro_f1 == pytest.approx(peer.f1_score(truth, best, average="macro"))


@given(answered())
def test_the_calibration_error_is_the_mean_distance_of_confidence_from_being_right(answers: Any) -> None:
    truth, scores, classes = answers
    card = card_of(truth, scores, classes)
    posterior = np.exp(scores)
    sure, hits = posterior.max(axis=1), posterior.argmax(axis=1) == truth
    error = 0.0
    for lower in range(BINS):
        inside = (sure > lower / BINS) & (sure <= (lower + 1) / BINS)
        error += abs(hits[inside].sum() - sure[inside].sum()) / len(truth)
    assert card.ece == pytest.approx(error)
    assert sum(count for _, _, count in card.reliability()) == len(truth)


@given(st.lists(st.tuples(st.booleans(), st.integers(-390, 390)), min_size=1, max_size=40))
def test_the_curve_of_precision_and_recall_is_that_of_the_log_odds_in_steps_of_a_tenth(
    answers: list[tuple[bool, int]],
) -> None:
    own = np.array([True, *(own for own, _ in answers)])
    odds = np.array([0, *(tenths for _, tenths in answers)]) / 10
    scores = -np.logaddexp(0, np.column_stack([-odds, odds]))
    precision, recall = card_of(np.where(own, 0, 1), scores, 2).precision_recall(0)
    area = float((np.diff(recall, prepend=0.0) * precision).sum())
    assert area == pytest.approx(peer.average_precision_score(own, odds))


def test_a_class_that_the_model_does_not_know_is_a_mistake_with_the_greatest_loss() -> None:
    card = Scorecard(2)
    card.add(np.array([0, 2]), np.log([[0.9, 0.1], [0.9, 0.1]]))
    assert card.accuracy == 0.5
    assert card.support.tolist() == [1, 0, 1]
    assert card.log_loss == pytest.approx((-np.log(0.9) - np.log(np.finfo(float).eps)) / 2)


def test_nothing_measured_is_zero_and_not_an_error() -> None:
    card = Scorecard(2)
    assert (card.n, card.accuracy, card.mcc, card.log_loss, card.ece) == (0, 0.0, 0.0, 0.0, 0.0)
