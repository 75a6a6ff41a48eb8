"""Texts as slices of one buffer, so that a corpus reaches the core without becoming Python strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Offsets: TypeAlias = NDArray[np.int64]

WORD = 8
PIECE = 1 << 18
MASKS = np.array([(1 << (8 * size)) - 1 for size in range(WORD + 1)], dtype=np.uint64)
ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Slices:
    """UTF-8 texts that lie in one buffer: text i is ``buffer[starts[i]:ends[i]]``."""

    buffer: bytes
    starts: Offsets
    ends: Offsets

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, row: int) -> str:
        return self.buffer[self.starts[row] : self.ends[row]].decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return (piece.decode("utf-8") for piece in self.pieces())

    def __repr__(self) -> str:
        return f"Slices({len(self)} texts, {int((self.ends - self.starts).sum())} bytes)"

    def tolist(self) -> list[str]:
        """Make Python strings of all texts."""
        return list(self)

    def take(self, rows: NDArray[Any]) -> Slices:
        """Choose rows by number or by a mask; the buffer is shared."""
        return Slices(self.buffer, self.starts[rows], self.ends[rows])

    def pieces(self) -> Iterator[bytes]:
        """The bytes of each text."""
        return (self.buffer[s:e] for s, e in zip(self.starts.tolist(), self.ends.tolist(), strict=True))

    @classmethod
    def of(cls, texts: Iterable[str]) -> Slices:
        """Pack strings into one buffer."""
        return cls.packed([text.encode("utf-8") for text in texts])

    @classmethod
    def packed(cls, pieces: Sequence[bytes]) -> Slices:
        """Pack pieces of UTF-8 into one buffer."""
        ends = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
        starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])[: len(pieces)]
        return cls(b"".join(pieces), starts, ends)

    @classmethod
    def repeated(cls, text: str, times: int) -> Slices:
        """Give the same text to every row; it is stored once."""
        piece = text.encode("utf-8")
        return cls(piece, np.zeros(times, np.int64), np.full(times, len(piece), np.int64))


class Numbering:
    """Gives each label a number, in order of appearance, and keeps it from batch to batch.

    Labels of up to 16 bytes are compared as machine words, all rows at once; one that is longer or new is
    looked up in a dictionary.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._numbers: dict[bytes, int] = {}
        for name in names:
            self._numbers.setdefault(name.encode("utf-8"), len(self._numbers))
        self._index_words()

    @property
    def size(self) -> int:
        """How many labels there are."""
        return len(self._numbers)

    @property
    def names(self) -> list[str]:
        """The labels seen so far; the position is the number."""
        return [name.decode("utf-8") for name in self._numbers]

    def encode(self, labels: Any) -> NDArray[np.int32]:
        """Number the labels of a batch: slices, strings or an Arrow array."""
        if hasattr(labels, "dictionary_encode"):
            return self._of_arrow(labels)
        slices = labels if isinstance(labels, Slices) else Slices.of(labels)
        if not self._numbers:
            self._looked_up(slices.take(np.arange(min(len(slices), 256))))
        numbers = self._known_words(slices)
        rest = np.flatnonzero(numbers < 0)
        if len(rest):
            numbers[rest] = self._looked_up(slices.take(rest))
        return numbers

    def _of_arrow(self, labels: Any) -> NDArray[np.int32]:
        encoded = labels.dictionary_encode()
        table = self.encode(Slices.of(encoded.dictionary.to_pylist()))
        numbers: NDArray[np.int32] = table[encoded.indices.to_numpy(zero_copy_only=False)]
        return numbers

    def _looked_up(self, slices: Slices) -> NDArray[np.int32]:
        numbers = self._numbers
        known = len(numbers)
        pieces = slices.pieces()
        found = np.fromiter(
            (numbers.setdefault(piece, len(numbers)) for piece in pieces), np.int32, len(slices)
        )
        if len(numbers) > known:
            self._index_words()
        return found

    def _index_words(self) -> None:
        known = Slices.packed(list(self._numbers))
        short = np.flatnonzero(known.ends - known.starts <= 2 * WORD)
        self._words = _words(known.take(short))
        order = np.argsort(_keys(self._words))
        self._words = self._words[:, order]
        self._codes = short[order].astype(np.int32)

    def _known_words(self, slices: Slices) -> NDArray[np.int32]:
        if not len(self._codes):
            return np.full(len(slices), -1, np.int32)
        words = _words(slices)
        at = np.searchsorted(_keys(self._words), _keys(words))
        at[at == len(self._codes)] = 0
        same = (self._words[:, at] == words).all(axis=0)
        return np.where(same, self._codes[at], np.int32(-1))


def _words(slices: Slices) -> NDArray[np.uint64]:
    """The first 16 bytes of each text as two machine words, and its length as a third."""
    lengths = slices.ends - slices.starts
    words = np.zeros((3, len(slices)), np.uint64)
    words[2] = lengths
    padded = slices.buffer if len(slices.buffer) >= WORD else slices.buffer.ljust(WORD, b"\0")
    for row in range(1 + bool((lengths > WORD).any())):
        words[row] = _loaded(padded, slices.starts + row * WORD, np.clip(lengths - row * WORD, 0, WORD))
    return words


def _loaded(buffer: bytes, starts: Offsets, lengths: Offsets) -> NDArray[np.uint64]:
    """Load up to 8 bytes from each start on, with zeros behind them."""
    last = len(buffer) - WORD
    at_byte = np.ndarray((last + 1,), np.dtype("<u8"), buffer, strides=(1,))
    within = np.minimum(starts, last)
    shift = np.minimum((starts - within) * 8, 63).astype(np.uint64)
    loaded: NDArray[np.uint64] = (at_byte[within] >> shift) & MASKS[lengths]
    return loaded


def _keys(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # Texts with equal keys exist, but are told apart by their words: the one not indexed is looked up.
    keys: NDArray[np.uint64] = words[0] + words[1] * ODD + words[2]
    return keys


def positions(content: NDArray[np.uint8], byte: int) -> Offsets:
    """Find a byte; in pieces, so that what is compared stays in the cache."""
    size = len(content)
    same = np.empty(min(PIECE, size), bool)
    found = []
    for start in range(0, size, PIECE):
        piece = content[start : start + PIECE]
        found.append(np.flatnonzero(np.equal(piece, byte, out=same[: len(piece)])) + start)
    return np.concatenate(found) if found else np.empty(0, np.int64)
