"""Which documents were learned: a keyed hash of each with its class, so that identity decides, not terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayleaf.columns import row_bytes
from bayleaf.types import Arrays, Classes

SIZE = 16
"""Bytes of a hash: among a billion documents two share one with a chance of one in 10**21."""
LONGEST_KEY = 64

Held = dict[int, int]
"""How often a document was learned, by the number of its class."""

_CHANGES = b""
"""In place of a hash: how often the ledger has changed, so that both change in one step."""


class NotInLedger(Exception):  # noqa: N818 (a refusal)
    """A document that was not learned with its class: its row, that class, and those it was learned with."""


class Ledger:
    """How often each document was learned with each class; changes and merges as the counts of a view do."""

    def __init__(self, key: bytes = b"") -> None:
        self.key = key
        self._held: dict[bytes, Held] = {_CHANGES: {0: 0}}

    def __len__(self) -> int:
        return sum(sum(held.values()) for digest, held in self._held.items() if digest)

    @property
    def changes(self) -> int:
        """How often it has changed."""
        return self._held[_CHANGES][0]

    def digests(self, columns: Sequence[Any]) -> list[bytes]:
        """A hash of each row of these columns."""
        from hashlib import blake2b

        mark = b"bayleaf ledger"
        return [
            blake2b(row, digest_size=SIZE, key=self.key, person=mark).digest() for row in row_bytes(columns)
        ]

    def held(self, digest: bytes) -> Held:
        """How often a document was learned, by class."""
        return {number: times for number, times in self._held.get(digest, {}).items() if times}

    def add(self, digests: Sequence[bytes], numbers: Classes, threads: int) -> None:  # noqa: ARG002
        """Note documents with their classes."""
        self._change(digests, numbers, 1)

    def subtract(self, digests: Sequence[bytes], numbers: Classes) -> None:
        """Take documents back, if all of them were noted with their classes."""
        self._change(digests, numbers, -1)

    def _change(self, digests: Sequence[bytes], numbers: Classes, sign: int) -> None:
        changed: dict[bytes, Held] = {}
        for row, (digest, number) in enumerate(zip(digests, numbers.tolist(), strict=True)):
            held = changed.setdefault(digest, self.held(digest))
            held[number] = held.get(number, 0) + sign
            if held[number] < 0:
                raise NotInLedger(row, number, sorted(self.held(digest)))
        self._put(changed)

    def _put(self, changed: dict[bytes, Held]) -> None:
        """In one step, which no interrupt can part; what is empty says nothing, and goes after it."""
        self._held.update({**changed, _CHANGES: {0: self.changes + 1}})
        for digest, held in changed.items():
            if not any(held.values()):
                self._held.pop(digest, None)

    def check_merge(self, other: Ledger, numbers: Classes) -> None:  # noqa: ARG002
        """Raise if the hashes of another ledger mean other documents."""
        if self.key != other.key:
            raise ValueError(
                "The ledgers of the models have different keys, so their hashes cannot be compared. Learn "
                "the documents of one of them again with `ledger` set as in the other."
            )

    def merge(self, other: Ledger, numbers: Classes) -> None:
        """Add another ledger, whose class i is `numbers[i]` here."""
        changed: dict[bytes, Held] = {}
        for digest, held in other._held.items():
            if digest:
                mine = changed[digest] = self.held(digest)
                for number, times in held.items():
                    here = int(numbers[number])
                    mine[here] = mine.get(here, 0) + times
        self._put(changed)

    def to_arrays(self, order: Classes) -> Arrays:
        """The ledger for a file, in canonical order; classes by their place in `order`."""
        place = {number: i for i, number in enumerate(order.tolist())}
        rows = sorted(
            (digest, place[number], times)
            for digest in self._held
            if digest
            for number, times in self.held(digest).items()
        )
        return {
            "ledger": np.frombuffer(b"".join(digest for digest, _, _ in rows), np.uint8),
            "ledger_classes": np.array([i for _, i, _ in rows], np.uint32),
            "ledger_times": np.array([times for _, _, times in rows], np.uint32),
        }

    @classmethod
    def of(cls, key: bytes, arrays: Arrays, class_documents: Sequence[int]) -> Ledger:
        """The ledger of a file, whose arrays are taken out; ValueError if it does not fit the counts."""
        blob = arrays.pop("ledger").tobytes()
        classes, times = (arrays.pop(f"ledger_{name}").astype(np.int64) for name in ("classes", "times"))
        if len(blob) != SIZE * len(classes) or len(times) != len(classes) or (times < 1).any():
            raise ValueError("the ledger has not as many hashes as classes")
        noted = np.bincount(classes, times, len(class_documents))
        if noted.astype(np.int64).tolist() != list(class_documents):
            raise ValueError("the ledger has not the documents that were counted")
        ledger = cls(key)
        for row, (number, many) in enumerate(zip(classes.tolist(), times.tolist(), strict=True)):
            held = ledger._held.setdefault(blob[row * SIZE : (row + 1) * SIZE], {})
            held[number] = held.get(number, 0) + many
        return ledger


def ledger_of(given: Any) -> Ledger | None:
    """The empty ledger that `ledger=` asks for: True, or a key of one's own."""
    if given is None or given is False:
        return None
    if given is True:
        return Ledger()
    key = given.encode() if isinstance(given, str) else given
    if not isinstance(key, bytes) or not 0 < len(key) <= LONGEST_KEY:
        raise ValueError(
            f"`ledger` must be True, False or a key of 1 to {LONGEST_KEY} bytes, got {type(given).__name__} "
            f"{'of ' + str(len(key)) + ' bytes' if isinstance(key, bytes) else repr(given)}."
        )
    return Ledger(key)
