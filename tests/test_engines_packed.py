"""A model that stays compressed until somebody needs its counts answers and changes like any other."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bayleaf import Model, category, normal, words
from bayleaf.storage import ModelFileError

pytest.importorskip("pyarrow")

import pyarrow as pa

from bayleaf.engines.arrow import FRAME_BYTES, binaries, compressed
from bayleaf.engines.packed import packed, unpacked_later
from bayleaf.model_file import Later

TEXTS = [f"win a prize {i} now" if i % 3 else f"see you at noon, {i} of us" for i in range(60)]
LABELS = ["spam" if i % 3 else "ham" for i in range(60)]


def plain(**settings: Any) -> Model:
    model = Model([words(2)], threads=1, **settings)
    model.notes = {"made": "here"}
    return model.learn(TEXTS, LABELS)


def pieces_of(*blobs: bytes) -> list[bytes]:
    """As a model comes to the driver, in several pieces."""
    found = list(compressed(blobs, 100))
    assert len(found) > 1
    return found


def kept(model: Model) -> Model:
    return unpacked_later(pieces_of(model.to_bytes()), model)


def waits(model: Model) -> bool:
    return isinstance(model.source, Later)


def saved(model: Model, folder: Path) -> Any:
    model.save(folder / "model.bayleaf")
    return (folder / "model.bayleaf").read_bytes()


DEEDS: dict[str, Callable[[Model, Path], Any]] = {
    "predict": lambda model, _: model.predict(TEXTS).tolist(),
    "posterior": lambda model, _: model.posterior(TEXTS).tolist(),
    "one": lambda model, _: model.predict_proba_one(TEXTS[0]),
    "explain": lambda model, _: str(model.explain(TEXTS[0])),
    "top terms": lambda model, _: model.top_terms("spam"),
    "learn": lambda model, _: model.learn(["a new day"], ["other"]).to_bytes(),
    "forget": lambda model, _: model.forget(TEXTS[:9], LABELS[:9]).to_bytes(),
    "merge": lambda model, _: model.merge(plain()).to_bytes(),
    "into another": lambda model, _: plain().merge(model).to_bytes(),
    "into itself": lambda model, _: model.merge(model).to_bytes(),
    "configure": lambda model, _: model.configure(alpha=0.1).posterior(TEXTS).tolist(),
    "copy": lambda model, _: model.copy().to_bytes(),
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)).to_bytes(),
    "save": saved,
    "tune": lambda model, _: model.tune(TEXTS, LABELS).posterior(TEXTS).tolist(),
    "counts": lambda model, _: model.counts().term_names,
}


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
def test_whatever_is_done_with_it_is_done_as_with_any_other(
    deed: Callable[[Model, Path], Any], tmp_path: Path
) -> None:
    model, other = kept(plain(alpha=0.5)), plain(alpha=0.5)
    told = [repr(model), model.classes, model.class_documents, model.n_documents, model.notes]
    assert told == [repr(other), other.classes, other.class_documents, other.n_documents, other.notes]
    assert waits(model), "nothing of this needs the counts"
    assert deed(model, tmp_path) == deed(other, tmp_path)
    assert not waits(model)
    assert model.to_bytes() == other.to_bytes()


def test_it_is_shipped_as_it_came_as_long_as_it_is_what_came() -> None:
    model = kept(plain())
    data = packed(model)
    assert data == pieces_of(plain().to_bytes())
    assert packed(model.configure(alpha=0.1)) is None
    assert packed(model.configure(alpha=1)) == data
    model.notes = {"made": "elsewhere"}
    assert packed(model) is None
    asked = kept(plain())
    asked.predict(TEXTS)
    assert packed(asked) is None
    assert packed(plain()) is None


def test_a_table_waits_like_texts() -> None:
    views = {"color": category(), "size": normal()}
    table = {"color": ["red", "blue", "red"], "size": [1.0, 2.5, 0.5]}
    model = Model(views).learn(table, ["a", "b", "a"])
    assert kept(model).posterior(table).tolist() == model.posterior(table).tolist()


def test_threads_that_need_the_counts_at_once_get_the_same() -> None:
    model, expected = kept(plain()), plain().predict(TEXTS).tolist()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(model.predict, TEXTS) for _ in range(4)]
        taught = [pool.submit(model.learn, TEXTS, LABELS) for _ in range(4)]
        assert all(each.result().tolist() == expected for each in asked)
        assert all(each.result() is model for each in taught)
    assert model.class_documents == {"ham": 100, "spam": 200}
    for _ in range(4):
        model.forget(TEXTS, LABELS)
    assert model.to_bytes() == plain().to_bytes()


def test_a_model_whose_end_is_missing_is_refused_when_it_comes() -> None:
    data = pieces_of(plain().to_bytes(), bytes(FRAME_BYTES))
    for cut in (data[:-1], [*data[:-1], data[-1][:-1]], [*data, b"more"], data[1:], [data[0][:8]]):
        with pytest.raises(RuntimeError, match="arrived incomplete"):
            unpacked_later(cut, plain())


def test_what_was_damaged_on_its_way_is_never_counted() -> None:
    blob = bytearray(plain().to_bytes())
    blob[-40] ^= 1
    model = unpacked_later(pieces_of(bytes(blob)), plain())
    for _ in range(2):
        with pytest.raises(ModelFileError, match="a part of the model is damaged"):
            model.learn(["one more"], ["spam"])
    assert waits(model)
    assert model.n_documents == len(TEXTS)


@pytest.mark.parametrize("kind", ["binary", "large_binary"])
def test_bytes_are_taken_where_they_lie_in_a_column(kind: str) -> None:
    values = [b"", b"\0first", b"second" * 1000, b"", b"last"]
    column = pa.array(values, kind)
    data = column.buffers()[2]
    for own, first in ((column, 0), (column.slice(2), 2), (column.slice(1, 3), 1), (column.slice(5), 5)):
        found = list(binaries(own))
        assert [piece.to_pybytes() for piece in found] == values[first : first + len(own)]
        assert all(data.address <= piece.address <= data.address + data.size for piece in found)
    assert list(binaries(pa.array([], kind))) == []
