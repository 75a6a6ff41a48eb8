"""A model file that is changed without being loaded: what the whole model would do, and nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf import Model, words
from bayleaf.quick import QuickModel
from cli_process import done, refused
from quick_models import TEXTS, VIEWS, check_alike, made

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["learn", "forget", "relabel"]),
        st.integers(600, 640),
        st.sampled_from(["ham", "spam"]),
    ),
    min_size=1,
    max_size=8,
)


def changed(model: Model, step: tuple[str, int, str]) -> bool:
    """Do the step with the whole model; whether it was accepted."""
    kind, row, label = step
    other = "spam" if label == "ham" else "ham"
    try:
        if kind != "learn":
            model.forget([TEXTS[row]], [label])
        if kind != "forget":
            model.learn([TEXTS[row]], [other if kind == "relabel" else label])
    except ValueError:
        return False
    return True


def parts_of(quick: QuickModel, step: tuple[str, int, str]) -> list[tuple[bool, int, list[list[str]]]]:
    kind, row, label = step
    texts, here = [[TEXTS[row]]] * len(quick.columns), quick.classes.index(label)
    return {
        "learn": [(True, here, texts)],
        "forget": [(False, here, texts)],
        "relabel": [(False, here, texts), (True, 1 - here, texts)],
    }[kind]


@pytest.mark.parametrize("views", ["words", "pairs", "words and letters", "selected", "sparse"])
@settings(max_examples=15)
@given(steps=STEPS)
def test_changes_behind_a_file_are_the_changes_of_the_whole_model(
    tmp_path_factory: pytest.TempPathFactory, views: str, steps: list[tuple[str, int, str]]
) -> None:
    path = tmp_path_factory.mktemp("quick") / "model"
    whole = made(path, VIEWS[views], False)
    for step in steps:
        copy = whole.copy()
        if not changed(whole, step):
            whole = copy
            assert not QuickModel(str(path)).change(parts_of(QuickModel(str(path)), step), 0)
            continue
        quick = QuickModel(str(path))
        if quick.change(parts_of(quick, step), 0):
            again = QuickModel(str(path))
            assert (again.documents, again.terms) == (quick.documents, quick.terms)
            assert again.documents == list(whole.class_documents.values())
            check_alike(path, whole, [TEXTS[step[1]], TEXTS[700], "never seen"])
        else:
            whole.save(path)
        assert Model.load(path).to_bytes() == whole.to_bytes()


def test_what_was_cut_short_does_not_count_and_what_was_changed_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "model"
    made(path, [words()], False)
    base = path.stat().st_size
    for text in ("see you at noon", "a quite new word: zyxwv"):
        assert QuickModel(str(path)).change([(True, 0, [[text]])], 0)
    data, first = path.read_bytes(), QuickModel(str(path)).documents[0] - 1
    known = {first - 1, first, first + 1}
    for end in range(base, len(data)):
        path.write_bytes(data[:end])
        assert Model.load(path).class_documents["ham"] == QuickModel(str(path)).documents[0]
        assert QuickModel(str(path)).documents[0] in known - {first + 1}
    for place in range(base, len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        with pytest.raises(ValueError, match=r"damaged|match|impossible|trailing"):
            QuickModel(str(path))
        with pytest.raises(ValueError, match="is damaged"):
            Model.load(path)


def test_what_was_cut_short_is_overwritten_by_the_next_change(tmp_path: Path) -> None:
    path = tmp_path / "model"
    whole = made(path, [words()], False)
    path.write_bytes(path.read_bytes() + b"chg1\x40\x00")
    assert QuickModel(str(path)).change([(True, 0, [["see you at noon"]])], 0)
    assert Model.load(path).to_bytes() == whole.learn(["see you at noon"], ["ham"]).to_bytes()


def test_other_data_behind_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    made(path, [words()], False)
    path.write_bytes(path.read_bytes() + b"chg2 and more of it")
    with pytest.raises(ValueError, match="trailing data"):
        Model.load(path)


def test_a_document_that_cannot_have_been_learned_is_not_forgotten_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "model"
    Model([words()]).learn(["red apple", "red pear", "free prize"], ["ham", "ham", "spam"]).save(path)
    before = path.read_bytes()
    for text in ("apple", "apple pear"):  # each is known, but "red" is in all documents that were learned
        assert not QuickModel(str(path)).change([(False, 0, [[text]])], 0)
        said = refused(1, "forget", path, "--label", "ham", "-", stdin=f"{text}\n")
        assert "'ham'" in said
        assert path.read_bytes() == before
    assert QuickModel(str(path)).change([(False, 0, [["red pear"]])], 0)
    assert Model.load(path).class_documents == {"ham": 1, "spam": 1}


def test_many_changes_are_folded_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    whole = made(path, [words()], False)
    before, folded = path.stat().st_size, False
    text = " ".join(TEXTS[:200])
    for _ in range(8):
        done("update", path, "--label", "ham", "-", "-q", stdin=f"{text}\n")
        whole.learn([text], ["ham"])
        folded = folded or QuickModel(str(path)).changes == 0
        assert Model.load(path).to_bytes() == whole.to_bytes()
    assert folded
    assert path.stat().st_size < before + (1 << 18)
