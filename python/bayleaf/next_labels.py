"""Which documents to label next: those the model is unsure of, unlike each other, and some at random.

Uncertainty alone asks the same question ten times, and never finds where the model is sure and wrong. So a
document counts less the more it resembles one that is asked already, and a share is drawn at random: their
answers measure the model honestly, which those of chosen documents do not.

Nor is it worth following while a model is young: what it is least sure of then is odd rather than
instructive, and a model that has learned little else is worse than one of random documents. So documents are
drawn by chance, more probably the less certain and the newer they are, by a power that grows as the model
gets surer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bayleaf.answering import NothingLearnedError
from bayleaf.columns import Coded, is_missing, length_of
from bayleaf.types import Floats
from bayleaf.view import taken

Posterior = Callable[[list[Any]], Floats]

AT_RANDOM = 0.2
"""The share of questions that are drawn at random."""
COMPARED = 20
"""Each question is the best of so many that are left, those worth most first."""
FOLLOWED = 4.0
"""The power of uncertainty is so many times the squared odds that the model is sure …"""
HIGHEST = 20.0
"""… and this at most: nearly the least certain first."""
COPY = 0.9
"""With so large a share of words in common, one document is a copy of another."""
MOST_SCORES = 10_000_000
"""So many documents times classes are scored at most; of a larger pool, a random part is looked at."""
BATCH = 500_000
"""So many scores are held at a time."""
BITS = 1 << 14
WORD = re.compile(r"\w+")


class Question(NamedTuple):
    """A document to label: its row in the pool, how unsure the model is (0 to 1), and if drawn at random."""

    row: int
    unsure: float
    at_random: bool


def ask(
    columns: Sequence[Any], posterior: Posterior, classes: int, n: int, at_random: float, seed: int
) -> list[Question]:
    """The n rows of columns to label next, those drawn at random at random places among the others."""
    size = length_of(columns[0])
    rng = np.random.default_rng(seed)
    order = rng.permutation(size)
    n = min(n, size)
    chance = math.ceil(at_random * n)
    looked = order[: max(MOST_SCORES // max(classes, 1), COMPARED * n)]
    unsure = np.zeros(size)
    in_order = np.sort(looked)  # an error names the document by its row
    unsure[in_order] = _unsure(columns, posterior, classes, in_order)
    shown, drawn, rest = _Shown(columns), order[:chance].tolist(), looked[chance:]
    for row in drawn:
        shown.asked(row)
    power = _power(unsure[rest])
    # With this noise, the largest is drawn with a chance in proportion to the power.
    worth = power * np.log(np.maximum(unsure, 1e-12)) + rng.gumbel(size=size)
    ranked = rest[np.argsort(-worth[rest], kind="stable")]
    chosen = _unlike(iter(ranked.tolist()), n - chance, worth, power, shown)
    places = set(rng.permutation(n)[:chance].tolist())
    both = iter(drawn), iter(chosen)
    rows = [(next(both[place not in places]), place in places) for place in range(n)]
    return [Question(row, float(unsure[row]), by_chance) for row, by_chance in rows]


def check_asking(n: Any, at_random: Any, seed: Any) -> None:
    """Raise unless so many documents can be asked for."""
    for name, value, least in (("n", n, 1), ("seed", seed, 0)):
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            raise ValueError(f"`{name}` must be a whole number >= {least}, got {value!r}.")
    if isinstance(at_random, bool) or not isinstance(at_random, int | float) or not 0 <= at_random <= 1:
        raise ValueError(f"`at_random` is a share and must be between 0 and 1, got {at_random!r}.")


def _unsure(columns: Sequence[Any], posterior: Posterior, classes: int, rows: NDArray[Any]) -> Floats:
    """1 where the two most probable classes are equally probable, or there is one class; 0 if certain."""
    if classes < 2:
        return np.ones(len(rows))
    unsure, step = np.ones(len(rows)), max(BATCH // classes, 1)
    for start in range(0, len(rows), step):
        some = [taken(column, rows[start : start + step]) for column in columns]
        # Meanwhile another thread may have learned a new class, or taken all back.
        with suppress(NothingLearnedError):
            found = posterior(some)
            best = np.partition(found, max(found.shape[1] - 2, 0), axis=1)[:, -2:]
            unsure[start : start + step] = 1 - (best[:, -1] - best[:, 0])
    return unsure


def _power(unsure: Floats) -> float:
    """By which power documents are preferred that are uncertain and new: 0 if all are uncertain."""
    doubt = max(float(unsure.mean()) if len(unsure) else 1.0, 1e-9)
    return min(FOLLOWED * ((1 - doubt) / doubt) ** 2, HIGHEST)


def _unlike(ranked: Iterator[int], n: int, worth: Floats, power: float, shown: _Shown) -> list[int]:
    """Of documents in the order of their worth (a log), n that are unlike each other; copies come last."""
    window, copies, chosen = list[int](), list[int](), list[int]()
    while len(chosen) < n:
        while len(window) < COMPARED and (row := next(ranked, None)) is not None:
            window.append(row)
        if not window:
            return chosen + copies[: n - len(chosen)]
        new = [worth[row] + power * math.log(max(1 - shown.likeness(row), 1e-9)) for row in window]
        row = window.pop(int(np.argmax(new)))
        if shown.likeness(row) >= COPY:
            copies.append(row)
            continue
        chosen.append(row)
        shown.asked(row)
    return chosen


class _Shown:
    """The documents that are asked, and how much another has in common with the nearest of them."""

    def __init__(self, columns: Sequence[Any]) -> None:
        self._columns = list({id(column): column for column in columns}.values())
        self._asked: list[int] = []
        self._known: dict[int, tuple[int, float, int]] = {}

    def asked(self, row: int) -> None:
        """Compare with this document from now on."""
        self._asked.append(self._bits(row))

    def likeness(self, row: int) -> float:
        """The largest share of words in common with a document that is asked; 1 if there is nothing in it."""
        bits, nearest, compared = self._known.get(row) or (self._bits(row), 0.0, 0)
        if not bits:
            return 1.0
        for other in self._asked[compared:]:
            nearest = max(nearest, (bits & other).bit_count() / (bits | other).bit_count())
        self._known[row] = bits, nearest, len(self._asked)
        return nearest

    def _bits(self, row: int) -> int:
        """The words of a text, or the values of a row, as a set of small numbers."""
        if row in self._known:
            return self._known[row][0]
        bits = 0
        for place, column in enumerate(self._columns):
            for word in _words(column, row):
                bits |= 1 << crc32(word, place) % BITS
        return bits


def _words(column: Any, row: int) -> list[bytes]:
    if isinstance(column, Coded):
        code = int(column.codes[row])
        words = [] if code < 0 else [column.values[code]]
    elif isinstance(column, np.ndarray):
        words = [f"{place}:{value}" for place, value in enumerate(np.ravel(column[row])) if value == value]
    else:
        words = _split(column[row])
    return [word.encode("utf-8", "surrogatepass") for word in words]


def _split(value: Any) -> list[str]:
    text = bytes(value).decode("utf-8", "replace") if isinstance(value, bytes | bytearray) else str(value)
    return [] if is_missing(value) else WORD.findall(text.lower()) or text.split()
