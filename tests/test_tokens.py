"""L8 from the outside: text is cut where Python's `re` cuts it, in lower case as `str.lower` writes it."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import bayleaf
import oracle
from bayleaf import Model, bytes_, chars
from bayleaf.text.views import TextView
from strategies import texts

words = partial(bayleaf.words, spaceless="keep")
"""The view of words that does not cut what is written without spaces, which `re` does not either."""

# What this Python's Unicode does not know yet, the core may already call a letter.
KNOWN = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) not in ("Cn", "Cs")]
MIXED = st.text(st.one_of(st.sampled_from("aB1_ .\n"), st.characters(exclude_categories=["Cs", "Cn"])))
LONG = st.lists(texts(), max_size=12).map(" ".join)
"""Longer than the blocks of 64 bytes in which text is read."""


def counted(view: TextView, text: str | bytes) -> Counter[str]:
    """The terms as learning counts them, which is another way through the core than `tokens`."""
    counts = Model([view]).learn([text], [0]).counts()
    return Counter(dict(zip(counts.term_names, counts.occurrences.astype(int).tolist(), strict=True)))


def both_ways(view: TextView, text: str) -> list[str]:
    """The tokens of a text, once learning and explaining agree on them."""
    tokens = view.tokens(text)
    assert counted(view, text) == Counter(tokens)
    return tokens


@pytest.mark.parametrize("marks", [False, True])
def test_every_character_between_letters_joins_or_parts_them_as_in_re(marks: bool) -> None:
    view = words(marks=marks)
    text = " ".join(f"a{character}b" for character in KNOWN)
    assert both_ways(view, text) == oracle.words(text, marks=marks)


def test_every_character_is_lower_cased_as_by_str_lower() -> None:
    letters = [c for c in KNOWN if c.isalpha()]
    assert both_ways(words(), " ".join(letters)) == [c.lower() for c in letters]


def test_every_white_space_ends_a_word_of_letters() -> None:
    spaces = [c for c in KNOWN if c.isspace()]
    for space in spaces:
        assert both_ways(chars(3), f"ab{space}cd") == [" ab", "ab ", " cd", "cd "]
    text = "".join(f"a{character}b " for character in KNOWN if not character.isspace())
    longest = max(map(len, text.lower().split()))
    assert chars(longest + 2).tokens(text) == [f" {word} " for word in text.lower().split()]


@given(st.one_of(MIXED, LONG), st.booleans(), st.sampled_from([(1, 1), (1, 2), (2, 4)]))
@example("ΌΔΟΣ ΣΑΣ. Σ", False, (1, 1))
@example("İstanbul I\u0307", True, (1, 2))
@example("a" * 63 + "é" + "b" * 70, True, (1, 1))
def test_words_are_what_findall_finds_in_lower_case(text: str, marks: bool, ngrams: tuple[int, int]) -> None:
    assert both_ways(words(ngrams, marks=marks), text) == oracle.words(text, *ngrams, marks=marks)


@given(st.one_of(MIXED, LONG))
def test_without_lower_casing_words_stay_as_they_are(text: str) -> None:
    assert both_ways(words(lower=False, marks=False), text) == oracle.WORD[False].findall(text)


@given(st.one_of(MIXED, LONG), st.integers(1, 4), st.integers(0, 4))
def test_words_outside_the_allowed_lengths_are_left_out(text: str, least: int, more: int) -> None:
    expected = [word for word in oracle.words(text) if least <= len(word) <= least + more]
    assert both_ways(words(min_length=least, max_length=least + more), text) == expected


@given(LONG, st.integers(1, 12))
def test_words_of_too_many_bytes_are_left_out(text: str, most: int) -> None:
    expected = [word for word in oracle.words(text) if len(word.encode()) <= most]
    assert both_ways(words(max_token_bytes=most), text) == expected


@given(st.one_of(MIXED, LONG), st.sampled_from([(1, 1), (2, 3), (1, 5), (4, 4)]), st.booleans())
def test_letters_are_those_of_scikit_learn(text: str, lengths: tuple[int, int], within_words: bool) -> None:
    analyzer = "char_wb" if within_words else "char"
    expected = CountVectorizer(analyzer=analyzer, ngram_range=lengths).build_analyzer()(text)
    assert sorted(both_ways(chars(*lengths, within_words=within_words), text)) == sorted(expected)


@given(st.binary(max_size=100), st.integers(1, 4), st.integers(0, 2))
def test_bytes_are_windows_over_whatever_bytes_there_are(text: bytes, shortest: int, more: int) -> None:
    lengths = range(shortest, shortest + more + 1)
    windows = [text[i : i + n] for n in lengths for i in range(len(text) - n + 1)]
    expected = Counter(window.decode("utf-8", "backslashreplace") for window in windows)
    assert counted(bytes_(shortest, shortest + more), text) == expected


@given(st.one_of(texts(), LONG))
def test_a_word_stands_where_its_span_says(text: str) -> None:
    # The lower case of Σ and İ depends on what stands around them.
    text = text.replace("Σ", "s").replace("İ", "i")
    parts = words().analyzer.parts(text)
    assert [text[start:end].lower() for _, start, end in parts] == [term for term, _, _ in parts]
    assert all(before[2] <= after[1] for before, after in pairwise(parts))


@given(texts())
def test_an_ngram_spans_from_its_first_word_to_its_last(text: str) -> None:
    single = words().analyzer.parts(text)
    pairs = [(f"{a[0]} {b[0]}", a[1], b[2]) for a, b in pairwise(single)]
    assert words((2, 2)).analyzer.parts(text) == pairs


@given(st.text(st.characters(exclude_categories=["Cn"]), max_size=30))
@example("a\ud800b")
@example("\ud801\udc00 two surrogates are not a letter")
def test_lone_surrogates_count_as_replacement_characters(text: str) -> None:
    repaired = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    views: Iterable[TextView] = [words(), chars(1, 3), chars(2, within_words=False), bytes_(3)]
    for view in views:
        assert view.tokens(text) == view.tokens(repaired)
        assert counted(view, text) == counted(view, repaired)


@given(texts())
def test_a_document_of_bytes_is_the_text_that_it_encodes(text: str) -> None:
    for view in [words(2), chars(1, 3), bytes_(2)]:
        assert counted(view, text.encode()) == counted(view, text)
        assert view.analyzer.parts(text.encode()) == view.analyzer.parts(text)


def test_blocks_of_64_bytes_leave_no_seam() -> None:
    for length in range(1, 200):
        for word in ("w" * length, "é" * length, "x" * length + "é"):
            text = f"{'. ' * (length % 7)}{word} end"
            assert both_ways(words(max_token_bytes=1000), text) == [word, "end"]
