"""What happens to a word between being cut and being counted."""

import functools
import json
import re
import unicodedata
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import strip_accents_unicode

from bayleaf.text.languages import lemmatizer, stemmer, stop_words
from bayleaf.text.normalization import Normalization, strip_accents, top
from bayleaf.text.patterns import TOKENIZERS

SENTENCE = "A swimmer likes swimming, thus he swims."

words = st.one_of(
    st.text(st.characters(), max_size=6),
    st.sampled_from(
        ["the", "swims", "à", "á", "2024", "٢٠٢٤", "1st", "ﬁne", "cafés", "être", "mice", "s", "don't"]
    ),
)
normalizations = st.builds(
    Normalization,
    stop_words=st.sampled_from([None, "english", "french", ("The", "á", "swim", "0st"), top(3)]),
    stemmer=st.sampled_from([None, "porter", "french"]),
    lemmatizer=st.sampled_from([None, "english", "english:noun"]),
    strip_accents=st.booleans(),
    digits=st.sampled_from(["keep", "zero", "single", "drop"]),
    function=st.sampled_from(
        [None, str.upper, lambda word: word[1:], lambda word: None if "w" in word else word]
    ),
)


def normalized(normalization: Normalization, forms: list[str]) -> list[str | None]:
    batch = normalization.batch()
    return batch(forms) if batch else list(forms)


def tokens(text: str, tokenizer: str, normalization: Normalization) -> str:
    """The tokens, parted by spaces."""
    return " ".join(filter(None, normalized(normalization, re.findall(TOKENIZERS[tokenizer], text))))


def one_by_one(normalization: Normalization, form: str) -> str | None:
    """The documented order of the steps, for a single word, with nothing clever about it."""
    word = strip_accents(form) if normalization.strip_accents else form
    if normalization.digits == "drop" and word.isdecimal():
        return None
    if normalization.digits == "zero":
        word = "".join("0" if letter.isdecimal() else letter for letter in word)
    if normalization.digits == "single":
        word = re.sub("0+", "0", "".join("0" if letter.isdecimal() else letter for letter in word))
    stops = listed(normalization)
    bare = {strip_accents(stop) for stop in stops} if normalization.strip_accents else set()
    if form in stops or word in stops | bare:
        return None
    word = lemmatizer(normalization.lemmatizer)([word])[0] if normalization.lemmatizer else word
    word = stemmer(normalization.stemmer)([word])[0] if normalization.stemmer else word
    return (normalization.function(word) if normalization.function and word else word) or None


def listed(normalization: Normalization) -> set[str]:
    chosen = normalization.stop_words
    if isinstance(chosen, str):
        return set(stop_words(chosen))
    return {each for word in chosen for each in (word, word.lower())} if isinstance(chosen, tuple) else set()


def test_the_papers_table_of_tokens() -> None:
    assert tokens(SENTENCE.lower(), "words", Normalization()) == "a swimmer likes swimming thus he swims"


def test_the_papers_table_of_stop_words() -> None:
    english = Normalization(stop_words="english")
    assert tokens(SENTENCE.lower(), "words+punctuation", english) == "swimmer likes swimming , swims ."


def test_the_papers_table_of_porter_stems() -> None:
    porter = Normalization(stemmer="porter")
    assert tokens(SENTENCE.lower(), "words+punctuation", porter) == "a swimmer like swim , thu he swim ."


def test_the_papers_table_of_lemmas() -> None:
    nouns = Normalization(lemmatizer="english:noun")
    assert tokens(SENTENCE, "words+punctuation", nouns) == "A swimmer like swimming , thus he swim ."


@given(normalizations, st.lists(words, max_size=5))
def test_the_batch_takes_the_documented_steps_in_the_documented_order(
    normalization: Normalization, forms: list[str]
) -> None:
    expected = [one_by_one(normalization, form) for form in forms]
    assert [word or None for word in normalized(normalization, forms)] == expected


@given(normalizations, st.lists(words, max_size=5), st.integers(0, 5))
def test_a_word_is_normalized_the_same_in_any_batch(
    normalization: Normalization, forms: list[str], cut: int
) -> None:
    parts = normalized(normalization, forms[:cut]) + normalized(normalization, forms[cut:])
    assert parts == normalized(normalization, forms)


@given(normalizations.filter(lambda each: each.batch() is not None), st.lists(words, max_size=5))
def test_a_word_left_empty_is_dropped(normalization: Normalization, forms: list[str]) -> None:
    assert "" not in normalized(normalization, forms)


@pytest.mark.parametrize(
    "nothing", [Normalization(), Normalization(stop_words=top(5)), Normalization(stop_words=[])]
)
def test_where_there_is_nothing_to_do_to_words_there_is_no_function_to_call(nothing: Normalization) -> None:
    assert nothing.batch() is None


@given(normalizations)
def test_settings_come_back_from_json_with_the_function_given_again(normalization: Normalization) -> None:
    stored = json.loads(json.dumps(normalization.to_dict()))
    assert Normalization.from_dict(stored, function=normalization.function) == normalization


def test_different_names_of_the_same_setting_are_equal() -> None:
    short = Normalization(stop_words="en", stemmer="de", lemmatizer="lemminflect:noun")
    long = Normalization(stop_words="English", stemmer="german", lemmatizer="en:noun")
    assert short == long
    assert hash(short) == hash(long)
    assert short != Normalization(stop_words="en", stemmer="de")


def test_the_order_and_repetition_of_stop_words_do_not_matter() -> None:
    assert Normalization(stop_words=["b", "a", "b"]) == Normalization(stop_words=iter("ab"))


def test_it_prints_what_was_chosen_and_nothing_else() -> None:
    assert repr(Normalization()) == "Normalization()"
    chosen = Normalization(stop_words=top(50), stemmer="en", digits="zero")
    assert repr(chosen) == "Normalization(stop_words=top(50), stemmer='english', digits='zero')"


def shout(word: str) -> str:
    return word.upper()


def test_loading_without_the_function_that_was_used_says_which_one_to_pass() -> None:
    stored = Normalization(function=shout).to_dict()
    with pytest.raises(ValueError, match=r"by the function '.*shout'.*Pass the same function"):
        Normalization.from_dict(stored)


def test_loading_with_a_function_that_was_not_used_is_refused() -> None:
    with pytest.raises(ValueError, match="without a function"):
        Normalization.from_dict(Normalization().to_dict(), function=shout)


def test_settings_of_a_later_version_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"\['soundex'\]"):
        Normalization.from_dict({"soundex": True})


def test_a_function_without_a_name_of_its_own_is_stored_by_its_type() -> None:
    assert Normalization(function=functools.partial(shout)).to_dict()["function"] == "functools.partial"


def test_your_own_stop_words_hold_however_they_are_capitalized() -> None:
    forms = ["the", "and", "The", "cat"]
    assert normalized(Normalization(stop_words=["The", "AND"]), forms) == [None, None, None, "cat"]


def test_your_function_sees_each_kept_word_once_and_no_dropped_one() -> None:
    seen: list[str] = []

    def watch(word: str) -> str:
        seen.append(word)
        return word

    watched = Normalization(stop_words=["the"], digits="drop", function=watch)
    assert normalized(watched, ["the", "cat", "42", "sat"]) == [None, "cat", None, "sat"]
    assert seen == ["cat", "sat"]


def test_a_function_that_returns_no_word_is_named_with_what_it_returned() -> None:
    with pytest.raises(TypeError, match=r"builtins.len must return a word.*returned 3"):
        normalized(Normalization(function=cast(Any, len)), ["cat"])


def test_a_kind_of_string_is_a_word() -> None:
    class Term(str):
        __slots__ = ()

    assert normalized(Normalization(function=Term), ["cat"]) == ["cat"]


@given(st.text())
def test_accents_are_stripped_as_scikit_learn_strips_them(text: str) -> None:
    assert strip_accents(text) == unicodedata.normalize("NFC", strip_accents_unicode(text))


@given(st.text())
def test_stripping_accents_twice_changes_nothing_more(text: str) -> None:
    assert strip_accents(strip_accents(text)) == strip_accents(text)


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        ("keep", ["2024", "1980s", "٣٤", "b2b", "cat"]),
        ("zero", ["0000", "0000s", "00", "b0b", "cat"]),
        ("single", ["0", "0s", "0", "b0b", "cat"]),
        ("drop", [None, "1980s", None, "b2b", "cat"]),
    ],
)
def test_digits_are_kept_mapped_or_dropped(digits: Any, expected: Any) -> None:
    assert normalized(Normalization(digits=digits), ["2024", "1980s", "٣٤", "b2b", "cat"]) == expected


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "50"])
def test_top_takes_a_number_of_terms(n: Any) -> None:
    with pytest.raises(ValueError, match=r"integer >= 1, got "):
        top(n)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"stop_words": "the"}, ValueError, "`stop_words`: 'the' is not a language.*pass a list"),
        ({"stop_words": 5}, TypeError, r"`stop_words` is a language, a list of words, or top\(n\), got 5"),
        ({"stop_words": ["the", 5]}, TypeError, "the list holds 5"),
        ({"stemmer": shout}, TypeError, "`stemmer` is a name, got .*as `function`"),
        ({"stemmer": "klingon"}, ValueError, "'klingon' is not a stemmer"),
        ({"lemmatizer": "klingon"}, ValueError, "'klingon' is not a language"),
        ({"strip_accents": "ascii"}, TypeError, "`strip_accents` is True or False, got 'ascii'"),
        ({"digits": "hash"}, ValueError, "`digits` is one of 'keep', 'zero', 'single', 'drop', got 'hash'"),
        ({"function": "upper"}, TypeError, "`function` takes a word .*got 'upper'"),
    ],
)
def test_a_wrong_setting_is_refused_at_once(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Normalization(**settings)
