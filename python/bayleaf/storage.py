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

from bayleaf import _core
from bayleaf.text.normalization import FunctionNeeded

FORMAT = 2
READABLE = (1, 2)

Arrays = dict[str, NDArray[Any]]

BLOCKS = "blocks"
"""The last array: a checksum of each KiB of the others, so that a part of a file can be verified alone."""


JOURNAL = "journal"
ANSWERS = "answers"


class ModelFileError(ValueError):
    """A file that is not a model, or a damaged one, or one of another version."""


def pack(settings: dict[str, Any], views: list[Arrays], answers: dict[str, Any] | None = None) -> bytes:
    """A model as bytes; the same model always gives the same bytes."""
    return b"".join(pieces(settings, views, answers))


def pieces(
    settings: dict[str, Any], views: list[Arrays], answers: dict[str, Any] | None = None
) -> list[bytes | memoryview]:
    """The same, piece by piece: the arrays where they lie, since a large model has no room for a copy.

    `answers` is what the file must say besides to be asked without being loaded (see `quick.py`).

    The layout is that of safetensors. Wide numbers come first, so that none is cut by the end of a block.
    """
    tensors = {
        f"{i}.{name}": _narrow(array) for i, arrays in enumerate(views) for name, array in arrays.items()
    }
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0]))
    parts = [array.view(np.uint8) for _, array in ordered]
    blocks = _core.block_checksums(parts)
    told = {"format": FORMAT, **settings} | ({} if answers is None else {ANSWERS: answers})
    header: dict[str, Any] = {"__metadata__": {"checksum": "0" * 8, "bayleaf": _json(told)}}
    end = 0
    for name, array in [*ordered, (BLOCKS, np.frombuffer(blocks, np.uint8))]:
        kind, place = _KINDS[array.dtype.str[1:]], [end, end + array.nbytes]
        header[name] = {"dtype": kind, "shape": [len(array)], "data_offsets": place}
        end += array.nbytes
    text = _json(header).encode("ascii")
    text += b" " * (-len(text) % 8)
    checksum = b"%08x" % _core.header_checksum(text, blocks)
    text = text.replace(b"0" * 8, checksum, 1)
    return [len(text).to_bytes(8, "little"), text, *(part.data for part in parts), blocks]


def _json(settings: dict[str, Any]) -> str:
    return json.dumps(settings, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array)
    most = int(array.max()) if array.size else 0
    return np.ascontiguousarray(array, np.min_scalar_type(most))


def unpack(data: bytes | bytearray | memoryview, origin: str) -> tuple[dict[str, Any], list[Arrays]]:
    """The settings and the arrays of a model; the arrays are views of `data`.

    Where changes were written behind the model, they are among the settings, as `JOURNAL`.
    """
    data = bytes(data)  # of `bytes` this is no copy; others could change later
    start = header_end(data)
    header = _header(data[8:start], origin)
    metadata = header.pop("__metadata__")
    number, settings = _settings(metadata, origin)
    with reading(origin):
        tensors = dict(_arrays(header, data, start))
        end = start + max((tensor["data_offsets"][1] for tensor in header.values()), default=0)
        journal = None
        if number == 1:
            if end != len(data):
                raise ValueError("there is trailing data")
            _check_whole(settings, tensors, origin)
        else:
            seed = _check_blocks(data, start, end, tensors, origin)
            journal = _core.Journal(data[end:], seed, len(settings["views"]), len(settings["classes"]))
        views: list[Arrays] = [{} for _ in settings["views"]]
        for name, array in tensors.items():
            index, _, column = name.partition(".")
            views[int(index)][column] = array
        settings.pop(ANSWERS, None)  # derived: whoever changes the rest would have to change it, too
        return (settings | {JOURNAL: journal} if journal else settings), views


def settings_in(beginning: bytes, origin: str) -> dict[str, Any]:
    """The settings of a model, of which there is the beginning alone; not verified."""
    header = _header(beginning[8 : header_end(beginning)], origin)
    settings = _settings(header["__metadata__"], origin)[1]
    settings.pop(ANSWERS, None)
    return settings


def header_end(beginning: bytes) -> int:
    """Where the arrays of a model begin."""
    return 8 + int.from_bytes(beginning[:8], "little")


def format_of(path: str | os.PathLike[str]) -> int:
    """The number of the format that a model was written in."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = _header(file.read(length), str(path))
    return _settings(header["__metadata__"], str(path))[0]


def _check_blocks(data: bytes, start: int, end: int, tensors: Arrays, origin: str) -> int:
    """Verify every block and the header; gives the checksum that changes begin with."""
    blocks = tensors.pop(BLOCKS).tobytes()
    whole = np.frombuffer(data, np.uint8, end - start - len(blocks), start)
    sum_of = _core.header_checksum(data[8:start], blocks)
    named = data[8:start].find(b'"checksum":"%08x"' % sum_of) >= 0
    if not named or _core.block_checksums([whole]) != blocks:
        raise ModelFileError(f"{origin} is damaged: its checksum does not match.")
    return sum_of


def _check_whole(settings: dict[str, Any], tensors: Arrays, origin: str) -> None:
    """Verify a file of format 1, which has one checksum of everything."""
    named = settings.pop("checksum")
    checksum = zlib.crc32(_json(settings).encode("ascii"))
    for name, array in sorted(tensors.items()):
        checksum = zlib.crc32(f"{name}:{array.dtype.str}".encode(), checksum)
        checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
    if checksum != named:
        raise ModelFileError(f"{origin} is damaged: its checksum does not match.")


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


def _header(text: bytes, origin: str) -> dict[str, Any]:
    try:
        header = json.loads(text)
        known = "bayleaf" in header["__metadata__"]
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise ModelFileError(f"{origin} is not a bayleaf model, or its header is damaged.")
    return dict(header)


def _settings(metadata: dict[str, Any], origin: str) -> tuple[int, dict[str, Any]]:
    with reading(origin):
        settings = json.loads(metadata["bayleaf"])
        number = settings.pop("format")
    if number not in READABLE:
        listed = " and ".join(map(str, READABLE))
        raise ModelFileError(
            f"{origin} has format {number!r}; this version reads format{'s' * (len(READABLE) > 1)} {listed}. "
            "Upgrade bayleaf to read it."
        )
    return number, dict(settings)


_TYPES = {
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
    "F32": np.float32,
    "F64": np.float64,
}
_KINDS = {np.dtype(kind).str[1:]: name for name, kind in _TYPES.items()}


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
