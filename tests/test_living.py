"""Law L9: a model answers as one made anew from the same documents, whatever happened in between."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf import Model, bytes_, chars, storage, top, words

WORDS = ["a", "b", "c", "d", "e", "free", "prize", "win", "ünï", "mail", "now"]
LABELS = ["ham", "spam", "eggs"]
MANY = [f"class{i}" for i in range(14)]

texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
documents = st.tuples(texts, st.sampled_from(LABELS))
corpora = st.lists(documents, min_size=1, max_size=12)

EVENTS = [
    {"event": event, "tf": tf}
    for event in ("multinomial", "complement", "bernoulli")
    for tf in ("count", "binary", "normalized", "tf-idf")
    if event != "bernoulli" or tf == "count"
]
VIEWS = [words(), words(ngrams=2), words(ngrams=(2, 3)), chars(1, 3), bytes_(2), words(sparse=2)]
CHOICES = [{}, {"min_df": 2}, {"max_df": 3}, {"min_df": 0.3}, {"stop_words": top(1)}, {"max_terms": 4}]


def anew(model: Model, held: list[tuple[str, str]]) -> Model:
    """A model with the same settings that has learned these documents at once."""
    fresh = Model(
        dict_or_list(model),
        alpha=model.alpha,
        priors=model.priors,
        unseen=model.unseen,
        threads=model.threads,
    )
    if held:
        fresh.learn([text for text, _ in held], [label for _, label in held])
    return fresh


def dict_or_list(model: Model) -> Any:
    return [view for _, view in model.views]


def check_same(model: Model, held: list[tuple[str, str]], asked: list[str]) -> None:
    fresh = anew(model, held)
    assert model.classes == fresh.classes
    if not held:
        return
    np.testing.assert_array_equal(model.log_joint(asked), fresh.log_joint(asked))
    assert model.predict(asked).tolist() == fresh.predict(asked).tolist()
    for text in asked[:2]:
        ours, theirs = model.explain(text), fresh.explain(text)
        np.testing.assert_allclose(ours.bias, theirs.bias, rtol=1e-12, atol=1e-12)
        for part, other in zip(ours.parts, theirs.parts, strict=True):
            np.testing.assert_array_equal(part.scores, other.scores)


def lived(model: Model, data: Any, held: list[tuple[str, str]], ask: list[str]) -> None:
    """Change a model at random, and ask now and then, so that what answers must follow."""
    for _ in range(data.draw(st.integers(1, 6))):
        step = data.draw(st.sampled_from(["learn", "forget", "merge", "load", "ask", "configure"]))
        if step == "learn":
            more = data.draw(corpora)
            model.learn([text for text, _ in more], [label for _, label in more])
            held += more
        elif step == "forget" and held:
            some = data.draw(st.lists(st.integers(0, len(held) - 1), unique=True, min_size=1, max_size=4))
            model.forget([held[i][0] for i in some], [held[i][1] for i in some])
            held[:] = [each for i, each in enumerate(held) if i not in some]
        elif step == "merge":
            more = data.draw(corpora)
            model.merge(anew(model, more))
            held += more
        elif step == "load":
            loaded = Model.from_bytes(model.to_bytes())
            model.adopt(loaded._counts, loaded.judgment)
        elif step == "configure":
            possible = [each for each in EVENTS if model.alpha > 0 or each["event"] != "complement"]
            model.configure(**data.draw(st.sampled_from(possible)))
        if held:
            model.log_joint(ask)


@pytest.mark.filterwarnings("ignore:.*impossible", "ignore:.*ruled out", "ignore:.*alpha")
@pytest.mark.parametrize("view", VIEWS, ids=repr)
@settings(max_examples=25)
@given(data=st.data(), start=corpora, ask=st.lists(texts, min_size=1, max_size=4))
def test_a_living_model_answers_as_one_made_anew(view: Any, data: Any, start: Any, ask: list[str]) -> None:
    chosen = data.draw(st.sampled_from(EVENTS))
    unseen = data.draw(st.sampled_from(["ignore", "smooth"]))
    alphas = [1.0, 0.3] if chosen["event"] == "complement" else [1.0, 0.3, 0.0]
    alpha = data.draw(st.sampled_from(alphas))
    model = Model(
        [view.configured(**chosen, **data.draw(st.sampled_from(CHOICES)))], alpha=alpha, unseen=unseen
    )
    held: list[tuple[str, str]] = list(start)
    model.learn([text for text, _ in held], [label for _, label in held])
    model.log_joint(ask)
    lived(model, data, held, ask)
    check_same(model, held, ask)


@settings(max_examples=30)
@given(data=st.data(), ask=st.lists(texts, min_size=1, max_size=4))
def test_of_many_classes_too(data: Any, ask: list[str]) -> None:
    some = st.lists(st.tuples(texts, st.sampled_from(MANY)), min_size=1, max_size=25)
    held: list[tuple[str, str]] = []
    model = Model([words(**data.draw(st.sampled_from(EVENTS)))], alpha=0.5, unseen="smooth")
    for more in data.draw(st.lists(some, min_size=1, max_size=5)):
        model.learn([text for text, _ in more], [label for _, label in more])
        held += more
        model.log_joint(ask)
        less = data.draw(st.lists(st.integers(0, len(held) - 1), unique=True, max_size=6))
        model.forget([held[i][0] for i in less], [held[i][1] for i in less])
        held = [each for i, each in enumerate(held) if i not in less]
    check_same(model, held, ask)


@settings(max_examples=20, deadline=None)
@given(data=st.data(), more=corpora, level=st.sampled_from(["views", "terms", "temperature"]))
def test_a_tuned_model_follows_its_counts_as_one_loaded_does(data: Any, more: Any, level: Any) -> None:
    held = [(f"{WORDS[i % 7]} {WORDS[i % 5]} {WORDS[i % 3]} x{i % 4}", LABELS[i % 2]) for i in range(24)]
    model = Model([words(ngrams=2), chars(2, 3)])
    model.learn([text for text, _ in held], [label for _, label in held])
    model.tune([text for text, _ in held], [label for _, label in held], level)
    ask = [text for text, _ in held[:3]] + [text for text, _ in more]
    model.log_joint(ask)
    for text, label in more:
        model.learn([text], [label])
        model.log_joint(ask)
    gone = data.draw(st.lists(st.integers(0, len(held) - 1), unique=True, max_size=5))
    model.forget([held[i][0] for i in gone], [held[i][1] for i in gone])
    loaded = Model.from_bytes(model.to_bytes())
    np.testing.assert_array_equal(model.log_joint(ask), loaded.log_joint(ask))
    assert copy.deepcopy(model).predict(ask).tolist() == model.predict(ask).tolist()


CHOSEN = [{"min_df": 2}, {"max_df": 3}, {"min_df": 2, "max_df": 4}, {"min_df": 2, "stop_words": ["a"]}]


@pytest.mark.parametrize("choice", CHOSEN, ids=repr)
@pytest.mark.parametrize("level", [None, "views", "terms"])
@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_terms_that_come_into_use_and_go_out_again_are_followed(
    choice: dict[str, Any], level: Any, n_classes: int, data: Any
) -> None:
    labels = LABELS[:n_classes]
    some = st.lists(st.tuples(texts, st.sampled_from(labels)), min_size=1, max_size=8)
    held = [
        (f"{WORDS[i % 7]} {WORDS[i % 5]} {WORDS[i % 3]} x{i % 9}", labels[i % n_classes]) for i in range(18)
    ]
    tf: Any = "count" if level else data.draw(st.sampled_from(["count", "binary"]))
    model = Model([words(ngrams=2, tf=tf, **choice)]).learn([text for text, _ in held], [y for _, y in held])
    if level:
        model.tune([text for text, _ in held], [label for _, label in held], level)
    ask = [text for text, _ in held[:4]] + data.draw(st.lists(texts, min_size=1, max_size=3))
    model.log_joint(ask)
    for more in data.draw(st.lists(some, min_size=1, max_size=4)):
        changed(model, data, held, list(more))
        fresh = tuned_anew(model, held) if level else anew(model, held)
        np.testing.assert_array_equal(model.log_joint(ask), fresh.log_joint(ask))
        assert model.predict(ask).tolist() == fresh.predict(ask).tolist()


@settings(max_examples=25)
@given(data=st.data(), start=corpora, ask=st.lists(texts, min_size=1, max_size=6))
def test_words_that_were_met_in_questions_are_met_again(data: Any, start: Any, ask: list[str]) -> None:
    learned = Model([chars(1, 3), words(stemmer="porter")])
    learned.learn([text for text, _ in start], [label for _, label in start])
    model = Model.from_bytes(learned.to_bytes())
    for text, label in data.draw(corpora):
        for _ in range(2):
            alone = [model.log_joint([each])[0] for each in ask]
            np.testing.assert_array_equal(alone, learned.log_joint(ask))
        model.learn([text], [label])
        learned.learn([text], [label])


SURFACES = [
    "runs",
    "Runs",
    "running",
    "RUNNING",
    "runner",
    "the",
    "The",
    "relational",
    "Relates",
    "ünï",
    "Ünï",
]


@settings(max_examples=60)
@given(
    data=st.data(), start=st.lists(st.lists(st.sampled_from(SURFACES), max_size=5), min_size=2, max_size=4)
)
def test_what_was_met_in_questions_is_known_as_soon_as_its_word_is(data: Any, start: Any) -> None:
    view = words(ngrams=2, stemmer="porter", stop_words={"the"})
    held = [(" ".join(each), LABELS[i % 2]) for i, each in enumerate(start)]
    model = Model([view]).learn([text for text, _ in held], [label for _, label in held])
    lessons = data.draw(st.lists(st.lists(st.sampled_from(SURFACES), min_size=1, max_size=3), max_size=6))
    for i, lesson in enumerate(lessons):
        for surface in SURFACES:
            model.predict([surface])
        held.append((" ".join(lesson), LABELS[i % 2]))
        model.learn([held[-1][0]], [held[-1][1]])
        alone = [model.log_joint([surface])[0] for surface in SURFACES]
        np.testing.assert_array_equal(alone, anew(model, held).log_joint(SURFACES))


@pytest.mark.parametrize("views", [[words(ngrams=2)], [words(), chars(1, 3)]], ids=["words", "and letters"])
@pytest.mark.parametrize("level", [None, "terms"])
@given(data=st.data())
@settings(max_examples=20)
def test_one_text_in_a_list_is_learned_and_forgotten_as_any_documents_are(
    views: list[Any], level: Any, data: Any
) -> None:
    held = [(f"{WORDS[i % 7]} {WORDS[i % 5]} {WORDS[i % 3]}", LABELS[i % 2]) for i in range(12)]
    model = Model(views).learn([text for text, _ in held], [label for _, label in held])
    if level:
        model.tune([text for text, _ in held], [label for _, label in held], level)
    other = model.copy()
    for text, label in data.draw(corpora):
        model.learn([text], [label])
        other.learn((text,), (label,))
        held.append((text, label))
        assert model.predict([text]).tolist() == other.predict((text,)).tolist()
        gone, place = data.draw(st.booleans()), data.draw(st.integers(0, len(held) - 1))
        if gone:
            text, label = held.pop(place)
            model.forget([text], [label])
            other.forget((text,), (label,))
        assert model.to_bytes() == other.to_bytes()
        assert model.stale == other.stale
        assert model.class_documents == other.class_documents


def test_the_only_text_of_a_class_is_forgotten_and_what_was_not_learned_is_not() -> None:
    model = Model([words()]).learn(["a b", "a c", "d"], ["ham", "ham", "spam"])
    model.predict(["a"])
    before = model.to_bytes()
    for text, label, found in [
        ("a d", "ham", "the term 'd' occurs in it more often"),
        ("a a", "ham", "was not learned like this"),
        ("e", "eggs", "were never learned"),
    ]:
        with pytest.raises(ValueError, match=found):
            model.forget([text], [label])
        assert model.to_bytes() == before
    assert model.forget(["d"], ["spam"]).classes == ["ham"]
    assert model.predict(["d"]).tolist() == ["ham"]


def test_what_is_learned_one_way_and_forgotten_another_leaves_a_tuned_model_as_it_was() -> None:
    texts_, labels = [f"{WORDS[i % 7]} {WORDS[i % 5]}" for i in range(12)], [i % 2 for i in range(12)]
    model = Model([words(), chars(1, 2)]).learn(texts_, labels).tune(texts_, labels, "views")
    before = model.to_bytes()
    for learned, forgotten in [(["new text"], ("new text",)), (("new text",), ["new text"])]:
        assert model.learn(learned, [1]).stale
        assert not model.forget(forgotten, [1]).stale
        assert model.to_bytes() == before


def tuned_anew(model: Model, held: list[tuple[str, str]]) -> Model:
    """A model that has learned these documents at once, with the judgment of another, term by term."""
    settings, arrays = storage.unpack(model.to_bytes(), "the model")
    _, counts = storage.unpack(anew(model, held).to_bytes(), "the model made anew")
    for own, judged in zip(counts, arrays, strict=True):
        own |= {name: array for name, array in judged.items() if name not in own}
    return Model.from_bytes(storage.pack({**settings, "classes": model.classes}, counts))


def changed(model: Model, data: Any, held: list[tuple[str, str]], more: list[tuple[str, str]]) -> None:
    """Learn one by one and forget some, and ask in between."""
    for text, label in more:
        model.learn([text], [label])
        model.predict([text])
    held += more
    gone = data.draw(st.lists(st.integers(0, len(held) - 1), unique=True, max_size=5))
    model.forget([held[i][0] for i in gone], [held[i][1] for i in gone])
    held[:] = [each for i, each in enumerate(held) if i not in gone]


@settings(max_examples=20, deadline=None)
@given(data=st.data(), more=corpora, level=st.sampled_from(["views", "terms", "temperature"]))
def test_a_tuned_model_answers_as_one_made_anew_whenever_it_was_tuned(
    data: Any, more: Any, level: Any
) -> None:
    held = [(f"{WORDS[i % 7]} {WORDS[i % 5]} {WORDS[i % 3]} x{i % 4}", LABELS[i % 3]) for i in range(30)]
    model = Model([words(ngrams=2), chars(2, 3)]).learn([text for text, _ in held], [y for _, y in held])
    ask = [text for text, _ in held[:3]] + [text for text, _ in more]
    model.log_joint(ask)
    changed(model, data, held, [*more, *((f"new {label}", label) for label in LABELS)])
    documents, labels = [text for text, _ in held], [label for _, label in held]
    model.tune(documents, labels, level)
    fresh = anew(model, held).tune(documents, labels, level)
    np.testing.assert_allclose(model.log_joint(ask), fresh.log_joint(ask), rtol=1e-12, atol=1e-12)
    assert model.predict(ask).tolist() == fresh.predict(ask).tolist()
    changed(model, data, held, more)
    again = tuned_anew(model, held)
    np.testing.assert_allclose(model.log_joint(ask), again.log_joint(ask), rtol=1e-12, atol=1e-12)
    assert model.predict(ask).tolist() == again.predict(ask).tolist()


def test_lessons_that_a_thread_has_at_hand_are_refused_after_a_setting_has_changed() -> None:
    model = Model([words()]).learn(["a b", "c d"] * 20, ["x", "y"] * 20)
    model.predict(["a"])
    lessons = model.learn(["a"], ["x"])._answers.lessons
    assert lessons is not None
    assert lessons.learn(["a"], ["x"])
    model.tune(["a b", "c d"] * 20, ["x", "y"] * 20, "views")
    assert not lessons.learn(["a"], ["x"])
    assert not model.stale
    assert model.learn(["a"], ["x"]).stale
    assert model.class_documents == {"x": 23, "y": 20}
