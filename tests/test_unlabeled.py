"""Texts without a label: they help where held-out documents say so, and are never counted."""

from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import Model, NaiveBayes, chars, export, load, words


def word(number: int) -> str:
    """A word that has no letters in common with others of its topic."""
    return blake2b(f"{number}".encode(), digest_size=4).hexdigest()


def topical(n: int, seed: int = 0, classes: int = 4, vocabulary: int = 150) -> tuple[list[str], list[str]]:
    """Texts whose words are mostly of their class; few labels show few of them."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n):
        kind = i % classes
        own = [word(kind * 1000 + k) for k in rng.integers(0, vocabulary, 4)]
        texts.append(" ".join([*own, *(word(9000 + k) for k in rng.integers(0, 300, 8))]))
        labels.append(f"c{kind}")
    return texts, labels


LABELED, LABELS = topical(40)
OTHERS, _ = topical(1500, 1)
TEST, TRUTH = topical(400, 2)
BOTH: list[Any] = [*LABELS, *([None] * len(OTHERS))]


def helped() -> NaiveBayes:
    return NaiveBayes().fit([*LABELED, *OTHERS], BOTH)


def test_texts_without_a_label_help_where_their_words_go_together() -> None:
    alone, beside = NaiveBayes().fit(LABELED, LABELS), helped()
    judged = beside.model_.judgment
    assert judged is not None
    assert judged.unlabeled is not None
    assert judged.unlabeled.helps
    assert judged.unlabeled.documents == len(OTHERS)
    assert judged.unlabeled.loss_with < judged.unlabeled.loss
    assert beside.score(TEST, TRUTH) > alone.score(TEST, TRUTH) + 0.05


def test_texts_without_a_label_are_not_counted() -> None:
    alone, beside = NaiveBayes().fit(LABELED, LABELS), helped()
    assert beside.model_.class_documents == alone.model_.class_documents
    assert beside.model_.drop_judgment().to_bytes() == alone.model_.drop_judgment().to_bytes()


def test_labels_that_mean_nothing_leave_texts_without_a_label_out() -> None:
    labels = [f"c{k}" for k in np.random.default_rng(3).integers(0, 4, len(LABELED))]
    model = NaiveBayes().fit([*LABELED, *OTHERS], [*labels, *([None] * len(OTHERS))])
    alone = NaiveBayes().fit(LABELED, labels)
    judged = model.model_.judgment
    assert judged is not None
    assert judged.unlabeled is not None
    assert not judged.unlabeled.helps
    assert model.predict_proba(TEST).tolist() == alone.predict_proba(TEST).tolist()


def test_parts_of_an_explanation_sum_to_the_score_with_texts_without_a_label() -> None:
    """L4."""
    model = helped().model_
    for text in [TEST[0], TEST[1][:20], ""]:
        explained = model.explain(text)
        total = explained.log_prior + explained.bias + sum(part.scores for part in explained.parts)
        np.testing.assert_allclose(total, model.log_joint([text])[0], atol=1e-9)


def test_a_file_keeps_what_texts_without_a_label_say(tmp_path: Any) -> None:
    """L7."""
    model = helped()
    model.save(tmp_path / "m.bayleaf")
    again = load(tmp_path / "m.bayleaf")
    assert again.predict_proba(TEST).tolist() == model.predict_proba(TEST).tolist()
    assert again.model_.to_bytes() == model.model_.to_bytes()
    again.model_.learn([TEST[0]], ["c0"]).forget([TEST[0]], ["c0"])
    assert again.predict_proba(TEST).tolist() == model.predict_proba(TEST).tolist()


def test_a_class_that_comes_later_is_asked_beside_the_others() -> None:
    model = helped()
    with pytest.warns(UserWarning, match="The class 'new' is new"):
        model.partial_fit(["brand new thing"], ["new"])
    posterior = model.predict_proba([*TEST[:5], "brand new thing"])
    assert posterior.shape == (6, 5)
    np.testing.assert_allclose(posterior.sum(axis=1), 1)
    model.forget([text for text, label in zip(LABELED, LABELS, strict=True) if label == "c0"],
                 [label for label in LABELS if label == "c0"])  # fmt: skip
    assert np.isfinite(model.predict_proba(TEST[:5])).all()


def test_minus_one_is_no_label_among_numbers_from_zero_on() -> None:
    numbers = [int(label[1]) for label in LABELS]
    same = NaiveBayes().fit([*LABELED, *OTHERS], [*numbers, *([-1] * len(OTHERS))])
    assert same.classes_.tolist() == [0, 1, 2, 3]
    expected = helped().predict(TEST).tolist()
    assert [f"c{label}" for label in same.predict(TEST).tolist()] == expected
    series = pd.Series([*LABELS, *([np.nan] * len(OTHERS))])
    assert NaiveBayes().fit([*LABELED, *OTHERS], series).predict(TEST).tolist() == expected


def test_minus_one_beside_one_other_class_is_a_class() -> None:
    labels = [1 if label in ("c0", "c1") else -1 for label in LABELS]
    assert NaiveBayes().fit(LABELED, labels).classes_.tolist() == [-1, 1]


def test_minus_one_beside_zero_and_one_is_taken_as_none_with_a_warning() -> None:
    labels = [{"c0": 0, "c1": 1}.get(label, -1) for label in LABELS]
    with pytest.warns(UserWarning, match="20 texts with the label -1 are taken as texts without a label"):
        assert NaiveBayes().fit(LABELED, labels).classes_.tolist() == [0, 1]


def test_texts_without_any_label_are_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="No text has a label"):
        NaiveBayes().fit(LABELED, [None] * len(LABELED))


def test_rows_of_a_table_and_batches_must_have_a_label() -> None:
    table = pd.DataFrame({"text": ["a b", "b c", "c d"], "n": [1.0, 2.0, 3.0]})
    with pytest.raises((TypeError, ValueError)):
        NaiveBayes().fit(table, ["x", "y", None])
    with pytest.raises((TypeError, ValueError)):
        NaiveBayes().fit(LABELED, LABELS).partial_fit(["one"], [None])


def test_without_weights_or_words_texts_without_a_label_are_left_out() -> None:
    for model in (NaiveBayes(tuning=None), NaiveBayes(tuning="views"), NaiveBayes([chars(2, 3)])):
        fitted = model.fit([*LABELED, *OTHERS[:50]], BOTH[: len(LABELED) + 50])
        judged = fitted.model_.judgment
        assert judged is None or judged.unlabeled is None
        assert len(fitted.predict(TEST[:3])) == 3


def test_weights_and_groups_of_texts_without_a_label_are_left_away() -> None:
    texts, labels = [*LABELED, *OTHERS[:40]], BOTH[: len(LABELED) + 40]
    weights = np.ones(len(texts))
    fitted = NaiveBayes().fit(texts, labels, sample_weight=weights, groups=list(range(len(texts))))
    assert fitted.model_.n_documents == len(LABELED)


def test_a_model_is_tuned_with_texts_without_a_label_directly() -> None:
    model = Model([words(2)]).learn(LABELED, LABELS).tune(LABELED, LABELS, unlabeled=OTHERS)
    assert model.judgment is not None
    assert model.judgment.unlabeled is not None
    assert model.judgment.unlabeled.helps


def test_an_export_refuses_what_it_has_no_table_for_and_names_the_remedy() -> None:
    model = helped()
    with pytest.raises(ValueError, match=r"texts without a label as well.*retune"):
        export.to_json(model)
    export.to_json(model.retune(LABELED, LABELS))
