"""Input columns of any library: texts, categories, numbers; missing values stay missing."""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

YES = frozenset({"yes", "y", "true", "t", "1", "on"})
NO = frozenset({"no", "n", "false", "f", "0", "off"})
LARGEST = 1e150
"""A number beyond this has no square that a float could hold."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as the distinct values it has and, for each row, which of them (-1: missing)."""

    values: list[str]
    codes: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.codes)


def as_values(column: Any, where: str) -> Coded:
    """A column of categories. Their names are their texts, so 3, 3.0 and "3" are one category."""
    return _coded(_single(as_list(column, where), where), _as_text)


def as_flags(column: Any, where: str) -> Coded:
    """A column of yes and no, in any of the usual spellings."""
    return _coded(_single(as_list(column, where), where), lambda value: _as_flag(value, where))


def as_numbers(column: Any, where: str) -> NDArray[np.float64]:
    """A column of finite numbers, missing ones as NaN."""
    array = _as_array(column)
    if array is not None and array.dtype.kind in "biuf":
        numbers = _one_dimensional(array, where).astype(np.float64)
    else:
        numbers = _numbers_in(as_list(column, where), where)
    beyond = np.abs(numbers) > LARGEST
    if beyond.any():
        row = int(beyond.argmax())
        raise ValueError(
            f"{where} has {numbers[row]:g} in row {row}; numbers must be finite, between -1e150 and 1e150. "
            "Make what is unknown missing (NaN or None)."
        )
    return numbers + 0.0  # -0.0 becomes 0.0: they are equal, and must be one value in the counts


def is_numeric(column: Any) -> bool:
    """Whether a column is of numbers by its type, without a look at its values."""
    kind: Any = getattr(column, "dtype", None)
    if hasattr(kind, "kind"):
        return str(kind.kind) in "iuf"
    return hasattr(kind, "is_numeric") and bool(kind.is_numeric())


def _as_array(column: Any) -> NDArray[Any] | None:
    """A column of numbers as its library gives it to NumPy, NaN for what is missing."""
    if isinstance(column, np.ndarray):
        return column
    if not is_numeric(column):
        return None
    missing = {"dtype": np.float64, "na_value": np.nan} if hasattr(column, "iloc") else {}
    return np.asarray(column.to_numpy(**missing))


def as_counts(columns: list[Any], where: str) -> NDArray[np.int64]:
    """Columns of whole numbers >= 0 side by side."""
    block = np.stack([as_numbers(column, where) for column in columns], axis=1)
    wrong = ~((block >= 0) & (block == np.floor(block)) & (block < 2**53))
    if wrong.any():
        row = int(wrong.any(axis=1).argmax())
        value = block[row][wrong[row]][0]
        raise ValueError(
            f"{where} has {value:g} in row {row}; counts() takes whole numbers >= 0 and no missing values. "
            "Use normal() for measurements."
        )
    return block.astype(np.int64)


def _single(raw: list[Any], where: str) -> list[Any]:
    """The values, if each is one value; a list in a cell has no name."""
    for kind in {type(value) for value in raw}:
        if not issubclass(kind, Hashable):
            row = next(row for row, value in enumerate(raw) if type(value) is kind)
            raise ValueError(
                f"{where} has {raw[row]!r} in row {row}, which is not one value. Give a string, a number, "
                "True or False."
            )
    return raw


def _coded(raw: list[Any], name: Callable[[Any], str | None]) -> Coded:
    """Name each distinct value once."""
    if len({type(value) for value in raw} & {bool, int, float}) > 1:
        raw = [name(value) for value in raw]  # to a dict, True and 1 are one
    index: defaultdict[Any, int] = defaultdict()
    index.default_factory = index.__len__
    codes = np.fromiter((index[value] for value in raw), np.intp, len(raw))
    named = [name(value) for value in index]
    place: dict[str, int] = {}
    numbers = [-1 if value is None else place.setdefault(value, len(place)) for value in named]
    return Coded(list(place), np.array(numbers, np.intp)[codes] if named else codes)


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


TEXTS = frozenset({str, bytes})


def holds_texts(column: Any) -> bool:
    """Whether a list or tuple holds nothing but texts, told by their types."""
    if type(column) is list and len(column) == 1:
        return type(column[0]) in TEXTS
    return type(column) in {list, tuple} and TEXTS.issuperset(map(type, column))


def has_missing(column: Any) -> bool:
    """Whether a column lacks values, without a copy of it if its library knows."""
    if holds_texts(column):
        return False
    if hasattr(column, "isna"):
        return bool(column.isna().any())
    known = getattr(column, "null_count", None)
    if known is not None:
        return bool(known() if callable(known) else known)
    if not isinstance(column, list | tuple):
        return False
    return any(map(is_missing, column))


def check_no_missing(column: Any) -> None:
    """Raise if a text is missing: there would be nothing to learn from its row."""
    if holds_texts(column):
        return
    values = column.tolist() if isinstance(column, np.ndarray) else column
    if has_missing(values):
        found = ((row, each) for row, each in enumerate(as_list(values, "X")) if is_missing(each))
        row, value = next(found)
        raise TypeError(
            f"Document {row} is {value!r} ({type(value).__name__}), not a string. Give text as str, or as "
            "bytes in UTF-8; leave out or fill what is missing."
        )


def filled(column: Any, where: str) -> list[Any]:
    """A column of texts with empty ones in place of missing ones."""
    return ["" if is_missing(value) else value for value in as_list(column, where)]


def _as_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if is_missing(value):
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _as_flag(value: Any, where: str) -> str | None:
    text = _as_text(value)
    if text is None:
        return None
    lowered = text.strip().lower()
    if lowered in YES or lowered in NO:
        return "yes" if lowered in YES else "no"
    raise ValueError(
        f"{where} has {value!r}; flag() takes yes or no, true or false, 1 or 0. Use category() for more."
    )


def _numbers_in(values: list[Any], where: str) -> NDArray[np.float64]:
    if set(map(type, values)) <= {int, float, bool}:
        with contextlib.suppress(OverflowError):
            return np.array(values, np.float64)
    return np.array([_number(value, row, where) for row, value in enumerate(values)], np.float64)


def _number(value: Any, row: int, where: str) -> float:
    if is_missing(value):
        return math.nan
    if not isinstance(value, str | bytes | complex | np.datetime64 | np.timedelta64) and hasattr(
        value, "__float__"
    ):
        try:
            return float(value)
        except OverflowError:
            return -math.inf if value < 0 else math.inf
    raise ValueError(
        f"{where} has {value!r} in row {row}, which is not a number. Use category() or words() for text."
    )


def as_list(column: Any, where: str) -> list[Any]:
    """The values of a column as Python's own; `where` names it in errors."""
    if isinstance(column, str | bytes):
        raise TypeError(f"{where} is a single {type(column).__name__}, {column!r}. Give a sequence: [value].")
    if isinstance(column, np.ndarray):
        flat = _one_dimensional(column, where)
        return list(flat) if flat.dtype.kind in "mM" else list(flat.tolist())
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _one_dimensional(array: NDArray[Any], where: str) -> NDArray[Any]:
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{where} must have one dimension, got an array of shape {array.shape}.")
    return array


def fingerprint(columns: Sequence[Any], labels: Iterable[Any]) -> int:
    """A number for labeled rows, the same in every process: a sum, so that what is taken back leaves 0."""
    from hashlib import blake2b

    rows = zip(labels, *map(_hashable, columns), strict=True)
    digests = (blake2b(_joined(row), digest_size=8).digest() for row in rows)
    return sum(int.from_bytes(digest, "little") for digest in digests)


class Drift:
    """What was learned and not forgotten since the evidence was weighed, as a sum of fingerprints."""

    def __init__(self, views: int) -> None:
        self._views, self.value = views, 0

    def of(self, text: str, label: Any) -> int:
        """The fingerprint of one text, which all views look at."""
        return fingerprint([(text,)] * self._views, [label])


def row_bytes(columns: Sequence[Any]) -> Iterable[bytes]:
    """Each row of the columns as bytes, the same for the same values; a text is its UTF-8."""
    return map(_joined, zip(*map(_hashable, columns), strict=True))


def _joined(row: Iterable[Any]) -> bytes:
    parts = []
    for value in row:
        text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        part = text if isinstance(text, bytes) else repr(text).encode()
        parts += [len(part).to_bytes(8, "little"), part]
    return b"".join(parts)


def _hashable(column: Any) -> list[Any]:
    if isinstance(column, Coded):
        return [None if code < 0 else column.values[code] for code in column.codes.tolist()]
    if isinstance(column, np.ndarray) and column.ndim == 2:
        return list(map(tuple, column.tolist()))
    return [None if value != value else value for value in as_list(column, "X")]


def as_documents(column: Any) -> Any:
    """Text in a form that the core can borrow: a list, Arrow buffers, or slices of one buffer."""
    if type(column) is tuple:
        return column
    if isinstance(column, str | bytes):
        raise TypeError(
            f"X is a single {type(column).__name__}, {_shown(column)}. Give a sequence of documents: [text]."
        )
    if isinstance(column, list | tuple) or hasattr(column, "buffer"):
        return column
    if isinstance(column, np.ndarray):
        return _flat(column).tolist()
    if hasattr(column, "__arrow_c_array__") or (
        hasattr(column, "__arrow_c_stream__") and str(getattr(column, "dtype", "")) != "object"
    ):
        return _within_buffers(column)
    if hasattr(column, "to_list"):
        return column.to_list()
    if isinstance(column, Iterable):
        return list(column)
    raise TypeError(f"X must be a sequence of texts, got {type(column).__name__}.")


def _within_buffers(column: Any) -> Any:
    """An Arrow column, if it stays inside its buffers: their sizes are not handed over to the core."""
    if type(column).__module__.startswith("pyarrow"):
        column.validate()
    return column


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"A column of text has one dimension, got an array of shape {array.shape}.")
    return array


def _shown(text: str | bytes) -> str:
    return repr(text if len(text) <= 40 else text[:40]) + ("" if len(text) <= 40 else "…")


def length_of(column: Any) -> int:
    """How many documents a column has."""
    if type(column) is tuple:  # of one short text, asking for more would take a tenth of the answer
        return len(column)
    return len(column.starts) if hasattr(column, "starts") else len(column)


def slices_of(column: Sequence[Any], size: int) -> Iterable[Any]:
    """A column in pieces of at most `size` documents."""
    for start in range(0, len(column), size):
        yield column[start : start + size]


def printable(text: str) -> str:
    """A text for a terminal: what would control it, or break the line, is shown by its number."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _number_of(char) for char in text)


def _number_of(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
