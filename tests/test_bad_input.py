"""Every mistake gets a message with the value, what was expected and the remedy; and nothing changes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayleaf import Model, bytes_, chars, words

nan = math.nan
# What a type checker would refuse is what is tested here.
a_model: Any = Model
some_words: Any = words
some_chars: Any = chars
some_bytes: Any = bytes_


def model() -> Model:
    return Model().learn(["a b", "b c"], ["x", "y"])


def refused(call: Callable[[Model], Any], error: type[Exception], said: str) -> None:
    """The call fails with this message, and the model is as it was and still learns."""
    subject = model()
    before = subject.to_bytes()
    with pytest.raises(error, match=said) as caught:
        call(subject)
    assert re.match(r"[A-Z`]|y |y\[|configure", str(caught.value)), "a message is a sentence"
    assert str(caught.value).endswith(".")
    assert subject.to_bytes() == before
    assert subject.predict(["a"]).tolist() == ["x"]
    assert subject.learn(["d"], ["z"]).forget(["d"], ["z"]).to_bytes() == before


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (None, r"Document 1 is None \(NoneType\), not a string\. Give text as str"),
        (7, r"Document 1 is 7 \(int\), not a string"),
        (nan, r"Document 1 is nan \(float\), not a string.*leave out or fill what is missing"),
        (["a"], r"Document 1 is \['a'\] \(list\), not a string"),
        (bytearray(b"a"), r"Document 1 is bytearray"),
    ],
)
def test_text_that_is_no_string_is_named(document: Any, said: str) -> None:
    refused(lambda m: m.learn(["a", document], ["x", "y"]), TypeError, said)
    refused(lambda m: m.forget(["a b", document], ["x", "y"]), TypeError, said)
    if document is not None and document == document:
        refused(lambda m: m.predict(["a", document]), TypeError, said)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("view", [words(), words(2), chars(2), chars(2, within_words=False)])
def test_bytes_that_are_not_utf_8_are_named_by_document_and_byte(view: Any, threads: int) -> None:
    subject = Model([view], threads=threads).learn(["aa b", "bb c"], ["x", "y"])
    before = subject.to_bytes()
    said = r"Document 2 is not UTF-8: byte 3 does not belong there\. Decode it with its own encoding first\."
    with pytest.raises(ValueError, match=said):
        subject.learn(["new", b"ok", b"caf\xe9 au lait", b"\xff"], ["z"] * 4)
    with pytest.raises(ValueError, match=said):
        subject.log_joint([b"", b"ok", b"caf\xe9"])
    assert subject.to_bytes() == before
    assert subject.predict([b"aa"]).tolist() == ["x"]


def test_a_bad_document_deep_in_a_long_batch_is_named_and_the_batch_undone() -> None:
    for threads in (1, 2, 4):
        subject = Model([words(), chars(2)], threads=threads).learn(["a b", "b c"], ["x", "y"])
        before = subject.to_bytes()
        batch: list[Any] = ["some words of a text"] * 5000
        batch[3999] = b"\xff"
        with pytest.raises(ValueError, match="Document 3999 is not UTF-8: byte 0"):
            subject.learn(batch, ["x"] * 5000)
        with pytest.raises(ValueError, match="Document 3999 is not UTF-8: byte 0"):
            subject.predict(batch)
        assert subject.to_bytes() == before


@pytest.mark.parametrize(
    ("X", "y", "error", "said"),
    [
        (["a"], ["x", "y"], ValueError, r"X has 1 documents and y has 2 labels; each document needs one"),
        (["a", "b"], [], ValueError, r"X has 2 documents and y has 0 labels"),
        ("a text", ["x"], TypeError, r"X is a single str, 'a text'\. Give a sequence of documents: \[text\]"),
        (b"a text", ["x"], TypeError, r"X is a single bytes, b'a text'"),
        (7, ["x"], TypeError, r"X must be a sequence of texts, got int"),
        (np.array([["a", "b"]]), ["x"], ValueError, r"one dimension, got an array of shape \(1, 2\)"),
        (["a"], "x", TypeError, r"y is a single label, 'x'\. Give one label for each document: \[label\]"),
        (
            ["a"],
            [None],
            TypeError,
            r"y\[0\] is None; a class is named by a string or a number\. Leave out the rows",
        ),
        (["a", "b"], ["x", nan], TypeError, r"y\[1\] is nan; a class is named by a string or a number"),
        (["a"], [math.inf], TypeError, r"y\[0\] is inf; a class is named by a string or a number"),
        (["a"], [["x"]], TypeError, r"y\[0\] is \['x'\]; a class is named by a string or a number"),
        (["a"], [{"x": 1}], TypeError, r"y\[0\] is \{'x': 1\}; a class is named"),
        (["a"], [b"x"], TypeError, r"y\[0\] is b'x'; a class is named by a string or a number"),
        (["a"], [("x",)], TypeError, r"y\[0\] is \('x',\); a class is named by a string or a number"),
    ],
)
def test_columns_and_labels_that_do_not_fit_are_named(
    X: Any, y: Any, error: type[Exception], said: str
) -> None:
    refused(lambda m: m.learn(X, y), error, said)


@pytest.mark.parametrize("alpha", [-0.5, nan, math.inf, -math.inf, "1", None, True, [1.0], 1j])
def test_alpha_must_be_a_number_of_at_least_0(alpha: Any) -> None:
    said = rf"`alpha` is a pseudo-count and must be a finite number >= 0, got {re.escape(repr(alpha))}"
    refused(lambda m: m.configure(alpha=alpha), ValueError, said)
    with pytest.raises(ValueError, match=said):
        Model(alpha=alpha)
    if alpha is not None:
        with pytest.raises(ValueError, match=said):
            words(alpha=alpha)


def test_the_complement_model_needs_smoothing() -> None:
    subject = model().configure(event="complement", alpha=0)
    with pytest.raises(ValueError, match="`alpha` must be above 0 for the complement model, got 0"):
        subject.predict(["a"])
    assert subject.configure(alpha=1).predict(["a"]).tolist() == ["x"]


@pytest.mark.parametrize(
    ("priors", "said"),
    [
        ({"x": 0.5, "y": 0.6}, r"The priors \{'x': 0\.5, 'y': 0\.6\} sum to 1\.1, not to 1"),
        ({"x": -0.5, "y": 1.5}, r"A prior is a probability from 0 to 1, got \{'x': -0\.5, 'y': 1\.5\}"),
        ({"x": nan, "y": 1.0}, r"A prior is a probability from 0 to 1, got \{'x': nan\}"),
        ({"x": "half", "y": 0.5}, r"A prior is a probability from 0 to 1, got \{'x': 'half'\}"),
        ({}, r"sum to 0, not to 1"),
        ("flat", r"`priors` must be 'empirical' or 'uniform'.*, got 'flat'"),
        (None, r"`priors` must be .*, got None"),
        ([0.5, 0.5], r"`priors` must be .*, got \[0\.5, 0\.5\]"),
    ],
)
def test_priors_must_be_probabilities_that_sum_to_1(priors: Any, said: str) -> None:
    refused(lambda m: m.configure(priors=priors), ValueError, said)
    with pytest.raises(ValueError, match=said):
        Model(priors=priors)


@pytest.mark.parametrize(
    ("priors", "said"),
    [
        ({"x": 1.0}, r"The priors miss the classes \['y'\]\. The classes are \['x', 'y'\]"),
        ({"x": 0.5, "y": 0.25, "z": 0.25}, r"The priors name the unknown \['z'\]\. The classes are"),
        ({"x": 0.5, "Y": 0.5}, r"The priors miss the classes \['y'\] and name the unknown \['Y'\]"),
    ],
)
def test_priors_must_name_every_class_when_it_is_asked_for(priors: Any, said: str) -> None:
    # Only when asked: priors may be given before the classes are learned.
    subject = model().configure(priors=priors)
    for ask in (subject.predict, subject.log_joint, subject.posterior):
        with pytest.raises(ValueError, match=said):
            ask(["a"])
    assert subject.configure(priors="uniform").predict(["a"]).tolist() == ["x"]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: a_model([]), ValueError, r"`views` is empty; a model needs at least one view"),
        (
            lambda: a_model(["words"]),
            TypeError,
            r"`views` holds 'words', which is not a view such as words\(\)",
        ),
        (
            lambda: a_model({1: some_words()}),
            TypeError,
            r"`views` maps column names to views; 1 is not a name",
        ),
        (lambda: a_model({"": some_words()}), TypeError, r"'' is not a name"),
        (lambda: a_model([some_words(), words()]), ValueError, r"The views clash: words\(\) is there twice"),
        (
            lambda: a_model([some_words(), words(tf="binary")]),
            ValueError,
            r"The views clash: words\(tf='binary'\)",
        ),
        (lambda: a_model([some_chars(2), some_chars(2)]), ValueError, r"The views clash: chars\("),
        (lambda: a_model(unseen="guess"), ValueError, r"`unseen` must be 'ignore' or 'smooth', got 'guess'"),
        (lambda: a_model(threads=0), ValueError, r"`threads` must be a whole number >= 1, .*got 0"),
        (lambda: a_model(threads=1.5), ValueError, r"`threads` must be a whole number >= 1, .*got 1\.5"),
        (lambda: a_model(classes="xy"), TypeError, r"single label, 'xy'"),
        (lambda: a_model(classes=[None]), TypeError, r"is None; a class is named by a string or a number"),
        (lambda: some_words(event="poisson"), ValueError, r"`event` must be 'multinomial', .*got 'poisson'"),
        (lambda: some_words(tf="raw"), ValueError, r"`tf` must be .* or 'tf-idf', got 'raw'"),
        (lambda: some_words(0), ValueError, r"`ngrams` must go from 1 up to at most 8, got 1 to 0"),
        (lambda: some_words((3, 2)), ValueError, r"`ngrams` must go from 1 up to at most 8, got 3 to 2"),
        (lambda: some_words(9), ValueError, r"`ngrams` must go from 1 up to at most 8, got 1 to 9"),
        (lambda: some_words("two"), ValueError, r"`ngrams` must go from 1 .*got 1 to 'two'"),
        (lambda: some_words(min_length=-1), ValueError, r"`min_length` must be a whole number >= 0, got -1"),
        (
            lambda: some_words(min_length=5, max_length=4),
            ValueError,
            r"`max_length` must be a whole number >= 5, got 4",
        ),
        (
            lambda: some_words(max_token_bytes=0),
            ValueError,
            r"`max_token_bytes` must be a whole number >= 1, got 0",
        ),
        (lambda: some_words(lower=1), TypeError, r"`lower` is True or False, got 1"),
        (lambda: some_words(marks="no"), TypeError, r"`marks` is True or False, got 'no'"),
        (lambda: some_chars(2, within_words=0), TypeError, r"`within_words` is True or False, got 0"),
        (lambda: some_chars(0), ValueError, r"`chars` must go from 1 up to at most 16, got 0 to 0"),
        (lambda: some_chars(3, 17), ValueError, r"`chars` must go from 1 up to at most 16, got 3 to 17"),
        (lambda: some_bytes(2.0), ValueError, r"`bytes_` must go from 1 .*got 2\.0 to 2\.0"),
        (lambda: some_words(stemmer="klingon"), ValueError, r"klingon"),
        (lambda: some_words(stop_words=[1]), TypeError, r"the list holds 1, which is not a string"),
        (
            lambda: some_words(normalizer="lower"),
            TypeError,
            r"takes a word and returns a word or None, got 'lower'",
        ),
        (lambda: some_words().tokens(7), TypeError, r"is 7 \(int\), not a string"),
    ],
)
def test_settings_that_make_no_sense_are_named_at_once(
    call: Callable[[], Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        call()


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda m: m.configure(ngrams=2),
            TypeError,
            r"configure\(\) has no setting 'ngrams'\. What is counted cannot",
        ),
        (lambda m: m.configure(view=3, tf="binary"), ValueError, r"There is no view 3\. The views are \[0\]"),
        (
            lambda m: m.configure(view="body", tf="binary"),
            ValueError,
            r"There is no view 'body'\. The views are \[0\]",
        ),
        (lambda m: m.configure(alpha=2, event="poisson"), ValueError, r"`event` must be .*got 'poisson'"),
        (lambda m: m.merge("model"), TypeError, r"A model can be merged with a model, got str"),
        (lambda m: m.merge(Model([words(2)])), ValueError, r"The models look at their documents differently"),
        (
            lambda m: m.forget(["a b"], ["y"]),
            ValueError,
            r"the term 'a' occurs .* learned as 'y'\. Nothing was forgotten",
        ),
        (
            lambda m: m.forget(["a"], ["q"]),
            ValueError,
            r"the labels \['q'\], which were never learned\. The classes are \['x', 'y'\]",
        ),
        (
            lambda m: m.forget(["", ""], ["x", "x"]),
            ValueError,
            r"X has more documents of the class 'x' than were learned",
        ),
        (lambda m: m.learn(["c"], ["z"], classes=["x", "z"]), ValueError, r"`classes` lacks \['y'\]"),
        (
            lambda m: m.explain("a", label="q"),
            ValueError,
            r"There is no class 'q'\. The classes are \['x', 'y'\]",
        ),
    ],
)
def test_calls_that_cannot_be_followed_change_nothing(
    call: Callable[[Model], Any], error: type[Exception], said: str
) -> None:
    refused(call, error, said)


def test_a_model_that_learned_nothing_says_so() -> None:
    for empty in (Model(), Model().learn([], []), Model().learn(["a"], ["x"]).forget(["a"], ["x"])):
        for ask in (empty.predict, empty.log_joint, empty.posterior, empty.log_evidence):
            with pytest.raises(ValueError, match=r"has learned nothing yet\. Call `learn\(X, y\)` first\."):
                ask(["a"])
        with pytest.raises(ValueError, match="learned nothing yet"):
            empty.explain("a")


def test_a_label_that_was_not_announced_is_refused_and_named() -> None:
    subject = Model(classes=["ham", "spam"]).learn(["hi", "win"], ["ham", "spam"])
    before = subject.to_bytes()
    with pytest.raises(ValueError, match=r"labels \['Spam'\].*\['ham', 'spam'\].*leave out `classes`"):
        subject.learn(["win win"], ["Spam"])
    assert subject.to_bytes() == before


def test_a_table_without_the_column_or_without_names_is_refused() -> None:
    subject = Model({"subject": words(), "body": words()}).learn({"subject": ["a"], "body": ["b"]}, ["x"])
    before = subject.to_bytes()
    with pytest.raises(ValueError, match=r"X has no column 'body'\. Its columns are \['subject'\]"):
        subject.learn({"subject": ["a"]}, ["x"])
    with pytest.raises(TypeError, match="X must be a table with named columns, got list"):
        subject.predict(["a"])
    with pytest.raises(ValueError, match="The columns of X have different lengths"):
        subject.learn({"subject": ["a", "b"], "body": ["b"]}, ["x", "y"])
    assert subject.to_bytes() == before


def test_a_normalizer_that_fails_is_heard_and_nothing_is_learned() -> None:
    def picky(word: str) -> Any:
        if word == "boom":
            raise LookupError("no such word")
        return 7 if word == "seven" else word

    subject = Model([words(), words((2, 2), normalizer=picky)]).learn(["a b"], ["x"])
    before = subject.to_bytes()
    with pytest.raises(LookupError, match="no such word"):
        subject.learn(["fine words", "boom"], ["x", "y"])
    with pytest.raises(TypeError, match="must return a word, or None to drop it, but returned 7"):
        subject.learn(["fine words", "seven"], ["x", "y"])
    assert subject.to_bytes() == before
    assert subject.learn(["fine words"], ["y"]).forget(["fine words"], ["y"]).to_bytes() == before
