"""Names of languages, and what the packages of bayleaf[text] give for each."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import simplemma
import Stemmer
import stopwordsiso
from hypothesis import given
from hypothesis import strategies as st

from bayleaf.text.languages import (
    LANGUAGES,
    language,
    lemmatizer,
    lemmatizer_name,
    stemmer,
    stemmer_name,
    stop_words,
)

# Of Porter's own test vocabulary: the words on which the original algorithm and his later revision differ,
# and others that take each kind of step.
PORTER_PAIRS = """
    apology:apologi as:a assemblies:assembli assembly:assembli ay:ai corruptibly:corruptibli dumbly:dumbli
    es:e ey:ei forcibly:forcibli horribly:horribli humbly:humbli ignobly:ignobli infallibly:infallibli is:i
    nimbly:nimbli ns:n possibly:possibli rs:r s: sensibly:sensibli terribly:terribli ts:t us:u uy:ui
    visibly:visibli
    affiance:affianc alexanders:alexand aspiration:aspir attributes:attribut brightness:bright
    brotherhoods:brotherhood combination:combin covertly:covertli critical:critic crystalline:crystallin
    denunciation:denunci difficile:difficil emulations:emul extenuate:extenu fleshmonger:fleshmong
    football:footbal forgery:forgeri gravediggers:gravedigg innumerable:innumer nativity:nativ packings:pack
    patiently:patient presentment:present purposely:purpos resolutely:resolut respite:respit revenged:reveng
    revokement:revok serenis:sereni surmounts:surmount temperate:temper unconsidered:unconsid
    unspeakable:unspeak variety:varieti ventidius:ventidiu
"""
PORTER = dict(pair.split(":") for pair in PORTER_PAIRS.split())


def porter_folder() -> Path:
    corpora = Path(os.environ.get("BAYLEAF_DATA", "."))
    given = Path(os.environ.get("BAYLEAF_PORTER", corpora / "porter"))
    for folder in (given, corpora.parent / "shared" / "data" / "porter"):
        if (folder / "voc.txt").exists():
            return folder
    pytest.skip("Porter's vocabulary is not here; BAYLEAF_PORTER names its folder")


@pytest.mark.parametrize("name", ["english", "English", " en ", "EN", "eng", "en-US", "en_GB"])
def test_a_language_goes_by_any_of_its_names(name: str) -> None:
    assert language(name) == "english"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("zh-Hant-TW", "chinese"),
        ("Scottish Gaelic", "scottish_gaelic"),
        ("ger", "german"),
        ("farsi", "persian"),
    ],
)
def test_regions_scripts_and_older_codes_are_understood(name: str, expected: Any) -> None:
    assert language(name) == expected


@given(st.sampled_from(sorted(LANGUAGES)))
def test_a_code_and_its_name_are_the_same_language(code: str) -> None:
    assert language(code) == language(LANGUAGES[code]) == LANGUAGES[code]


def test_an_unknown_language_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ValueError, match=r"'germann' is not a language.*did you mean 'german'\?.*'en'"):
        language("germann")


def test_two_words_are_not_taken_for_a_code_with_a_region() -> None:
    with pytest.raises(ValueError, match="'no way' is not a language"):
        language("no way")


def test_more_than_fifty_languages_have_stop_words_and_each_is_known_by_its_code() -> None:
    codes = stopwordsiso.langs()
    assert len(codes) > 50
    for code in codes:
        assert stop_words(code) == {word.lower() for word in stopwordsiso.stopwords(code)}


def test_a_language_without_stop_words_is_refused_with_the_ways_out() -> None:
    with pytest.raises(
        ValueError, match=r"no list of stop words for 'icelandic'.*english.*list of your own.*top\(n\)"
    ):
        stop_words("is")


def test_a_relative_lends_its_list_where_the_language_has_none() -> None:
    assert stop_words("nb") == stop_words("norwegian")


def test_porter_gives_the_stems_of_the_original_algorithm() -> None:
    assert dict(zip(PORTER, stemmer("porter")(list(PORTER)), strict=True)) == PORTER


def test_porter_equals_the_original_algorithm_on_its_whole_vocabulary() -> None:
    folder = porter_folder()
    words = (folder / "voc.txt").read_text().splitlines()
    assert len(words) == 23531
    assert stemmer("porter")(words) == (folder / "output_original_algorithm.txt").read_text().splitlines()


ENDINGS = ["", "ational", "iveness", "sses", "ing", "ed", "ion", "ll", "y", "ement"]


@given(
    st.lists(st.builds("{}{}".format, st.text("abceilnorstuyzé漢1", max_size=9), st.sampled_from(ENDINGS)))
)
def test_porter_equals_snowballs_rendering_of_it(words: list[str]) -> None:
    assert stemmer("porter")(words) == Stemmer.Stemmer("porter", 0).stemWords(words)


@pytest.mark.parametrize("algorithm", Stemmer.algorithms())
def test_every_algorithm_of_snowball_can_be_named(algorithm: str) -> None:
    words = ["schwimmen", "nadando", "плавание", "stemming", "running", "nageurs"]
    assert stemmer(algorithm)(words) == Stemmer.Stemmer(algorithm).stemWords(words)


def test_a_stemmer_goes_by_the_code_of_its_language() -> None:
    assert stemmer_name("de") == "german"
    assert stemmer("de")(["häuser"]) == ["haus"]


def test_an_unknown_stemmer_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ValueError, match=r"'potter' is not a stemmer.*did you mean 'porter'\?"):
        stemmer_name("potter")


def test_a_language_without_a_stemmer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no stemmer for 'thai'.*Leave `stemmer` out"):
        stemmer("thai")


@pytest.mark.parametrize(
    ("name", "word", "lemma"),
    [
        ("en", "mice", "mouse"),
        ("german", "häuser", "Haus"),
        ("spa", "perros", "perro"),
        ("no", "hunder", "hund"),
    ],
)
def test_a_dictionary_of_the_language_gives_the_lemma(name: str, word: str, lemma: str) -> None:
    assert lemmatizer(name)([word]) == [lemma]


def test_every_language_of_simplemma_can_be_named() -> None:
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    assert len(SUPPORTED_LANGUAGES) > 40
    assert LANGUAGES.keys() >= SUPPORTED_LANGUAGES
    assert simplemma.lemmatize("perros", lang="es") == lemmatizer("es")(["perros"])[0]


@pytest.mark.parametrize(
    ("part", "lemmas"),
    [
        ("noun", ["swimming", "swim", "mouse", "better", "looked", "indiana"]),
        ("verb", ["swim", "swim", "mice", "better", "look", "indiana"]),
        ("adjective", ["swimming", "swims", "mice", "good", "looked", "indiana"]),
    ],
)
def test_the_part_of_speech_decides_the_lemma(part: str, lemmas: list[str]) -> None:
    words = ["swimming", "swims", "mice", "better", "looked", "indiana"]
    assert lemmatizer(f"english:{part}")(words) == lemmas


def test_lemminflect_by_its_own_name_is_the_same_lemmatizer() -> None:
    assert lemmatizer_name("lemminflect:noun") == lemmatizer_name("en:noun") == "english:noun"


@pytest.mark.parametrize("name", ["german:noun", "english:pronoun", "english:", "lemminflect"])
def test_a_part_of_speech_that_is_not_offered_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"'english:noun'.*got '{name}'"):
        lemmatizer_name(name)


def test_a_language_without_lemmas_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no lemmatizer for 'thai'.*Leave `lemmatizer` out"):
        lemmatizer("thai")


@given(st.lists(st.text(st.characters()), max_size=4), st.sampled_from(["porter", "english", "finnish"]))
def test_stemming_takes_any_string_and_treats_each_word_by_itself(words: list[str], name: str) -> None:
    stem = stemmer(name)
    assert stem(words) == [stem([word])[0] for word in words]


@given(st.lists(st.text(st.characters()), max_size=4), st.sampled_from(["english", "german", "english:verb"]))
def test_lemmatizing_takes_any_string_and_treats_each_word_by_itself(words: list[str], name: str) -> None:
    lemmas = lemmatizer(name)
    assert lemmas(words) == [lemmas([word])[0] for word in words]


@pytest.mark.parametrize(
    ("module", "ask"),
    [
        ("stopwordsiso", lambda: stop_words("en")),
        ("Stemmer", lambda: stemmer("english")),
        ("simplemma", lambda: lemmatizer("en")),
        ("lemminflect", lambda: lemmatizer("english:noun")),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    module: str, ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "bayleaf\[text\]"'):
        ask()
