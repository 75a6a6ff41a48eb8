"""Answers as Arrow columns, which every engine takes, and models compressed for the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import pairwise
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf import storage
from bayleaf.engines.core import LEARN_BYTES, Shipped, check_columns, place_of, read_columns, score
from bayleaf.model import Model
from bayleaf.posterior import check_probability
from bayleaf.types import Label

try:
    import pyarrow as pa
except ImportError as error:
    raise ImportError(f'Engines need pyarrow ({error}): pip install "bayleaf[data]"') from error

Bytes = NDArray[np.uint8]

KINDS = {str: "string", int: "bigint", float: "double", bool: "boolean"}
"""The SQL type of a column of classes."""
CODEC = "zstd"
FRAME_BYTES = 1 << 17
"""So much is compressed at a time: no second copy of a model is needed for it."""
FRAME = Struct("<BII")
INCOMPLETE = "A part of the model arrived incomplete. Run the job again."
WIDTHS = (1, 2, 4)
TRIED_BYTES = 1 << 14
ARROW = {"string": "string", "bigint": "int64", "double": "float64", "boolean": "bool"}


def class_kind(classes: list[Label]) -> str:
    """The SQL type that holds the classes: that of all of them, or their text."""
    kinds = {type(name) for name in classes}
    if kinds == {int, float}:
        return "double"
    return KINDS.get(kinds.pop(), "string") if len(kinds) == 1 else "string"


def answer_kinds(model: Model, of: Label | None, prefix: str) -> dict[str, str]:
    """The columns that scoring adds, with their SQL types."""
    kinds = {"prediction": class_kind(model.classes), "probability": "double"}
    if of is not None:
        kinds["log_odds"] = "double"
    return {prefix + name: kind for name, kind in kinds.items()}


def answer_columns(model: Model, X: Any, of: Label | None, prefix: str) -> dict[str, Any]:
    """The columns that scoring adds to a batch."""
    answers, kind = score(model, X), class_kind(model.classes)
    names = [str(name) for name in model.classes] if kind == "string" else model.classes
    values = {
        "prediction": pa.array(names, ARROW[kind]).take(pa.array(answers.best)),
        "probability": pa.array(answers.probability),
    }
    if of is not None:
        values["log_odds"] = pa.array(answers.log_odds[:, place_of(model.classes, of)])
    return {prefix + name: column for name, column in values.items()}


def scoring(
    model: Model, present: Iterable[str], text: str, of: Label | None, prefix: str
) -> tuple[Shipped, dict[str, str]]:
    """The model to ship and the columns to add, if the columns of a table allow it."""
    shipped, there = Shipped.of(model), list(present)
    check_columns(read_columns(model, text), there)
    if of is not None:
        place_of(model.classes, of)
    kinds = answer_kinds(model, of, prefix)
    twice = [name for name in kinds if name in there]
    if twice:
        raise ValueError(f"There is a column {twice[0]!r} already. Rename it, or set `prefix`.")
    return shipped, kinds


def filtering(model: Model, present: Iterable[str], text: str, keep: Label, least: float) -> Shipped:
    """The model to ship, if rows can be kept by a class and a probability."""
    shipped = Shipped.of(model)
    check_columns(read_columns(model, text), present)
    place_of(model.classes, keep)
    check_probability("least", least)
    return shipped


def compressed(pieces: Iterable[bytes | memoryview], size: int) -> Iterator[bytes]:
    """The bytes of some pieces, smaller, in pieces of about this size: whole frames.

    Spark's driver holds several copies of whatever passes it, and of pieces only of one at a time.
    """
    piece = b""
    for frame in frames(pieces):
        if piece and len(piece) + len(frame) > size:
            yield piece
            piece = b""
        piece += frame
    yield piece


def frames(pieces: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """The same, frame by frame, after a first piece that says how long all of it is.

    A frame is the width of its numbers, its size, its size compressed, and the bytes of its numbers: all
    first bytes, then all second ones. So 53 MB of words and pairs are 14 instead of 21, in the same time.
    """
    views = [memoryview(piece).cast("B") for piece in pieces]
    yield sum(view.nbytes for view in views).to_bytes(8, "little")
    for view in views:
        for start in range(0, view.nbytes, FRAME_BYTES):
            frame = np.frombuffer(view[start : start + FRAME_BYTES], np.uint8)
            width = _width(frame)
            data = pa.compress(_planes(frame, width), CODEC, asbytes=True)
            yield FRAME.pack(width, len(frame), len(data)) + data


def decompressed(pieces: Sequence[Any]) -> bytes:
    """The bytes in such pieces."""
    whole = check_complete(pieces)
    found = BytesIO()
    found.seek(max(whole - 1, 0))  # room for all of it at once: a buffer that grows takes twice as much
    found.write(bytes(whole > 0))
    found.seek(0)
    for frame in _frames_in(pieces):
        found.write(frame.bytes())
    return found.getvalue()


def check_complete(pieces: Sequence[Any]) -> int:
    """Raise unless all of what was compressed is there; nothing is decompressed for it. Gives its length."""
    whole = int.from_bytes(memoryview(pieces[0]).cast("B")[:8], "little")
    if sum(frame.size for frame in _frames_in(pieces)) != whole:
        raise RuntimeError(INCOMPLETE)
    return whole


def header_in(pieces: Sequence[Any]) -> bytes:
    """The beginning of a model in such pieces, to the end of its header at least."""
    beginning = b""
    for frame in _frames_in(pieces):
        beginning += frame.bytes()
        if len(beginning) >= max(8, storage.header_end(beginning)):
            break
    return beginning


class _Frame(NamedTuple):
    width: int
    size: int
    data: memoryview

    def bytes(self) -> memoryview:
        """What was compressed."""
        planes = pa.decompress(self.data, self.size, CODEC, asbytes=True)
        return _numbers(np.frombuffer(planes, np.uint8), self.width).data


def _frames_in(pieces: Sequence[Any]) -> Iterator[_Frame]:
    place = 8
    for piece in pieces:
        view = memoryview(piece).cast("B")
        while place + FRAME.size <= len(view):
            width, size, length = FRAME.unpack_from(view, place)
            place += FRAME.size
            yield _Frame(width, size, view[place : place + length])
            place += length
        if place != len(view):
            raise RuntimeError(INCOMPLETE)
        place = 0


def _width(frame: Bytes) -> int:
    """How wide the numbers in a frame seem to be: what makes its beginning smallest."""
    start = frame[:TRIED_BYTES]
    return min(WIDTHS, key=lambda width: len(pa.compress(_planes(start, width), CODEC, asbytes=True)))


def _planes(frame: Bytes, width: int) -> Bytes:
    """The first bytes of all numbers, then the second ones, and so on; what is left over at the end."""
    whole = len(frame) - len(frame) % width
    return _turned(frame, whole, (-1, width))


def _numbers(planes: Bytes, width: int) -> Bytes:
    """The frame again."""
    whole = len(planes) - len(planes) % width
    return _turned(planes, whole, (width, -1))


def _turned(values: Bytes, whole: int, shape: tuple[int, int]) -> Bytes:
    """Rows of this shape as columns, in one copy, and what is left over as it is."""
    if 1 in shape:
        return values
    found = np.empty_like(values)
    rows = values[:whole].reshape(shape)
    found[:whole].reshape(rows.T.shape)[:] = rows.T
    found[whole:] = values[whole:]
    return found


def binaries(column: Any) -> Iterator[Any]:
    """The values of a column of bytes where they lie; what Arrow calls a value is a copy."""
    if not len(column):
        return  # and no buffers
    _, offsets, data = column.buffers()
    wide = pa.types.is_large_binary(column.type)
    places = np.frombuffer(offsets, np.int64 if wide else np.int32)[column.offset :][: len(column) + 1]
    for begin, end in pairwise(places.tolist()):
        yield data.slice(begin, end - begin)


def gathered(batches: Iterable[Any], size: int = LEARN_BYTES) -> Iterator[Any]:
    """Batches of at least so many bytes, but for the last; engines cut by rows, which may be short."""
    waiting: list[Any] = []
    have = 0
    for batch in batches:
        waiting.append(batch)
        have += batch.nbytes
        if have >= size:
            yield from _together(waiting)
            waiting, have = [], 0
    yield from _together(waiting)


def _together(batches: list[Any]) -> Iterator[Any]:
    if len(batches) < 2:
        yield from batches
    else:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()
