"""Ray Data: learn, score and filter Datasets in batches of Arrow tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import ray

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


def learn(
    ds: Any,
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
    """Learn the rows of a Ray Dataset; byte for byte the model that a single process would learn.

    The arguments are those of `bayleaf.spark.learn`; `split_every` is the width of the merge tree. A block is
    counted by one task, and blobs stay in the object store until they are merged.
    """
    plan = Plan.of(views, model, text, label, on_error)
    check_columns(plan.columns, _names(ds))
    blocks = [
        ref
        for bundle in ds.select_columns(plan.columns).iter_internal_ref_bundles()
        for ref in bundle.block_refs
    ]
    shared = ray.put(plan)
    counted = [_remote(_counted).remote(shared, block) for block in blocks]
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
    shared = ray.put(plan)
    counted = [_remote(_counted_files).remote(shared, shard, classes) for shard in work]
    return finished(_summed(counted, plan.empty, split_every, min_documents, ranges), model)


def tune(
    ds: Any,
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
    check_columns(plan.columns, _names(ds))
    sampling = partial(_sampled, plan, share_of(model, documents))
    kept = ds.select_columns(plan.columns).map_batches(sampling, batch_format="pyarrow").take_all()
    rows = ([row[name] for name in plan.columns] for row in kept)
    return tuned(model, ((tuple(row[:-1]), row[-1]) for row in rows), level)


def score(ds: Any, model: Model, text: str = "text", *, of: Label | None = None, prefix: str = "") -> Any:
    """Add `prediction` and `probability`, and with `of` the `log_odds` of that class."""
    shipped, _ = scoring(model, _names(ds), text, of, prefix)
    return ds.map_batches(partial(_scored, shipped, text, of, prefix), batch_format="pyarrow")


def filter(ds: Any, model: Model, keep: Label, least: float = 0.5, text: str = "text") -> Any:
    """The rows that have the class `keep` with a probability of at least `least`."""
    shipped = filtering(model, _names(ds), text, keep, least)
    return ds.map_batches(partial(_filtered, shipped, text, keep, least), batch_format="pyarrow")


def _names(ds: Any) -> list[str]:
    if not isinstance(ds, ray.data.Dataset):
        raise TypeError(
            f"A Ray Dataset is expected, got {type(ds).__module__}.{type(ds).__name__}. Make one with "
            "ray.data.from_pandas, or use bayleaf.Model."
        )
    return ds.columns() or []


def _remote(function: Any, **more: Any) -> Any:
    return ray.remote(function).options(max_retries=3, retry_exceptions=[OSError], **more)


def _summed(counted: list[Any], empty: Model, width: int, min_documents: int, ranges: int) -> Model | None:
    check_whole("min_documents", min_documents)
    shared = ray.put(empty)
    if check_ranges(ranges, empty) == 1:
        level, at_once = [counted], min_documents
    else:
        dividing = _remote(divided, num_returns=ranges)
        parts = [dividing.remote(blob, ranges) for blob in counted]
        level, at_once = [[part[own] for part in parts] for own in range(ranges)], 1
    sums = [tree(own, width, lambda group: _remote(_merged).remote(shared, at_once, *group)) for own in level]
    last = [_remote(without_rare).remote(each, min_documents, shared) for each in sums if each is not None]
    return rejoined(complete(ray.get(last), ranges), ranges, empty)


def _columns(table: Any) -> dict[str, Any]:
    return {name: _whole(table.column(name)) for name in table.column_names}


def _whole(column: Any) -> Any:
    """A chunked column as one array, which labels are read from without a loop."""
    joined = column.combine_chunks()
    return joined if not hasattr(joined, "chunks") else pa.concat_arrays(joined.chunks)


def _counted(plan: Plan, block: Any) -> bytes | None:
    table = block if isinstance(block, pa.Table) else pa.Table.from_pandas(block)
    return count([plan.examples(_columns(table))] if len(table) else [], plan.empty)


def _counted_files(plan: Plan, shard: Any, classes: Sequence[Label]) -> bytes | None:
    return count(file_examples(plan.empty, shard, classes), plan.empty)


def _sampled(plan: Plan, share: float, table: Any) -> Any:
    return table.filter(sampled(plan, _columns(table), share))


def _merged(empty: Model, min_documents: int, *blobs: bytes | None) -> bytes | None:
    return merge([blob for blob in blobs if blob is not None], empty, min_documents)


def _scored(shipped: Shipped, text: str, of: Label | None, prefix: str, table: Any) -> Any:
    model = shipped.model
    for name, column in answer_columns(model, documents(model, _columns(table), text), of, prefix).items():
        table = table.append_column(name, column)
    return table


def _filtered(shipped: Shipped, text: str, keep: Label, least: float, table: Any) -> Any:
    model = shipped.model
    return table.filter(pa.array(keeps(model, documents(model, _columns(table), text), keep, least)))
