"""A model for other programs: its numbers, earned weights included, as JSON or as an ONNX graph."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from bayleaf import atomic
from bayleaf.export.frozen import MISSING, Frozen, frozen

__all__ = ["MISSING", "Frozen", "frozen", "onnx_inputs", "save_json", "save_onnx", "to_json", "to_onnx"]

FORMAT = "bayleaf-weights"
VERSION = 1


def to_json(model: Any) -> str:
    """The numbers by which a model, or a fitted NaiveBayes, answers now; docs/export.md has the layout."""
    found = frozen(model)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "classes": found.classes,
        "intercept": found.intercept,
        "views": found.views,
    }
    return json.dumps(content, default=_plain, ensure_ascii=True, allow_nan=False)


def save_json(model: Any, path: str | os.PathLike[str]) -> None:
    """Write `to_json` to a file, completely or not at all."""
    atomic.write(path, to_json(model).encode())


def to_onnx(model: Any) -> bytes:
    """The same as an ONNX graph, which `onnxruntime` and others run; needs the package `onnx`."""
    from bayleaf.export.onnx_graph import graph_of

    serialized: bytes = graph_of(frozen(model)).SerializeToString()
    return serialized


def save_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write `to_onnx` to a file, completely or not at all."""
    atomic.write(path, to_onnx(model))


def onnx_inputs(model: Any, X: Any) -> dict[str, Any]:
    """What the graph of a model takes in place of X: one tensor for each view."""
    from bayleaf.export.tensors import inputs_of

    return inputs_of(model, X)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be exported")
