"""Views that go well together, by the name of what they are for: ordinary lists and mappings of views."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bayleaf.views import TextView, bytes_, chars, words

__all__ = ["PRESETS", "preset"]

Preset = list[TextView] | dict[str, TextView]


def messages() -> list[TextView]:
    """Short texts: words and pairs with punctuation, numbers by their length; addresses and money whole."""
    kept = ["url", "email", "money", "emoji", "hashtag"]
    return [words(2, tokenizer="words+punctuation", keep=kept, digits="zero")]


def mail() -> dict[str, TextView]:
    """E-mail as columns, made by `mail_columns`: the headers and the body, each with a view of its own."""
    return {
        "subject": words(2, tokenizer="words+punctuation", digits="zero"),
        "from_name": words(),
        "from_domain": words(tokenizer="whitespace"),
        "flags": words(tokenizer="whitespace"),
        "received": words(tokenizer="whitespace"),
        "types": words(tokenizer="whitespace"),
        "links": words(tokenizer="whitespace"),
        "body": words(2, keep=["url", "email", "money"]),
    }


def language() -> list[TextView]:
    """Which language a text is in: letters, one to five in a row."""
    return [chars(1, 5, alpha=0.1)]


def dna() -> list[TextView]:
    """Sequences of letters, such as genes: eight in a row, each of them once a sequence."""
    return [bytes_(8, tf="binary", alpha=0.005)]


PRESETS: Mapping[str, Callable[[], Preset]] = {
    "messages": messages,
    "mail": mail,
    "language": language,
    "dna": dna,
}
"""The presets by name."""


def preset(name: str) -> Preset:
    """The views of a preset: "messages", "mail", "language" or "dna"."""
    if name not in PRESETS:
        choice = ", ".join(map(repr, PRESETS))
        raise ValueError(f"There is no preset {name!r}. The presets are {choice}.")
    return PRESETS[name]()
