"""Corpora as hypothesis draws them: small vocabularies, all scripts, empty documents, one to five classes."""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import strategies as st

Label: TypeAlias = str | int
Corpus: TypeAlias = tuple[list[str], list[Label]]

WORDS = [
    "a", "b", "The", "ham", "spam", "SPAM", "x_1", "42", "\0", "don't", "e-mail", "w" * 20,
    "café", "cafe\u0301", "ΌΣΟΣ", "Straße", "İI", "ﬁn", "Ⅷ", "привет", "日本語", "กำ", "नमस्ते",
    "שלום", "مرحبا", "😀", "👩\u200d👧", "\ufffd",
]  # fmt: skip
CHARACTERS = st.characters(exclude_categories=["Cs", "Cn"])
"""All that this Python knows; the core may know letters of a newer Unicode."""
SPACES = [" ", "  ", "\n", "\t", "\u00a0", "\u3000", ", ", ""]


def texts() -> st.SearchStrategy[str]:
    """A document: mostly words that come again, now and then any characters at all."""
    piece = st.tuples(st.sampled_from(WORDS), st.sampled_from(SPACES)).map("".join)
    known = st.lists(piece, max_size=12).map("".join)
    return st.one_of(known, known, known, st.text(CHARACTERS, max_size=20))


def labels() -> st.SearchStrategy[list[Label]]:
    """The names of one to five classes."""
    names: st.SearchStrategy[Label] = st.one_of(st.sampled_from(["ham", "spam", "é", ""]), st.integers(-3, 3))
    return st.lists(names, min_size=1, max_size=5, unique=True)


@st.composite
def corpora(draw: st.DrawFn, min_size: int = 1, max_size: int = 12) -> Corpus:
    """Documents and their labels."""
    names = st.sampled_from(draw(labels()))
    rows = draw(st.lists(st.tuples(texts(), names), min_size=min_size, max_size=max_size))
    return [text for text, _ in rows], [label for _, label in rows]
