"""Whatever holds the texts, the same texts give the same model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from bayleaf import Model, NaiveBayes, chars, words
from bayleaf.corpus.slices import Slices

TEXTS = ["win a prize", "", "café 日本語 😀", "win a prize", "a\0b", "meet me at noon"]
LABELS = ["spam", "ham", "ham", "spam", "ham", "ham"]

CONTAINERS: dict[str, Callable[[list[str]], Any]] = {
    "tuple": tuple,
    "generator": lambda texts: (text for text in texts),
    "bytes": lambda texts: [text.encode() for text in texts],
    "numpy of objects": lambda texts: np.array(texts, dtype=object),
    "numpy of strings": np.array,
    "numpy of one column": lambda texts: np.array(texts, dtype=object).reshape(-1, 1),
    "numpy of variable strings": lambda texts: np.array(texts, dtype=np.dtypes.StringDType()),
    "pandas": pd.Series,
    "pandas of objects": lambda texts: pd.Series(texts, dtype=object),
    "pandas of strings": lambda texts: pd.Series(texts, dtype="string"),
    "pandas of categories": lambda texts: pd.Series(texts, dtype="category"),
    "pandas of Arrow": lambda texts: pd.Series(texts, dtype=pd.ArrowDtype(pa.string())),
    "pandas with another index": lambda texts: pd.Series(texts, index=range(10, 10 + len(texts))),
    "Polars": pl.Series,
    "Polars of categories": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "Polars in two chunks": lambda texts: pl.concat(
        [pl.Series(texts[:2]), pl.Series(texts[2:])], rechunk=False
    ),
    "Arrow": lambda texts: pa.array(texts, pa.string()),
    "Arrow with 64-bit offsets": lambda texts: pa.array(texts, pa.large_string()),
    "Arrow views": lambda texts: pa.array(texts, pa.string_view()),
    "Arrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "Arrow binary": lambda texts: pa.array([text.encode() for text in texts], pa.binary()),
    "Arrow binary views": lambda texts: pa.array([text.encode() for text in texts], pa.binary_view()),
    "Arrow in chunks": lambda texts: pa.chunked_array([texts[:2], [], texts[2:]]),
    "Arrow, sliced": lambda texts: pa.array(["before", *texts, "after"]).slice(1, len(texts)),
    "slices": Slices.of,
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_same_texts_in_any_container_give_the_same_bytes_and_answers(container: str) -> None:
    make = CONTAINERS[container]
    for view in (words(2), chars(1, 3)):
        expected = Model([view]).learn(TEXTS, LABELS)
        model = Model([view]).learn(make(TEXTS), LABELS)
        assert model.to_bytes() == expected.to_bytes()
        assert (model.log_joint(make(TEXTS)) == expected.log_joint(TEXTS)).all()
        model.forget(make(TEXTS[:3]), LABELS[:3])
        assert model.to_bytes() == Model([view]).learn(TEXTS[3:], LABELS[3:]).to_bytes()


@pytest.mark.parametrize(
    "make",
    [tuple, np.array, pd.Series, pl.Series, pa.array, lambda y: pd.Series(y, dtype="category"),
     lambda y: np.array(y, dtype=object), lambda y: pa.chunked_array([y[:1], y[1:]]), Slices.of],
    ids=["tuple", "numpy", "pandas", "Polars", "Arrow", "categories", "objects", "chunks", "slices"],
)  # fmt: skip
def test_the_same_labels_in_any_container_give_the_same_bytes(make: Callable[[list[str]], Any]) -> None:
    expected = Model().learn(TEXTS, LABELS)
    assert Model().learn(TEXTS, make(LABELS)).to_bytes() == expected.to_bytes()


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.float64, np.bool_])
def test_labels_that_are_numbers_come_back_as_numbers(kind: type) -> None:
    labels: NDArray[Any] = np.array([1, 0, 0, 1, 0, 0]).astype(kind)
    model = Model().learn(TEXTS, labels)
    assert model.predict(["win a prize", "noon"]).tolist() == [1, 0]
    assert model.predict(["noon"]).dtype.kind == np.dtype(kind).kind
    assert Model.from_bytes(model.to_bytes()).predict(["noon"]).dtype == model.predict(["noon"]).dtype


MISSING: dict[str, Callable[[], Any]] = {
    "list": lambda: ["a", None, "b"],
    "not a number": lambda: ["a", float("nan"), "b"],
    "numpy": lambda: np.array(["a", None, "b"], dtype=object),
    "pandas": lambda: pd.Series(["a", None, "b"]),
    "pandas of objects": lambda: pd.Series(["a", None, "b"], dtype=object),
    "pandas of strings": lambda: pd.Series(["a", None, "b"], dtype="string"),
    "pandas of categories": lambda: pd.Series(["a", None, "b"], dtype="category"),
    "Polars": lambda: pl.Series(["a", None, "b"]),
    "Arrow": lambda: pa.array(["a", None, "b"]),
    "Arrow dictionary": lambda: pa.array(["a", None, "b"]).dictionary_encode(),
    "Arrow chunks": lambda: pa.chunked_array([["a"], [None, "b"]]),
}


@pytest.mark.parametrize("container", MISSING)
def test_a_missing_text_is_named_by_its_place_and_nothing_is_learned(container: str) -> None:
    model = Model().learn(["a"], [0])
    before = model.to_bytes()
    with pytest.raises(TypeError, match=r"Document 1 is .*, not a string\..*leave out or fill"):
        model.learn(MISSING[container](), [0, 1, 2])
    assert model.to_bytes() == before


@pytest.mark.parametrize("container", MISSING)
def test_a_missing_text_is_no_evidence_when_asked_about(container: str) -> None:
    for model in (Model().learn(["a", "b"], [0, 1]), NaiveBayes().fit(["a", "b"], [0, 1]).model_):
        joint = model.log_joint(MISSING[container]())
        np.testing.assert_array_equal(joint, model.log_joint(["a", "", "b"]))


@pytest.mark.parametrize(
    "column", [pd.Series([1, 2]), pl.Series([1.5, 2.5]), pa.array([1, 2]), np.array([1, 2])]
)
def test_a_column_of_numbers_is_refused_with_its_type(column: Any) -> None:
    with pytest.raises(TypeError, match=r"Int64|Float64|int|not text|not a string"):
        Model().learn(column, [0, 1])


@pytest.mark.parametrize("table", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_views_by_name_read_the_columns_of_any_table(table: Callable[[Any], Any]) -> None:
    columns = {"subject": ["win", "hi", "hi"], "body": ["a prize", "noon", "at noon"], "unused": [1, 2, 3]}
    views = {"subject": words(), "body": chars(2)}
    model = Model(views).learn(table(columns), ["spam", "ham", "ham"])
    assert model.to_bytes() == Model(views).learn(columns, ["spam", "ham", "ham"]).to_bytes()
    assert model.predict(table(columns)).tolist() == ["spam", "ham", "ham"]
    with pytest.raises(ValueError, match=r"X has no column 'body'\. Its columns are"):
        model.predict(table({"subject": ["win"]}))


def test_an_empty_batch_changes_nothing_and_gets_no_answer() -> None:
    model = Model().learn(TEXTS, LABELS)
    before = model.to_bytes()
    columns = [pd.Series([], dtype=object), pl.Series([], dtype=pl.String), pa.array([]), np.array([])]
    for empty in [[], (), *columns]:
        assert model.log_joint(empty).shape == (0, 2)
        assert model.predict(empty).tolist() == []
        assert model.learn(empty, []).forget(empty, []).to_bytes() == before
