"""Number, sum and sum of squares of measurements, exactly: a float is a whole number of 2**-1126.

Sums of floats depend on the order of the rows and leave dust when rows are taken back; these do neither, and
mean and variance come out correctly rounded (mean 1e9 and variance 1 are no difficulty). Measured on a
million rows: 0.1 s, where `fractions.Fraction` takes 5 s; the state is 3 integers a class, where distinct
values would take as much memory as the column. The price: forgetting numbers that were never learned is
refused only if no numbers at all could have the sums that would be left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import LARGEST
from bayleaf.table.counts import PerClass, size_of
from bayleaf.types import Arrays, Classes, Floats
from bayleaf.view import NotCounted

SCALE = 1126
"""Every float is a whole number of 2**-SCALE: the smallest has 53 bits ending at 2**-1126."""
SMALL = -900
"""Variances below 2**SMALL come near to what floats take for 0, or hold with fewer digits."""
ROWS = 1 << 16
"""Rows at a time: products of 18 bits summed over so many are exact in a float."""
EXPONENTS = 1 << 12


@dataclass
class Moments:
    """How many numbers, their sum in units of 2**-SCALE, and the sum of squares in units of its square."""

    n: int = 0
    sum: int = 0
    squares: int = 0

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.n + other.n, self.sum + other.sum, self.squares + other.squares)

    def __sub__(self, other: Moments) -> Moments:
        return Moments(self.n - other.n, self.sum - other.sum, self.squares - other.squares)

    @property
    def possible(self) -> bool:
        """Whether some numbers have these moments."""
        if self.n <= 0:
            return self.n == self.sum == self.squares == 0
        return self._spread >= 0

    @property
    def _spread(self) -> int:
        return self.n * self.squares - self.sum * self.sum

    @property
    def mean(self) -> float:
        """The mean, correctly rounded."""
        return self.sum / (self.n << SCALE)

    @property
    def variance(self) -> float:
        """The mean square distance from the mean, correctly rounded."""
        return self._spread / (self.n * self.n << 2 * SCALE)

    def scaled(self, power: int) -> Moments:
        """The moments of the same numbers times 2**power."""
        return Moments(self.n, self.sum << power, self.squares << 2 * power)

    @property
    def power(self) -> int:
        """By which power of two to multiply the numbers so that a float can hold their variance."""
        exponent = self._spread.bit_length() - 2 * self.n.bit_length() - 2 * SCALE
        return -exponent // 2 if self._spread > 0 and exponent < SMALL else 0


@dataclass(frozen=True, eq=False)
class MomentCounts:
    """The moments of each class."""

    arrays: Arrays
    moments: list[Moments] = field(default_factory=list)

    @property
    def missing(self) -> NDArray[np.uint64]:
        """How many rows of each class have no number."""
        return self.arrays["missing"]


class MomentTally(PerClass[Moments]):
    """The moments of a column of numbers in each class."""

    def _new(self) -> Moments:
        return Moments()

    def add(self, column: Floats, classes: Classes, threads: int = 1) -> None:  # noqa: ARG002
        """Count numbers."""
        self._grow(size_of(classes))
        missing = np.isnan(column)
        states = self._states.copy()
        for number, moments in exact_moments(column[~missing], classes[~missing]):
            states[number] += moments
        missing_rows = self._missing_after(classes[missing], 1)
        self._states, self._missing, self.changes = states, missing_rows, self.changes + 1

    def subtract(self, column: Floats, classes: Classes) -> None:
        """Take numbers back, unless what would be left is impossible."""
        self._grow(size_of(classes))
        missing = np.isnan(column)
        self._check_missing(classes[missing])
        left = self._states.copy()
        for number, moments in exact_moments(column[~missing], classes[~missing]):
            left[number] -= moments
            if not left[number].possible:
                raise NotCounted(f"{column[~missing & (classes == number)][0]:g}", number)
        missing_rows = self._missing_after(classes[missing], -1)
        self._states, self._missing, self.changes = left, missing_rows, self.changes + 1

    def _rows(self, state: Moments) -> int:
        return state.n

    def merge(self, other: MomentTally, classes: Classes) -> None:
        """Add the moments of another tally, whose class i is `classes[i]` here."""
        self._grow(size_of(classes))
        states, totals = self._states.copy(), self._missing.copy()
        for number, moments, missing in zip(classes.tolist(), other._states, other._missing, strict=False):
            states[number] += moments
            totals[number] += missing
        self._states, self._missing, self.changes = states, totals, self.changes + 1

    def counts(self, order: Classes) -> MomentCounts:
        """The moments of the classes in this order."""
        moments, missing = self._in_order(order)
        present = np.array([each.n for each in moments], np.uint64)
        arrays = {"missing": missing, "present": present, "class_documents": missing + present}
        arrays |= _pack_integers("sum", [each.sum for each in moments])
        arrays |= _pack_integers("squares", [each.squares for each in moments])
        return MomentCounts(arrays, moments)

    @classmethod
    def restore(cls, arrays: Arrays) -> Self:
        """The tally whose moments are these arrays."""
        tally = cls()
        present = arrays["present"].tolist()
        sums, squares = _unpack_integers("sum", arrays), _unpack_integers("squares", arrays)
        tally._states = [Moments(*each) for each in zip(present, sums, squares, strict=True)]
        tally._missing = arrays["missing"].tolist()
        rows = [n + missing for n, missing in zip(present, tally._missing, strict=True)]
        if rows != arrays["class_documents"].tolist() or not all(map(_readable, tally._states)):
            raise ValueError("the moments of a column are impossible")
        return tally


def _readable(moments: Moments) -> bool:
    """Whether some numbers between -1e150 and 1e150, which is all that are learned, have these moments."""
    most = moments.n * (int(LARGEST) << SCALE)
    return moments.possible and abs(moments.sum) <= most and moments.squares <= most * (int(LARGEST) << SCALE)


def exact_moments(numbers: Floats, classes: Classes) -> Iterator[tuple[int, Moments]]:
    """The moments of each class, in pieces: one for each class and exponent in each run of rows."""
    for start in range(0, len(numbers), ROWS):
        part = slice(start, start + ROWS)
        fractions, exponents = np.frexp(numbers[part])
        shifts = exponents + (SCALE - 53)
        least, span = int(shifts.min()), int(np.ptp(shifts)) + 1
        cells, place = _numbered(
            classes[part].astype(np.int64) * span + (shifts - least), span * size_of(classes)
        )
        counts = np.bincount(place, minlength=len(cells)).tolist()
        sums, squares = _limbs(np.ldexp(fractions, 53).astype(np.int64), place, len(cells))
        for cell, n, total, square in zip(cells, counts, sums, squares, strict=True):
            number, shift = divmod(cell, span)
            if n:
                yield number, Moments(n, total << shift + least, square << 2 * (shift + least))


def _numbered(keys: NDArray[np.int64], size: int) -> tuple[Sequence[int], NDArray[np.int64]]:
    """All keys there can be, if they are few; otherwise those that are there, at the price of sorting."""
    if size <= ROWS:
        return range(size), keys
    cells, place = np.unique(keys, return_inverse=True)
    return cells.tolist(), place


def _limbs(whole: NDArray[np.int64], place: NDArray[np.int64], size: int) -> tuple[list[int], list[int]]:
    """Sum numbers of 53 bits and their squares by place: in limbs of 18 bits, whose products sum exactly."""

    def total(limb: NDArray[np.int64]) -> list[int]:
        return [int(each) for each in np.bincount(place, limb, size)]

    sign, magnitude = np.sign(whole), np.abs(whole)
    low, middle, high = magnitude & 0x3FFFF, magnitude >> 18 & 0x3FFFF, magnitude >> 36
    sums = zip(total(sign * low), total(sign * middle), total(sign * high), strict=True)
    products = (low * low, 2 * low * middle, 2 * low * high + middle * middle, 2 * middle * high, high * high)
    squares = zip(*map(total, products), strict=True)
    return [_joined(limbs) for limbs in sums], [_joined(limbs) for limbs in squares]


def _joined(limbs: tuple[int, ...]) -> int:
    return sum(limb << 18 * i for i, limb in enumerate(limbs))


def _pack_integers(name: str, integers: list[int]) -> Arrays:
    """Integers of any size: bytes, where each ends, how many zero bytes were left off, and the signs."""
    zeros = [_zero_bytes(abs(value)) for value in integers]
    parts = [_little_endian(abs(value) >> 8 * zero) for value, zero in zip(integers, zeros, strict=True)]
    return {
        f"{name}_bytes": np.frombuffer(b"".join(parts), np.uint8),
        f"{name}_ends": np.cumsum([len(part) for part in parts]).astype(np.uint64),
        f"{name}_shift": np.array(zeros, np.uint64),
        f"{name}_negative": np.array([value < 0 for value in integers], np.uint64),
    }


def _unpack_integers(name: str, arrays: Arrays) -> list[int]:
    blob, ends = arrays[f"{name}_bytes"].tobytes(), arrays[f"{name}_ends"].tolist()
    signs, shifts = arrays[f"{name}_negative"].tolist(), arrays[f"{name}_shift"].tolist()
    if max(shifts, default=0) > 2 * EXPONENTS or max(signs, default=0) > 1:
        raise ValueError("a sum is out of range")
    starts: list[Any] = [0, *ends][: len(ends)]
    rows = zip(starts, ends, shifts, signs, strict=True)
    return [(1 - 2 * sign) * (int.from_bytes(blob[a:b], "little") << 8 * shift) for a, b, shift, sign in rows]


def _little_endian(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8, "little")


def _zero_bytes(value: int) -> int:
    """How many of the lowest bytes are zero."""
    return ((value & -value).bit_length() - 1) // 8 if value else 0
