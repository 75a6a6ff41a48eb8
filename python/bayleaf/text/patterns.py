"""Regular expressions that cut text into tokens or keep a piece of it whole.

They are written in what Rust's `regex` crate and Python's `re` have in common: no look-around, no
back-references, and neither `\\p{...}` nor set operations inside brackets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

__all__ = ["KEEP_PATTERNS", "TOKENIZERS", "keep_pattern"]

TOKENIZERS: Mapping[str, str] = MappingProxyType(
    {
        "words": r"\w+",
        "words+punctuation": r"\w+|[^\w\s]",
        "whitespace": r"\S+",
        "letters": r"(?s:.)",
    }
)
"""What a token is for each named tokenizer, as a regular expression (the meaning, not the method)."""

_NUMBER = r"\d+(?:[.,]\d+)*"
_SYMBOL = r"[$€£¥₹₽₩₺₪₫₴₦₱฿¢]"
_CURRENCY = rf"(?:\b(?:US|AU|CA|HK|NZ))?{_SYMBOL}"
_CURRENCY_WORD = r"(?i:usd|eur|gbp|jpy|chf|inr|dollars?|euros?|pounds?|pence|p)\b"

_PICTURE = (
    r"[\u2190-\u21FF\u2300-\u23FF\u25A0-\u27BF\u2900-\u297F\u2B00-\u2BFF\u3030\u303D\u3297\u3299"
    r"\U0001F000-\U0001F1E5\U0001F200-\U0001F3FA\U0001F400-\U0001FAFF]"
)
_STYLED = _PICTURE + r"\uFE0F?[\U0001F3FB-\U0001F3FF]?(?:[\U000E0020-\U000E007F]+)?"
_FLAG = r"[\U0001F1E6-\U0001F1FF]{2}"
_KEYCAP = r"[0-9#*]\uFE0F?\u20E3"

KEEP_PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "url": r"""\b(?i:https?://|ftp://|www\.)[^\s<>"'()\[\]{}]*[^\s<>"'()\[\]{}.,;:!?]""",
        "email": r"\b\w[\w.%+-]*@\w[\w-]*(?:\.\w[\w-]*)+\b",
        "money": rf"{_CURRENCY}\s?{_NUMBER}(?:[kKmM]\b)?|\b{_NUMBER}\s?(?:{_SYMBOL}|{_CURRENCY_WORD})",
        "emoji": rf"{_FLAG}|{_KEYCAP}|{_STYLED}(?:\u200D{_STYLED})*",
        "hashtag": r"\B#\w*[^\W\d_]\w*",
        "mention": r"\B@\w+",
    }
)
"""What may be kept as one token: a name, and the regular expression of what it keeps."""


def keep_pattern(names: str | Iterable[str]) -> str:
    """One regular expression for all the named patterns; where two match, the first of the table wins."""
    wanted = {names} if isinstance(names, str) else set(names)
    unknown = sorted(wanted - KEEP_PATTERNS.keys())
    if unknown:
        choice = ", ".join(repr(name) for name in KEEP_PATTERNS)
        raise ValueError(f"`keep` knows the patterns {choice}, got {', '.join(map(repr, unknown))}.")
    if not wanted:
        raise ValueError("`keep` names no pattern; leave it out to keep nothing whole.")
    return "|".join(f"(?:{pattern})" for name, pattern in KEEP_PATTERNS.items() if name in wanted)
