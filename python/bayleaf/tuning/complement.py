"""What the other classes say: a document is of the class whose complement has least of its words.

With few documents of each of many classes, the documents of all other classes are many, and tell better what
a class is not than its own tell what it is. This is one more expert beside the counted evidence, with one
weight, which documents left out decide. Words count by their share of the document and their rarity, and the
weights of each class are made to sum up to the same size (Rennie et al. 2003): otherwise classes with few
documents, whose complements differ from all documents the least, are hardly heard.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.tuning.class_weights import WordExpert, Words
from bayleaf.tuning.examples import Examples
from bayleaf.types import Floats

ALPHA = 0.1
"""The smoothing of a word's share."""
FEW_CLASSES = 8
"""Among so many classes or fewer it lost (a point of accuracy on webkb and r8), and is left out."""


@dataclass(frozen=True, eq=False)
class Complement(WordExpert):
    """The words of counted documents, by class."""

    mass: Floats
    """Words x classes."""
    levels: Floats
    """What the weights of each class are multiplied by; the same when a document is left out."""

    center: float = 4.0
    """Its weight before any document has said something."""

    @classmethod
    def of(cls, words: Words, examples: Examples) -> Complement:
        """The expert of these documents."""
        size = words.rows(examples, leave_out=True).size()
        return cls(words, size, np.zeros((0, 0)), np.zeros(0)).counted(examples)

    def counted(self, examples: Examples) -> Complement:
        """The expert as if only these documents had been learned."""
        rows = self.rows(examples, leave_out=True)
        cells = rows.words.astype(np.intp) * examples.classes + np.repeat(examples.y, rows.lengths())
        mass = np.bincount(cells, rows.values, len(self.words.places) * examples.classes)
        shaped = mass.reshape(-1, examples.classes).astype(np.float64)
        return replace(self, mass=shaped, levels=levels(_weights(shaped)))

    def weights(self) -> Floats:
        """Words x classes: minus the log of the share of each word in the complement of each class."""
        return self.levels * _weights(self.mass)

    def left_out(self, examples: Examples) -> Floats:
        """What it says of each document under the counts without it and its group."""
        rows = self.rows(examples, leave_out=True)
        document = np.repeat(np.arange(len(examples)), rows.lengths())
        group = _numbered(examples.groups) if len(examples.groups) else np.arange(len(examples))
        own = _summed(group[document] * len(self.mass) + rows.words, rows.values, document, examples)
        lost = _summed(group[document], rows.values, document, examples)
        totals = self.mass.sum(axis=0) - lost
        said = centered(-_log_shares(self.mass[rows.words] - own, totals, len(self.mass)))
        return rows.summed(self.levels * said)


def centered(rows: Floats) -> Floats:
    """Rows of classes whose mean is 0."""
    off: Floats = rows - rows.mean(axis=1, keepdims=True)
    return off


def levels(weights: Floats) -> Floats:
    """What the weights of each class are multiplied by, so that their sizes sum up to the same."""
    sizes = np.abs(weights).sum(axis=0)
    factors: Floats = sizes.mean() / np.maximum(sizes, 1e-300) if sizes.all() else np.ones(len(sizes))
    return factors


def _weights(mass: Floats) -> Floats:
    return centered(-_log_shares(mass, mass.sum(axis=0), len(mass)))


def _log_shares(mass: Floats, totals: Floats, words: int) -> Floats:
    """The log of the share of words in the complement of each class."""
    elsewhere = np.maximum(mass.sum(axis=1, keepdims=True) - mass, 0.0)
    rest = np.maximum(totals.sum(axis=-1, keepdims=True) - totals, 0.0)
    shares: Floats = np.log(elsewhere + ALPHA) - np.log(rest + ALPHA * max(words, 1))
    return shares


def _numbered(names: NDArray[Any]) -> NDArray[np.intp]:
    return np.unique(names, return_inverse=True)[1].astype(np.intp)


def _summed(key: NDArray[Any], values: Floats, document: NDArray[Any], examples: Examples) -> Floats:
    """For each entry the sums by class of the values with the same key."""
    place = _numbered(key)
    classes = examples.classes
    sums = np.bincount(place * classes + examples.y[document], values, (place.max(initial=-1) + 1) * classes)
    return sums.reshape(-1, classes)[place].astype(np.float64)
