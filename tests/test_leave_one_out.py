"""L3: a document's leave-one-out score is its score under a model that never saw it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayleaf import Model, chars, words
from bayleaf.tuning import ALPHAS
from bayleaf.tuning.temperature import temperature
from strategies import Corpus, corpora

EVENTS = st.sampled_from(["multinomial", "bernoulli", "complement"])
FREQUENCIES = st.sampled_from(["count", "binary", "normalized", "tf-idf"])
UNSEEN = st.sampled_from(["ignore", "smooth"])


def brute_force(
    views: list[Any], corpus: Corpus, groups: list[int] | None = None, **chosen: Any
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Each document under a model that has learned all but its group; a class that is gone is impossible."""
    documents, labels = corpus
    own = list(range(len(documents))) if groups is None else groups
    classes = Model(views, **chosen).learn(documents, labels).classes
    scores = np.full((len(documents), len(classes)), -np.inf)
    for i, text in enumerate(documents):
        others = [j for j in range(len(documents)) if own[j] != own[i]]
        if not others:
            continue
        model = Model(views, **chosen).learn([documents[j] for j in others], [labels[j] for j in others])
        there = [classes.index(label) for label in model.classes]
        scores[i, there] = model.log_joint([text])[0]
    return scores


@settings(max_examples=200)
@given(corpora(min_size=2), EVENTS, FREQUENCIES, UNSEEN, st.sampled_from([1.0, 0.5, 1e-3]), st.integers(1, 2))
def test_leaving_a_document_out_equals_never_having_learned_it(
    corpus: Corpus, event: Any, tf: Any, unseen: Any, alpha: float, ngrams: int
) -> None:
    views = [words(ngrams=ngrams, event=event, tf=tf)]
    model = Model(views, alpha=alpha, unseen=unseen).learn(*corpus)
    expected = brute_force(views, corpus, alpha=alpha, unseen=unseen)
    np.testing.assert_allclose(model.loo_log_joint(*corpus), expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=100)
@given(corpora(min_size=2), st.sampled_from(["multinomial", "bernoulli"]), FREQUENCIES, UNSEEN)
def test_without_smoothing_the_same_classes_are_ruled_out(
    corpus: Corpus, event: Any, tf: Any, unseen: Any
) -> None:
    views = [words(event=event, tf=tf)]
    model = Model(views, alpha=0.0, unseen=unseen).learn(*corpus)
    expected = brute_force(views, corpus, alpha=0.0, unseen=unseen)
    np.testing.assert_allclose(model.loo_log_joint(*corpus), expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=60)
@given(corpora(min_size=2), st.sampled_from(["uniform", "empirical"]), st.integers(1, 3))
def test_views_add_up_and_threads_do_not_matter(corpus: Corpus, priors: Any, threads: int) -> None:
    views = [words(ngrams=2), chars(1, 3, tf="binary", alpha=0.25)]
    model = Model(views, priors=priors, threads=threads).learn(*corpus)
    expected = brute_force(views, corpus, priors=priors)
    np.testing.assert_allclose(model.loo_log_joint(*corpus), expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=40)
@given(corpora(min_size=2), st.data())
def test_a_group_is_left_out_together(corpus: Corpus, data: st.DataObject) -> None:
    size = len(corpus[0])
    groups = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    expected = brute_force([words()], corpus, groups)
    found = Model([words()]).learn(*corpus).loo_log_joint(*corpus, groups=groups)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@given(corpora(min_size=2))
def test_leaving_out_changes_nothing(corpus: Corpus) -> None:
    model = Model([words()]).learn(*corpus)
    before = model.to_bytes()
    model.loo_log_joint(*corpus)
    model.loo_log_joint(*corpus, groups=[0] * len(corpus[0]))
    assert model.to_bytes() == before


@pytest.mark.parametrize("text", ["never seen", "win"])
def test_a_document_that_was_not_learned_cannot_be_left_out(text: str) -> None:
    model = Model([words()]).learn(["win a prize", "see you"], ["spam", "ham"])
    with pytest.raises(ValueError, match=r"Document 1 was not learned with its label"):
        model.loo_log_joint(["see you", text], ["ham", "ham"])


def test_the_one_wrong_label_is_the_first_suspect() -> None:
    texts = [f"free prize money now {i}" for i in range(30)] + [f"see you at lunch {i}" for i in range(30)]
    labels = ["spam"] * 30 + ["ham"] * 30
    labels[7] = "ham"
    found = Model([words(ngrams=2)]).learn(texts, labels).suspects(texts, labels)
    assert [(each.row, each.label, each.suggested) for each in found] == [(7, "ham", "spam")]
    assert found[0].log_odds > 0


@settings(max_examples=10)
@given(corpora(min_size=6))
def test_the_chosen_smoothing_predicts_documents_left_out_best(corpus: Corpus) -> None:
    assume(len(set(corpus[1])) > 1)
    model = Model([words()]).learn(*corpus).choose_alpha(*corpus)
    labels = np.array([model.classes.index(label) for label in corpus[1]], np.uint32)

    def loss(alpha: float) -> float:
        return temperature(model.copy().configure(alpha=alpha).loo_log_joint(*corpus), labels)[1]

    assert model.alpha == min(ALPHAS, key=loss)
