"""What the names of classes say, beside what is counted."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, NaiveBayes, bytes_, chars, load, words
from bayleaf.tuning import names
from bayleaf.tuning.judgment import Judgment
from bayleaf.types import Label
from bayleaf.view import View

FIELDS = ["grain", "ship", "trade"]


def corpus(labels: list[str], texts_of: list[str], n: int = 8, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts of noise, one in two with the word of its class."""
    chance = random.Random(seed)
    noise = [f"w{i}" for i in range(60)]
    texts, y = [], []
    for label, word in zip(labels, texts_of, strict=True):
        for i in range(n):
            chosen = chance.sample(noise, 12)
            texts.append(" ".join([*chosen, word] if i % 2 else chosen))
            y.append(label)
    return texts, y


def judged(model: Model | NaiveBayes) -> Judgment:
    """What was judged on top of the counts of a model."""
    found = model.model_.judgment if isinstance(model, NaiveBayes) else model.judgment
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("rec.sport.baseball", "rec sport baseball"),
        ("BillingIssue", "Billing Issue"),
        ("credit_card-lost", "credit card lost"),
        ("IT", ""),
        ("de", ""),
        ("windows95", "windows"),
        ("体育", "体育"),
        ("réclamation", "réclamation"),
        ("", ""),
        ("🙂", ""),
        ("a\x00bcd", "bcd"),
        (7, ""),
        (True, ""),
        (2.5, ""),
    ],
)
def test_a_label_is_read_as_its_words_without_codes_and_numbers(label: Label, text: str) -> None:
    assert names.as_text(label) == text


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("ship", "ships", True),
        ("religion", "religious", True),
        ("politics", "political", True),
        ("fx", "fx", True),
        ("interest", "international", False),
        ("ham", "hammer", False),
        ("spam", "spamassassin", False),
    ],
)
def test_forms_of_a_word_begin_alike(one: str, other: str, alike: bool) -> None:
    assert names.forms(one, other) is alike
    assert names.forms(other, one) is alike


@given(st.text(max_size=30))
def test_any_label_can_be_read_as_words(label: str) -> None:
    assert all(len(word.encode(errors="ignore")) >= 3 for word in names.as_text(label).split())


def test_few_documents_go_further_if_classes_are_named_by_their_words() -> None:
    texts, y = corpus(FIELDS, FIELDS, n=4)
    asked, truth = corpus(FIELDS, FIELDS, n=100, seed=1)
    other = dict(zip(FIELDS, ["k1", "k2", "k3"], strict=True))
    named = NaiveBayes().fit(texts, y)
    unnamed = NaiveBayes().fit(texts, [other[label] for label in y])
    assert judged(named).names > 0
    assert judged(unnamed).names == 0
    right = [
        float(np.mean(model.predict(asked) == np.array(answers)))
        for model, answers in ((named, truth), (unnamed, [other[label] for label in truth]))
    ]
    assert right[0] > right[1] + 0.02


def test_names_that_mislead_come_to_weigh_nothing() -> None:
    swapped = [*FIELDS[1:], FIELDS[0]]
    texts, y = corpus(swapped, FIELDS, n=60)
    model = NaiveBayes().fit(texts, y)
    assert judged(model).names < 0.05
    assert list(model.predict(FIELDS)) == swapped


def test_names_are_judgment_and_leave_the_counts_alone() -> None:
    texts, y = corpus(FIELDS, FIELDS)
    tuned = Model([words()]).learn(texts, y)
    tuned.tune(texts, y)
    assert judged(tuned).names > 0
    assert tuned.drop_judgment().to_bytes() == Model([words()]).learn(texts, y).to_bytes()


def test_a_file_keeps_what_names_say(tmp_path: Path) -> None:
    texts, y = corpus(FIELDS, FIELDS)
    model = NaiveBayes().fit(texts, y)
    model.save(tmp_path / "named.bayleaf")
    restored = load(tmp_path / "named.bayleaf")
    assert judged(restored).names == judged(model).names > 0
    assert (restored.predict_proba([*texts, *FIELDS]) == model.predict_proba([*texts, *FIELDS])).all()


def test_what_a_name_says_is_part_of_the_explanation() -> None:
    texts, y = corpus(FIELDS, FIELDS)
    model = Model([words()]).learn(texts, y)
    model.tune(texts, y)
    found = model.explain("ship w1 w2")
    assert found.label == "ship"
    assert found.terms()[0][0] == "ship"


@pytest.mark.parametrize("views", [[chars(1, 3)], [bytes_(2)], [words(buckets=256)]])
def test_letters_bytes_and_buckets_have_no_words_that_a_name_could_have(views: list[View]) -> None:
    texts, y = corpus(FIELDS, FIELDS)
    model = Model(views).learn(texts, y)
    model.tune(texts, y)
    assert judged(model).names == 0


def test_a_name_is_read_as_the_view_reads_texts() -> None:
    texts, y = corpus(["Trading", "Ships"], ["traded", "ship"])
    model = Model([words(stemmer="porter")]).learn(texts, y)
    model.tune(texts, y)
    assert judged(model).names > 0
    silent = Model([words(stop_words=["trading", "traded", "ships", "ship"])]).learn(texts, y)
    silent.tune(texts, y)
    assert judged(silent).names == 0


def test_labels_without_words_are_interchangeable() -> None:
    texts, y = corpus(FIELDS, FIELDS)
    numbers = [FIELDS.index(label) for label in y]
    as_text = NaiveBayes().fit(texts, [str(number) for number in numbers])
    assert (as_text.predict_proba(texts) == NaiveBayes().fit(texts, numbers).predict_proba(texts)).all()


def test_names_say_of_texts_without_a_label_what_they_are_about() -> None:
    chance = random.Random(3)
    kinds = {name: [f"{name[0]}{i}" for i in range(10)] for name in FIELDS}
    texts = [f"{kind} {chance.randrange(30)}x" for own in kinds.values() for kind in own]
    y = [name for name, own in kinds.items() for _ in own]
    others = [" ".join(chance.sample(own, 2)) for own in kinds.values() for _ in range(60)]
    unheard = {f"{name[0]}new": name for name in FIELDS}
    others += [f"{name} {word}" for word, name in unheard.items() for _ in range(10)]
    model = NaiveBayes().fit([*texts, *others], [*y, *[None] * len(others)])
    found = judged(model).unlabeled
    assert found is not None
    assert found.helps
    assert list(model.predict(list(unheard))) == list(unheard.values())
