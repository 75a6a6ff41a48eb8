"""Spark: learn, score and filter DataFrames, with the DataFrame API only, so that Spark Connect works too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql.functions import col, lit
from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType, StructField, StructType

from bayleaf.corpus import Shard
from bayleaf.engines.arrow import (
    answer_columns,
    compressed,
    decompressed,
    filtering,
    gathered,
    scoring,
)
from bayleaf.engines.core import (
    ROW_BYTES,
    Plan,
    check_columns,
    check_whole,
    count,
    documents,
    finished,
    in_parts,
    joined,
    keeps,
    merge,
    merged,
    numbered,
    read_columns,
)
from bayleaf.engines.files import Paths, file_examples, shards
from bayleaf.engines.packed import unpacked_later
from bayleaf.engines.parts import Part, Total
from bayleaf.engines.ranges import check_ranges, complete, each_range, rejoined
from bayleaf.engines.sampling import SAMPLE, sampled, share_of, tuned
from bayleaf.engines.spark_answers import Asked, task_threads, with_answers, with_rows
from bayleaf.engines.spark_rows import BLOBS, NUMBERS, blob_rows, part_rows, partition, row_of, rows_in
from bayleaf.model import Model
from bayleaf.model_views import Views
from bayleaf.tuning import Tuning
from bayleaf.types import Label

MERGE_TASKS = (8, 1)
"""Tasks in each level of the merge tree; the last one leaves a single blob for the driver."""
TYPES = {"string": StringType(), "bigint": LongType(), "double": DoubleType(), "boolean": BooleanType()}
"""What columns of answers hold, by the names of SQL; Spark 3.5 cannot look them up."""
DRIVER_BYTES, SHARES = 1 << 15, 16
"""A model comes to the driver in pieces of so many bytes, or of one frame, from so many tasks: the JVM holds
what one of them sends three times for a moment."""
FETCHES = 64
"""Into about so many pieces, and no fewer, a model in ranges is cut to be fetched."""
FEW_BLOBS = 16
"""So many blobs are merged by one task sooner than by a tree."""


@dataclass(frozen=True)
class Tree:
    """How blobs are merged."""

    empty: Model
    tasks: Sequence[int]
    min_documents: int
    row_bytes: int
    ranges: int = 1
    most: int = 0
    """What Spark brings to the driver at once; 0 for no limit."""

    @property
    def levels(self) -> list[int]:
        """The tasks of each level; ranges are merged in one, apart."""
        return list(map(int, self.tasks)) if self.ranges == 1 else []

    def __post_init__(self) -> None:
        if isinstance(self.tasks, str | int) or not all(
            type(each) is int and each > 0 for each in self.tasks
        ):
            raise ValueError(
                "`merge_tasks` are the tasks of each level of the merge tree, whole numbers >= 1 such as "
                f"(8, 1), got {self.tasks!r}."
            )
        check_whole("min_documents", self.min_documents)
        check_whole("row_bytes", self.row_bytes)

    def checked(self, blob: bytes | None, final: bool = True) -> bytes | None:
        """A blob, unless it is too large already; one that is not `final` may lose its rare terms yet.

        Whatever is added makes it larger, so that a task may say so, before all others have counted.
        """
        size = 0 if blob is None else len(blob)
        if not 0 < self.most < size or (self.min_documents > 1 and not final):
            return blob
        raise ValueError(f"A part of the model has {size} bytes, more than spark.driver.maxResultSize.")


def learn(
    df: Any,
    text: str = "text",
    label: str = "label",
    views: Views | None = None,
    model: Model | None = None,
    *,
    on_error: str = "stop",
    min_documents: int = 1,
    ranges: int = 1,
    merge_tasks: Sequence[int] = MERGE_TASKS,
    row_bytes: int = ROW_BYTES,
) -> Model:
    """Learn the rows of a DataFrame; the model is byte for byte the one that a single process would learn.

    `text` names the column of texts; views that name columns read those instead. `views` are those of a new
    `Model`; with `model`, learn on from that one, which stays as it is. A null text or label is an error;
    with `on_error="skip"` such rows are left out, with `"replace"` a null text is an empty document.

    Blobs are merged by `merge_tasks` tasks, level by level, and travel in rows of `row_bytes`.
    `min_documents` drops rarer terms at each level of that tree: smaller, and no longer exact. With `ranges`,
    terms are divided by their hash and merged by so many tasks, none of which holds all of the vocabulary;
    `min_documents` is then exact.
    """
    plan = Plan.of(views, model, text, label, on_error)
    check_frame(df, "learn")
    check_columns(plan.columns, df.columns)
    most = most_collected(df.sparkSession)
    tree = Tree(plan.empty, merge_tasks, min_documents, row_bytes, check_ranges(ranges, plan.empty), most)
    # PySpark takes no column with a dot in its name here, so they go by number.
    rows = df.select(*(column(name).alias(f"c{i}") for i, name in enumerate(plan.columns)))
    counted = rows.mapInArrow(partial(_counted, plan, tree), BLOBS)
    return finished(summed(counted, tree), model)


def learn_files(
    spark: Any,
    paths: Paths,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    views: Views | None = None,
    model: Model | None = None,
    *,
    tasks: int | None = None,
    min_documents: int = 1,
    ranges: int = 1,
    merge_tasks: Sequence[int] | None = None,
    row_bytes: int = ROW_BYTES,
    **reading: Any,
) -> Model:
    """Learn files with bayleaf's own reader in the tasks: names travel, and no row passes through Spark.

    `paths` are files, folders or patterns that the driver and all workers see under the same names. Large
    files of lines are cut at line breaks, Parquet at row groups; compressed files, CSV, FASTA and mailboxes
    are read whole. `text`, `label` and `reading` are the options of `bayleaf.corpus.open_corpus`. Without
    `tasks`, each reads about 64 MiB.
    """
    plan = Plan.of(views, model, "text", "label", "stop")
    work = shards(paths, plan.empty, tasks, text=text, label=label, **reading)
    numbers = spark.range(0, len(work), 1, len(work))
    classes = model.classes if model is not None else []
    levels = merge_tasks or (MERGE_TASKS if len(work) > FEW_BLOBS else (1,))
    most = most_collected(spark)
    tree = Tree(plan.empty, levels, min_documents, row_bytes, check_ranges(ranges, plan.empty), most)
    counted = numbers.mapInArrow(partial(_counted_files, tree, work, classes), BLOBS)
    return finished(summed(counted, tree), model)


def tune(
    df: Any,
    model: Model,
    text: str = "text",
    label: str = "label",
    *,
    documents: int = SAMPLE,
    level: Tuning | None = "auto",
    on_error: str = "stop",
) -> Model:
    """A copy of the model with weights earned on about so many of the rows that it has learned.

    The sample is chosen by a hash of the text, so that it and the weights are the same on one machine and on
    any cluster. It is collected and weighed on the driver.
    """
    plan = Plan.of(None, model, text, label, on_error)
    check_frame(df, "tune")
    check_columns(plan.columns, df.columns)
    share = share_of(model, documents)
    kinds = [StructField(f"c{i}", df.schema[name].dataType) for i, name in enumerate(plan.columns)]
    rows = df.select(*(column(name).alias(f"c{i}") for i, name in enumerate(plan.columns)))
    kept = rows.mapInArrow(partial(_sampled, plan, share), StructType(kinds)).collect()
    return tuned(model, ((tuple(row[:-1]), row[-1]) for row in kept), level)


def score(df: Any, model: Model, text: str = "text", *, of: Label | None = None, prefix: str = "") -> Any:
    """Add the columns `prediction` and `probability`, and with `of` the `log_odds` of that class.

    `probability` is the posterior of the prediction; `log_odds` are signed, unrounded and fit to rank by.
    """
    check_frame(df)
    shipped, kinds = scoring(model, df.columns, text, of, prefix)
    asked = Asked(shipped, read_columns(model, text), partial(_answers, text, of))
    scored = with_answers(df, asked, [TYPES[kind] for kind in kinds.values()])
    return scored.toDF(*df.columns, *kinds)


def filter(df: Any, model: Model, keep: Label, least: float = 0.5, text: str = "text") -> Any:
    """The rows that have the class `keep` with a probability of at least `least`; no column is added."""
    check_frame(df)
    shipped = filtering(model, df.columns, text, keep, least)
    return with_rows(df, Asked(shipped, read_columns(model, text), partial(_keeps, text, keep, least)))


def summed(frame: Any, tree: Tree) -> Model | None:
    """Merge blobs level by level on the cluster, the rest here.

    `repartition` by a column, never `coalesce`, which would let so few tasks do the learning; and never round
    robin, which sorts the blobs.
    """
    if tree.ranges > 1:
        frame = frame.repartition(tree.ranges, "slot").mapInArrow(partial(_merged_ranges, tree), BLOBS)
        # Written once more: all ranges are merged at the same time, and not each when it is fetched; and they
        # are fetched row by row, since the JVM holds each result several times.
        frame = frame.repartition(max(tree.ranges, FETCHES), "blob", "part")
    for level, tasks in enumerate(tree.levels, 1):
        slots = frame.withColumn("slot", col("slot") % lit(tasks)).repartition(tasks, "slot")
        frame = slots.mapInArrow(partial(_merged, tree, level == len(tree.levels)), BLOBS)
    if tree.levels:
        frame = frame.repartition(SHARES, "part")
    rows = frame.select(*NUMBERS, "data")
    with large_results_named(tree.ranges):
        if tree.ranges == 1:
            if not tree.levels:
                return merged(joined(_collected(rows)), tree.empty)
            return _unpacked([parts for _, parts in in_parts(_collected(rows))], tree.empty)
        # Some rows at a time: all of them may be more than Spark collects at most.
        parts = (parts for _, parts in in_parts(map(row_of, rows.toLocalIterator())))
        blobs = map(decompressed, parts)
        return rejoined(complete(blobs, tree.ranges), tree.ranges, tree.empty)


def _unpacked(blobs: list[list[Any]], empty: Model) -> Model | None:
    """What the last level of the tree has merged; one blob alone stays compressed as long as it can."""
    if len(blobs) == 1:
        return unpacked_later(blobs[0], empty)
    return merged(map(decompressed, blobs), empty)


def _collected(rows: Any) -> Iterator[Any]:
    """The rows of blobs; as Arrow, since Spark 4.0, they take a third of the driver's memory."""
    if not hasattr(rows, "toArrow"):
        return map(row_of, rows.collect())
    return rows_in(rows.toArrow().to_batches())


_TOO_LARGE = re.compile(r"(bigger|more) than spark\.driver\.maxResultSize")
"""What Spark and a task say; its name alone may stand in the traceback of any error."""
_SIZE = re.compile(r"(\d+)([kmgtp]?)b?")


def most_collected(spark: Any) -> int:
    """How many bytes Spark brings to the driver at once; 0 if it does not say."""
    found = _SIZE.fullmatch(str(spark.conf.get("spark.driver.maxResultSize", "1g")).strip().lower())
    return int(found[1]) << 10 * " kmgtp".index(found[2] or " ") if found else 0


@contextmanager
def large_results_named(ranges: int) -> Iterator[None]:
    """Say what to do where a model is larger than what Spark brings to the driver."""
    try:
        yield
    except Exception as error:
        if not _TOO_LARGE.search(str(error)):
            raise
        what, remedy = ("The model", "`ranges`") if ranges == 1 else ("A range of terms", "more `ranges`")
        raise RuntimeError(
            f"{what} is larger than spark.driver.maxResultSize, what Spark brings to the driver at once. "
            f"Start the session with a larger one, pass {remedy} (each range of terms comes alone), or make "
            "the model smaller: `min_documents`, or views with `buckets`."
        ) from error


def check_frame(df: Any, learning: str = "") -> None:
    """Raise unless this is a DataFrame of Spark, and one that ends if it is to be learned."""
    if not hasattr(df, "sparkSession") or not hasattr(df, "isStreaming"):
        raise TypeError(
            f"A Spark DataFrame is expected, got {type(df).__module__}.{type(df).__name__}. Make one with "
            "spark.createDataFrame, or use bayleaf.Model."
        )
    if learning and df.isStreaming:
        raise ValueError(
            f"A streaming DataFrame has no end, so `{learning}` would have no result. Call it for each "
            "batch, with writeStream.foreachBatch; `score` and `filter` take streams as they are."
        )


def column(name: str) -> Any:
    """A column by its name, which may hold dots."""
    return col("`" + name.replace("`", "``") + "`")


def _columns(batch: Any, names: Sequence[str]) -> dict[str, Any]:
    return dict(zip(names, batch.columns, strict=True))


def _counted(plan: Plan, tree: Tree, batches: Iterable[Any]) -> Iterator[Any]:
    examples = (plan.examples(_columns(batch, plan.columns)) for batch in gathered(batches))
    yield from _divided_rows(count(examples, plan.empty, task_threads()), tree)


def _counted_files(
    tree: Tree, work: list[Shard], classes: list[Label], batches: Iterable[Any]
) -> Iterator[Any]:
    numbers = [number for batch in batches for number in batch["id"].to_pylist()]
    examples = (pair for number in numbers for pair in file_examples(tree.empty, work[number], classes))
    yield from _divided_rows(count(examples, tree.empty, task_threads()), tree)


def _divided_rows(blob: bytes | None, tree: Tree) -> Iterator[Any]:
    """A task's blob as rows; one for each range has the range as its slot."""
    if tree.ranges == 1:
        yield from blob_rows(tree.checked(blob, final=False), tree.row_bytes)
        return
    for own, part in enumerate(each_range(blob, tree.ranges) if blob is not None else ()):
        yield from blob_rows(part, tree.row_bytes, own, partition() * tree.ranges + own)


def _merged_ranges(tree: Tree, batches: Iterable[Any]) -> Iterator[Any]:
    """Add up the blobs of each range that came to this task, one at a time."""
    sums: dict[int, Total] = {}
    for number, data in numbered(rows_in(batches)):
        sums.setdefault(number % tree.ranges, Total()).put(Part.unpacked(data))
    while sums:
        own, total = sums.popitem()
        part = total.part()
        if part is not None:
            blob = part.pruned(tree.min_documents).to_bytes()
            yield from part_rows(_for_driver(blob, tree), own, own)


def _sampled(plan: Plan, share: float, batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        yield batch.filter(sampled(plan, _columns(batch, plan.columns), share))


def _merged(tree: Tree, last: bool, batches: Iterable[Any]) -> Iterator[Any]:
    blob = tree.checked(merge(joined(rows_in(batches)), tree.empty, tree.min_documents))
    if last and blob is not None:
        yield from part_rows(_for_driver(blob, tree), partition(), partition())
    else:
        yield from blob_rows(blob, tree.row_bytes)


def _for_driver(blob: bytes, tree: Tree) -> list[bytes]:
    return list(compressed([blob], min(tree.row_bytes, DRIVER_BYTES)))


def _answers(text: str, of: Label | None, model: Model, columns: dict[str, Any]) -> list[Any]:
    return list(answer_columns(model, documents(model, columns, text), of, "").values())


def _keeps(text: str, keep: Label, least: float, model: Model, columns: dict[str, Any]) -> list[Any]:
    return [pa.array(keeps(model, documents(model, columns, text), keep, least))]
