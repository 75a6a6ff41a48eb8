"""The page on lazy and eager learners says what was measured."""

from __future__ import annotations

import pytest

import growth
from doc_blocks import ROOT


@pytest.mark.parametrize("corpus", growth.CORPORA)
def test_the_tables_of_the_page_are_the_figures_that_were_kept(corpus: str) -> None:
    page = (ROOT / "docs" / "lazy.md").read_text("utf-8")
    assert growth.table(corpus) in page, (
        "Put what docs/growth.py's table() returns in its place in docs/lazy.md."
    )


@pytest.mark.parametrize("corpus", growth.CORPORA)
def test_every_learner_was_measured_on_every_slice(corpus: str) -> None:
    slices = {
        learner: [run["documents"] for run in growth.runs_of(corpus, learner)]
        for learner in growth.learners(corpus)
    }
    lazy = slices["k-NN"]
    assert len(slices) == 3
    assert lazy == sorted(set(lazy))
    assert all(documents == lazy for documents in slices.values())


@pytest.mark.parametrize("corpus", growth.CORPORA)
def test_answers_of_the_lazy_learner_slow_down_more_than_twice_as_much_as_the_corpus_grows(
    corpus: str,
) -> None:
    def slower(learner: str) -> float:
        first, *_, last = growth.runs_of(corpus, learner)
        return float(last["predict"] / first["predict"])

    assert slower("k-NN") > 2 * slower("bayleaf")
