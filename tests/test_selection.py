"""Leaving terms out after counting equals never having counted them."""

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, chars, top, words

CORPORA = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdefg"), max_size=8), st.sampled_from("xyz")),
    min_size=2,
    max_size=10,
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "stop_words": st.builds(top, st.integers(1, 3)),
        "min_df": st.one_of(st.integers(1, 3), st.floats(0, 0.5)),
        "max_df": st.one_of(st.integers(1, 9), st.floats(0.3, 1)),
        "max_terms": st.integers(1, 6),
    },
)


def used_terms(documents: list[list[str]], **settings: Any) -> set[str]:
    """The definition, written anew."""
    often = Counter(word for document in documents for word in document)
    df = Counter(word for document in documents for word in set(document))

    def documents_of(limit: Any) -> float:
        return float(limit * len(documents) if isinstance(limit, float) else limit)

    ranked = sorted(often, key=lambda word: (-often[word], word))
    stops = set(ranked[: settings["stop_words"].n] if "stop_words" in settings else [])
    left = [
        word
        for word in ranked
        if word not in stops
        and documents_of(settings.get("min_df", 1)) <= df[word] <= documents_of(settings.get("max_df", 1.0))
    ]
    return set(left[: settings.get("max_terms")])


@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "complement"])
@pytest.mark.parametrize("tf", ["count", "binary"])
@given(corpus=CORPORA, settings=SETTINGS, later=st.booleans())
def test_leaving_terms_out_equals_learning_without_them(
    event: Any, tf: Any, corpus: list[tuple[list[str], str]], settings: dict[str, Any], later: bool
) -> None:
    documents, labels = [words for words, _ in corpus], [label for _, label in corpus]
    used = used_terms(documents, **settings)
    texts = [" ".join(document) for document in documents]
    bare = [" ".join(word for word in document if word in used) for document in documents]
    view = words(event=event, tf=tf) if later else words(event=event, tf=tf, **settings)
    model = Model([view]).learn(texts, labels)
    if later:
        model.configure(**settings)
    without = Model([words(event=event, tf=tf)]).learn(bare, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(model.log_joint(texts), without.log_joint(bare), rtol=1e-12)


@given(CORPORA, SETTINGS)
def test_terms_left_out_say_nothing_even_if_unseen_ones_do(
    corpus: list[tuple[list[str], str]], settings: dict[str, Any]
) -> None:
    documents, labels = [words for words, _ in corpus], [label for _, label in corpus]
    model = Model([words(**settings)], unseen="smooth").learn([" ".join(each) for each in documents], labels)
    dropped = {word for each in documents for word in each} - used_terms(documents, **settings)
    text = " ".join(sorted(dropped))
    np.testing.assert_array_equal(model.log_joint([text]), model.log_joint([""]))
    explained = model.explain(text + " new")
    parts = sum((part.scores for part in explained.parts), explained.log_prior + explained.bias)
    np.testing.assert_allclose(parts, explained.log_joint, rtol=1e-9)


@given(CORPORA, SETTINGS)
def test_what_is_left_out_is_still_counted(
    corpus: list[tuple[list[str], str]], settings: dict[str, Any]
) -> None:
    texts, labels = [" ".join(words) for words, _ in corpus], [label for _, label in corpus]
    plain = Model([words()]).learn(texts, labels)
    selected = Model([words(**settings)]).learn(texts, labels)
    assert selected.copy().to_bytes() == selected.to_bytes()
    reset = selected.configure(stop_words=None, min_df=None, max_df=None, max_terms=None)
    assert reset.to_bytes() == plain.to_bytes()


def test_letters_can_be_selected_too() -> None:
    model = Model([chars(1, 1, max_terms=1, stop_words=top(1))]).learn(["abb", "bcc"], ["x", "y"])
    assert model.explain("a b c").parts[0].scores.tolist() == [0.0, 0.0]
    assert repr(model.views[0][1]) == "chars(stop_words=top(1), max_terms=1, longest=1)"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_df": 0}, r"`min_df` is a number of documents.*got 0\."),
        ({"max_df": 1.5}, r"`max_df` is .*a share of them from 0.0 to 1.0, got 1.5\."),
        ({"max_terms": 0}, r"`max_terms` must be a whole number >= 1, or None, got 0\."),
        (
            {"stop_words": ["a"]},
            r"can be changed to top\(n\) or None, got \['a'\].*must be given to the view",
        ),
    ],
)
def test_a_selection_that_makes_no_sense_is_refused(settings: dict[str, Any], message: str) -> None:
    model = Model([words()]).learn(["a"], ["x"])
    with pytest.raises(ValueError, match=message):
        model.configure(**settings)
