"""Blobs as rows of a DataFrame of Spark, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from bayleaf.engines.arrow import binaries
from bayleaf.engines.core import cut

NUMBERS = ("blob", "part", "parts")
BLOBS = "slot int, blob int, part int, parts int, data binary"
"""A blob is some rows: which it is, which part of how many, and by which slot a task takes it."""

Row = tuple[int, int, int, Any]


def partition() -> int:
    """The number of the task's partition, the same in every attempt."""
    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def blob_rows(
    data: bytes | None, row_bytes: int, slot: int | None = None, blob: int | None = None
) -> Iterator[Any]:
    """A task's blob as rows of `BLOBS`; a retried or speculated task makes the same rows again."""
    if data is not None:
        slot = partition() if slot is None else slot
        yield from part_rows(cut(data, row_bytes), slot, slot if blob is None else blob)


def part_rows(parts: Sequence[Any], slot: int, blob: int) -> Iterator[Any]:
    """The parts of a blob as such rows."""
    for part, piece in enumerate(parts):
        numbers = (pa.array([value], "int32") for value in (slot, blob, part, len(parts)))
        yield pa.RecordBatch.from_arrays(
            [*numbers, pa.array([piece], "binary")], names=["slot", "blob", "part", "parts", "data"]
        )


def rows_in(batches: Iterable[Any]) -> Iterator[Row]:
    """The rows in batches of Arrow."""
    for batch in batches:
        numbers = (batch[name].to_pylist() for name in NUMBERS)
        yield from zip(*numbers, binaries(batch["data"]), strict=True)


def row_of(row: Any) -> Row:
    """The same of one row as Spark gives it."""
    blob, part, parts, data = row
    return blob, part, parts, bytes(data)
