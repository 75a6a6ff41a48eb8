"""Weights of words and classes beside what is counted, and the complement as one more expert."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayleaf import Model, NaiveBayes, chars, model_file, storage, words
from bayleaf.storage import ModelFileError
from bayleaf.tuning.class_weights import Words
from bayleaf.tuning.complement import Complement
from bayleaf.tuning.judgment import ClassRows
from bayleaf.tuning.weighing import Weighing

TOPICS = ["ball goal team", "vote law party", "star orbit moon", "song band drum", "bread oven salt"]
TOPICS += ["river boat fish", "court judge crime", "snow ski ice", "tax bank loan", "root leaf seed"]


def corpus(classes: int, each: int, seed: int = 0) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(classes * each):
        topic = TOPICS[i % classes].split()
        noise = [f"w{n}" for n in rng.integers(0, 25, 6)]
        texts.append(" ".join([*rng.choice(topic, 2), *noise, TOPICS[(i + 1) % classes].split()[0]]))
        labels.append(f"c{i % classes}")
    return texts, labels


def judged(classes: int = 3, each: int = 12) -> Model:
    texts, labels = corpus(classes, each)
    return Model([words(ngrams=2)]).learn(texts, labels).tune(texts, labels)


def rows_of(model: Model) -> ClassRows:
    assert model.judgment is not None
    rows = model.judgment.views[0].by_class
    assert rows is not None
    return rows


@pytest.mark.parametrize("classes", [3, 10])
def test_parts_of_an_explanation_with_weights_of_classes_sum_to_the_score(classes: int) -> None:
    """L4."""
    model = judged(classes)
    assert np.abs(rows_of(model).weights).max() > 0
    for text in ["ball goal w3 w4 law", "ball ball star", "", "unknown only"]:
        explained = model.explain(text)
        total = explained.log_prior + explained.bias + sum(part.scores for part in explained.parts)
        np.testing.assert_allclose(total, model.log_joint([text])[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("classes", [3, 10])
def test_a_saved_model_answers_with_the_same_bits(classes: int) -> None:
    """L7."""
    model = judged(classes)
    again = Model.from_bytes(model.to_bytes())
    asked = corpus(classes, 3, seed=1)[0]
    assert again.log_joint(asked).tolist() == model.log_joint(asked).tolist()
    assert again.to_bytes() == model.to_bytes()
    assert again.top_terms("c0") == model.top_terms("c0")


def test_learning_and_forgetting_leave_the_weights_of_classes_where_they_were() -> None:
    model = judged()
    before, asked = model.to_bytes(), corpus(3, 2, seed=1)[0]
    scores = model.log_joint(asked)
    model.learn(["a new class ball"], ["aaa"])
    assert model.log_joint(asked).shape == (6, 4)
    assert model.classes[0] == "aaa"
    model.forget(["a new class ball"], ["aaa"])
    assert model.to_bytes() == before
    assert model.log_joint(asked).tolist() == scores.tolist()


def test_a_class_that_is_forgotten_takes_its_column_with_it() -> None:
    texts, labels = corpus(3, 12)
    model = judged()
    gone = [i for i, label in enumerate(labels) if label == "c0"]
    model.forget([texts[i] for i in gone], [labels[i] for i in gone])
    assert model.classes == ["c1", "c2"]
    assert np.isfinite(model.log_joint(texts)).all()
    model.learn([texts[i] for i in gone], [labels[i] for i in gone])
    assert model.log_joint(texts).tolist() == judged().log_joint(texts).tolist()


def test_what_the_complement_says_of_a_document_left_out_is_what_the_others_say() -> None:
    """L3."""
    texts, labels = corpus(10, 4)
    texts[4], labels[4] = texts[0], labels[0]  # copies are left out together
    model = Model([words(ngrams=2)]).learn(texts, labels)
    weighing = Weighing(model, *model.examples(texts, labels), None, None)
    examples = weighing.examples
    complement = Complement.of(Words.of(weighing.evidence.texts[0], len(texts), 1.0), examples)
    left = complement.left_out(examples)
    groups = examples.groups if len(examples.groups) else np.arange(len(texts))
    for i in range(len(texts)):
        others = complement.counted(examples.some(np.flatnonzero(groups != groups[i])))
        others = replace(others, levels=complement.levels)  # one number a class
        rows = complement.rows(examples.some(np.array([i])), leave_out=True)
        np.testing.assert_allclose(left[i], rows.summed(others.weights()[rows.words])[0], atol=1e-9)


def test_words_that_no_class_can_be_told_by_get_no_weight() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in rng.integers(0, 30, 8)) for _ in range(200)]
    labels = [f"c{i % 2}" for i in range(200)]
    model = Model([words()]).learn(texts, labels).tune(texts, labels)
    new = [" ".join(f"w{n}" for n in rng.integers(0, 30, 8)) for _ in range(200)]
    assert np.abs(model.posterior(new)[:, 0] - 0.5).mean() < 0.1


def test_classes_that_differ_in_what_a_word_is_worth_are_told_apart_better() -> None:
    """One weight for a term cannot say that "not" turns "good" around in one class and not in another."""
    rng = np.random.default_rng(1)
    texts, labels = [], []
    for i in range(240):
        kind = i % 3
        shared = rng.choice(["what", "is", "who", "many"], 3)
        own = [["who", "who"], ["many", "what"], ["is", "what"]][kind]
        texts.append(" ".join([*shared, *own, *(f"w{n}" for n in rng.integers(0, 200, 4))]))
        labels.append(f"c{kind}")
    model = NaiveBayes().fit(texts[:120], labels[:120])
    views = NaiveBayes(tuning="views").fit(texts[:120], labels[:120])
    assert model.score(texts[120:], labels[120:]) >= views.score(texts[120:], labels[120:])


def test_a_damaged_file_of_weights_of_classes_is_refused() -> None:
    model = judged()
    settings, arrays = storage.unpack(model.to_bytes(), "x")
    damages: list[tuple[str, Callable[[Any], Any]]] = [
        ("class_terms", lambda a: a[:-1]),
        ("class_terms", lambda a: a[::-1].copy()),
        ("class_terms", lambda a: a + np.uint32(10**6)),
        ("class_weights", lambda a: a * np.float32(np.nan)),
        ("class_weights", lambda a: a[:-1]),
    ]
    for name, damaged in damages:
        broken: list[dict[str, Any]] = [dict(own) for own in arrays]
        broken[0][name] = damaged(broken[0][name])
        with pytest.raises(ModelFileError):
            model_file.restored(Model, settings, broken, "x", [None], None)


def test_letters_alone_and_a_class_of_one_document_are_weighed_as_well() -> None:
    texts, labels = corpus(3, 8)
    texts, labels = [*texts, "zebra stripes"], [*labels, "lonely"]
    for views in ([chars(2, 3)], [words(2), chars(3, 5)]):
        model = Model(views).learn(texts, labels).tune(texts, labels)
        posterior = model.posterior([*texts, "zebra stripes again", ""])
        assert np.isfinite(posterior).all()
        assert model.predict(["zebra stripes"])[0] == "lonely"


def test_classes_of_one_document_without_a_word_in_common_are_learned_without_a_warning() -> None:
    texts, labels = [f"t{i}" for i in range(2100)], [f"c{i}" for i in range(2100)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert NaiveBayes().fit(texts, labels).predict(["t5"]).tolist() == ["c5"]
