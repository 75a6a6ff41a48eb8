"""L5: the same numbers as a naive Bayes written in fractions from the definitions."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayleaf
import oracle
from bayleaf import Model
from oracle import Oracle
from strategies import Corpus, corpora, texts

words = partial(bayleaf.words, spaceless="keep")
"""The oracle does not cut what is written without spaces."""

EVENTS = st.sampled_from(["multinomial", "bernoulli", "complement"])
FREQUENCIES = st.sampled_from(["count", "binary", "normalized", "tf-idf"])
ALPHAS = st.sampled_from(["1", "1/2", "1/1000", "3"]).map(Fraction)
NGRAMS = st.sampled_from([(1, 1), (1, 2), (2, 3)])


def both(corpus: Corpus, ngrams: tuple[int, int], **chosen: Any) -> tuple[Model, Oracle]:
    """The model and the oracle of one corpus with the same settings."""
    documents, labels = corpus
    own = {name: chosen[name] for name in ("event", "tf") if name in chosen}
    rest = {name: value for name, value in chosen.items() if name not in own}
    model = Model([words(ngrams, **own)], **rest | {"alpha": float(chosen["alpha"])}).learn(documents, labels)
    return model, Oracle([oracle.words(text, *ngrams) for text in documents], labels, **chosen)


def agree(model: Model, truth: Oracle, text: str, ngrams: tuple[int, int]) -> None:
    """The joint, the evidence, the posterior and the decision are the oracle's."""
    expected = np.array(truth.log_joint(oracle.words(text, *ngrams)))
    np.testing.assert_allclose(model.log_joint([text])[0], expected, rtol=1e-11, atol=1e-11)
    evidence = np.logaddexp.reduce(expected)
    np.testing.assert_allclose(model.log_evidence([text])[0], evidence, rtol=1e-11, atol=1e-11)
    if evidence > -math.inf:
        np.testing.assert_allclose(model.posterior([text])[0], np.exp(expected - evidence), atol=1e-10)


@settings(max_examples=120)
@given(corpora(), texts(), EVENTS, FREQUENCIES, ALPHAS, NGRAMS, st.sampled_from(["ignore", "smooth"]))
def test_log_joint_equals_the_definition_in_fractions(
    corpus: Corpus, text: str, event: str, tf: str, alpha: Fraction, ngrams: tuple[int, int], unseen: str
) -> None:
    model, truth = both(corpus, ngrams, event=event, tf=tf, alpha=alpha, unseen=unseen)
    for each in [text, *corpus[0][:3], ""]:
        agree(model, truth, each, ngrams)


@settings(max_examples=80)
@given(
    corpora(),
    texts(),
    st.sampled_from(["multinomial", "bernoulli"]),
    FREQUENCIES,
    st.sampled_from(["ignore", "smooth"]),
)
def test_without_smoothing_a_zero_rules_a_class_out_and_only_then(
    corpus: Corpus, text: str, event: str, tf: str, unseen: str
) -> None:
    model, truth = both(corpus, (1, 1), event=event, tf=tf, alpha=Fraction(0), unseen=unseen)
    for each in [text, corpus[0][0], " ".join(corpus[0])]:
        agree(model, truth, each, (1, 1))


@settings(max_examples=40)
@given(corpora(), texts(), EVENTS, st.data())
def test_priors_are_empirical_uniform_or_those_that_are_given(
    corpus: Corpus, text: str, event: str, data: st.DataObject
) -> None:
    classes: list[Hashable] = list(dict.fromkeys(corpus[1]))
    shares = data.draw(st.lists(st.integers(1, 9), min_size=len(classes), max_size=len(classes)))
    given_ = {label: share / sum(shares) for label, share in zip(classes, shares, strict=True)}
    for priors in ("empirical", "uniform", given_):
        model, truth = both(corpus, (1, 1), event=event, alpha=Fraction(1), priors=priors)
        agree(model, truth, text, (1, 1))


@given(corpora(), NGRAMS)
def test_counts_are_those_of_a_counter(corpus: Corpus, ngrams: tuple[int, int]) -> None:
    model, truth = both(corpus, ngrams, alpha=Fraction(1))
    counts = model.counts()
    names = counts.term_names
    cells = zip(counts.term.tolist(), counts.class_.tolist(), counts.occurrences.tolist(), strict=True)
    found = {(names[term], class_): int(n) for term, class_, n in cells}
    expected = {
        (term, i): n for i, label in enumerate(truth.classes) for term, n in truth.mass[label].items()
    }
    assert found == expected
    documents = Counter(term for document in truth.documents for term in set(document))
    assert dict(zip(names, counts.by_term(counts.documents).astype(int).tolist(), strict=True)) == documents


def test_the_worked_example_of_a_textbook_comes_out() -> None:
    # Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), examples 13.1 and 13.2.
    texts = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"]
    model = Model().learn(texts, ["yes", "yes", "yes", "no"])
    test = ["Chinese Chinese Chinese Tokyo Japan"]
    yes, no = 3 / 4 * (3 / 7) ** 3 * (1 / 14) ** 2, 1 / 4 * (2 / 9) ** 3 * (2 / 9) ** 2
    assert np.exp(model.log_joint(test)[0]) == pytest.approx([no, yes], rel=1e-12)
    assert model.predict(test).tolist() == ["yes"]
    model.configure(event="bernoulli")
    yes = 3 / 4 * 4 / 5 * 1 / 5 * 1 / 5 * (1 - 2 / 5) * (1 - 2 / 5) * (1 - 2 / 5)
    no = 1 / 4 * 2 / 3 * 2 / 3 * 2 / 3 * (1 - 1 / 3) * (1 - 1 / 3) * (1 - 1 / 3)
    assert np.exp(model.log_joint(test)[0]) == pytest.approx([no, yes], rel=1e-12)
    assert model.predict(test).tolist() == ["no"]


def test_a_document_that_no_class_allows_gets_the_prior_and_a_warning() -> None:
    model = Model(alpha=0).learn(["a", "b", "b"], ["x", "y", "y"])
    assert model.log_joint(["a b"]).tolist() == [[-math.inf, -math.inf]]
    with pytest.warns(UserWarning, match="1 of 2 documents are impossible in every class"):
        posterior = model.posterior(["a b", "a"])
    assert posterior == pytest.approx(np.array([[1 / 3, 2 / 3], [1, 0]]))
    with pytest.warns(UserWarning, match="prior"):
        assert model.predict(["a b"]).tolist() == ["y"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(["a", "b"]).tolist() == ["x", "y"]


def test_a_tie_goes_to_the_first_class() -> None:
    model = Model().learn(["a", "a", "a"], ["z", "b", 7])
    assert model.classes == [7, "b", "z"]
    assert model.predict(["a", "", "q"]).tolist() == [7, 7, 7]


def test_views_add_their_log_likelihoods() -> None:
    documents, labels = ["a b", "b c", "c"], [0, 1, 1]
    one, two = (Model([words(n)], priors="uniform").learn(documents, labels) for n in ((1, 1), (2, 2)))
    joint = Model([words(), words((2, 2))], priors="uniform").learn(documents, labels).log_joint(["a b c"])
    np.testing.assert_allclose(joint, one.log_joint(["a b c"]) + two.log_joint(["a b c"]) - math.log(0.5))
