"""Language data: names, stop words, stemmers, lemmatizers.

The word lists and algorithms come from packages of the extra `bayleaf[text]`, imported only when asked for.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from bayleaf._core import porter

__all__ = ["LANGUAGES", "language", "lemmatizer", "lemmatizer_name", "stemmer", "stemmer_name", "stop_words"]

Step = Callable[[list[str]], list[str]]

_TABLE = """
af afr afrikaans    | ar ara arabic     | ast ast asturian      | bg bul bulgarian        | bn ben bengali
br bre breton       | ca cat catalan    | cs ces czech          | cy cym welsh            | da dan danish
de deu german       | el ell greek      | en eng english        | enm enm middle_english  | eo epo esperanto
es spa spanish      | et est estonian   | eu eus basque         | fa fas persian          | fi fin finnish
fr fra french       | ga gle irish      | gd gla scottish_gaelic| gl glg galician     | grc grc ancient_greek
gu guj gujarati     | gv glv manx       | ha hau hausa          | hbs hbs serbo_croatian  | he heb hebrew
hi hin hindi        | hr hrv croatian   | hu hun hungarian      | hy hye armenian         | id ind indonesian
is isl icelandic    | it ita italian    | ja jpn japanese       | ka kat georgian         | ko kor korean
ku kur kurdish      | la lat latin      | lb ltz luxembourgish  | lt lit lithuanian       | lv lav latvian
mk mkd macedonian   | ml mal malayalam  | mr mar marathi        | ms msa malay            | nb nob bokmal
ne nep nepali       | nl nld dutch      | nn nno nynorsk        | no nor norwegian        | pl pol polish
pt por portuguese   | ro ron romanian   | ru rus russian        | se sme northern_sami    | sk slk slovak
sl slv slovene      | so som somali     | sq sqi albanian       | sr srp serbian          | st sot sesotho
sv swe swedish      | sw swa swahili    | ta tam tamil          | th tha thai             | tl tgl tagalog
tr tur turkish      | uk ukr ukrainian  | ur urd urdu           | vi vie vietnamese       | yi yid yiddish
yo yor yoruba       | zh zho chinese    | zu zul zulu           | bs bos bosnian
"""
_ROWS = [row.split() for row in _TABLE.replace("\n", "|").split("|") if row.strip()]

LANGUAGES: dict[str, str] = {code: name for code, _, name in _ROWS}
"""The languages bayleaf can name: ISO 639 code to English name."""

_ALIASES = {
    "alb": "albanian", "arm": "armenian", "baq": "basque", "bokmål": "bokmal", "castilian": "spanish",
    "chi": "chinese", "cze": "czech", "dut": "dutch", "farsi": "persian", "fil": "tagalog",
    "filipino": "tagalog", "flemish": "dutch", "fre": "french", "gaelic": "scottish_gaelic",
    "geo": "georgian", "ger": "german", "gre": "greek", "ice": "icelandic", "iw": "hebrew",
    "mac": "macedonian", "mandarin": "chinese", "may": "malay", "per": "persian", "rum": "romanian",
    "sh": "serbo_croatian", "slo": "slovak", "slovenian": "slovene", "southern_sotho": "sesotho",
    "wel": "welsh",
}  # fmt: skip
_NAMES = {key: row[2] for row in _ROWS for key in row} | _ALIASES
_CODES = {name: code for code, name in LANGUAGES.items()}

# Where a package has the language only under a near relative's name.
_STOP_WORDS_LIKE = {"bokmal": "no", "nynorsk": "no", "serbo_croatian": "hr", "bosnian": "hr"}
_STEMS_LIKE = {"bokmal": "norwegian", "nynorsk": "norwegian"}
_LEMMAS_LIKE = {"norwegian": "nb", "croatian": "hbs", "serbian": "hbs", "bosnian": "hbs"}

_OTHER_STEMMERS = ("porter", "dutch_porter")
_PARTS_OF_SPEECH = {"noun": "NOUN", "verb": "VERB", "adjective": "ADJ", "adverb": "ADV"}
# For a form it does not know, lemminflect's network guesses an ending even for other parts of speech (as
# nouns: "indiana" gives "indianum", "looked" gives "look"). Only forms with a regular ending go to it.
_INFLECTED = {
    "NOUN": ("s",),
    "VERB": ("s", "ed", "ing"),
    "ADJ": ("er", "est"),
    "ADV": ("er", "est"),
}


def language(name: str) -> str:
    """The English name of a language given by any of its names: "en", "eng", "English" or "en-US"."""
    key = name.strip().lower()
    tag = re.fullmatch(r"([a-z]{2,3})(?:[-_][a-z0-9]{2,8})+", key)
    found = _NAMES.get(tag[1] if tag else key.replace(" ", "_"))
    if found is None:
        near = _suggestion(key, _NAMES)
        expected = "Name one in English or by its ISO code, for example 'english' or 'en'"
        raise ValueError(f"{name!r} is not a language that bayleaf knows{near}. {expected}.")
    return found


def stop_words(name: str) -> frozenset[str]:
    """The stop words of a language, lower-case, as the package stopwordsiso lists them."""
    english_name = language(name)
    package = _package("stopwordsiso", "stop words by language")
    code = _STOP_WORDS_LIKE.get(english_name, _CODES[english_name])
    if not package.has_lang(code):
        remedy = "Pass a list of your own words, or top(n) for the n most frequent terms of the corpus"
        raise ValueError(_lacking("list of stop words", english_name, package.langs(), remedy))
    return frozenset(word.lower() for word in package.stopwords(code))


def stemmer_name(name: str) -> str:
    """The one name of a stemmer: "porter", or the English name of the language ("en" gives "english")."""
    key = name.strip().lower()
    if key in _OTHER_STEMMERS:
        return key
    try:
        return language(name)
    except ValueError as error:
        near = _suggestion(key, {*_NAMES, *_OTHER_STEMMERS})
        expected = "Stemmers are 'porter' (the original one) and Snowball's, named by language or ISO code"
        raise ValueError(f"{name!r} is not a stemmer that bayleaf knows{near}. {expected}.") from error


def stemmer(name: str) -> Step:
    """The stems of many words at once: by the original Porter algorithm, or by Snowball's, from PyStemmer."""
    chosen = stemmer_name(name)
    if chosen == "porter":
        return _encodable(porter)
    package = _package("Stemmer", "stemming")
    algorithm = _STEMS_LIKE.get(chosen, chosen)
    if algorithm not in package.algorithms():
        languages = [_CODES[each] for each in package.algorithms() if each in _CODES]
        raise ValueError(_lacking("stemmer", chosen, languages, "Leave `stemmer` out, or try a lemmatizer"))
    # Its cache makes it three times slower here (1,400 against 400 ns a word): no word comes twice.
    stem: Step = package.Stemmer(algorithm, 0).stemWords
    return _encodable(stem)


def lemmatizer_name(name: str) -> str:
    """The one name of a lemmatizer: "german", or "english:noun" where the part of speech is given."""
    first, colon, part = name.strip().lower().partition(":")
    english_name = "english" if first == "lemminflect" else language(first)
    if not colon and first != "lemminflect":
        return english_name
    if english_name != "english" or part not in _PARTS_OF_SPEECH:
        expected = ", ".join(repr(f"english:{each}") for each in _PARTS_OF_SPEECH)
        raise ValueError(f"A lemmatizer by part of speech is one of {expected}, got {name!r}.")
    return f"english:{part}"


def lemmatizer(name: str) -> Step:
    """The dictionary forms of many words at once, by simplemma or, with a part of speech, by lemminflect."""
    english_name, _, part = lemmatizer_name(name).partition(":")
    return _lemmas_by_part_of_speech(_PARTS_OF_SPEECH[part]) if part else _lemmas_by_dictionary(english_name)


def _lemmas_by_dictionary(english_name: str) -> Step:
    package = _package("simplemma", "lemmatizing")
    known = _simplemma_languages()
    code = _LEMMAS_LIKE.get(english_name, _CODES[english_name])
    if code not in known:
        raise ValueError(
            _lacking("lemmatizer", english_name, known, "Leave `lemmatizer` out, or try a stemmer")
        )
    lemma = package.Lemmatizer(cache_max_size=0).lemmatize
    return _encodable(lambda words: [lemma(word, code) if word else word for word in words])


def _lemmas_by_part_of_speech(tag: str) -> Step:
    lemmas = _package("lemminflect", "lemmatizing by part of speech").getLemma
    endings = _INFLECTED[tag]

    def lemmatize(words: list[str]) -> list[str]:
        found = [lemmas(word, upos=tag, lemmatize_oov=word.endswith(endings)) for word in words]
        return [lemma[0] if lemma else word for lemma, word in zip(found, words, strict=True)]

    return lemmatize


@cache
def _simplemma_languages() -> frozenset[str]:
    factory = importlib.import_module("simplemma.strategies.dictionaries.dictionary_factory")
    return frozenset(factory.SUPPORTED_LANGUAGES)


def _encodable(step: Step) -> Step:
    """The step, leaving alone the words (with half a surrogate pair) that cannot be written as UTF-8."""

    def one(word: str) -> str:
        try:
            return step([word])[0]
        except UnicodeEncodeError:
            return word

    def each(words: list[str]) -> list[str]:
        try:
            return step(words)
        except UnicodeEncodeError:
            return [one(word) for word in words]

    return each


def _package(module: str, purpose: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        name = {"Stemmer": "PyStemmer"}.get(module, module)
        message = f'For {purpose} the package {name} is needed. Install it: pip install "bayleaf[text]"'
        raise ModuleNotFoundError(message, name=module) from error


def _suggestion(key: str, names: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(key, [name for name in names if len(name) > 3], n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _lacking(what: str, english_name: str, codes: Iterable[str], remedy: str) -> str:
    have = ", ".join(sorted({LANGUAGES.get(code, code) for code in codes}))
    return f"There is no {what} for {english_name!r}, only for: {have}. {remedy}."
