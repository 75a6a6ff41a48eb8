"""Model files of strangers are refused with a sentence or as good as any; what is saved can be loaded."""

from __future__ import annotations

import enum
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, NaiveBayes, bins, category, chars, counts, flag, kernel, normal, storage, words
from bayleaf.storage import ModelFileError

TEXTS = [f"w{i % 7} v{i % 11} w{i % 5}" for i in range(60)]
LABELS = ["a" if i % 3 else "b" for i in range(60)]


def tuned() -> Model:
    return Model([words(2)], threads=1).learn(TEXTS, LABELS).tune(TEXTS, LABELS, "terms")


def changed(model: Model, change: Any) -> bytes:
    """The file of a model, changed by an author who knows how to write the checksum."""
    settings, arrays = storage.unpack(model.to_bytes(), "the test")
    arrays = [dict(own) for own in arrays]
    change(settings, arrays)
    return storage.pack(settings, arrays)


def refused(data: bytes) -> str:
    with pytest.raises(ModelFileError) as caught:
        Model.from_bytes(data)
    return str(caught.value)


@pytest.mark.parametrize("sparse", [65, 4000, 10**9, 2**62])
def test_a_file_cannot_ask_for_pairs_of_words_any_distance_apart(sparse: int) -> None:
    def change(settings: Any, _: Any) -> None:
        settings["views"][0][1]["sparse"] = sparse

    assert "at most 64" in refused(changed(Model([words()]).learn(["a b"], ["x"]), change))
    with pytest.raises(ValueError, match="at most 64"):
        words(sparse=sparse)


def test_the_widest_pairs_of_a_short_text_take_no_time() -> None:
    model = Model([words(sparse=64)], threads=1).learn(["a b", "c d"], ["x", "y"])
    assert model.predict(["a b"]) == ["x"]
    assert Model.from_bytes(model.to_bytes()).counts().term_names == model.counts().term_names


def chain(pairs: int) -> bytes:
    """A small file with n-grams of n-grams of n-grams."""
    model = Model([words(2)]).learn(["a a"], ["x"])
    nodes = pairs + 1

    def change(_: Any, arrays: Any) -> None:
        arrays[0].update(
            pairs=np.array([[i, 0] for i in range(pairs)], np.uint32).ravel(),
            terms=np.arange(nodes, dtype=np.uint32),
            term=np.arange(nodes, dtype=np.uint32),
            class_ends=np.array([nodes], np.uint64),
            **{name: np.ones(nodes, np.uint64) for name in ("documents", "occurrences", "shares_part")},
            shares_whole=np.zeros(nodes, np.uint64),
        )

    return changed(model, change)


def test_n_grams_deeper_than_the_view_looks_are_refused() -> None:
    assert Model.from_bytes(chain(1)).counts().term_names == ["a", "a a"]
    for pairs in (2, 64_000):
        assert "more words than its view looks at" in refused(chain(pairs))


def test_weights_are_not_placed_before_their_terms_are_checked() -> None:
    def change(_: Any, arrays: Any) -> None:
        arrays[0]["terms"] = arrays[0]["terms"].astype(np.uint64)
        arrays[0]["terms"][-1] = 2**32 - 1

    assert "is damaged" in refused(changed(tuned(), change))


JUDGED: list[tuple[str, Any]] = [
    ("temperature", -5),
    ("temperature", 0),
    ("temperature", "1"),
    ("temperature", 1e300),
    ("bias", [["a", 1.0]]),
    ("bias", [["a", 1e300], ["b", 0.0]]),
    ("bias", [["a", None], ["b", 0.0]]),
    ("documents", [["a", 3]]),
    ("documents", [["a", -1], ["b", 3]]),
    ("documents", [["a", 2.5], ["b", 3]]),
    ("views", [[0, [1.0, 1.0]]]),
    ("views", [[-1.0, [1.0, 1.0]]]),
    ("views", [[1.0, []]]),
    ("views", [[1.0, [1e300, 1.0]]]),
    ("views", [[1.0, ["x"]]]),
    ("views", [[1.0, [1.0]], [1.0, [1.0]]]),
    ("penalty", -1),
    ("loss", "small"),
    ("level", "magic"),
]


@pytest.mark.parametrize(("name", "value"), JUDGED)
def test_a_judgment_that_was_never_fitted_is_refused(name: str, value: Any) -> None:
    def change(settings: Any, _: Any) -> None:
        settings["judgement"][name] = value

    assert "is damaged" in refused(changed(tuned(), change))


@pytest.mark.parametrize("weight", [np.inf, -np.inf, 1e30])
def test_a_weight_that_no_fit_gives_is_refused(weight: float) -> None:
    def change(_: Any, arrays: Any) -> None:
        arrays[0]["weights"] = arrays[0]["weights"].copy()
        arrays[0]["weights"][0] = weight

    assert "out of range" in refused(changed(tuned(), change))


def test_a_judgment_of_fewer_lengths_of_n_grams_still_answers() -> None:
    def change(settings: Any, arrays: Any) -> None:
        settings["judgement"]["views"][0][1] = [1.0]
        del arrays[0]["weights"]

    model = Model.from_bytes(changed(tuned(), change))
    assert np.isfinite(model.posterior(TEXTS)).all()


def test_priors_of_a_file_name_all_classes() -> None:
    def change(settings: Any, _: Any) -> None:
        settings["priors"] = [["a", 1.0]]

    assert "miss the classes ['b']" in refused(changed(Model().learn(TEXTS, LABELS), change))


def test_a_file_cannot_ask_for_any_number_of_bins() -> None:
    def change(settings: Any, _: Any) -> None:
        settings["views"][0][1]["number"] = 2**31

    model = Model({"n": bins(4)}).learn({"n": [1.0, 2.0, 3.0]}, ["x", "y", "x"])
    assert "from 1 to" in refused(changed(model, change))


def test_moments_that_no_numbers_have_are_refused() -> None:
    def change(_: Any, arrays: Any) -> None:
        arrays[0]["squares_shift"] = arrays[0]["squares_shift"] + np.uint64(4000)

    model = Model({"n": normal()}).learn({"n": [1.0, 2.0, 3.0]}, ["x", "y", "x"])
    assert "impossible" in refused(changed(model, change))


@pytest.mark.parametrize("view", [category(), flag(), kernel(), bins(3)])
def test_counts_beyond_32_bits_come_back_from_the_file(view: Any) -> None:
    model = Model({"c": view}, threads=1).learn({"c": [1, 0, 1, 0]}, ["x", "y", "x", "x"])
    for _ in range(34):
        model.merge(model)
    copy = Model.from_bytes(model.to_bytes())
    assert copy.class_documents == {"x": 3 << 34, "y": 1 << 34}
    assert copy.to_bytes() == model.to_bytes()


def doubled(model: Model, most: int) -> tuple[Model, str]:
    """Merge a model with itself until it is refused."""
    for _ in range(most):
        before = model.to_bytes()
        try:
            model.merge(model)
        except ValueError as error:
            assert model.to_bytes() == before
            return model, str(error)
    raise AssertionError("never refused")


def test_whatever_is_saved_can_be_loaded_up_to_the_limits_of_counts() -> None:
    texts = Model(threads=1).learn(["a " * 2**20], ["x"])
    models = [
        doubled(texts, 40),
        doubled(Model({"b": counts()}).learn({"b": np.array([[2**40, 1]])}, ["x"]), 40),
        doubled(Model({"c": category()}).learn({"c": ["p", "q"]}, ["x", "x"]), 70),
        doubled(Model({"n": normal()}).learn({"n": [1.0, 2.0]}, ["x", "x"]), 70),
    ]
    for (model, said), limit in zip(models, ["2**48", "2**62", "2**62", "2**62"], strict=True):
        assert limit in said or "4611686018427387904" in said
        assert Model.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("asked", [False, True], ids=["counted", "living"])
def test_a_document_that_lacks_what_all_others_have_cannot_be_forgotten(asked: bool) -> None:
    model = Model([words()], threads=1).learn(["to you b", "to me c", "to b c"], ["x", "x", "x"])
    model.learn(["b c"], ["y"])
    if asked:
        model.log_joint(["to"])
    before = model.to_bytes()
    with pytest.raises(ValueError, match="lacks the term 'to', which would be in more documents of 'x' than"):
        model.forget(["b c"], ["x"])
    with pytest.raises(ValueError, match="lacks the term 'to'"):
        model.forget(["to b c", "you c b"], ["x", "x"])
    assert model.to_bytes() == before
    assert Model.from_bytes(before).to_bytes() == before


STEPS = st.tuples(st.booleans(), st.booleans(), st.lists(st.sampled_from("abc"), max_size=3).map(" ".join))


@given(st.lists(STEPS, max_size=25), st.booleans())
def test_whatever_was_forgotten_a_model_can_be_saved_and_loaded(steps: list[Any], asked: bool) -> None:
    """Whether a model counts all over or in place, it refuses the same."""
    model, other = (Model([words()], threads=1) for _ in range(2))
    for forgetting, first, text in steps:
        labels = ["x" if first else "y"]
        if asked and model.n_documents:
            model.log_joint(["a"])
        refusals = []
        for each in (model, other):
            try:
                (each.forget if forgetting else each.learn)([text], labels)
            except ValueError as error:
                refusals.append(str(error))
        assert len(refusals) in (0, 2)
        other = Model.from_bytes(other.to_bytes())
        assert other.to_bytes() == model.to_bytes()


class Kind(str, enum.Enum):  # noqa: UP042 # as many programs still have it
    SPAM = "spam"
    HAM = "ham"


@pytest.mark.parametrize(
    "labels",
    [
        [Kind.SPAM, Kind.HAM],
        ["x", "x\0"],
        [2**63, -1, 2**63 + 1],
        [2**70, 2**70 + 1],
        ["\0", ""],
        [True, False],
        [0.5, 2.0],
        ["é", "e\u0301"],
        [1, "1", 1.5],
    ],
)
def test_labels_come_back_as_they_went_in(labels: list[Any]) -> None:
    texts = [f"word{i} other{i}" for i in range(len(labels))]
    model = Model(threads=1).learn(texts, labels)
    for each in (model, Model.from_bytes(model.to_bytes())):
        assert [*each.predict(texts)] == labels
    assert all(type(a) is type(b) for a, b in zip(model.predict(texts).tolist(), labels, strict=True))
    assert [model.explain(text).label for text in texts] == labels
    if len({*map(type, labels)} - {float}) == 1:
        assert [*NaiveBayes(tuning=None).fit(texts, labels).predict(texts)] == labels


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.one_of(st.integers(), st.text(max_size=3), FLOATS), min_size=1, max_size=5, unique=True))
def test_any_labels_come_back_as_they_went_in(labels: list[Any]) -> None:
    model = Model(threads=1).learn([f"w{i}" for i in range(len(labels))], labels)
    assert [*model.predict([f"w{i}" for i in range(len(labels))])] == labels


def test_bytes_that_change_after_loading_do_not_change_the_model() -> None:
    data = bytearray(Model([chars(1, 2)]).learn(["abc", "xyz"], ["p", "q"]).to_bytes())
    expected = Model.from_bytes(bytes(data)).learn(["abc"], ["q"]).to_bytes()
    for given_ in (data, memoryview(bytearray(data))):
        model = Model.from_bytes(given_)
        given_[:] = bytes(len(given_))
        assert model.learn(["abc"], ["q"]).to_bytes() == expected
        data = bytearray(Model.from_bytes(expected).forget(["abc"], ["q"]).to_bytes())


def test_a_file_that_hung_the_command_line_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "evil.bayleaf"
    data = Model([words()]).learn(["a b"], ["x"]).to_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert "bayleaf" in header["__metadata__"]

    def change(settings: Any, _: Any) -> None:
        settings["views"][0][1]["sparse"] = 2**62

    file.write_bytes(changed(Model([words()]).learn(["a b"], ["x"]), change))
    command = [sys.executable, "-m", "bayleaf", "classify", str(file), "--format", "lines"]
    done = subprocess.run(command, input="a b\n", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "at most 64" in done.stderr


@pytest.mark.parametrize("settings", [{}, {"unseen": "smooth"}, {"alpha": 0.1, "unseen": "smooth"}])
def test_after_forgetting_a_loaded_model_answers_with_the_same_bits(settings: dict[str, Any]) -> None:
    for event in ("multinomial", "bernoulli", "complement"):
        model = Model([words(event=event)], **settings).learn(["a b c", "d e", "zz yy"], ["x", "y", "x"])
        model.forget(["zz yy"], ["x"])
        loaded = Model.from_bytes(model.to_bytes())
        terms = ["a", "b", "d", "zz", "yy", "unknown"]
        asked = [f"{one} {two} {three}" for one in terms for two in terms for three in terms]
        assert (model.log_joint(asked) == loaded.log_joint(asked)).all()
