"""L1, L2, L4, L7 and the promise of `configure`, as properties of any corpus."""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf import Model, bytes_, chars, words
from strategies import Corpus, corpora, texts

Views = Callable[[], list[Any]]
VIEWS: dict[str, Views] = {
    "words": lambda: [words()],
    "pairs": lambda: [words(2, stop_words=["a"])],
    "only triples": lambda: [words((3, 3))],
    "letters": lambda: [chars(1, 3)],
    "letters across": lambda: [chars(2, 3, within_words=False)],
    "bytes": lambda: [bytes_(2)],
    "your own": lambda: [words(normalizer=lambda word: word[:2] if word != "spam" else None)],
    "several": lambda: [words(), chars(2, event="bernoulli"), words((2, 2), tf="tf-idf")],
}
views = st.sampled_from(sorted(VIEWS)).map(VIEWS.__getitem__)
NEVER = "ꙮꙮ ꙮꙮ ꙮꙮ"
SETTINGS = st.fixed_dictionaries(
    {
        "event": st.sampled_from(["multinomial", "bernoulli", "complement"]),
        "tf": st.sampled_from(["count", "binary", "normalized", "tf-idf"]),
        "alpha": st.sampled_from([0.01, 0.5, 1.0, 2.0]),
    }
)
MODEL = st.fixed_dictionaries(
    {"priors": st.sampled_from(["empirical", "uniform"]), "unseen": st.sampled_from(["ignore", "smooth"])}
)


def learned(views: Views, corpus: Corpus, threads: int = 1, **chosen: Any) -> Model:
    return Model(views(), threads=threads, **chosen).learn(*corpus)


def rows(corpus: Corpus, chosen: list[int]) -> Corpus:
    return [corpus[0][i] for i in chosen], [corpus[1][i] for i in chosen]


def test_classes_that_differ_by_less_than_sixteen_bits_can_tell_are_told_apart() -> None:
    classes = range(40)
    shared = [f"{'a ' * (1000 + i)}{'b ' * (1000 - i)}" for i in classes]
    own = [" ".join(f"own{i}x{j}" for j in range(20)) for i in classes]
    model = Model(words(), priors="uniform").learn([*shared, *own], [*classes, *classes])
    asked = ["a " * (500 + i) + "b " * (500 - i) for i in range(-40, 40)]
    expected = model.log_joint(asked).argmax(axis=1).tolist()
    assert len(set(expected)) > 20
    assert model.predict(asked).tolist() == expected


WORDS = st.lists(st.sampled_from("abcdefghijklm"), max_size=6)


@given(
    st.lists(st.tuples(WORDS, st.integers(0, 30)), min_size=1),
    st.lists(st.tuples(WORDS, st.integers(1, 90))),
    SETTINGS,
    MODEL,
)
def test_the_predicted_class_has_the_highest_joint_however_many_classes_there_are(
    known: list[tuple[list[str], int]], asked: list[tuple[list[str], int]], view: Any, model: Any
) -> None:
    texts, labels = [" ".join(text) for text, _ in known], [label for _, label in known]
    subject = Model(words(**view), **model).learn(texts, labels)
    documents = [" ".join(text * times) for text, times in asked]
    predicted = subject.predict(documents).tolist()
    expected = np.array(subject.classes)[subject.log_joint(documents).argmax(axis=1)]
    assert predicted == expected.tolist()
    assert subject.predict(documents).tolist() == predicted


@given(views, corpora(), st.randoms(use_true_random=False), st.integers(1, 4))
def test_order_and_batches_leave_no_trace(
    views: Views, corpus: Corpus, shuffle: random.Random, batch: int
) -> None:
    order = list(range(len(corpus[0])))
    shuffle.shuffle(order)
    model = Model(views())
    for start in range(0, len(order), batch):
        model.learn(*rows(corpus, order[start : start + batch]))
    assert model.to_bytes() == learned(views, corpus).to_bytes()


PART = 256 << 10
"""Less than this is not worth another thread (PART_BYTES in src/tally/mod.rs)."""


def large(corpus: Corpus, parts: int) -> Corpus:
    """The documents nine times over, each repeated until there is work for so many threads."""
    texts, labels = corpus[0] * 9, corpus[1] * 9
    times = 1 + parts * PART // sum(len(text.encode()) + 1 for text in texts)
    return [f"{text} " * times for text in texts], labels


@settings(max_examples=12)
@given(views, corpora(), st.integers(2, 4))
def test_threads_leave_no_trace(views: Views, corpus: Corpus, threads: int) -> None:
    many = large(corpus, threads)
    one, more = learned(views, many), learned(views, many, threads)
    assert more.to_bytes() == one.to_bytes()
    assert (more.log_joint(many[0]) == one.log_joint(many[0])).all()


def test_a_megabyte_is_learned_on_several_threads() -> None:
    threads = set()

    def noted(word: str) -> str:
        threads.add(threading.get_ident())
        return word

    texts, labels = large((["a b", "c d", "e f"], ["x", "y", "x"]), 3)
    Model([words(normalizer=noted)], threads=3).learn(
        [f"{text} w{i}" for i, text in enumerate(texts)], labels
    )
    assert len(threads) == 3


@given(views, corpora(), st.integers(1, 4))
def test_merging_shards_is_learning_the_whole(views: Views, corpus: Corpus, shards: int) -> None:
    whole = Model(views())
    for shard in range(shards):
        own = list(range(shard, len(corpus[0]), shards))
        whole.merge(learned(views, rows(corpus, own)) if own else Model(views()))
    assert whole.to_bytes() == learned(views, corpus).to_bytes()


@given(views, corpora())
def test_merging_a_model_with_itself_doubles_it_and_leaves_others_alone(views: Views, corpus: Corpus) -> None:
    model, other = learned(views, corpus), learned(views, corpus)
    before = other.to_bytes()
    twice = learned(views, (corpus[0] * 2, corpus[1] * 2)).to_bytes()
    assert model.merge(model).to_bytes() == twice
    assert other.merge(other.copy()).to_bytes() == twice
    assert learned(views, corpus).to_bytes() == before


@given(views, corpora(), corpora())
def test_forgetting_undoes_learning_with_its_new_words_and_classes(
    views: Views, corpus: Corpus, more: Corpus
) -> None:
    model = learned(views, corpus)
    before = model.to_bytes()
    classes = model.classes
    model.learn(*more)
    assert model.forget(*more).to_bytes() == before
    assert model.classes == classes
    assert (model.log_joint(more[0]) == learned(views, corpus).log_joint(more[0])).all()


@given(views, corpora(min_size=2), st.data())
def test_forgetting_some_is_never_having_learned_them(
    views: Views, corpus: Corpus, data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.integers(0, len(corpus[0]) - 1)))
    kept = [i for i in range(len(corpus[0])) if i not in gone]
    model = learned(views, corpus).forget(*rows(corpus, sorted(gone)))
    assert model.to_bytes() == Model(views()).learn(*rows(corpus, kept)).to_bytes()


@given(views, corpora(), st.data())
def test_forgetting_what_was_not_learned_is_refused_and_changes_nothing(
    views: Views, corpus: Corpus, data: st.DataObject
) -> None:
    model = learned(views, corpus)
    before, answers = model.to_bytes(), model.log_joint(corpus[0])
    at = data.draw(st.integers(0, len(corpus[0]) - 1))
    texts, labels = list(corpus[0]), list(corpus[1])
    texts[at] = NEVER
    with pytest.raises(ValueError, match=r"the term '.+' occurs in it more often.*Nothing was forgotten"):
        model.forget(texts, labels)
    labels[at] = "Never"
    with pytest.raises(ValueError, match=r"the labels \['Never'\], which were never learned"):
        model.forget(corpus[0], labels)
    assert model.to_bytes() == before
    assert (model.log_joint(corpus[0]) == answers).all()


@given(views, corpora())
def test_forgetting_more_than_was_learned_is_refused(views: Views, corpus: Corpus) -> None:
    model = learned(views, corpus)
    before = model.to_bytes()
    with pytest.raises(ValueError, match="Nothing was forgotten"):
        model.forget(corpus[0] + corpus[0][-1:], corpus[1] + corpus[1][-1:])
    assert model.to_bytes() == before


@settings(max_examples=120)
@given(views, corpora(), texts(), SETTINGS, MODEL)
def test_the_parts_of_an_explanation_sum_to_the_log_joint(
    views: Views, corpus: Corpus, text: str, own: dict[str, Any], rest: dict[str, Any]
) -> None:
    model = learned(views, corpus, **rest).configure(**own)
    for each in (text, corpus[0][0]):
        found = model.explain(each)
        total = found.log_prior + found.bias + sum(part.scores for part in found.parts)
        np.testing.assert_allclose(total, model.log_joint([each])[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.posterior, model.posterior([each])[0], rtol=1e-12)
        assert found.label == model.predict([each])[0]


@given(views, corpora(), texts(), SETTINGS, MODEL, st.integers(0, 2000))
def test_posteriors_sum_to_one_however_long_the_document(
    views: Views, corpus: Corpus, text: str, own: dict[str, Any], rest: dict[str, Any], times: int
) -> None:
    model = learned(views, corpus, **rest).configure(**own)
    documents = ["", text, f"{text} " * times, " ".join(corpus[0])]
    posterior = model.posterior(documents)
    assert np.isfinite(posterior).all()
    assert posterior.sum(axis=1) == pytest.approx(np.ones(len(documents)), abs=1e-12)
    assert np.isfinite(model.log_evidence(documents)).all()


@given(views, corpora(), st.sampled_from(["count", "binary", "normalized", "tf-idf"]))
def test_an_empty_document_gets_the_prior(views: Views, corpus: Corpus, tf: str) -> None:
    model = learned(views, corpus).configure(event="multinomial", tf=tf)
    share = np.array(list(model.class_documents.values())) / len(corpus[0])
    assert model.posterior([""])[0] == pytest.approx(share, rel=1e-12)
    model.configure(priors="uniform")
    assert model.posterior([""])[0] == pytest.approx(np.full(len(share), 1 / len(share)), rel=1e-12)


def test_a_page_of_text_far_below_the_smallest_float_still_has_a_posterior() -> None:
    model = Model().learn(["a b", "b c"], ["x", "y"])
    page = ["b " * 100_000, "b " * 100_000 + "a"]
    assert model.log_evidence(page).max() < math.log(5e-324)
    assert model.posterior(page) == pytest.approx(np.array([[1 / 2, 1 / 2], [2 / 3, 1 / 3]]), rel=1e-6)


@given(views, corpora(), texts(), SETTINGS, MODEL)
def test_a_model_that_was_saved_and_read_gives_the_same_bits(
    views: Views, corpus: Corpus, text: str, own: dict[str, Any], rest: dict[str, Any]
) -> None:
    model = learned(views, corpus, **rest).configure(**own)
    again = model.copy()
    documents = [text, "", *corpus[0]]
    assert (again.log_joint(documents) == model.log_joint(documents)).all()
    assert again.predict(documents).tolist() == model.predict(documents).tolist()
    assert again.classes == model.classes
    assert again.to_bytes() == model.to_bytes()
    assert again.learn([text], ["new"]).to_bytes() == model.learn([text], ["new"]).to_bytes()
    assert again.forget([text], ["new"]).forget(*corpus).n_documents == 0


@given(views, corpora(), texts(), SETTINGS, MODEL)
def test_configuring_a_learned_model_equals_learning_with_these_settings(
    views: Views, corpus: Corpus, text: str, own: dict[str, Any], rest: dict[str, Any]
) -> None:
    late = learned(views, corpus)
    late.predict([text])
    late.configure(**own, **rest)
    early = Model(views(), **rest).configure(**own).learn(*corpus)
    assert (late.log_joint([text, *corpus[0]]) == early.log_joint([text, *corpus[0]])).all()
    assert late.to_bytes() == early.to_bytes()


def test_one_view_can_be_configured_alone() -> None:
    model = Model([words(), chars(2)]).learn(["ab cd", "cd"], [0, 1])
    expected = Model([words(event="bernoulli", alpha=2.0), chars(2)]).learn(["ab cd", "cd"], [0, 1])
    assert model.configure(view=0, event="bernoulli", alpha=2.0).to_bytes() == expected.to_bytes()
