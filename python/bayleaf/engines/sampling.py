"""Weights at scale: earned on a sample chosen by a hash of the text, the same on any cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from bayleaf.engines.core import Plan
from bayleaf.labels import as_list, sort_key
from bayleaf.model import Model
from bayleaf.model_views import WHOLE, columns_of
from bayleaf.tuning import Tuning
from bayleaf.types import Label

SAMPLE = 20_000
"""How many documents weights are earned on; docs/scale.md has what more and fewer give."""
_KEY = b"bayleaf sample 1"

Example = tuple[tuple[str, ...], Label]
"""The texts of a document, one for each column, and its label."""


def share_of(model: Model, documents: int) -> float:
    """Which share of what a model has learned makes about so many documents."""
    if documents < 1:
        raise ValueError(f"A sample needs at least 1 document, got {documents}.")
    return min(1.0, documents / max(model.n_documents, 1))


def digest(texts: Iterable[str]) -> int:
    """The number that decides whether a document is in a sample: the same in every process and version."""
    joined = "\x1f".join(texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(joined, digest_size=8, key=_KEY).digest(), "big")


def chosen(columns: Sequence[Sequence[str]], share: float) -> NDArray[np.bool_]:
    """Which rows are in a sample of this share; equal texts are in it together."""
    bound = int(share * 2**64)
    found = (digest(row) < bound for row in zip(*columns, strict=True))
    return np.fromiter(found, np.bool_, len(columns[0]))


def tuned(model: Model, examples: Iterable[Example], level: Tuning | None = "auto") -> Model:
    """A copy of the model with weights earned on these documents, whatever order they come in."""
    filled = ((tuple(text or "" for text in texts), label) for texts, label in examples)
    rows = sorted(filled, key=lambda row: (digest(row[0]), row[0], sort_key(row[1])))
    if not rows:
        raise ValueError("No document is in the sample, so no weights were earned. Take a larger one.")
    labels = [label for _, label in rows]
    columns = list(zip(*(texts for texts, _ in rows), strict=True))
    names = columns_of(model.views)
    X: Any = list(columns[0]) if names == [WHOLE] else dict(zip(names, map(list, columns), strict=True))
    return model.copy().tune(X, labels, level)


def sampled(plan: Plan, columns: Mapping[str, Any], share: float) -> Any:
    """Which rows of a batch of Arrow columns are in a sample, as an Arrow mask; none without a label."""
    texts = [
        ["" if text is None else text for text in columns[name].to_pylist()] for name in plan.columns[:-1]
    ]
    labeled = columns[plan.label].is_valid().to_numpy(zero_copy_only=False)
    return pyarrow.array(chosen(texts, share) & labeled)


def sample(X: Any, y: Any, share: float) -> list[Example]:
    """The sample of texts, or of the columns of a table, and their labels, on one machine."""
    columns = list(X.values()) if isinstance(X, dict) else [X]
    texts = [["" if text is None else str(text) for text in as_list(column)] for column in columns]
    labels = as_list(y)
    return [
        (tuple(column[row] for column in texts), labels[row])
        for row in np.flatnonzero(chosen(texts, share)).tolist()
    ]
