"""L12: any partitioning, order, retry or merge tree gives the bytes of one process."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, category, chars, normal, words
from bayleaf.engines import core
from bayleaf.engines.arrow import FRAME_BYTES, answer_columns, compressed, decompressed, frames, gathered
from programs import run
from strategies import Corpus, corpora

VIEWS: list[Any] = [[words()], [words(2), chars(2, 3)], [words(normalizer=str.upper)]]
views = st.sampled_from(VIEWS)


def columns(batch: Any) -> dict[str, Any]:
    return dict(zip(batch.schema.names, batch.columns, strict=True))


def parts_of(rows: int, draw: random.Random) -> Iterator[list[int]]:
    """Rows in any order, dealt to any number of partitions, some of them empty."""
    partitions: list[list[int]] = [[] for _ in range(draw.randint(1, 6))]
    for row in draw.sample(range(rows), rows):
        draw.choice(partitions).append(row)
    yield from partitions


def blobs_of(corpus: Corpus, plan: core.Plan, draw: random.Random) -> list[bytes]:
    texts, labels = corpus
    tries = [
        core.count([([texts[row] for row in part], [labels[row] for row in part])], plan.empty)
        for part in parts_of(len(texts), draw)
    ]
    return [blob for blob in tries if blob is not None]


def merged_in_any_tree(blobs: list[bytes], plan: core.Plan, draw: random.Random) -> bytes:
    blobs = draw.sample(blobs, len(blobs))
    while len(blobs) > 1:
        width = draw.randint(2, len(blobs))
        merged = core.merge(blobs[:width], plan.empty)
        assert merged is not None
        blobs = [*blobs[width:], merged]
    return blobs[0]


@given(corpora(), views, st.randoms(use_true_random=False))
def test_any_partitioning_order_and_merge_tree_gives_the_bytes_of_one_process(
    corpus: Corpus, chosen: Any, draw: random.Random
) -> None:
    plan = core.Plan.of(chosen, None, "text", "label", "stop")
    one = Model(chosen).learn(*corpus).to_bytes()
    total = core.merged([merged_in_any_tree(blobs_of(corpus, plan, draw), plan, draw)], plan.empty)
    assert total is not None
    assert total.to_bytes() == one


@given(corpora(), corpora(), st.randoms(use_true_random=False))
def test_learning_on_from_a_model_gives_the_bytes_of_one_process(
    before: Corpus, corpus: Corpus, draw: random.Random
) -> None:
    model = Model([words(2)], alpha=0.5).learn(*before)
    kept = model.to_bytes()
    plan = core.Plan.of(None, model, "text", "label", "stop")
    more = core.merged(blobs_of(corpus, plan, draw), plan.empty)
    assert core.finished(more, model).to_bytes() == model.copy().learn(*corpus).to_bytes()
    assert model.to_bytes() == kept


def rows_of(blob: int, data: bytes, size: int) -> list[tuple[int, int, int, memoryview]]:
    parts = core.cut(data, size)
    return [(blob, part, len(parts), piece) for part, piece in enumerate(parts)]


@given(st.binary(max_size=40), st.integers(1, 7), st.randoms(use_true_random=False))
def test_a_blob_cut_into_rows_is_joined_in_any_order(data: bytes, size: int, draw: random.Random) -> None:
    rows = [row for blob in range(3) for row in rows_of(blob, bytes([blob]) + data, size)]
    draw.shuffle(rows)
    assert sorted(map(bytes, core.joined(rows))) == [bytes([blob]) + data for blob in range(3)]


@given(st.lists(st.binary(max_size=40), max_size=4), st.integers(1, 120))
def test_pieces_that_were_compressed_are_their_bytes_again(pieces: list[bytes], size: int) -> None:
    whole = b"".join(pieces)
    for found in (compressed(pieces, size), compressed(map(memoryview, pieces), size), frames(pieces)):
        parts = list(found)
        assert decompressed(parts) == whole
        assert decompressed([b"".join(parts)]) == whole
    assert len(list(compressed(pieces, size))) <= 1 + len([piece for piece in pieces if piece])


@pytest.mark.parametrize("kind", ["uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("over", [0, 1, 3, FRAME_BYTES - 1])
def test_numbers_of_any_width_come_back_also_where_a_frame_cuts_them(kind: str, over: int) -> None:
    draw = np.random.default_rng(1)
    numbers = draw.geometric(0.02, 70_000).astype(kind).tobytes()
    data = bytes(range(7)) + numbers + bytes(over)
    found = list(frames([data]))
    assert decompressed(found) == data
    if kind == "uint32" and not over:  # the first bytes of all numbers beside each other, then zeros
        assert sum(map(len, found)) < 0.75 * len(pa.compress(data, "zstd", asbytes=True))


def test_a_model_whose_end_is_missing_is_not_taken_for_a_smaller_one() -> None:
    *begun, end = frames([bytes(FRAME_BYTES), b"the end"])
    for lacking in (begun, [*begun, end[:-1]], [*begun, end, b"more"], [begun[0], end]):
        with pytest.raises(RuntimeError, match="arrived incomplete"):
            decompressed(lacking)


def test_a_model_that_a_worker_knows_is_not_read_again() -> None:
    data = Model([words()]).learn(["win a prize"], ["spam"]).to_bytes()
    first = core.known(b"digest", lambda: data)
    assert first.to_bytes() == data
    assert core.known(b"digest", lambda: pytest.fail("it was read again")) is first
    assert core.known(b"another", lambda: data) is not first


def test_a_blob_that_lacks_a_row_is_an_error_and_not_a_smaller_model() -> None:
    rows = rows_of(0, b"abcdef", 2)
    with pytest.raises(RuntimeError, match="1 parts of the model arrived incomplete"):
        list(core.joined(rows[:-1]))


def test_a_plan_takes_the_functions_of_a_view_along() -> None:
    plan = core.Plan.of([words(normalizer=str.upper)], None, "text", "label", "stop")
    blob = core.count([(["win a prize"], ["spam"])], pickle.loads(pickle.dumps(plan)).empty)
    assert blob is not None
    model = core.merged([blob], plan.empty)
    assert model is not None
    assert model.counts().term_names == ["A", "PRIZE", "WIN"]


def test_a_null_text_or_label_is_refused_skipped_or_replaced_as_in_files() -> None:
    batch = columns(pa.record_batch({"text": ["a b", None, "c"], "label": ["x", "y", None]}))
    plans = {how: core.Plan.of([words()], None, "text", "label", how) for how in ("stop", "skip", "replace")}
    with pytest.raises(ValueError, match=r"'label' is null in 1 of 3 rows of a batch.*on_error='skip'"):
        plans["stop"].examples(batch)
    with pytest.raises(ValueError, match=r"'label' is null"):
        plans["replace"].examples(batch)
    blob = core.count([plans["skip"].examples(batch)], plans["skip"].empty)
    assert blob == Model([words()]).learn(["a b"], ["x"]).to_bytes()
    labeled = {name: column.slice(0, 2) for name, column in batch.items()}
    with pytest.raises(
        ValueError, match=r"'text' is null in 1 of 2 .*on_error='replace' to learn them as empty"
    ):
        plans["stop"].examples(labeled)
    blob = core.count([plans["replace"].examples(labeled)], plans["replace"].empty)
    assert blob == Model([words()]).learn(["a b", ""], ["x", "y"]).to_bytes()


@pytest.mark.parametrize("kind", ["string", "large_string"])
def test_both_string_types_of_arrow_are_taken(kind: str) -> None:
    batch = columns(
        pa.record_batch({"text": pa.array(["é b", "b"], kind), "label": pa.array(["x", "y"], kind)})
    )
    plan = core.Plan.of([words()], None, "text", "label", "stop")
    assert (
        core.count([plan.examples(batch)], plan.empty) == Model().learn(["é b", "b"], ["x", "y"]).to_bytes()
    )


def test_a_table_with_nulls_is_counted_as_one_process_counts_its_columns() -> None:
    table: dict[str, list[Any]] = {
        "subject": ["win a prize", None, "lunch"],
        "sender": ["deals", "work", None],
        "hour": [3, None, 11],
        "label": [1, 0, 0],
    }
    chosen = {"subject": words(), "sender": category(), "hour": normal()}
    plan = core.Plan.of(chosen, None, "text", "label", "stop")
    assert plan.columns == ["subject", "sender", "hour", "label"]
    blob = core.count([plan.examples(columns(pa.record_batch(table)))], plan.empty)
    table["subject"][1] = ""
    assert blob == Model(chosen).learn(table, table["label"]).to_bytes()


@given(corpora(min_size=3))
def test_scores_are_those_of_the_model(corpus: Corpus) -> None:
    model = Model([words()]).learn(*corpus)
    answers = core.score(model, corpus[0])
    assert answers.prediction.tolist() == model.predict(corpus[0]).tolist()
    np.testing.assert_allclose(np.exp(answers.log_posterior), model.posterior(corpus[0]), atol=1e-12)
    place = len(model.classes) - 1
    odds = np.exp(answers.log_odds[:, place])
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(np.isinf(odds), 1.0, odds / (1 + odds))
    np.testing.assert_allclose(share, model.posterior(corpus[0])[:, place], atol=1e-9)


def test_classes_are_answered_in_their_own_type_and_those_of_both_kinds_as_text() -> None:
    model = Model().learn(["a", "b"], [1, "x"])
    assert answer_columns(model, ["a", "b"], None, "")["prediction"].to_pylist() == ["1", "x"]
    truths = Model().learn(["a", "b"], [True, False])
    assert answer_columns(truths, ["a", "b"], None, "")["prediction"].to_pylist() == [True, False]
    both = Model().learn(["a", "b"], [1, 2.5])
    assert answer_columns(both, ["a", "b"], None, "")["prediction"].to_pylist() == [1.0, 2.5]
    numbers = Model().learn(["a", "b"], [1, 2])
    assert answer_columns(numbers, ["b", "a"], 1, "p_")["p_prediction"].to_pylist() == [2, 1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"views": [words()], "model": Model()}, "`views` for a new model or `model`"),
        ({"model": "spam.bayleaf"}, "`model` must be a bayleaf.Model, got str"),
        ({"on_error": "ignore"}, "`on_error` must be 'stop', 'skip' or 'replace', got 'ignore'"),
    ],
)
def test_a_call_that_means_nothing_is_refused_before_any_task_starts(
    given: dict[str, Any], message: str
) -> None:
    arguments: dict[str, Any] = {"views": None, "model": None, "text": "t", "label": "l", "on_error": "stop"}
    with pytest.raises((TypeError, ValueError), match=message):
        core.Plan.of(**(arguments | given))


@pytest.mark.parametrize("kind", ["int32", "date32", "binary", "list<item: string>"])
def test_a_text_of_another_type_is_named_and_never_learned_as_what_it_prints(kind: str) -> None:
    column = pa.array([None], {"list<item: string>": pa.list_(pa.string())}.get(kind, kind))
    batch = {"text": column, "label": pa.array(["x"])}
    plan = core.Plan.of([words()], None, "text", "label", "replace")
    with pytest.raises(ValueError, match=r"column 'text' holds .*, and text is expected. Cast or decode"):
        plan.examples(batch)
    with pytest.raises(ValueError, match=r"'text' holds"):
        core.documents(Model().learn(["a"], ["x"]), batch, "text")


@pytest.mark.parametrize("values", [["a", None, "b"], [None, None]])
def test_categories_of_pandas_and_columns_without_any_value_are_texts(values: list[Any]) -> None:
    column = pa.array(values, None if any(values) else "null")
    found = core.documents(Model(), {"t": column.dictionary_encode() if any(values) else column}, "t")
    assert found.to_pylist() == [value or "" for value in values]


@pytest.mark.parametrize("kind", ["date32", "timestamp[us]", "binary", "decimal128(5, 2)", "month_interval"])
def test_a_label_that_cannot_name_a_class_is_refused_by_its_type(kind: str) -> None:
    with pytest.raises(ValueError, match=r"'label' holds .* a class is named by a string.* Cast it"):
        core.check_label_type("label", kind)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.bool_()]
)
def test_labels_are_text_numbers_or_truth_values_also_as_categories(kind: Any) -> None:
    core.check_label_type("label", kind)
    core.check_label_type("label", pa.dictionary(pa.int8(), kind))


def test_a_column_that_is_there_twice_is_refused_if_it_is_needed() -> None:
    core.check_columns(["text"], ["text", "other", "other"])
    with pytest.raises(ValueError, match=r"There are 2 columns 'text', and none is told from the other"):
        core.check_columns(["text"], ["text", "text"])


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True, None])
def test_a_number_of_tasks_or_documents_is_whole_and_positive(value: Any) -> None:
    with pytest.raises(ValueError, match=r"`tasks` must be a whole number >= 1, got"):
        core.check_whole("tasks", value)


def test_no_document_at_all_is_said() -> None:
    with pytest.raises(ValueError, match="no row with a label, so nothing was learned"):
        core.finished(None, None)
    model = Model().learn(["a"], ["x"])
    assert core.finished(None, model).to_bytes() == model.to_bytes()


@given(st.lists(st.lists(st.text(max_size=5))), st.integers(1, 40))
def test_gathered_batches_have_the_same_rows_and_only_the_last_is_small(
    parts: list[list[str]], size: int
) -> None:
    schema = pa.schema({"text": pa.string()})
    batches = [pa.record_batch([pa.array(part, "string")], schema=schema) for part in parts]
    found = list(gathered(iter(batches), size))
    rows = [text for batch in found for text in batch["text"].to_pylist()]
    assert rows == [text for part in parts for text in part]
    assert all(batch.nbytes >= size for batch in found[:-1])


@pytest.mark.parametrize(
    ("engine", "absent", "needs"),
    [
        ("spark", "pyspark", "PySpark 3.5 or later"),
        ("spark", "pyarrow", "PySpark 3.5 or later"),
        ("ray", "ray", "Ray Data"),
        ("ray", "pyarrow", "Ray Data"),
        ("dask", "dask", "dask, distributed"),
        ("dask", "pyarrow", "dask, distributed"),
    ],
)
def test_an_engine_without_what_it_needs_says_how_to_install_it(engine: str, absent: str, needs: str) -> None:
    if absent == "pyarrow":
        pytest.importorskip("pyspark" if engine == "spark" else engine)
    said = run(
        f"import sys; sys.modules[{absent!r}] = None\n"
        f"try: import bayleaf.{engine}\n"
        "except ImportError as error: print(error)"
    )
    assert said.startswith(f"bayleaf.{engine} needs {needs} and pyarrow (")
    assert said.endswith(f'pip install "bayleaf[{engine}]"')
    assert absent in said
