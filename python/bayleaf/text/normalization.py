"""Normalization: how tokens become the words that are counted.

Every step works on distinct words, once per word ever met, so its price does not grow with the corpus.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, TypeAlias, cast, get_args

from bayleaf.text.languages import language, lemmatizer, lemmatizer_name, stemmer, stemmer_name, stop_words

__all__ = ["Normalization", "Normalize", "Top", "strip_accents", "top"]

Normalize: TypeAlias = Callable[[list[str]], list[str | None]]
"""What the core calls with words it meets for the first time: for each its final word, None to drop it."""

Step: TypeAlias = Callable[[list[str]], list[str]]
WordFunction: TypeAlias = Callable[[str], str | None]
Digits: TypeAlias = Literal["keep", "zero", "single", "drop"]

_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+")


class FunctionNeeded(ValueError):  # noqa: N818 # whoever loads the file is to act, and nothing is wrong with it
    """A file was learned with a user-supplied function, which must be given again."""


@dataclass(frozen=True)
class Top:
    """The n most frequent terms of the corpus itself; made by `top(n)`."""

    n: int

    def __post_init__(self) -> None:
        if not _is_count(self.n):
            raise ValueError(f"`top(n)` takes the number of terms to drop, an integer >= 1, got {self.n!r}.")

    def __repr__(self) -> str:
        return f"top({self.n})"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def top(n: int) -> Top:
    """Take the n most frequent terms of the corpus as stop words: `stop_words=top(50)`."""
    return Top(n)


def strip_accents(word: str) -> str:
    """Write a word without accents and ligatures: "café" as "cafe", "ﬁn" as "fin"."""
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFKD", word)
    bare = "".join([letter for letter in letters if not unicodedata.combining(letter)])
    return unicodedata.normalize("NFC", bare)


@dataclass(frozen=True, repr=False)
class Normalization:
    """What happens to a word between being cut from the text and being counted.

    The steps, in this order whatever the order of the arguments: accents, digits, stop words, lemma, stem,
    function. A word is a stop word if it is one as cut, or after accents and digits. A word that any step
    leaves empty is dropped.

    | argument | values | meaning |
    |---|---|---|
    | `stop_words` | language, words, `top(n)`, None | words that are not counted; a language's list, your own, or the n most frequent terms |
    | `stemmer` | "porter", language, None | cut endings off |
    | `lemmatizer` | language, "english:noun" (verb, adjective, adverb), None | put the dictionary's form |
    | `strip_accents` | False, True | "café" becomes "cafe" |
    | `digits` | "keep", "zero", "single", "drop" | "2024" becomes "0000", "0", or is dropped |
    | `function` | callable, None | your own last step: a word in; a word, or None to drop it, out |
    """  # noqa: E501

    stop_words: str | Iterable[str] | Top | None = None
    stemmer: str | None = None
    lemmatizer: str | None = None
    strip_accents: bool = False
    digits: Digits = "keep"
    function: WordFunction | None = None

    def __post_init__(self) -> None:
        self._set("stop_words", _checked_stop_words(self.stop_words))
        self._set("stemmer", _checked_name("stemmer", self.stemmer, stemmer_name))
        self._set("lemmatizer", _checked_name("lemmatizer", self.lemmatizer, lemmatizer_name))
        if not isinstance(self.strip_accents, bool):
            raise TypeError(f"`strip_accents` is True or False, got {self.strip_accents!r}.")
        if self.digits not in get_args(Digits):
            choice = ", ".join(repr(each) for each in get_args(Digits))
            raise ValueError(f"`digits` is one of {choice}, got {self.digits!r}.")
        if self.function is not None and not callable(self.function):
            raise TypeError(f"`function` takes a word and returns a word or None, got {self.function!r}.")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        values = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        chosen = [f"{name}={value!r}" for name, value, default in values if value != default]
        return f"Normalization({', '.join(chosen)})"

    @property
    def top(self) -> Top | None:
        """How many of the corpus' own most frequent terms are dropped, which is decided on the counts."""
        return self.stop_words if isinstance(self.stop_words, Top) else None

    def batch(self) -> Normalize | None:
        """All steps as one function of many words, or None if there is nothing to do."""
        clean = _composed(self._cleaning())
        shorten = _composed(self._shortening())
        stops = self._stop_set()
        alone = not (clean or shorten or stops)
        function = None if self.function is None else _checked_function(self.function, alone=alone)
        if alone and not function:
            return None

        def normalize(forms: list[str]) -> list[str | None]:
            cleaned = clean(forms) if clean else forms
            words = shorten(cleaned) if shorten else cleaned
            if function:
                return function(_without_stops(forms, cleaned, words, stops) if stops else words)
            return _without_stops(forms, cleaned, words, stops)

        return normalize

    def for_core(self) -> tuple[list[str], bool, Normalize | str | None]:
        """The same steps as the core runs them: stop words, whether Porter's stems follow, and the rest."""
        if self == Normalization(digits="zero"):
            return [], False, "zero"
        cleaning = bool(self._cleaning())
        porter = self.stemmer == "porter" and not cleaning and self.lemmatizer is None
        rest = replace(
            self,
            stop_words=self.stop_words if cleaning else None,
            stemmer=None if porter else self.stemmer,
        )
        return sorted(self._stop_set()), porter, rest.batch()

    def _cleaning(self) -> list[Step]:
        accents: list[Step] = [_each(strip_accents, str.isascii)] if self.strip_accents else []
        return accents if self.digits == "keep" else [*accents, _each(_DIGIT_RULES[self.digits], str.isalpha)]

    def _shortening(self) -> list[Step]:
        lemmas = [lemmatizer(self.lemmatizer)] if self.lemmatizer else []
        return [*lemmas, stemmer(self.stemmer)] if self.stemmer else lemmas

    def _stop_set(self) -> frozenset[str]:
        if self.stop_words is None or isinstance(self.stop_words, Top):
            return frozenset()
        if isinstance(self.stop_words, str):
            listed = stop_words(self.stop_words)
        else:
            listed = frozenset(each for word in self.stop_words for each in (word, word.lower()))
        return listed | {strip_accents(word) for word in listed} if self.strip_accents else listed

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON can hold them; of a function, its name."""
        stops = self.stop_words
        return {
            "stop_words": {"top": stops.n} if isinstance(stops, Top) else _as_json(stops),
            "stemmer": self.stemmer,
            "lemmatizer": self.lemmatizer,
            "strip_accents": self.strip_accents,
            "digits": self.digits,
            "function": None if self.function is None else function_name(self.function),
        }

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], function: WordFunction | None = None) -> Self:
        """The normalization that `to_dict` described; a function has to be given again."""
        unknown = sorted(settings.keys() - {field.name for field in fields(cls)})
        if unknown:
            raise ValueError(
                f"The settings of a normalization hold {unknown}, which this version does not know."
            )
        name = settings.get("function")
        if name is not None and function is None:
            raise FunctionNeeded(
                f"The words were normalized by the function {name!r}, which no file can hold. "
                "Pass the same function when you load it."
            )
        if name is None and function is not None:
            raise FunctionNeeded(
                f"The words were normalized without a function, got {function!r}. Load it without one."
            )
        stops = settings.get("stop_words")
        if isinstance(stops, Mapping):
            stops = top(stops["top"])
        return cls(**{**settings, "stop_words": stops, "function": function})


def _checked_stop_words(value: str | Iterable[str] | Top | None) -> str | tuple[str, ...] | Top | None:
    if value is None or isinstance(value, Top):
        return value
    if isinstance(value, str):
        try:
            return language(value)
        except ValueError as error:
            raise ValueError(f"`stop_words`: {error} To drop words of your own, pass a list.") from error
    expected = "`stop_words` is a language, a list of words, or top(n)"
    if not isinstance(value, Iterable):
        raise TypeError(f"{expected}, got {value!r}.")
    words = list(value)
    for wrong in _not_strings(words):
        raise TypeError(f"{expected}; the list holds {wrong!r}, which is not a string.")
    return tuple(sorted(set(words)))


def _not_strings(values: Iterable[object]) -> list[object]:
    return [value for value in values if not isinstance(value, str)]


def _checked_name(argument: str, value: str | None, canonical: Callable[[str], str]) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"`{argument}` is a name, got {value!r}. Pass a callable as `function`.")
    return canonical(value)


def _composed(steps: list[Step]) -> Step | None:
    if len(steps) < 2:
        return steps[0] if steps else None
    first, *rest = steps
    after = _composed(rest)
    return (lambda words: after(first(words))) if after else first


def _each(change: Callable[[str], str], untouched: Callable[[str], bool]) -> Step:
    """The change of every word but those that a cheap test finds it would leave as they are."""
    return lambda words: [word if untouched(word) else change(word) for word in words]


_DIGIT_RULES: Mapping[str, Callable[[str], str]] = {
    "zero": lambda word: _DIGIT.sub("0", word),
    "single": lambda word: _NUMBER.sub("0", word),
    "drop": lambda word: "" if word.isdecimal() else word,
}


def _without_stops(
    forms: list[str], cleaned: list[str], words: list[str], stops: frozenset[str]
) -> list[str | None]:
    """The words, with None for those that are empty, or were stop words when cut or cleaned."""
    if not stops:
        return [word or None for word in words]
    if cleaned is forms:
        return [None if form in stops else word or None for form, word in zip(forms, words, strict=True)]
    return [
        None if form in stops or seen in stops else word or None
        for form, seen, word in zip(forms, cleaned, words, strict=True)
    ]


def _checked_function(
    function: WordFunction, *, alone: bool
) -> Callable[[Sequence[str | None]], list[str | None]]:
    """The user's function on many words, of which none was dropped before if it is alone."""

    def apply(words: Sequence[str | None]) -> list[str | None]:
        if alone:
            answers = [*map(function, cast(Sequence[str], words))]
        else:
            answers = [function(word) if word else None for word in words]
        _check_answers(function, answers)
        return answers if all(answers) else [answer or None for answer in answers]

    return apply


def _check_answers(function: WordFunction, answers: list[str | None]) -> None:
    """Joining them is the fastest way to see that all are words; with one that was dropped it fails."""
    try:
        "".join(cast(list[str], answers))
    except TypeError:
        for wrong in _not_strings(answer for answer in answers if answer is not None):
            name = function_name(function)
            message = f"{name} must return a word, or None to drop it, but returned {wrong!r}."
            raise TypeError(message) from None


def function_name(function: Any) -> str:
    """By what name a function is remembered."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', None) or type(function).__module__}.{name}"


def _as_json(words: str | Iterable[str] | None) -> str | list[str] | None:
    return words if words is None or isinstance(words, str) else list(words)
