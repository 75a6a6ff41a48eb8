"""Weights at scale: earned on a sample chosen by a hash of the text, the same on any cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from bayleaf.engines.core import TEXTS, Plan, check_whole, documents
from bayleaf.labels import as_list, sort_key
from bayleaf.model import Model
from bayleaf.model_views import WHOLE, columns_of
from bayleaf.tuning import Tuning
from bayleaf.types import Label

SAMPLE = 20_000
"""How many documents weights are earned on; docs/scale.md has what more and fewer give."""
_KEY = b"bayleaf sample 1"

Example = tuple[tuple[Any, ...], Label]
"""The texts of a document, or its other values, one for each column, and its label."""


def share_of(model: Model, size: int) -> float:
    """Which share of what a model has learned makes about so many documents."""
    return min(1.0, check_whole("documents", size) / max(model.n_documents, 1))


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
    said = ((tuple(map(_said, values)), values, label) for values, label in examples)
    rows = sorted(said, key=lambda row: (digest(row[0]), row[0], sort_key(row[2])))
    if not rows:
        raise ValueError("No document is in the sample, so no weights were earned. Take a larger one.")
    names, of_text = columns_of(model.views), _text_columns(model)
    columns = {
        name: [said[place] if name in of_text else values[place] for said, values, _ in rows]
        for place, name in enumerate(names)
    }
    X: Any = columns[WHOLE] if names == [WHOLE] else columns
    return model.copy().tune(X, [label for *_, label in rows], level)


def sampled(plan: Plan, columns: Mapping[str, Any], share: float) -> Any:
    """Which rows of a batch of Arrow columns are in a sample, as an Arrow mask.

    Nulls are refused or left out as `learn` does it.
    """
    complete = plan.complete(columns)
    documents(plan.empty, columns, plan.text)  # refuses columns that hold no text
    names = plan.columns[:-1]
    texts = [[_said(value) for value in columns[name].to_pylist()] for name in names]
    return pyarrow.array(chosen(texts, share) & complete)


def _said(value: Any) -> str:
    """What is hashed of a value: text is itself, what is missing nothing."""
    if isinstance(value, str):
        return value
    return "" if value is None or value != value else str(value)


def _text_columns(model: Model) -> set[str]:
    return {name for own, view in model.views if view.kind in TEXTS for name in view.columns or (own,)}


def sample(X: Any, y: Any, share: float) -> list[Example]:
    """The sample of texts, or of the columns of a table, and their labels, on one machine."""
    columns = list(X.values()) if isinstance(X, dict) else [X]
    values = [as_list(column) for column in columns]
    texts = [[_said(value) for value in column] for column in values]
    labels = as_list(y)
    return [
        (tuple(column[row] for column in values), labels[row])
        for row in np.flatnonzero(chosen(texts, share)).tolist()
    ]
