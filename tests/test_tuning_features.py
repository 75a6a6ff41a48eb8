"""What weights are fitted to: features of documents left out, the slope of their loss, and the solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayleaf import Model, chars, words
from bayleaf.tuning.examples import Evidence, Examples
from bayleaf.tuning.lbfgs import minimize
from bayleaf.tuning.scorer import look
from strategies import Corpus, corpora

Floats = np.ndarray[Any, np.dtype[np.float64]]


def left_out_features(corpus: Corpus, leave_out: bool, rows: list[int], least: int = 1) -> Any:
    """The features of some rows under the counts of the whole corpus."""
    texts, labels = corpus
    model = Model([words(ngrams=2)]).learn(texts, labels)
    (tally,) = model.tallies
    some = [texts[i] for i in rows]
    looked = look(tally, tally.counts(model.order), some, 0.5, least, 1.0, 1)  # type: ignore[arg-type]
    classes = model.classes
    y = np.array([classes.index(labels[i]) for i in rows], np.uint32)
    examples = Examples(np.arange(len(rows), dtype=np.uint32), y, len(classes))
    return Evidence([looked]).features(examples, 2, leave_out).core, looked


@settings(max_examples=40)
@given(corpora(min_size=2), st.data())
def test_the_gradient_is_that_of_the_loss(corpus: Corpus, data: st.DataObject) -> None:
    assume(len(set(corpus[1])) > 1)
    features, looked = left_out_features(corpus, True, list(range(len(corpus[0]))))
    terms, classes = len(looked.counts), looked.counts.classes
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    weights, bias = random.normal(size=terms), random.normal(size=classes)
    loss, slope, bias_slope = features.slope(weights, bias)
    assert loss == pytest.approx(features.loss(weights, bias), abs=1e-5)
    for along, there in ((np.eye(terms), slope), (np.eye(classes), bias_slope)):
        for i, direction in enumerate(along):
            ends = [
                features.loss(weights + s * direction, bias) if along.shape[0] == terms and there is slope
                else features.loss(weights, bias + s * direction)
                for s in (-1e-3, 1e-3)
            ]  # fmt: skip
            assert there[i] == pytest.approx((ends[1] - ends[0]) / 2e-3, abs=2e-4)


@settings(max_examples=40)
@given(corpora(min_size=3))
def test_features_of_a_document_are_those_of_counts_without_it(corpus: Corpus) -> None:
    """By hand: log((D - own + a) / (N - own terms + aV)) times (1 + log tf) / norm, but for a constant.

    Terms that no other document holds are unknown without it.
    """
    assume(len(set(corpus[1])) > 1)
    features, looked = left_out_features(corpus, True, list(range(len(corpus[0]))))
    assume(len(looked.counts))
    counts = looked.counts.table().astype(np.float64)
    ends, terms, times = looked.rows.arrays()
    classes = sorted(set(corpus[1]), key=lambda label: (isinstance(label, str), label))
    found = features.group_scores(np.zeros(len(counts), np.uint8), 1)[:, 0]
    for i, (start, end) in enumerate(zip([0, *ends.tolist()], ends.tolist(), strict=False)):
        own, values = terms[start:end], 1 + np.log(times[start:end])
        left = counts.copy()
        left[own, classes.index(corpus[1][i])] -= 1
        known = left[own].sum(axis=1) > 0
        own, values = own[known], values[known]
        logs = np.log(left[own] + 0.5) - np.log(left.sum(axis=0) + 0.5 * len(counts))
        scores = (values[:, None] * logs).sum(axis=0) / np.sqrt((values**2).sum() or 1)
        np.testing.assert_allclose(found[i] - found[i].mean(), scores - scores.mean(), atol=1e-4)


def test_the_solver_finds_the_foot_of_a_narrow_valley() -> None:
    scales = np.geomspace(1, 1e3, 30)

    def valley(x: Floats) -> tuple[float, Floats]:
        off = x - np.arange(30)
        return float((scales * off**2).sum() / 2), scales * off

    at, value = minimize(valley, np.zeros(30), tolerance=1e-12, most=300)
    np.testing.assert_allclose(at, np.arange(30), atol=1e-4)
    assert value < 1e-6


@settings(max_examples=40)
@given(corpora(min_size=2), st.booleans())
def test_cells_say_what_the_table_says_up_to_a_number_for_all_classes(corpus: Corpus, grouped: bool) -> None:
    texts, labels = corpus
    assume(len(set(labels)) > 2)
    model = Model([words(ngrams=2), chars(2, 2)]).learn(texts, labels)
    texts_of = [
        look(tally, tally.counts(model.order), texts, 0.5, 1, 1.0, 1)  # type: ignore[arg-type]
        for tally in model.tallies
    ]
    y = np.array([model.classes.index(label) for label in labels], np.uint32)
    groups = (np.arange(len(y)) // 2).astype(np.uint32) if grouped else np.zeros(0, np.uint32)
    examples = Examples(np.arange(len(y), dtype=np.uint32), y, len(model.classes), groups=groups)
    evidence = Evidence(texts_of)
    expected = evidence.step_scores(evidence.features(examples, 1, leave_out=True))
    found = evidence.shared_scores(examples, 2)
    np.testing.assert_allclose(found - found[:, :, :1], expected - expected[:, :, :1], atol=2e-5)
