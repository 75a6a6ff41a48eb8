"""Earned weights: fitted on documents left out of the counts, kept apart, and still a sum over tokens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import Model, NaiveBayes, chars, load, words
from bayleaf.posterior import log_posterior
from bayleaf.tuning import ALPHAS
from bayleaf.tuning.shared_weights import Prior, stiffness
from bayleaf.tuning.temperature import temperature
from bayleaf.types import Floats
from strategies import Corpus

LEVELS = ["temperature", "views", "terms", "auto"]


def messages(n: int = 300, classes: int = 2, seed: int = 0) -> Corpus:
    """Texts of words of which a few belong to a class, and most to all."""
    random = np.random.default_rng(seed)
    labels = [f"class {i}" for i in random.integers(classes, size=n)]
    texts = []
    for label in labels:
        own = [f"{label[-1]}w{i}" for i in random.integers(12, size=random.integers(3))]
        common = [f"common{i}" for i in random.integers(40, size=12)]
        texts.append(" ".join(random.permutation(own + common)))
    return texts, list(labels)


def tuned(level: Any, classes: int = 2, **settings: Any) -> tuple[Model, Corpus]:
    corpus = messages(classes=classes)
    model = Model([words(ngrams=2), chars(3)], **settings).learn(*corpus)
    return model.tune(*corpus, level), corpus


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("level", LEVELS)
def test_threads_do_not_change_the_judgment(level: Any, classes: int) -> None:
    files = {tuned(level, classes, threads=threads)[0].to_bytes() for threads in (1, 2, 3)}
    assert len(files) == 1


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("level", LEVELS)
def test_tuning_lowers_the_log_loss_of_new_documents(level: Any, classes: int) -> None:
    model, _ = tuned(level, classes)
    texts, labels = messages(400, classes, seed=1)
    place = [model.classes.index(label) for label in labels]

    def loss(model: Model) -> float:
        return float(-model.log_posterior(texts)[np.arange(len(texts)), place].mean())

    textbook = model.copy().tune(*messages(classes=classes), None)
    assert loss(model) < loss(textbook)


@pytest.mark.parametrize("level", LEVELS)
def test_the_parts_of_a_tuned_score_sum_to_it(level: Any) -> None:
    model, (texts, _) = tuned(level, 3)
    for text in [*texts[:5], "", "0w1 0w1 0w1 common3 unknown", "unknown"]:
        found = model.explain(text)
        total = found.log_prior + found.bias + sum(part.scores for part in found.parts)
        np.testing.assert_allclose(total, found.log_joint, atol=1e-9)
        np.testing.assert_allclose(found.log_joint, model.log_joint([text])[0], atol=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_a_tuned_model_comes_back_from_its_file(level: Any, tmp_path: Path) -> None:
    model, (texts, _) = tuned(level, 3)
    model.save(tmp_path / "model.bayleaf")
    back = Model.load(tmp_path / "model.bayleaf")
    assert back.to_bytes() == model.to_bytes()
    assert back.judgment is not None
    assert back.judgment.level == model.judgment.level  # type: ignore[union-attr]
    np.testing.assert_array_equal(back.log_joint(texts), model.log_joint(texts))
    assert not back.stale


@pytest.mark.parametrize("level", LEVELS)
def test_tuning_changes_no_counts_and_none_takes_it_back(level: Any) -> None:
    model, corpus = tuned(level)
    textbook = Model([words(ngrams=2), chars(3)]).learn(*corpus)
    assert model.to_bytes() != textbook.to_bytes()
    assert model.tune(*corpus, None).to_bytes() == textbook.to_bytes()


@pytest.mark.parametrize("level", LEVELS)
def test_learning_more_makes_the_judgment_stale_and_forgetting_restores_it(level: Any) -> None:
    model, _ = tuned(level)
    before = model.to_bytes()
    model.learn(["0w1 something new", "a third"], ["class 0", "class 7"])
    assert model.stale
    if level != "temperature":
        assert model.predict(["0w1 0w2 0w3", "1w1 1w2 1w3"]).tolist() == ["class 0", "class 1"]
    assert model.posterior(["nothing known", "0w1 something"]).sum(axis=1) == pytest.approx([1, 1])
    model.forget(["0w1 something new", "a third"], ["class 0", "class 7"])
    assert model.to_bytes() == before


def test_retuning_renews_a_stale_judgment() -> None:
    model, (texts, labels) = tuned("terms")
    more = [*texts, "0w1 something new"], [*labels, "class 0"]
    stale = model.learn(more[0][-1:], more[1][-1:]).copy()
    assert stale.stale
    renewed = stale.retune(*more)
    assert not renewed.stale
    assert renewed.judgment is not None
    assert renewed.judgment.level == "terms"


def test_a_temperature_leaves_every_decision_as_it_was() -> None:
    model, corpus = tuned("temperature", 4)
    textbook = Model([words(ngrams=2), chars(3)]).learn(*corpus)
    texts, _ = messages(200, 4, seed=2)
    assert model.predict(texts).tolist() == textbook.predict(texts).tolist()
    factor = model.judgment.temperature  # type: ignore[union-attr]
    np.testing.assert_allclose(model.log_joint(texts), factor * textbook.log_joint(texts), rtol=1e-9)
    assert 0 < factor < 1


def test_labels_by_lot_earn_no_trust() -> None:
    texts, labels = messages(600)
    labels = list(np.random.default_rng(3).permutation(labels))
    model = Model([words(ngrams=2)]).learn(texts, labels).tune(texts, labels)
    new, _ = messages(300, seed=4)
    assert abs(model.posterior(new) - 0.5).max() < 0.2


def test_other_priors_shift_the_biases() -> None:
    model, (texts, _) = tuned("terms")
    before = model.log_joint(texts[:3])
    share = np.array(list(model.class_documents.values())) / model.n_documents
    shifted = model.configure(priors={"class 0": 0.9, "class 1": 0.1}).log_joint(texts[:3])
    np.testing.assert_allclose(shifted - before, np.tile(np.log([0.9, 0.1]) - np.log(share), (3, 1)))


def test_another_event_model_is_tempered_and_cannot_earn_weights() -> None:
    corpus = messages()
    model = Model([words(event="bernoulli")]).learn(*corpus)
    assert model.tune(*corpus).judgment.level == "temperature"  # type: ignore[union-attr]
    with pytest.raises(ValueError, match=r'"terms" needs a view of text with the plain event'):
        model.tune(*corpus, "terms")
    assert model.tune(*corpus).configure(event="complement").judgment is None


def test_documents_that_were_not_learned_cannot_tune() -> None:
    corpus = messages()
    model = Model([words()]).learn(*corpus)
    with pytest.raises(ValueError, match="300 documents of the class 'class 0', and 137 were learned"):
        model.tune(["1w1 1w2"] * 300, ["class 0"] * 300, "views")
    texts, labels = corpus
    first = [labels.index(f"class {i}") for i in range(2)]
    with pytest.raises(ValueError, match="never learned with its class"):
        model.tune([texts[i] for i in first], ["class 1", "class 0"], "views")
    with pytest.raises(ValueError, match="Document 1 holds terms that were never learned"):
        model.tune([texts[first[0]], "terms of another corpus"], ["class 0", "class 1"], "views")
    with pytest.raises(ValueError, match="no document of the class 'class 1', of which 163 were learned"):
        model.tune([texts[first[0]]], ["class 0"])
    with pytest.raises(ValueError, match="`level` must be"):
        model.tune(*corpus, "best")  # type: ignore[arg-type]


def test_progress_is_told_in_words() -> None:
    corpus = messages()
    steps: list[str] = []
    Model([words()]).learn(*corpus).tune(*corpus, "terms", progress=steps.append)
    assert steps[0] == "documents read"
    assert "penalty 0.1" in steps
    assert steps[-2:] == ["weights of terms", "weights of classes"]


def test_the_default_weighs_any_number_of_texts_and_looks_at_letters_of_short_ones() -> None:
    texts, labels = messages()
    model = NaiveBayes().fit(texts, labels)
    assert model.views_ == [words(ngrams=2), chars(3, 5)]
    assert model.model_.judgment is not None
    few = NaiveBayes().fit(texts[:5], labels[:5])
    assert few.views_ == model.views_
    assert few.model_.judgment is not None
    long = NaiveBayes().fit([text * 8 for text in texts], labels)
    assert long.views_ == [words(ngrams=2)]


def test_partial_fit_counts_only_and_retune_weighs() -> None:
    texts, labels = messages()
    model = NaiveBayes().partial_fit(texts[:200], labels[:200]).partial_fit(texts[200:], labels[200:])
    assert model.model_.judgment is None
    whole = NaiveBayes(words(2)).fit(texts, labels)  # whatever the batches, words and pairs
    model.retune(texts, labels)
    np.testing.assert_array_equal(model.predict_proba(texts), whole.predict_proba(texts))


def test_without_tuning_the_classifier_is_the_textbook() -> None:
    texts, labels = messages()
    model = NaiveBayes(words()).fit(texts, labels)
    textbook = NaiveBayes(words(), tuning=None).fit(texts, labels)
    assert abs(model.predict_proba(texts) - textbook.predict_proba(texts)).max() > 0.01
    model.set_params(tuning=None)
    np.testing.assert_array_equal(model.predict_proba(texts), textbook.predict_proba(texts))


def test_a_tuned_classifier_comes_back_from_its_file(tmp_path: Path) -> None:
    texts, labels = messages(classes=3)
    model = NaiveBayes().fit(texts, labels)
    model.save(tmp_path / "model.bayleaf")
    back = load(tmp_path / "model.bayleaf")
    assert back.tuning == model.model_.judgment.level  # type: ignore[union-attr]
    np.testing.assert_array_equal(back.predict_proba(texts), model.predict_proba(texts))


def test_smoothing_can_be_left_to_the_documents() -> None:
    texts, labels = messages()
    model = NaiveBayes(words(), alpha="auto", tuning=None).fit(texts, labels)
    assert model.model_.alpha == Model([words()]).learn(texts, labels).choose_alpha(texts, labels).alpha
    assert model.predict_proba(texts[:2]).shape == (2, 2)


def test_each_view_gets_the_smoothing_that_is_best_for_it() -> None:
    texts, labels = messages()
    model = NaiveBayes([words(), chars(2, 4), chars(1, alpha=0.125)], alpha="auto", tuning=None)
    model.fit(texts, labels)
    first, second, given = model.views_
    assert (first, second, given.alpha) == (*(view for _, view in model.model_.views[:2]), 0.125)  # type: ignore[union-attr]

    def loss(alpha: float) -> float:
        other = Model([words(alpha=first.alpha), chars(2, 4, alpha=alpha), chars(1, alpha=0.125)])  # type: ignore[union-attr]
        other.learn(texts, labels)
        y = np.array([other.classes.index(label) for label in labels], np.uint32)
        return temperature(other.loo_log_joint(texts, labels), y)[1]

    assert second.alpha == min(ALPHAS, key=loss)  # type: ignore[union-attr]


@pytest.mark.parametrize("level", ["best", "None", 1])
def test_a_level_that_does_not_exist_is_refused_and_the_others_named(level: Any) -> None:
    texts, labels = messages()
    expected = r"must be 'temperature', 'views', 'terms', 'auto' or None, got "
    with pytest.raises(ValueError, match=f"`tuning` {expected}{level!r}"):
        NaiveBayes(tuning=level).fit(texts, labels)
    with pytest.raises(ValueError, match=f"`level` {expected}{level!r}"):
        Model([words()]).learn(texts, labels).tune(texts, labels, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [2, 3, 4, 9])
def test_a_handful_of_documents_can_be_weighed(level: Any, n: int) -> None:
    texts, labels = ["a b", "c d", "a c a", "b d d", "a", "q b", "a x", "x c", ""][:n], list("010101010")[:n]
    posterior = NaiveBayes(tuning=level).fit(texts, labels).predict_proba([*texts, "unknown"])
    assert np.isfinite(posterior).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-12)


DATA = Path(os.environ.get("BAYLEAF_DATA", "data"))


@pytest.mark.skipif(not (DATA / "sms.train.tsv").exists(), reason="BAYLEAF_DATA has no prepared corpora")
@pytest.mark.parametrize(
    ("name", "accuracy", "log_loss"), [("sms", 98.6, 0.07), ("mr", 80.5, 0.44), ("webkb", 92.5, 0.21)]
)
def test_real_corpora_reach_their_bars(name: str, accuracy: float, log_loss: float) -> None:
    def read(part: str) -> Corpus:
        lines = (DATA / f"{name}.{part}.tsv").read_text("utf-8").split("\n")
        rows = [line.split("\t", 1) for line in lines if line]
        return [text for _, text in rows], [label for label, _ in rows]

    views = [words(ngrams=2)] if name == "webkb" else [words(ngrams=2), chars(3, 5)]
    train, (texts, labels) = read("train"), read("test")
    model = Model(views).learn(*train).tune(*train)
    posterior = log_posterior(model.log_joint(texts), np.zeros(len(model.classes)))
    place = np.array([model.classes.index(label) for label in labels])
    assert 100 * (posterior.argmax(axis=1) == place).mean() >= accuracy
    assert -posterior[np.arange(len(place)), place].mean() <= log_loss


def test_classes_of_a_single_document_are_found_by_their_own_words() -> None:
    texts, labels = [f"w{i % 50} k{i}" for i in range(400)], list(range(400))
    classifier = NaiveBayes().fit(texts, labels)
    assert classifier.predict(texts[:20]).tolist() == labels[:20]


def test_classes_of_one_document_do_not_spoil_the_temperature() -> None:
    texts, labels = messages()
    many = [f"rare{i} common{i % 40}" for i in range(100)]
    model = Model([words(event="bernoulli")]).learn(texts + many, labels + [f"only {i}" for i in range(100)])
    judged = model.tune(texts + many, labels + [f"only {i}" for i in range(100)], "temperature").judgment
    assert judged is not None
    assert judged.temperature > 0.01
    assert judged.loss < np.log(len(model.classes)) / 2


def test_a_temperature_of_many_classes_is_found_on_some_of_the_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, labels = messages()
    model = Model([words(event="bernoulli")]).learn(texts, labels)
    first = model.copy().tune(texts, labels, "temperature").judgment
    assert first is not None
    whole = first.temperature
    monkeypatch.setattr("bayleaf.tuning.tune.MOST_CELLS", 300)
    part = model.tune(texts, labels, "temperature").judgment
    assert part is not None
    assert part.documents == model.class_documents
    assert part.temperature != whole
    assert part.temperature == pytest.approx(whole, rel=0.5)


def test_many_classes_of_few_documents_get_weights_of_views_without_a_try_at_terms() -> None:
    texts = [f"word{i % 60} other{i % 7} thing{i // 6}" for i in range(360)]
    labels = [f"class{i // 6}" for i in range(360)]
    steps: list[str] = []
    model = Model([words(ngrams=2)]).learn(texts, labels).tune(texts, labels, "auto", steps.append)
    assert steps == ["documents read", "weights of views"]
    assert (model.predict(texts) == np.array(labels)).mean() > 0.9


def test_few_documents_keep_the_ratios_of_weights_and_many_fit_them() -> None:
    kind, around = np.repeat([0, 1, 2], [6, 6, 1]), np.concatenate([np.ones(6), np.full(6, 0.5), [4.0]])
    common = np.where(kind < 2, around, 0.0)
    against = np.where(kind == 0, 0.5, np.where(kind == 1, -1.0, 0.0))

    def cost(off: Floats, documents: float, classes: int = 2) -> float:
        apart = Prior().apart(np.full(classes, documents / classes))
        return float(off @ stiffness(kind, around, apart, Prior().held) @ off)

    assert cost(common, 30) == pytest.approx(cost(common, 1e6))
    assert cost(against, 30) > 100 * cost(against, 1e6)
    assert cost(against, 30, classes=8) < cost(against, 30)
    assert cost(np.where(kind == 2, 1.0, 0.0), 30) == pytest.approx(Prior().held)
