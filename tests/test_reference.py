"""L6: the same numbers as scikit-learn, where both define the same thing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import normalize

from bayleaf import Model, chars, words
from strategies import Corpus, corpora, texts

DATA = os.environ.get("BAYLEAF_DATA")
needs_data = pytest.mark.skipif(DATA is None, reason="BAYLEAF_DATA names no folder with the corpora")
WORD = r"(?u)\b\w+\b"
ANALYZERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "words": (words(marks=False, spaceless="keep"), {"token_pattern": WORD}),
    "pairs": (words(2, marks=False, spaceless="keep"), {"token_pattern": WORD, "ngram_range": (1, 2)}),
    "only pairs": (
        words((2, 2), marks=False, spaceless="keep"),
        {"token_pattern": WORD, "ngram_range": (2, 2)},
    ),
    "at least two letters": (words(spaceless="keep", marks=False, min_length=2), {}),
    "cased": (words(spaceless="keep", marks=False, lower=False), {"token_pattern": WORD, "lowercase": False}),
    "letters": (chars(1, 3, within_words=False), {"analyzer": "char", "ngram_range": (1, 3)}),
    "letters of words": (chars(2, 4), {"analyzer": "char_wb", "ngram_range": (2, 4)}),
}
EVENTS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}


def close(ours: Any, theirs: Any) -> None:
    """rtol 1e-12; a sum of logarithms near 0 is as exact as its parts, which are not."""
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-11)


def compare(train: Corpus, test: Sequence[str], analyzer: str, alpha: float, tf: str = "count") -> None:
    """Joint and posterior of all three event models, and the terms, agree."""
    view, options = ANALYZERS[analyzer]
    model = Model([view], alpha=alpha).learn(*train).configure(tf=tf)
    vectorizer = CountVectorizer(**options)
    X, Z = vectorizer.fit_transform(train[0]), vectorizer.transform(test)
    assert sorted(model.counts().term_names) == vectorizer.get_feature_names_out().tolist()
    X, Z = _weighted(X, tf), _weighted(Z, tf)
    for event, theirs in EVENTS.items():
        peer = theirs(alpha=alpha).fit(X, train[1])
        joint = model.configure(event=event).log_joint(test)
        close(joint, peer.predict_joint_log_proba(Z))
        np.testing.assert_allclose(model.posterior(test), peer.predict_proba(Z), rtol=1e-9, atol=1e-12)


def _weighted(X: Any, tf: str) -> Any:
    return {"count": X, "binary": (X > 0).astype(int), "normalized": normalize(X.astype(float), "l1")}[tf]


@given(corpora(), texts(), st.sampled_from(sorted(ANALYZERS)), st.sampled_from([1.0, 0.5, 1e-3]))
def test_generated_text_gets_scikit_learns_numbers(
    corpus: Corpus, text: str, analyzer: str, alpha: float
) -> None:
    labels = [str(label) for label in corpus[1]]
    build = CountVectorizer(**ANALYZERS[analyzer][1]).build_analyzer()
    assume(any(build(each) for each in corpus[0]))  # scikit-learn refuses a corpus without a term
    compare((corpus[0], list(labels)), [text, "", *corpus[0]], analyzer, alpha)


@given(
    corpora(),
    st.sampled_from(["words", "pairs", "letters of words"]),
    st.sampled_from(["binary", "normalized"]),
)
def test_weighted_text_gets_scikit_learns_numbers(corpus: Corpus, analyzer: str, tf: str) -> None:
    labels = [str(label) for label in corpus[1]]
    build = CountVectorizer(**ANALYZERS[analyzer][1]).build_analyzer()
    assume(any(build(each) for each in corpus[0]))
    # Only learned documents: bayleaf divides by the length of a document, with its unknown terms.
    compare((corpus[0], list(labels)), ["", *corpus[0]], analyzer, 1.0, tf)


def table(name: str) -> Corpus:
    """A corpus of the folder: a label, a tab and a text on each line."""
    lines = (Path(DATA or "") / f"{name}.tsv").read_text("utf-8").split("\n")
    pairs = [line.split("\t", 1) for line in lines if line]
    return [text for _, text in pairs], [label for label, _ in pairs]


@needs_data
@pytest.mark.parametrize(
    ("name", "analyzer", "tf", "most"),
    [
        ("sms", "words", "count", 10**6),
        ("sms", "pairs", "count", 10**6),
        ("sms", "letters", "count", 1000),
        ("sms", "letters of words", "count", 1000),
        ("mr", "words", "count", 10**6),
        ("mr", "pairs", "binary", 10**6),
        ("20ng", "words", "count", 3000),
        ("20ng", "cased", "binary", 3000),
    ],
)
def test_real_text_gets_scikit_learns_numbers(name: str, analyzer: str, tf: str, most: int) -> None:
    documents, labels = table(f"{name}.train")
    compare((documents[:most], labels[:most]), table(f"{name}.test")[0][:500], analyzer, 1.0, tf)


@needs_data
def test_length_normalized_mail_gets_scikit_learns_numbers() -> None:
    documents, labels = table("sms.train")
    compare((documents, labels), documents[:500], "words", 1.0, "normalized")
