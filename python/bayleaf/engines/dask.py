"""Dask: learn, score and filter DataFrames whose partitions are pandas frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import dask
import pandas as pd
import pyarrow as pa

from bayleaf.engines.arrow import answer_columns, filtering, scoring
from bayleaf.engines.core import (
    Plan,
    Shipped,
    check_columns,
    check_whole,
    count,
    documents,
    finished,
    keeps,
    merge,
    read_columns,
    tree,
)
from bayleaf.engines.files import Paths, file_examples, shards
from bayleaf.engines.ranges import check_ranges, complete, divided, rejoined, without_rare
from bayleaf.engines.sampling import SAMPLE, sampled, share_of, tuned
from bayleaf.model import Model
from bayleaf.model_views import Views
from bayleaf.tuning import Tuning
from bayleaf.types import Label

SPLIT_EVERY = 8
"""How many blobs one task of the merge tree adds up."""
PANDAS = {"string": "object", "bigint": "int64", "double": "float64", "boolean": "bool"}


def learn(
    ddf: Any,
    text: str = "text",
    label: str = "label",
    views: Views | None = None,
    model: Model | None = None,
    *,
    on_error: str = "stop",
    min_documents: int = 1,
    ranges: int = 1,
    split_every: int = SPLIT_EVERY,
) -> Model:
    """Learn the rows of a Dask DataFrame; byte for byte the model that a single process would learn.

    The arguments are those of `bayleaf.spark.learn`; `split_every` is the width of the merge tree.
    """
    plan = Plan.of(views, model, text, label, on_error)
    _check_frame(ddf)
    check_columns(plan.columns, ddf.columns)
    parts = ddf[plan.columns].to_delayed(optimize_graph=True)
    counted = [dask.delayed(_counted)(plan, part) for part in parts]
    return finished(_summed(counted, plan.empty, split_every, min_documents, ranges), model)


def learn_files(
    paths: Paths,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    views: Views | None = None,
    model: Model | None = None,
    *,
    tasks: int | None = None,
    min_documents: int = 1,
    ranges: int = 1,
    split_every: int = SPLIT_EVERY,
    **reading: Any,
) -> Model:
    """Learn files with bayleaf's own reader in the tasks; the arguments are those of `bayleaf.spark`."""
    plan = Plan.of(views, model, "text", "label", "stop")
    work = shards(paths, plan.empty, tasks, text=text, label=label, **reading)
    classes = model.classes if model is not None else []
    counted = [dask.delayed(_counted_files)(plan.empty, shard, classes) for shard in work]
    return finished(_summed(counted, plan.empty, split_every, min_documents, ranges), model)


def tune(
    ddf: Any,
    model: Model,
    text: str = "text",
    label: str = "label",
    *,
    documents: int = SAMPLE,
    level: Tuning | None = "auto",
    on_error: str = "stop",
) -> Model:
    """A copy of the model with weights earned on a sample of the rows, as `bayleaf.spark.tune` does."""
    plan = Plan.of(None, model, text, label, on_error)
    _check_frame(ddf)
    check_columns(plan.columns, ddf.columns)
    share = share_of(model, documents)
    kept = ddf[plan.columns].map_partitions(partial(_sampled, plan, share), meta=ddf._meta[plan.columns])
    rows = _columns(kept.compute(), plan.columns)
    values = zip(*(rows[name].to_pylist() for name in plan.columns), strict=True)
    return tuned(model, ((tuple(row[:-1]), row[-1]) for row in values), level)


def score(ddf: Any, model: Model, text: str = "text", *, of: Label | None = None, prefix: str = "") -> Any:
    """Add `prediction` and `probability`, and with `of` the `log_odds` of that class."""
    _check_frame(ddf)
    shipped, kinds = scoring(model, ddf.columns, text, of, prefix)
    meta = ddf._meta.assign(**{name: pd.Series(dtype=PANDAS[kind]) for name, kind in kinds.items()})
    return ddf.map_partitions(partial(_scored, shipped, text, of, prefix), meta=meta)


def filter(ddf: Any, model: Model, keep: Label, least: float = 0.5, text: str = "text") -> Any:
    """The rows that have the class `keep` with a probability of at least `least`."""
    _check_frame(ddf)
    shipped = filtering(model, ddf.columns, text, keep, least)
    return ddf.map_partitions(partial(_filtered, shipped, text, keep, least), meta=ddf._meta)


def _check_frame(ddf: Any) -> None:
    if not hasattr(ddf, "to_delayed") or not hasattr(ddf, "columns"):
        raise TypeError(
            f"A Dask DataFrame is expected, got {type(ddf).__module__}.{type(ddf).__name__}. Make one with "
            "dask.dataframe.from_pandas, or use bayleaf.Model."
        )


def _summed(counted: list[Any], empty: Model, width: int, min_documents: int, ranges: int) -> Model | None:
    check_whole("min_documents", min_documents)
    if check_ranges(ranges, empty) == 1:
        level, at_once = [counted], min_documents
    else:
        parts = [dask.delayed(divided, nout=ranges)(blob, ranges) for blob in counted]
        level, at_once = [[part[own] for part in parts] for own in range(ranges)], 1
    sums = [tree(own, width, lambda group: dask.delayed(_merged)(group, empty, at_once)) for own in level]
    last = [dask.delayed(without_rare)(each, min_documents, empty) for each in sums if each is not None]
    return rejoined(complete(dask.compute(*last), ranges), ranges, empty)


def _columns(frame: Any, names: Iterable[str]) -> dict[str, Any]:
    """The columns of a pandas frame as Arrow arrays, NaN as null."""
    arrays = {name: pa.Array.from_pandas(frame[name]) for name in names}
    return {
        name: array.combine_chunks() if hasattr(array, "chunks") else array for name, array in arrays.items()
    }


def _counted(plan: Plan, frame: Any) -> bytes | None:
    return count([plan.examples(_columns(frame, plan.columns))] if len(frame) else [], plan.empty)


def _counted_files(empty: Model, shard: Any, classes: Sequence[Label]) -> bytes | None:
    return count(file_examples(empty, shard, classes), empty)


def _sampled(plan: Plan, share: float, frame: Any) -> Any:
    return frame[sampled(plan, _columns(frame, plan.columns), share).to_numpy(zero_copy_only=False)]


def _merged(blobs: list[bytes | None], empty: Model, min_documents: int) -> bytes | None:
    return merge([blob for blob in blobs if blob is not None], empty, min_documents)


def _scored(shipped: Shipped, text: str, of: Label | None, prefix: str, frame: Any) -> Any:
    model = shipped.model
    columns = _columns(frame, read_columns(model, text))
    added = answer_columns(model, documents(model, columns, text), of, prefix)
    return frame.assign(**{name: column.to_numpy(zero_copy_only=False) for name, column in added.items()})


def _filtered(shipped: Shipped, text: str, keep: Label, least: float, frame: Any) -> Any:
    model = shipped.model
    columns = _columns(frame, read_columns(model, text))
    return frame[keeps(model, documents(model, columns, text), keep, least)]
