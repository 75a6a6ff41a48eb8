"""The model file: safetensors, which is a JSON header and flat arrays. Reading one runs no code.

It keeps the integers, in canonical order and in the narrowest type that holds them, and the numbers that were
counted; weights are derived on load.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.text.normalization import FunctionNeeded

FORMAT = 1
READABLE = (1,)

Arrays = dict[str, NDArray[Any]]


class ModelFileError(ValueError):
    """A file that is not a model, or a damaged one, or one of another version."""


def pack(settings: dict[str, Any], views: list[Arrays]) -> bytes:
    """A model as bytes; the same model always gives the same bytes."""
    from safetensors.numpy import save

    tensors = {
        f"{i}.{name}": _narrow(array) for i, arrays in enumerate(views) for name, array in arrays.items()
    }
    header = {"format": FORMAT, "checksum": _checksum(settings, tensors), **settings}
    return save(tensors, {"bayleaf": _json(header)})


def _json(settings: dict[str, Any]) -> str:
    return json.dumps(settings, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _checksum(settings: dict[str, Any], tensors: Arrays) -> int:
    """CRC-32 of everything: a flipped bit in a count would otherwise be another model, not a damaged one."""
    checksum = zlib.crc32(_json(settings).encode("ascii"))
    for name, array in sorted(tensors.items()):
        checksum = zlib.crc32(f"{name}:{array.dtype.str}".encode(), checksum)
        checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
    return checksum


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    # In one piece: of an array with gaps safetensors writes the gaps.
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array)
    most = int(array.max()) if array.size else 0
    return np.ascontiguousarray(array, np.min_scalar_type(most))


def unpack(data: bytes | bytearray | memoryview, origin: str) -> tuple[dict[str, Any], list[Arrays]]:
    """The settings and the arrays of a model; the arrays are views of `data`."""
    data = bytes(data)  # of `bytes` this is no copy; others could change later
    start = 8 + int.from_bytes(data[:8], "little")
    header = _header(data[8:start], origin)
    settings = _settings(header.pop("__metadata__"), origin)
    with reading(origin):
        checksum = settings.pop("checksum")
        tensors = dict(_arrays(header, data, start))
        if checksum != _checksum(settings, tensors):
            raise ModelFileError(f"{origin} is damaged: its checksum does not match.")
        views: list[Arrays] = [{} for _ in settings["views"]]
        for name, array in tensors.items():
            index, _, column = name.partition(".")
            views[int(index)][column] = array
        return settings, views


def _arrays(header: dict[str, Any], data: bytes, start: int) -> Iterator[tuple[str, NDArray[Any]]]:
    """Every array of the file; together they are all of it, one behind the other."""
    places = sorted(header.items(), key=lambda item: item[1]["data_offsets"])
    expected = 0
    for name, tensor in places:
        begin, end = tensor["data_offsets"]
        (length,) = tensor["shape"]
        kind = np.dtype(_TYPES[tensor["dtype"]])
        if begin != expected or end - begin != length * kind.itemsize or start + end > len(data):
            raise ValueError(f"the array {name!r} is not where it should be, or the end is missing")
        yield name, np.frombuffer(data, kind, length, start + begin)
        expected = end
    if start + expected != len(data):
        raise ValueError("there is trailing data")


def _header(text: bytes, origin: str) -> dict[str, Any]:
    try:
        header = json.loads(text)
        known = "bayleaf" in header["__metadata__"]
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise ModelFileError(f"{origin} is not a bayleaf model, or its header is damaged.")
    return dict(header)


def _settings(metadata: dict[str, Any], origin: str) -> dict[str, Any]:
    with reading(origin):
        settings = json.loads(metadata["bayleaf"])
        number = settings.pop("format")
    if number not in READABLE:
        listed = " and ".join(map(str, READABLE))
        raise ModelFileError(
            f"{origin} has format {number!r}; this version reads format{'s' * (len(READABLE) > 1)} {listed}. "
            "Upgrade bayleaf to read it."
        )
    return dict(settings)


_TYPES = {
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
    "F32": np.float32,
    "F64": np.float64,
}


@contextlib.contextmanager
def reading(origin: str) -> Iterator[None]:
    """Whatever goes wrong inside is the file's fault, and said so."""
    try:
        yield
    except (ModelFileError, FunctionNeeded):
        raise
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise ModelFileError(f"{origin} is damaged: {_said(error)}.") from error


def _said(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    return str(error).rstrip(".") or type(error).__name__


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Arrays]]:
    """The settings and the arrays in a file."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except IsADirectoryError:
        raise ModelFileError(f"{path} is a folder, not a model.") from None
    return unpack(data, str(path))
