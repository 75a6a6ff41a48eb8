"""Class labels as numbers, in order of first appearance, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import is_missing
from bayleaf.types import Label

ARROW_STRINGS = ("string", "large_string")
PLAIN = frozenset({str, int})


class Labels:
    """The classes of a model; a closed set refuses labels that were not announced."""

    def __init__(self, known: Iterable[Label] = (), closed: bool = False) -> None:
        self.names: list[Label] = list(known)
        self.closed = closed
        self.numbers = {name: number for number, name in enumerate(self.names)}

    def go_back(self, known: int, closed: bool) -> None:
        """Be a set of so many labels again, closed or not."""
        self.closed = closed
        for name in self.names[known:]:
            self.numbers.pop(name, None)
        del self.names[known:]

    def cut(self, known: int) -> None:
        """Forget all but the first so many labels."""
        for name in self.names[known:]:
            del self.numbers[name]
        del self.names[known:]

    def close(self, announced: Any) -> None:
        """Let in the announced classes and no others."""
        self.number(announced)
        self.closed = True

    def known(self, label: Any) -> int | None:
        """The number of a plain label that was met before."""
        return self.numbers.get(label) if type(label) in PLAIN else None

    def number(self, labels: Any, grow: bool = True) -> NDArray[np.uint32]:
        """The number of each label; new labels get the next ones, if `grow` and the set is open."""
        if type(labels) is list and len(labels) == 1:
            known = self.known(labels[0])
            if known is not None:
                return _alone(known)
        if hasattr(labels, "starts") or str(getattr(labels, "type", None)) in ARROW_STRINGS:
            return self._number_column(labels, grow)
        values = as_list(labels)
        try:
            new = {value for value in set(values) if value not in self.numbers}
        except TypeError:
            raise _no_label(values) from None
        if not all(map(_is_label, new)):
            raise _no_label(values)
        if new:
            self._let_in([value for value in dict.fromkeys(values) if value in new], grow)
        return np.fromiter(map(self.numbers.__getitem__, values), np.uint32, len(values))

    def _number_column(self, labels: Any, grow: bool) -> NDArray[np.uint32]:
        """Labels that are slices of a buffer or an Arrow array: only the different ones become strings."""
        from bayleaf.corpus.slices import Numbering

        if getattr(labels, "null_count", 0) or hasattr(labels, "chunks"):
            return self.number(labels.to_pylist(), grow)
        distinct = Numbering()
        rows = distinct.encode(labels)
        return self.number(distinct.names, grow)[rows]

    def _let_in(self, new: list[Any], grow: bool) -> None:
        if self.closed:
            raise ValueError(
                f"y has the labels {_sorted(new)!r}, which are not among the classes {_sorted(self.names)!r} "
                "given at first. Correct them, or leave out `classes` to let new ones in."
            )
        if not grow:
            raise ValueError(f"y has the labels {_sorted(new)!r}, which were never learned. The classes are "
                             f"{_sorted(self.names)!r}.")  # fmt: skip
        for name in new:
            self.names.append(name)
            self.numbers[name] = len(self.names) - 1

    def order(self, documents: NDArray[Any]) -> NDArray[np.uint32]:
        """The numbers of the classes that exist, sorted by their names: numbers first, then strings."""
        exist = [
            n for n in range(len(self.names)) if self.closed or (n < len(documents) and documents[n] > 0)
        ]
        return np.array(sorted(exist, key=lambda n: sort_key(self.names[n])), dtype=np.uint32)


@lru_cache(maxsize=1024)
def _alone(number: int) -> NDArray[np.uint32]:
    """The number of one label, as one document after the other asks for it."""
    numbers = np.array([number], np.uint32)
    numbers.flags.writeable = False
    return numbers


def _is_label(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int)


def _no_label(values: list[Any]) -> TypeError:
    at, value = next((at, value) for at, value in enumerate(values) if not _is_label(value))
    return TypeError(
        f"y[{at}] is {value!r}; a class is named by a string or a number. "
        "Leave out the rows without a label, or name it."
    )


def sort_key(label: Label) -> tuple[bool, Any]:
    """Numbers before strings."""
    return isinstance(label, str), label


def _sorted(names: Iterable[Any]) -> list[Any]:
    return sorted(names, key=sort_key)


def as_list(labels: Any) -> list[Any]:
    """Labels as plain Python values."""
    if isinstance(labels, str | bytes):
        raise TypeError(f"y is a single label, {labels!r}. Give one label for each document: [label].")
    if isinstance(labels, list):
        if not any(issubclass(kind, np.generic) for kind in {*map(type, labels)}):
            return labels
        return [value.item() if isinstance(value, np.generic) else value for value in labels]
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(labels, method):
            return as_list(getattr(labels, method)())
    return as_list(list(labels))


def as_array(names: list[Label]) -> NDArray[Any]:
    """Labels as NumPy holds them, where it gives them back as they are; else as Python's own.

    It would drop zeros from the end of a string, name the member of an enumeration by its class, and round
    whole numbers beyond 64 bits.
    """
    (kind, *others) = {type(name) for name in names} or {str}
    if not others and kind in {str, int, float, bool}:
        array = np.array(names, dtype=None if names else str)
        if array.dtype.kind in {str: "U", int: "iu", float: "f", bool: "b"}[kind] and array.tolist() == names:
            return array
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def _spoiled(kinds: set[type], values: list[Any]) -> bool:
    """Whether NumPy would not give back labels of one kind as they are."""
    if len(kinds) != 1 or kinds == {float} or not issubclass(next(iter(kinds)), str | int):
        return False
    return as_array(list(set(values))).dtype.kind == "O"


def holds_lists(y: Any) -> bool:
    """Whether each row has a list or a set of names instead of one."""
    if not hasattr(y, "__len__") or not isinstance(next(iter(y), None), list | tuple | set | frozenset):
        return False
    rows = all(isinstance(names, list | tuple | set | frozenset) for names in y)
    return rows and any(isinstance(name, str) for names in y for name in names)


def plain_labels(y: Any) -> Any:
    """Return labels as NumPy would not spoil them; ValueError where one is missing.

    NumPy makes strings of numbers among strings, and floats of pandas' integers that may be missing.
    """
    if not hasattr(y, "__getitem__") or isinstance(y, str | Mapping) or len(np.shape(y)) != 1:
        return y
    if isinstance(y, np.ndarray) and y.dtype.kind != "O":
        return y
    values = as_list(y)
    kinds = set(map(type, values))
    if _spoiled(kinds, values):
        return np.array([*values, None], dtype=object)[:-1]
    if kinds <= {str}:
        return y
    missing = next((i for i, value in enumerate(values) if is_missing(value)), None)
    if missing is not None:
        raise ValueError(
            f"Input y contains NaN: y[{missing}] is {values[missing]!r}. Leave out the rows without a label, "
            "or name it."
        )
    if str in kinds:
        return np.array([*values, None], dtype=object)[:-1]
    return np.array(values) if hasattr(y, "dtype") and not isinstance(y, np.ndarray) else y
