"""Spark: one SHA-256, that of one process, whatever happens to the tasks (law L12)."""

from __future__ import annotations

import hashlib
import os
import random
import signal
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bayleaf import Model, category, normal, words
from bayleaf.exchange import pruned
from spark_session import QUIET, needs_spark, session

needs_spark()

import bayleaf.spark  # noqa: E402
from bayleaf.engines.arrow import decompressed  # noqa: E402
from bayleaf.engines.sampling import sample, tuned  # noqa: E402
from bayleaf.engines.spark import Tree, _merged, large_results_named, most_collected  # noqa: E402
from bayleaf.engines.spark_rows import blob_rows  # noqa: E402

pytestmark = [pytest.mark.filterwarnings(each) for each in QUIET]

LINES = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
LABELS, TEXTS = map(list, zip(*(line.split("\t", 1) for line in LINES), strict=True))
VIEWS = [words(2)]
TREE = (2, 1)


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    yield session()
    session().stop()
    session.cache_clear()


@pytest.fixture(scope="module")
def messages(spark: Any) -> Any:
    rows = list(zip(LABELS, TEXTS, strict=True))
    return spark.createDataFrame(rows, "label string, text string").repartition(2).cache()


def sha(model: Model) -> str:
    return hashlib.sha256(model.to_bytes()).hexdigest()


ONE = sha(Model(VIEWS).learn(TEXTS, LABELS))


def learned(df: Any, **more: Any) -> Model:
    return bayleaf.spark.learn(df, views=VIEWS, merge_tasks=TREE, **more)


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("partitions", [1, 3, 8, 64])
def test_any_number_of_partitions_gives_the_bytes_of_one_process(
    spark: Any, messages: Any, partitions: int, adaptive: str
) -> None:
    if partitions == 64 and adaptive == "false":
        partitions = 17  # 64 tiny tasks take their time once
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    try:
        assert sha(learned(messages.repartition(partitions))) == ONE
    finally:
        spark.conf.unset("spark.sql.adaptive.enabled")


def harmed(kill: bool, folder: Path) -> Any:
    """A step that fails in the middle of a partition, or whose process is killed, at the first attempt."""

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        for number, batch in enumerate(batches):
            if number == 1 and TaskContext.get().attemptNumber() == 0:
                (folder / str(TaskContext.get().partitionId())).touch()
                if kill:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise OSError("the disk of this worker is gone")
            yield batch

    return step


@pytest.mark.parametrize("kill", [False, True])
def test_tasks_that_fail_at_their_first_attempt_leave_no_trace(
    messages: Any, kill: bool, tmp_path: Path
) -> None:
    assert sha(learned(messages.mapInArrow(harmed(kill, tmp_path), messages.schema))) == ONE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


def test_ranges_of_terms_merged_apart_give_the_bytes_of_one_process_and_prune_exactly(messages: Any) -> None:
    rows = messages.repartition(5)
    assert sha(learned(rows, ranges=3, row_bytes=20_000)) == ONE
    assert sha(learned(rows, ranges=3, min_documents=2)) == sha(pruned(Model(VIEWS).learn(TEXTS, LABELS), 2))


def test_a_model_too_large_for_one_row_travels_in_several(messages: Any) -> None:
    assert len(Model(VIEWS).learn(TEXTS, LABELS).to_bytes()) > 5 * 20_000
    assert sha(learned(messages, row_bytes=20_000)) == ONE


def test_what_goes_to_the_driver_is_compressed_and_what_goes_to_another_task_is_not() -> None:
    blob = Model(VIEWS).learn(TEXTS, LABELS).to_bytes()
    tree = Tree(Model(VIEWS), TREE, 1, 20_000)

    def sent(last: bool) -> list[bytes]:
        batches = list(_merged(tree, last, blob_rows(blob, 20_000, 0, 0)))
        assert [batch["part"][0].as_py() for batch in batches] == list(range(len(batches)))
        assert {batch["parts"][0].as_py() for batch in batches} == {len(batches)}
        return [bytes(batch["data"][0].as_py()) for batch in batches]

    assert Model.from_bytes(b"".join(sent(last=False))).to_bytes() == blob
    assert sum(map(len, sent(last=True))) < 0.7 * len(blob)
    assert len(sent(last=True)) > 1
    assert Model.from_bytes(decompressed(sent(last=True))).to_bytes() == blob


def test_blobs_come_to_the_driver_without_arrow_where_spark_has_no_other_way(
    messages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in type(messages).__mro__:
        if "toArrow" in vars(kind):
            monkeypatch.delattr(kind, "toArrow")
    assert not hasattr(messages, "toArrow")
    assert sha(learned(messages, row_bytes=20_000)) == ONE


def test_a_model_too_large_for_the_driver_is_named_and_comes_in_ranges(spark: Any) -> None:
    draw = random.Random(1)  # what is random cannot be compressed
    texts = [" ".join(draw.randbytes(64).hex() for _ in range(8000)) for _ in range(20)]
    one = Model([words()]).learn(texts, ["a", "b"] * 10)
    assert len(one.to_bytes()) > 4 << 20
    df = spark.createDataFrame(list(zip(["a", "b"] * 10, texts, strict=True)), "label string, text string")
    with pytest.raises(RuntimeError, match=r"larger than spark.driver.maxResultSize.*pass `ranges`"):
        bayleaf.spark.learn(df, views=[words()], merge_tasks=TREE)
    for ranges in (2, 16):
        assert sha(bayleaf.spark.learn(df, views=[words()], ranges=ranges)) == sha(one)


def test_a_range_too_large_for_the_driver_is_named() -> None:
    too_large = "Total size of results is bigger than spark.driver.maxResultSize (4.0 MiB)"
    with (
        pytest.raises(RuntimeError, match=r"A range of terms is larger than .*pass more `ranges`"),
        large_results_named(2),
    ):
        raise ValueError(too_large)


def test_a_model_too_large_is_refused_by_the_first_task_that_has_too_much_of_it() -> None:
    tree = Tree(Model(VIEWS), TREE, 1, 1 << 20, most=10)
    assert tree.checked(None) is None
    assert tree.checked(b"x" * 10) == b"x" * 10
    with pytest.raises(ValueError, match=r"has 11 bytes, more than spark\.driver\.maxResultSize"):
        tree.checked(b"x" * 11, final=False)
    rare = replace(tree, min_documents=2)
    assert rare.checked(b"x" * 11, final=False) == b"x" * 11
    with pytest.raises(ValueError, match="has 11 bytes"):
        rare.checked(b"x" * 11)
    assert replace(tree, most=0).checked(b"x" * 11) == b"x" * 11


@pytest.mark.parametrize(
    ("said", "size"), [("1g", 1 << 30), ("4m", 4 << 20), ("512MB", 512 << 20), ("77", 77), ("much", 0)]
)
def test_what_spark_brings_to_the_driver_is_read_from_its_settings(said: str, size: int) -> None:
    assert most_collected(SimpleNamespace(conf={"spark.driver.maxResultSize": said})) == size


def test_empty_partitions_nulls_and_one_class_are_learned_as_one_process_would(spark: Any) -> None:
    rows = [("ham", "see you"), ("ham", None), (None, "who knows"), ("ham", "")]
    df = spark.createDataFrame(rows, "label string, text string").repartition(9)
    one = Model(VIEWS).learn(["see you", ""], ["ham"] * 2)
    assert sha(learned(df, on_error="skip")) == sha(one)
    with pytest.raises(Exception, match=r"is null in 1 of .*on_error='skip'"):
        learned(df)
    with pytest.raises(ValueError, match="no row with a label, so nothing was learned"):
        learned(df.filter("label = 'spam'"))


def test_a_missing_column_is_named_before_any_task_starts(messages: Any) -> None:
    with pytest.raises(ValueError, match=r"no column 'body'\. The columns are \['label', 'text'\]"):
        bayleaf.spark.learn(messages, text="body")
    with pytest.raises(ValueError, match="no column 'body'"):
        bayleaf.spark.score(messages, Model().learn(["a"], ["x"]), text="body")


def test_what_is_no_dataframe_or_has_no_end_is_refused_and_a_stream_is_scored(spark: Any) -> None:
    model = Model().learn(["win", "lunch"], ["spam", "ham"])
    with pytest.raises(TypeError, match=r"A Spark DataFrame is expected, got builtins\.list"):
        bayleaf.spark.learn([("spam", "win")])
    stream = spark.readStream.format("rate").load().selectExpr("string(value) AS text", "'a' AS label")
    with pytest.raises(ValueError, match=r"streaming DataFrame has no end, so `learn`.*foreachBatch"):
        bayleaf.spark.learn(stream)
    with pytest.raises(ValueError, match=r"streaming DataFrame has no end, so `tune`.*foreachBatch"):
        bayleaf.spark.tune(stream, model)
    assert bayleaf.spark.score(stream, model).isStreaming


def test_a_stream_is_learned_batch_by_batch(spark: Any, tmp_path: Path) -> None:
    for part in range(2):
        lines = [f"{label}\t{text}" for label, text in zip(LABELS[part::2], TEXTS[part::2], strict=True)]
        (tmp_path / f"{part}.txt").write_text("\n".join(lines), "utf-8")
    rows = spark.readStream.option("maxFilesPerTrigger", 1).text(str(tmp_path))
    stream = rows.selectExpr("split(value, '\t')[0] AS label", "split(value, '\t')[1] AS text")
    models = [Model(VIEWS)]

    def learn(batch: Any, _: int) -> None:
        models.append(bayleaf.spark.learn(batch, model=models[-1], merge_tasks=(1,)))

    stream.writeStream.foreachBatch(learn).trigger(availableNow=True).start().awaitTermination()
    assert len(models) == 3
    assert sha(models[-1]) == ONE


@pytest.mark.parametrize(
    "given", [{"merge_tasks": 4}, {"merge_tasks": (0,)}, {"row_bytes": 0}, {"min_documents": "x"}]
)
def test_a_merge_tree_that_cannot_be_is_refused_before_any_task_starts(
    messages: Any, given: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=rf"`{next(iter(given))}` .*got"):
        bayleaf.spark.learn(messages, **given)


def test_columns_that_are_no_text_or_there_twice_are_never_guessed(spark: Any) -> None:
    model = Model().learn(["win", "lunch"], ["spam", "ham"])
    numbers = spark.createDataFrame([(1, "a")], "text int, label string")
    with pytest.raises(Exception, match=r"'text' holds int32, and text is expected"):
        learned(numbers)
    with pytest.raises(Exception, match=r"'text' holds int32, and text is expected"):
        bayleaf.spark.score(numbers, model).collect()
    twice = spark.createDataFrame([("a", "b", "x")], "text string, text string, label string")
    for call in (learned, lambda df: bayleaf.spark.score(df, model)):
        with pytest.raises(ValueError, match="There are 2 columns 'text'"):
            call(twice)


def test_truth_values_are_learned_and_answered_as_such(spark: Any) -> None:
    rows = [("win a prize", True), ("lunch at noon", False)]
    df = spark.createDataFrame(rows, "text string, label boolean")
    scored = bayleaf.spark.score(df, learned(df), of=True)
    assert scored.schema["prediction"].dataType.typeName() == "boolean"
    assert scored.filter("prediction = label").count() == 2


def test_an_error_of_a_task_is_not_taken_for_a_model_that_is_too_large() -> None:
    for said in ("ValueError: null", "  # see spark.driver.maxResultSize\nValueError: null"):
        with pytest.raises(ValueError, match="null"), large_results_named(1):
            raise ValueError(said)


def test_weights_of_a_table_are_those_of_one_machine_and_nulls_are_refused(spark: Any) -> None:
    rows = [("win a prize", 0.0, True, "a"), ("lunch", None, False, "b"), (None, 2.5, None, "b")] * 9
    df = spark.createDataFrame(rows, "s string, hour double, f boolean, label string").repartition(3)
    views = {"s": words(), "hour": normal(), "f": category()}
    columns = {name: [row[i] for row in rows] for i, name in enumerate(views)}
    model = bayleaf.spark.learn(df, views=views, merge_tasks=TREE)
    labels = [row[-1] for row in rows]
    one = tuned(model, sample(columns, labels, 1.0))
    assert bayleaf.spark.tune(df, model).to_bytes() == one.to_bytes()
    X = {**columns, "s": [text or "" for text in columns["s"]]}
    assert one.posterior(X) == pytest.approx(model.copy().tune(X, labels).posterior(X), abs=1e-9)
    unlabeled = df.selectExpr("s", "hour", "f", "nullif(label, 'a') AS label")
    with pytest.raises(Exception, match=r"'label' is null in \d+ of \d+ rows.*on_error='skip'"):
        bayleaf.spark.tune(unlabeled, model)


def test_learning_goes_on_from_a_model_which_stays_as_it_is(messages: Any) -> None:
    first = Model(VIEWS).learn(["see you at noon"], ["ham"])
    before = sha(first)
    more = bayleaf.spark.learn(messages, model=first, merge_tasks=TREE)
    assert sha(more) == sha(first.copy().learn(TEXTS, LABELS))
    assert sha(first) == before


def test_a_table_of_several_columns_is_learned_and_scored(spark: Any) -> None:
    rows = [("win a prize", "deals", 3.0, 1), ("lunch?", "work", None, 0), (None, None, 11.0, 0)] * 5
    df = spark.createDataFrame(rows, "`the.subject` string, sender string, hour double, folder int")
    views = {"the.subject": words(), "sender": category(), "hour": normal()}
    table = {
        "the.subject": [row[0] or "" for row in rows],
        "sender": [row[1] for row in rows],
        "hour": [row[2] for row in rows],
    }
    one = Model(views).learn(table, [row[3] for row in rows])
    model = bayleaf.spark.learn(df, label="folder", views=views, merge_tasks=TREE)
    assert sha(model) == sha(one)
    answers = bayleaf.spark.score(df, model).collect()
    assert [row.prediction for row in answers] == one.predict(table).tolist()


@pytest.fixture(params=["answers alone", "whole rows"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through Python go answers alone, or, before Spark 4.1, whole rows."""
    if request.param == "whole rows":
        monkeypatch.setattr("bayleaf.engines.spark_answers.ARROW_UDF", (99, 0))


@pytest.mark.usefixtures("way")
def test_scores_are_added_to_columns_of_any_type_and_equal_those_of_the_model(messages: Any) -> None:
    model = Model(VIEWS).learn(TEXTS, LABELS)
    rich = messages.selectExpr(
        "text",
        "current_timestamp() AS at",
        "array(1, 2) AS numbers",
        "named_struct('a', 1.5BD, 'b', map('k', date '2026-01-01')) AS nested",
    )
    rows = bayleaf.spark.score(rich, model, of="spam").collect()
    texts = [row.text for row in rows]
    assert sorted(texts) == sorted(TEXTS)
    assert [row.prediction for row in rows] == model.predict(texts).tolist()
    best = model.posterior(texts).max(axis=1).tolist()
    assert [row.probability for row in rows] == pytest.approx(best, abs=1e-12)
    assert all((row.log_odds > 0) == (row.prediction == "spam") for row in rows)
    assert rows[0].nested.a == pytest.approx(1.5)
    with pytest.raises(ValueError, match="a column 'prediction' already"):
        bayleaf.spark.score(messages.withColumn("prediction", messages.text), model)


def test_scoring_with_and_without_whole_rows_gives_equal_rows(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [("lunch?", "work", 1), (None, "work", 2), ("win a prize", None, 3), ("", "", 4)] * 40
    df = spark.createDataFrame(rows, "`the.text` string, sender string, `a.b` int").repartition(3, "`a.b`")
    model = Model({"the.text": words(), "sender": category()})
    model.learn({"the.text": ["lunch", "prize", "x"], "sender": ["work", "deals", None]}, [1, 2, 3])

    def found() -> list[Any]:
        scored = bayleaf.spark.score(df, model, of=2, prefix="a.")
        kept = bayleaf.spark.filter(df, model, 2, 0.3)
        return [scored.schema, sorted(map(str, scored.collect())), sorted(map(str, kept.collect()))]

    alone = found()
    monkeypatch.setattr("bayleaf.engines.spark_answers.ARROW_UDF", (99, 0))
    assert found() == alone


def test_filters_above_scoring_do_not_score_again(messages: Any) -> None:
    scored = bayleaf.spark.score(messages, Model(VIEWS).learn(TEXTS, LABELS), of="spam")
    chosen = scored.filter("log_odds > 0 AND prediction = 'spam'").filter("probability > 0.9")
    plan = chosen._jdf.queryExecution().optimizedPlan().toString()
    assert plan.count("struct(") == 1


@pytest.mark.usefixtures("way")
def test_a_filter_keeps_the_rows_that_are_probable_enough(messages: Any) -> None:
    model = Model(VIEWS).learn(TEXTS, LABELS)
    kept = bayleaf.spark.filter(messages, model, "spam", 0.9)
    assert kept.columns == messages.columns
    spam = model.classes.index("spam")
    expected = [
        text
        for text, share in zip(TEXTS, model.posterior(TEXTS)[:, spam].tolist(), strict=True)
        if share >= 0.9
    ]
    assert sorted(row.text for row in kept.collect()) == sorted(expected)
    with pytest.raises(ValueError, match=r"no class 'Spam'\. The classes are \['ham', 'spam'\]"):
        bayleaf.spark.filter(messages, model, "Spam")


def test_files_are_learned_without_passing_rows_through_spark(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "messages.tsv").write_text("\n".join(LINES), "utf-8")
    model = bayleaf.spark.learn_files(
        spark, tmp_path / "messages.tsv", views=VIEWS, tasks=3, merge_tasks=TREE
    )
    assert sha(model) == ONE
    with pytest.raises(ValueError, match="does not exist"):
        bayleaf.spark.learn_files(spark, tmp_path / "absent.tsv")
