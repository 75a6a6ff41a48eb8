"""Sections 3.1 and 3.2 of the paper: bags of words, tokens, stems, lemmas, n-grams and the rule for spam."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, TextCounter, chars, paper, top, words
from bayleaf.paper import D1, D2, SENTENCE, VOCABULARY

MARKS = "words+punctuation"


def bags() -> tuple[list[str], list[list[int]]]:
    """The rows of the paper's table of the two documents, its columns in the paper's order."""
    counter = TextCounter(token_pattern=r"\w+")
    matrix = counter.fit_transform([D1, D2]).toarray()
    order = [counter.get_feature_names_out().tolist().index(word) for word in VOCABULARY]
    return list(VOCABULARY), matrix[:, order].tolist()


# --- 3.1: the bag of words ---------------------------------------------------------------------------------


def test_the_vocabulary_has_has_its_and_own_twice_and_the_six_others_once() -> None:
    printed = dict.fromkeys(VOCABULARY, 1) | {"has": 2, "its": 2, "own": 2}
    model = Model([words()]).learn([D1, D2], ["D", "D"])
    counts = model.counts()
    sums = counts.by_term(counts.occurrences).astype(int).tolist()
    assert dict(zip(counts.term_names, sums, strict=True)) == printed


def test_the_vectors_have_as_many_dimensions_as_the_vocabulary_has_words() -> None:
    model = Model([words()]).learn([D1, D2], ["D", "D"])
    assert model.counts().n_terms == 9 == len(VOCABULARY) == len(bags()[1][0])


@pytest.mark.parametrize(
    ("document", "printed"),
    [(0, [1, 1, 1, 1, 1, 1, 0, 0, 0]), (1, [0, 0, 1, 1, 1, 0, 1, 1, 1])],
    ids=["D1", "D2"],
)
def test_the_vectors_of_the_two_documents_are_those_of_the_table(document: int, printed: list[int]) -> None:
    assert bags()[1][document] == printed
    by_hand = words().tokens((D1, D2)[document])
    assert [by_hand.count(word) for word in VOCABULARY] == printed


def test_the_sums_of_the_two_vectors_are_those_of_the_table() -> None:
    first, second = bags()[1]
    assert [a + b for a, b in zip(first, second, strict=True)] == [1, 1, 2, 2, 2, 1, 1, 1, 1]


@given(st.permutations(["has", "its", "own", "own"]))
def test_in_a_bag_of_words_their_order_does_not_matter(order: list[str]) -> None:
    counter = TextCounter(token_pattern=r"\w+").fit([D1, D2])
    assert (counter.transform([" ".join(order)]) != counter.transform(["has its own own"])).nnz == 0


def test_binary_and_absolute_counts_differ_only_where_a_word_comes_twice() -> None:
    absolute, binary = (
        TextCounter(token_pattern=r"\w+", binary=binary).fit_transform([D1, D2, "own own laws"]).toarray()
        for binary in (False, True)
    )
    assert (absolute[:2] == binary[:2]).all()
    assert sorted(absolute[2].tolist())[-2:] == [1, 2]
    assert binary.max() == 1


# --- 3.1.1 to 3.1.4 ----------------------------------------------------------------------------------------


def test_tokenization_cuts_the_sentence_into_words_without_marks_in_lower_case() -> None:
    assert words().tokens(SENTENCE) == ["a", "swimmer", "likes", "swimming", "thus", "he", "swims"]


def test_without_stop_words_swimmer_likes_swimming_swims_and_the_marks_are_left() -> None:
    view = words(tokenizer=MARKS, stop_words="english")
    assert view.tokens(SENTENCE) == ["swimmer", "likes", "swimming", ",", "swims", "."]


@pytest.mark.parametrize("word", ["so", "and", "or", "the"])
def test_so_and_or_the_are_stop_words(word: str) -> None:
    assert words(stop_words="english").tokens(f"{word} swimmer") == ["swimmer"]


@given(st.integers(1, 4))
def test_a_stop_list_may_be_the_n_most_frequent_words_of_the_corpus(n: int) -> None:
    texts = ["d c b a", "d c b", "d c", "d e"]
    model = Model([words(stop_words=top(n))]).learn(texts, ["x", "y", "x", "y"])
    used = {part.term for part in model.explain("a b c d").parts if part.scores.any()}
    assert used == set("dcba"[n:])


def test_porters_stems_are_a_swimmer_like_swim_thu_he_swim() -> None:
    view = words(tokenizer=MARKS, stemmer="porter")
    assert view.tokens(SENTENCE) == ["a", "swimmer", "like", "swim", ",", "thu", "he", "swim", "."]


def test_the_lemmas_are_a_swimmer_like_swimming_thus_he_swim() -> None:
    view = words(tokenizer=MARKS, lower=False, lemmatizer="english:noun")
    assert view.tokens(SENTENCE) == ["A", "swimmer", "like", "swimming", ",", "thus", "he", "swim", "."]


@pytest.mark.parametrize(
    ("n", "printed"),
    [
        (1, ["a", "swimmer", "likes", "swimming", "thus", "he", "swims"]),
        (2, ["a swimmer", "swimmer likes", "likes swimming", "swimming thus"]),
        (3, ["a swimmer likes", "swimmer likes swimming", "likes swimming thus"]),
    ],
)
def test_the_1_2_and_3_grams_are_those_of_the_paper(n: int, printed: list[str]) -> None:
    grams = words((n, n)).tokens(SENTENCE)
    assert grams[: len(printed)] == printed
    assert len(grams) == 7 - n + 1


@pytest.mark.parametrize(("shortest", "longest"), [(3, 7), (4, 8), (3, 4)])
def test_letters_in_a_row_can_be_3_to_7_or_4_to_8_or_3_and_4(shortest: int, longest: int) -> None:
    grams = chars(shortest, longest).tokens("swimming")
    assert {len(gram) for gram in grams} == set(range(shortest, longest + 1))


# --- 3.2: the decision rule for spam -----------------------------------------------------------------------


def small(event: str) -> Model:
    texts, labels = [text for _, text in paper.MESSAGES], [label for label, _ in paper.MESSAGES]
    return Model([words(event=event)]).learn(texts, labels)  # type: ignore[arg-type]


@pytest.mark.parametrize("event", ["bernoulli", "multinomial"])
def test_a_message_is_spam_if_its_posterior_is_higher_and_ham_if_it_is_lower(event: str) -> None:
    model = small(event)
    for question in [paper.QUESTION, "win money", "lunch", "prize now", ""]:
        ham, spam = model.posterior([question])[0]
        assert ham != spam
        assert model.predict([question])[0] == ("spam" if spam > ham else "ham")


def test_on_a_tie_the_paper_says_spam_and_bayleaf_ham_which_comes_first() -> None:
    model = Model([words()]).learn(["hi", "hi"], ["spam", "ham"])
    assert model.posterior(["hi"]).tolist() == [[0.5, 0.5]]
    assert model.predict(["hi"]).tolist() == ["ham"]


def test_on_a_tie_neither_side_is_greater_so_that_one_of_two_rules_decides_nothing() -> None:
    model = Model([words()]).learn(["hi", "hi"], ["spam", "ham"])
    ham, spam = model.log_joint(["hi"])[0].tolist()
    assert not spam > ham
    assert not ham > spam
    assert spam >= ham


def test_the_multinomial_estimate_is_the_maximum_likelihood_only_without_alpha() -> None:
    corpus = paper.Corpus()
    frequency = Fraction(3, 6)
    assert corpus.multinomial("win", "spam", Fraction(0)).value == frequency
    assert corpus.multinomial("win", "spam", Fraction(1)).value != frequency


@pytest.mark.parametrize("event", ["bernoulli", "multinomial"])
def test_likelihood_times_prior_decides_as_the_posterior_does(event: str) -> None:
    corpus = paper.Corpus()
    model = small(event)
    for question in [paper.QUESTION, "win money now", "money for lunch"]:
        joint = {}
        for label in ("ham", "spam"):
            factors = corpus.factors(question, label, event)
            joint[label] = paper.Line("", (*factors, corpus.prior(label))).value
        assert max(joint, key=joint.__getitem__) == model.predict([question])[0]
        np.testing.assert_allclose(
            model.posterior([question])[0], [float(each / sum(joint.values())) for each in joint.values()]
        )


def test_the_priors_of_spam_and_ham_are_their_parts_of_all_messages() -> None:
    corpus = paper.Corpus()
    exact = [corpus.prior("ham").value, corpus.prior("spam").value]
    assert exact == [Fraction(3, 5), Fraction(2, 5)]
    np.testing.assert_allclose(np.exp(small("multinomial").explain("").log_prior), list(map(float, exact)))


DATA = Path(os.environ.get("BAYLEAF_DATA", "absent"))


@pytest.mark.skipif(not (DATA / "20ng.train.tsv").exists(), reason="BAYLEAF_DATA names no folder with 20ng")
def test_with_a_large_vocabulary_the_multinomial_model_is_better_than_bernoullis() -> None:
    train, test = (
        [line.split("\t", 1) for line in (DATA / f"20ng.{part}.tsv").read_text("utf-8").splitlines()]
        for part in ("train", "test")
    )
    model = Model([words()]).learn([text for _, text in train], [label for label, _ in train])
    labels = np.array([label for label, _ in test])
    bernoulli, multinomial = (
        float((model.configure(event=event).predict([text for _, text in test]) == labels).mean())
        for event in ("bernoulli", "multinomial")
    )
    assert (round(bernoulli, 3), round(multinomial, 3)) == (0.631, 0.771)
