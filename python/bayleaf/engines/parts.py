"""Blobs of texts added up and divided as the arrays they are: no task makes a table of terms only to add."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayleaf import _core, model_file, model_views, storage
from bayleaf.exchange import kept
from bayleaf.labels import sort_key
from bayleaf.model import Model
from bayleaf.text.counts import ClassCounts, TextTally
from bayleaf.types import Classes, Label

ORIGIN = "a part of the model"
"""What errors call a blob."""


def of_texts(empty: Model) -> bool:
    """Whether all that a model counts are terms of texts."""
    return all(isinstance(tally, TextTally) for tally in empty.tallies)


@dataclass(frozen=True)
class Part:
    """What some tasks have counted: the settings and the arrays of a model of texts."""

    settings: dict[str, Any]
    views: list[storage.Arrays]

    @classmethod
    def unpacked(cls, blob: bytes) -> Part:
        """The part in a blob."""
        return cls(*storage.unpack(blob, ORIGIN))

    @property
    def cells(self) -> int:
        """How many counts there are."""
        return sum(len(own["term"]) for own in self.views)

    def plus(self, other: Part) -> Part:
        """The sum of what was counted of different documents."""
        ours, theirs = self._documents, other._documents
        labels = sorted(ours | theirs, key=sort_key)
        documents = [ours.get(label, 0) + theirs.get(label, 0) for label in labels]
        return self._sum(other, labels, documents, same_documents=False)

    def beside(self, other: Part) -> Part:
        """The same documents, with the terms of both."""
        if self._documents != other._documents:
            raise RuntimeError("The ranges of the model have counted different documents. Run the job again.")
        return self._sum(other, self.settings["classes"], self.settings["documents"], same_documents=True)

    @property
    def _documents(self) -> dict[Label, int]:
        return dict(zip(self.settings["classes"], self.settings["documents"], strict=True))

    def _sum(self, other: Part, labels: list[Label], documents: list[int], same_documents: bool) -> Part:
        place = {label: place for place, label in enumerate(labels)}

        def places(part: Part) -> Classes:
            return np.array([place[label] for label in part.settings["classes"]], np.uint32)

        views = [
            _core.sum_of_arrays(
                mine, yours, places(self), places(other), len(labels), same_documents=same_documents
            )
            for mine, yours in zip(self.views, other.views, strict=True)
        ]
        return Part({**self.settings, "classes": labels, "documents": documents}, views)

    def pruned(self, min_documents: int) -> Part:
        """The same without terms of fewer documents."""
        if min_documents <= 1:
            return self
        counts = [ClassCounts(own, own["terms"]) for own in self.views]
        return Part(self.settings, [kept(own, min_documents) for own in counts])

    def divided(self, ranges: int) -> Iterator[Part]:
        """One part for each range of a hash of the terms; each has all documents."""
        divisions = [_core.Division(own, ranges) for own in self.views]
        for own in range(ranges):
            yield Part(self.settings, [division.part(own) for division in divisions])

    def to_bytes(self) -> bytes:
        """A blob."""
        return storage.pack(self.settings, self.views)

    def model(self, like: Model, threads: int = 1) -> Model:
        """The model that has learned this, with the user's functions of another that has the same views."""
        functions = model_views.normalizers_of(like.views)
        return model_file.restored(Model, self.settings, self.views, ORIGIN, functions, threads)


class Total:
    """A sum to which parts come one by one.

    Those of about the same size are added first, so that each count is moved as often as a tree has levels.
    """

    def __init__(self, add: Callable[[Part, Part], Part] = Part.plus) -> None:
        self._add = add
        self._waiting: list[Part] = []

    def put(self, part: Part) -> None:
        """Add a part, now or later."""
        self._waiting.append(part)
        while len(self._waiting) > 1 and self._waiting[-2].cells < 2 * self._waiting[-1].cells:
            self._add_last()

    def part(self) -> Part | None:
        """The sum of all that came; None of none."""
        while len(self._waiting) > 1:
            self._add_last()
        return self._waiting[0] if self._waiting else None

    def _add_last(self) -> None:
        last, before = self._waiting.pop(), self._waiting.pop()
        self._waiting.append(self._add(before, last))


def added(blobs: Iterable[bytes], add: Callable[[Part, Part], Part] = Part.plus) -> Part | None:
    """The sum of blobs, each of which is let go before the next is taken; None of none."""
    total = Total(add)
    for blob in blobs:
        total.put(Part.unpacked(blob))
        del blob
    return total.part()
