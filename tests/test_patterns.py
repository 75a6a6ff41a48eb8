"""The regular expressions that keep a piece of text whole, in Python's dialect and in Rust's."""

import re
from collections.abc import Callable
from typing import Any

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf.text.patterns import KEEP_PATTERNS, TOKENIZERS, keep_pattern

Find = Callable[[str, str], list[str]]

EXAMPLES: dict[str, tuple[str, list[str]]] = {
    "url": (
        "See http://a.example/x?y=1#z, www.b.example. (HTTPS://c.example/q) <ftp://d.example/f> http:// www",
        ["http://a.example/x?y=1#z", "www.b.example", "HTTPS://c.example/q", "ftp://d.example/f"],
    ),
    "email": (
        "Write to ann.lee+news@mail.example.org, or <bob@b-c.example>. Not a@b, @ann, or x@.y",
        ["ann.lee+news@mail.example.org", "bob@b-c.example"],
    ),
    "money": (
        "£1,000 or $5.50, US$ 20, 150p/msg, 30 EUR, 5€, 2 pounds, ₹99, $5m; not 2024, 12 points or 5pm",
        ["£1,000", "$5.50", "US$ 20", "150p", "30 EUR", "5€", "2 pounds", "₹99", "$5m"],
    ),
    "emoji": (
        "ok 😀👍🏽 👩‍👩‍👧‍👦 ❤️ 🇩🇪🇫🇷 1️⃣ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 ⭐ 1 # © é 日",
        ["😀", "👍🏽", "👩‍👩‍👧‍👦", "❤️", "🇩🇪", "🇫🇷", "1️⃣", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "⭐"],
    ),
    "hashtag": ("#bayes, #2fast #日本 a#b &#39; #1 ##x", ["#bayes", "#2fast", "#日本", "#x"]),
    "mention": ("@ann (@bob_2) ann@b.example @ @é", ["@ann", "@bob_2", "@é"]),
}


def in_rust(pattern: str, text: str) -> list[str]:
    """What the regex crate finds, which polars runs."""
    found: list[str] = polars.Series([text]).str.extract_all(pattern).to_list()[0]
    return found


def in_python(pattern: str, text: str) -> list[str]:
    return [match.group() for match in re.finditer(pattern, text)]


def test_every_pattern_has_an_example() -> None:
    assert EXAMPLES.keys() == KEEP_PATTERNS.keys()


@pytest.mark.parametrize("find", [in_python, in_rust])
@pytest.mark.parametrize("name", KEEP_PATTERNS)
def test_a_pattern_keeps_what_its_name_says_and_nothing_else(name: str, find: Find) -> None:
    text, kept = EXAMPLES[name]
    assert find(KEEP_PATTERNS[name], text) == kept


# To Rust, joiners and combining marks are part of a word, to Python they are not; only emoji have them here.
pieces = st.sampled_from([*" .,@#$€5p-_/:", "www.", "http://", "ab", "é", "日", "😀", "🏽", "🇩"])
emoji = st.sampled_from([*" 5#é日😀❤🏽🇩🏴", "\u200d", "\ufe0f", "\u20e3", "\U000e0067"])


@given(
    st.lists(pieces, max_size=12).map("".join),
    st.sampled_from([*KEEP_PATTERNS.values(), *TOKENIZERS.values()]),
)
def test_a_pattern_finds_the_same_in_both_dialects(text: str, pattern: str) -> None:
    assert in_python(pattern, text) == in_rust(pattern, text)


@given(st.lists(emoji, max_size=12).map("".join))
def test_emoji_with_joiners_are_the_same_in_both_dialects(text: str) -> None:
    assert in_python(KEEP_PATTERNS["emoji"], text) == in_rust(KEEP_PATTERNS["emoji"], text)


@given(st.lists(pieces, max_size=12).map("".join), st.sampled_from(list(KEEP_PATTERNS.values())))
def test_a_pattern_never_keeps_an_empty_piece(text: str, pattern: str) -> None:
    assert "" not in in_python(pattern, text)


def test_patterns_together_keep_each_piece_once_under_the_first_that_matches() -> None:
    found = in_rust(keep_pattern(["mention", "email", "url"]), "www.x.example/@ann bob@b.example @ann")
    assert found == ["www.x.example/@ann", "bob@b.example", "@ann"]


@pytest.mark.parametrize("names", ["url", ["url"], {"url"}])
def test_one_pattern_may_be_named_alone(names: Any) -> None:
    assert in_python(keep_pattern(names), "at www.x.example now") == ["www.x.example"]


def test_an_unknown_pattern_is_refused_with_the_choice() -> None:
    with pytest.raises(ValueError, match=r"'url', 'email', 'money'.*got 'phone'"):
        keep_pattern(["url", "phone"])


def test_keeping_nothing_is_said_by_leaving_it_out() -> None:
    with pytest.raises(ValueError, match="leave it out"):
        keep_pattern([])
