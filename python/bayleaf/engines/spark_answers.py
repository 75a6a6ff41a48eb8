"""Answers beside the rows of a DataFrame: since Spark 4.1 only what a model reads travels to Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import functions
from pyspark.sql.functions import col
from pyspark.sql.types import BooleanType, StructField, StructType

from bayleaf.engines.arrow import decompressed, frames
from bayleaf.engines.core import Shipped, known
from bayleaf.engines.packed import packed
from bayleaf.model import Model
from bayleaf.model_file import pieces

ARROW_UDF = (4, 1)
"""The first version of Spark that evaluates functions of Arrow columns."""


@dataclass(frozen=True)
class Broadcasted:
    """A model that Spark brings to the workers; as part of a function it would be copied twice more here."""

    sent: Any
    digest: bytes

    @classmethod
    def of(cls, shipped: Shipped, spark: Any) -> Broadcasted | Shipped:
        """A model for the workers of a session; Spark Connect has no broadcasts."""
        if shipped.has_functions or "connect" in type(spark).__module__:
            return shipped
        kept = packed(shipped.model)
        parts, digest = list(frames(pieces(shipped.model))) if kept is None else kept, sha256()
        for part in parts:
            digest.update(part)
        return cls(spark.sparkContext.broadcast(parts), digest.digest())

    @property
    def model(self) -> Model:
        """The model, in a worker."""
        return known(self.digest, lambda: decompressed(self.sent.value))


@dataclass(frozen=True)
class Asked:
    """What every task is told: the model, the columns it reads, and what is made of them."""

    shipped: Shipped | Broadcasted
    reads: list[str]
    answer: Callable[[Model, dict[str, Any]], Sequence[Any]]

    def arrays(self, *columns: Any) -> Sequence[Any]:
        """The columns of answers to a batch."""
        model = self.shipped.model
        model.threads = task_threads()
        return self.answer(model, dict(zip(self.reads, columns, strict=True)))

    def struct(self, *columns: pa.Array) -> pa.Array:
        """The answers to a batch as one column."""
        arrays = self.arrays(*columns)
        return pa.StructArray.from_arrays(arrays, names=_answers(len(arrays)))

    def only(self, *columns: pa.Array) -> pa.Array:
        """The answer to a batch where there is one."""
        (array,) = self.arrays(*columns)
        return array


def with_answers(df: Any, asked: Asked, kinds: Sequence[Any]) -> Any:
    """The rows, with answers of these types behind them; columns go by number, as `c0` and `a0`.

    PySpark takes no name with a dot in functions of batches.
    """
    names, reads = _numbers(df, asked)
    asked = _sent(df, asked)
    rows = df.toDF(*names)
    added = [StructField(name, kind) for name, kind in zip(_answers(len(kinds)), kinds, strict=True)]
    if not _has_arrow_udf(df):
        fields = [StructField(name, own.dataType) for name, own in zip(names, df.schema.fields, strict=True)]
        return rows.mapInArrow(partial(_beside, asked, reads), StructType([*fields, *added]))
    answers = _udf(asked.struct, StructType(added))(*map(col, reads)).alias("answers")
    fields = [col("answers").getField(own.name).alias(own.name) for own in added]
    return rows.select("*", answers).select(*names, *fields)


def with_rows(df: Any, asked: Asked) -> Any:
    """The rows whose answer is true."""
    names, reads = _numbers(df, asked)
    asked = _sent(df, asked)
    rows = df.toDF(*names)
    if _has_arrow_udf(df):
        kept = rows.filter(_udf(asked.only, BooleanType())(*map(col, reads)))
    else:
        kept = rows.mapInArrow(partial(_kept, asked, reads), rows.schema)
    return kept.toDF(*df.columns)


def task_threads() -> int:
    """As many threads as Spark gave the task processors, never all of the machine's."""
    context = TaskContext.get()
    return 1 if context is None else max(1, int(context.cpus()))


def _sent(df: Any, asked: Asked) -> Asked:
    if isinstance(asked.shipped, Broadcasted):
        return asked
    return replace(asked, shipped=Broadcasted.of(asked.shipped, df.sparkSession))


def _numbers(df: Any, asked: Asked) -> tuple[list[str], list[str]]:
    """Names by number: those of all columns, and of those that are read."""
    names = [f"c{i}" for i in range(len(df.columns))]
    return names, [names[df.columns.index(name)] for name in asked.reads]


def _answers(size: int) -> list[str]:
    return [f"a{i}" for i in range(size)]


def _has_arrow_udf(df: Any) -> bool:
    """Whether this PySpark and the Spark it talks to, which Spark Connect lets differ, have them."""
    version = tuple(int(part) for part in df.sparkSession.version.split(".")[:2])
    return hasattr(functions, "arrow_udf") and version >= ARROW_UDF


def _udf(function: Callable[..., Any], kind: Any) -> Any:
    """A function that Spark calls once a row: what is deterministic it calls again in each filter above."""
    return functions.arrow_udf(function, kind).asNondeterministic()


def _beside(asked: Asked, reads: list[str], batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        added = asked.arrays(*(batch[name] for name in reads))
        names = [*batch.schema.names, *_answers(len(added))]
        yield pa.RecordBatch.from_arrays([*batch.columns, *added], names=names)


def _kept(asked: Asked, reads: list[str], batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        yield batch.filter(asked.only(*(batch[name] for name in reads)))
