"""Files for tasks: names and ranges travel, and each task reads with bayleaf's own reader."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from bayleaf.corpus import CorpusError, Shard, open_corpus
from bayleaf.engines.batches import documents, of_columns, typed_labels
from bayleaf.engines.core import LEARN_BYTES, check_whole
from bayleaf.model import Model
from bayleaf.types import Label

TASK_BYTES = 64 << 20
"""About how much a task reads; a task that fails is read again."""
MOST_TASKS = 10_000

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def shards(paths: Paths, empty: Model, tasks: int | None, **reading: Any) -> list[Shard]:
    """Divide files among tasks; `reading` is what `open_corpus` takes."""
    given = [_absolute(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    settings = {"labeled": True, "table": of_columns(empty), "batch_bytes": LEARN_BYTES, **reading}
    with open_corpus(*given, **settings) as corpus:
        most = -(-(corpus.total_bytes or 0) // TASK_BYTES)
        return corpus.split(max(1, min(most, MOST_TASKS)) if tasks is None else check_whole("tasks", tasks))


def _absolute(path: str | os.PathLike[str]) -> str:
    """A path that means the same in a task, whose working directory is another."""
    name = os.fspath(path)
    if "://" in name:
        raise CorpusError(
            f"{name} is a URL. Files are read by paths that all workers see; mount the store, or "
            "read it with the engine and use `learn`."
        )
    return os.path.abspath(name)


def file_examples(empty: Model, shard: Shard, classes: Sequence[Label]) -> Iterator[tuple[Any, Any]]:
    """X and y of the batches of a shard; labels are numbers where `classes` has them as numbers."""
    for batch in shard:
        yield documents(empty, batch), typed_labels(classes, batch.labels)
