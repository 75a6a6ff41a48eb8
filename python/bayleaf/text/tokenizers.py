"""Tokenizers: by name, regular expression or function; and patterns kept whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

from bayleaf._core import Analyzer
from bayleaf.text.normalization import FunctionNeeded
from bayleaf.text.patterns import KEEP_PATTERNS, keep_pattern

__all__ = [
    "NAMES",
    "Alphabet",
    "Spaceless",
    "Tokenizer",
    "checked_keep",
    "checked_tokenizer",
    "for_core",
]

TokenFunction: TypeAlias = Callable[[str], Iterable[str]]
Tokenizer: TypeAlias = str | re.Pattern[str] | TokenFunction
Spaceless = Literal["bigrams", "keep"]
Alphabet = Literal["dna"]

NAMES = ("words", "words+punctuation", "whitespace")
"""The tokenizers that have a name."""

_FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}
_SPECIAL = re.compile(r"[\\\[\](){}^$*?|.]")


def checked_tokenizer(tokenizer: Any) -> Tokenizer:
    """A tokenizer's name, a function, or the text of a regular expression that the core can run."""
    if callable(tokenizer):
        return tokenizer  # type: ignore[no-any-return]
    if isinstance(tokenizer, re.Pattern):
        tokenizer = _with_flags(tokenizer)
    if not isinstance(tokenizer, str):
        expected = "a name, a regular expression or a function from a text to its tokens"
        raise TypeError(f"`tokenizer` is {expected}, got {tokenizer!r}.")
    if tokenizer not in NAMES:
        _check_pattern(tokenizer)
    return tokenizer


def _with_flags(pattern: re.Pattern[Any]) -> str:
    if not isinstance(pattern.pattern, str):
        raise TypeError(f"`tokenizer` is a regular expression of text, got one of bytes: {pattern!r}.")
    letters = "".join(letter for flag, letter in _FLAGS.items() if pattern.flags & flag)
    return f"(?{letters}:{pattern.pattern})" if letters else pattern.pattern


def _check_pattern(pattern: str) -> None:
    if not _SPECIAL.search(pattern):
        names = ", ".join(map(repr, NAMES))
        raise ValueError(
            f"`tokenizer` has the names {names}, got {pattern!r}. A regular expression is told by its "
            r"special characters, such as r'\w+'."
        )
    try:
        analyzer(tokenizer=pattern)
    except ValueError as error:
        raise ValueError(
            f"`tokenizer` cannot be the regular expression {pattern!r}: {error}\n"
            "It never looks back, so it knows no look-around and no back-references; "
            "a function can use Python's `re`."
        ) from error


def checked_keep(keep: Any) -> tuple[str, ...]:
    """The names of patterns that are kept whole, in the order of the table."""
    if keep is None or (isinstance(keep, tuple | list) and not keep):
        return ()
    names = [keep] if isinstance(keep, str) else list(keep)
    keep_pattern(names)
    return tuple(name for name in KEEP_PATTERNS if name in names)


def for_core(tokenizer: Tokenizer, keep: tuple[str, ...]) -> dict[str, Any]:
    """The same as arguments of the core."""
    named = isinstance(tokenizer, str) and tokenizer in NAMES
    return {
        "tokenizer": tokenizer if named else "words",
        "pattern": tokenizer if isinstance(tokenizer, str) and not named else None,
        "function": None if isinstance(tokenizer, str) else tokenizer,
        "keep": keep_pattern(keep) if keep else None,
    }


def analyzer(
    shortest: int = 1,
    longest: int = 1,
    *,
    lower: bool = True,
    marks: bool = True,
    lengths: tuple[int, int | None] = (1, None),
    max_bytes: int = 256,
    tokenizer: Tokenizer = "words",
    keep: tuple[str, ...] = (),
    spaceless: Spaceless = "bigrams",
    sparse: int = 0,
    steps: tuple[list[str], bool, Any] = ([], False, None),
    buckets: int | None = None,
) -> Analyzer:
    """The part of the core that cuts words like this."""
    stop_words, porter, normalizer = steps
    return Analyzer.words(
        shortest,
        longest,
        lower=lower,
        marks=marks,
        min_length=lengths[0],
        max_length=lengths[1],
        max_bytes=max_bytes,
        bigrams=spaceless == "bigrams",
        sparse=sparse,
        stop_words=stop_words,
        porter=porter,
        normalizer=normalizer,
        buckets=buckets,
        **for_core(tokenizer, keep),
    )


def restored_functions(settings: Mapping[str, Any], given: Any) -> tuple[Any, Any]:
    """The normalizer and the tokenizer that settings name, from what was passed again: one or a mapping."""
    cut = settings.get("tokenizer")
    name = cut["function"] if isinstance(cut, Mapping) else None
    if name is None:
        return given, cut or "words"
    both = settings["normalization"].get("function") is not None
    functions = given if isinstance(given, Mapping) else {} if both else {"tokenizer": given}
    if functions.get("tokenizer") is None:
        remedy = 'a mapping, {"tokenizer": ..., "normalizer": ...}' if both else "it"
        raise FunctionNeeded(
            f"The text was cut by the function {name!r}, which no file can hold. "
            f"Pass {remedy} as `normalizer` when you load it."
        )
    return functions.get("normalizer"), functions["tokenizer"]
