"""What a token is, by name, by pattern, by function; and what strange text becomes."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, words
from bayleaf.text.patterns import TOKENIZERS, keep_pattern

# Letters of words, marks and spaces in which Python's and Rust's classes agree.
TEXTS = st.text("aBé ,.\t\n_1€—-:/@#x", max_size=30)


@pytest.mark.parametrize("name", ["words", "words+punctuation", "whitespace"])
@given(text=TEXTS)
def test_a_tokenizer_cuts_as_its_regular_expression_says(name: str, text: str) -> None:
    assert words(tokenizer=name).tokens(text) == re.findall(TOKENIZERS[name], text.lower())


@given(TEXTS)
def test_a_regular_expression_cuts_as_in_python(text: str) -> None:
    patterns: list[Any] = [r"[a-z]+|,", r"x(\w)", re.compile("[A-Z]+", re.IGNORECASE)]
    for pattern in patterns:
        found = re.findall(pattern, text.lower())
        assert words(tokenizer=pattern).tokens(text) == [token for token in found if token]


@given(TEXTS)
def test_a_function_cuts_the_lower_cased_text(text: str) -> None:
    view = words(tokenizer=lambda text: text.split(","))
    assert view.tokens(text) == [token for token in text.lower().split(",") if token]


@given(st.lists(st.tuples(TEXTS, st.sampled_from("ab")), min_size=1, max_size=8), st.integers(0, 3))
def test_every_tokenizer_keeps_the_laws(corpus: list[tuple[str, str]], sparse: int) -> None:
    texts, labels = [text for text, _ in corpus], [label for _, label in corpus]
    for tokenizer in ("words+punctuation", "whitespace", r"\w", str.split):
        view = words(2, tokenizer=tokenizer, keep=["url", "hashtag"], sparse=sparse, stemmer="porter")
        model = Model([view], threads=1).learn(texts, labels)
        before = model.to_bytes()
        backwards = Model([view]).learn(texts[::-1], labels[::-1])
        assert backwards.to_bytes() == before
        halves = Model([view]).learn(texts[:3], labels[:3]).merge(Model([view]).learn(texts[3:], labels[3:]))
        assert halves.to_bytes() == before
        model.learn(["x #x x,x a__a"] * 2, ["a", "c"]).forget(["x #x x,x a__a"] * 2, ["c", "a"])
        assert model.to_bytes() == before == model.copy().to_bytes()


def test_kept_pieces_are_tokens_and_are_not_normalized() -> None:
    text = "Winning http://win.example/prizes, ask Ann@wins.example for £1,000s #Swims"
    view = words(keep=["url", "email", "money", "hashtag"], stemmer="porter")
    assert view.tokens(text) == [
        "win", "http://win.example/prizes", "ask", "ann@wins.example", "for", "£1,000", "#swims",
    ]  # fmt: skip


@given(TEXTS)
def test_what_is_kept_is_what_the_pattern_finds(text: str) -> None:
    names = ["url", "email", "hashtag", "mention"]
    tokens = words(tokenizer=r"\A\z", keep=names, lower=False).tokens(text)
    assert tokens == re.findall(keep_pattern(names), text)


def test_each_token_has_its_place_in_the_text() -> None:
    text = "İ £5 Ünder https://a.example/ö 漢字 e\u0301a"
    view = words(keep=["url", "money"], tokenizer="words+punctuation")
    places = [text[start:end] for _, start, end in view.analyzer.parts(text)]
    assert places == ["İ", "£5", "Ünder", "https://a.example/ö", "漢字", "e\u0301a"]


def test_scripts_without_spaces_become_pairs_of_letters() -> None:
    assert words().tokens("東京都 iPhone手機") == ["東京", "京都", "iphone", "手機"]
    assert words().tokens("ที่นี่ภาษา") == ["ที่นี่", "นี่ภ", "ภา", "าษ", "ษา"]
    assert words(spaceless="keep").tokens("東京都") == ["東京都"]
    assert words(min_length=3, max_token_bytes=8).tokens("漢" * 1000) == ["漢漢"] * 999


def test_sparse_pairs_show_their_gap() -> None:
    assert words((2, 2), sparse=3).tokens("you can win a prize") == [
        "you can", "can win", "win a", "a prize", "you _ win", "can _ a", "win _ prize", "you _ _ a",
        "can _ _ prize",
    ]  # fmt: skip
    assert words(sparse=2).tokens("a b c") == ["a", "b", "c", "a b", "b c", "a _ c"]


def test_a_gap_is_not_the_word_of_an_underscore() -> None:
    model = Model([words((2, 3), sparse=2)]).learn(["a x b", "a _ b"], ["gap", "word"])
    assert model.predict(["a y b"]).tolist() == ["gap"]


@pytest.mark.parametrize(
    ("tokenizer", "error", "message"),
    [
        (r"(?<=a)b", ValueError, r"look-around.*not supported(?s:.)*a function can use Python's `re`"),
        (r"(a)\1", ValueError, r"backreferences are not supported"),
        (r"(a)|(b)", ValueError, r"it has 2 groups, and a token can be only one of them"),
        (r"[a", ValueError, r"unclosed character class"),
        (r"(\w{1000}){1000}", ValueError, r"exceeds size limit"),
        ("word", ValueError, r"names 'words', 'words\+punctuation', 'whitespace', got 'word'"),
        (7, TypeError, r"a name, a regular expression or a function .*, got 7"),
        (re.compile(b"a+"), TypeError, r"got one of bytes"),
    ],
)
def test_a_tokenizer_that_cannot_run_is_refused_and_says_why(
    tokenizer: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        words(tokenizer=tokenizer)


def test_a_function_that_returns_no_strings_is_named_as_the_mistake() -> None:
    with pytest.raises(TypeError, match="list of strings, but it has a int"):
        Model([words(tokenizer=lambda _: [1])]).learn(["a"], ["b"])  # type: ignore[list-item]


def test_an_error_in_a_function_reaches_the_caller_and_nothing_is_learned() -> None:
    model = Model([words(tokenizer=lambda text: [text[5]])], threads=1)
    with pytest.raises(IndexError):
        model.learn(["abcdefg", "a"], ["x", "y"])
    assert model.n_documents == 0


def test_functions_have_to_be_given_again_to_load_a_model() -> None:
    view = words(tokenizer=str.split, normalizer=str.upper)
    model = Model([view]).learn(["a b"], ["x"])
    saved = model.to_bytes()
    both = {"tokenizer": str.split, "normalizer": str.upper}
    assert Model.from_bytes(saved, both).to_bytes() == saved  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"cut by the function 'builtins.str.split'.*\"tokenizer\""):
        Model.from_bytes(saved)


def test_strange_text_has_a_documented_result() -> None:
    assert words().tokens("a\x00b") == ["a", "b"]
    assert words().tokens("e\u0301te\u0301 e\u0301") == ["e\u0301te\u0301", "e\u0301"]
    assert words().tokens("שלום עולם مرحبا") == ["שלום", "עולם", "مرحبا"]
    family = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
    assert words().tokens(f"a {family}b") == ["a", "b"]
    assert words(keep="emoji").tokens(f"a {family}b") == ["a", family, "b"]
    assert words(tokenizer="words+punctuation").tokens(family) == [*family]


def test_a_lone_surrogate_is_read_as_a_replacement_character() -> None:
    model = Model([words(tokenizer="whitespace")]).learn(["a\ud800b c"], ["x"])
    assert model.counts().term_names == ["a\ufffdb", "c"]


@pytest.mark.parametrize("tokenizer", ["words", "words+punctuation", "whitespace", r"\w+"])
def test_a_word_of_ten_million_letters_is_left_out(tokenizer: str) -> None:
    model = Model([words(tokenizer=tokenizer)]).learn(["a " + "x" * 10_000_000 + " b"], ["x"])
    assert model.counts().term_names == ["a", "b"]


def test_a_document_of_a_hundred_million_bytes_is_counted() -> None:
    model = Model([words()], threads=1).learn([b"ab, " * 25_000_000], ["x"])
    assert model.counts().occurrences.tolist() == [25_000_000]


def test_your_function_never_sees_what_is_kept() -> None:
    seen: list[str] = []

    def watch(word: str) -> str:
        seen.append(word)
        return word.upper()

    model = Model(words(keep=["url", "money"], normalizer=watch))
    model.learn(["see www.win.example now", "now £5, see www.win.example"], ["a", "b"])
    model.predict(["www.other.example costs £7"])
    assert sorted(seen) == ["costs", "now", "see"]
    assert model.counts().term_names == ["NOW", "SEE", "www.win.example", "£5"]
