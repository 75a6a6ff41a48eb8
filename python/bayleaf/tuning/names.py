"""What the name of a class says: a text with the word "grain" in it may well be of the class "grain".

People name classes by what is in them (`billing`, `rec.sport.baseball`), and among few documents that is
worth some more. It is one more expert beside the counted evidence, with one weight, which documents left out
decide: names that mislead come to weigh nothing. Only words that documents hold as well have a say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from bayleaf.text.views import TextView
from bayleaf.tuning.class_weights import WordExpert, Words
from bayleaf.tuning.complement import centered
from bayleaf.tuning.examples import Examples
from bayleaf.types import Floats, Label

WORTH = 8.0
"""What a word of a name says before any document has said something, where a weight of terms is about 1."""
LEAST_BYTES = 3
"""Shorter words are codes (`de`, `IT`, `x`), and mean something else in a text."""
LEAST_COMMON = 4
"""Forms of a word have so many letters in common at the beginning …"""
SHARE_COMMON = 0.75
"""… and so much of the longer one: religion, religious; but not interest, international."""

_BORDERS = re.compile(r"[\W\d_]+|(?<=[a-z])(?=[A-Z])")


def as_text(label: Label) -> str:
    """The words of a label, `rec.sport.baseball` and `BillingIssue` alike; none of a number."""
    words = _BORDERS.split(label) if isinstance(label, str) else []
    return " ".join(word for word in words if len(word.encode(errors="ignore")) >= LEAST_BYTES)


def forms(one: str, other: str) -> bool:
    """Whether two words are the same, or may be two forms of one."""
    common = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))
    longer = max(len(one), len(other))
    return common == longer or (common >= LEAST_COMMON and common >= SHARE_COMMON * longer)


def table(view: TextView, classes: Sequence[Label], words: Sequence[str]) -> Floats:
    """Words x classes: 1 where the name of a class, read as the view reads texts, has a form of the word."""
    starting: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        starting.setdefault(word[:LEAST_COMMON], []).append(place)
    held = np.zeros((len(words), len(classes)))
    for column, label in enumerate(classes):
        for word in view.tokens(as_text(label)):
            alike = starting.get(word[:LEAST_COMMON], [])
            held[[place for place in alike if forms(word, words[place])], column] = 1
    return held


@dataclass(frozen=True, eq=False)
class Names(WordExpert):
    """The names of the classes, by the words of counted documents."""

    said: Floats
    """Words x classes."""

    center: float = 1.0
    """Its weight before any document has said something."""

    @classmethod
    def of(cls, words: Words, examples: Examples, held: Floats) -> Names:
        """The expert of these documents; `held` is where names have words."""
        return cls(words, words.rows(examples, leave_out=True).size(), WORTH * centered(held))

    def counted(self, examples: Examples) -> Names:  # noqa: ARG002
        """The same: names do not depend on documents."""
        return self

    def weights(self) -> Floats:
        """What each word says for each class."""
        return self.said

    def left_out(self, examples: Examples) -> Floats:
        """What it says of documents as if they had not been counted."""
        rows = self.rows(examples, leave_out=True)
        return rows.summed(self.said[rows.words])
