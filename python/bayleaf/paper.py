"""The examples of the paper as data, and what it makes of them in exact fractions.

The paper is S. Raschka, *Naive Bayes and Text Classification I: Introduction and Theory* (2014,
arXiv:1410.5329). Nothing here uses the rest of bayleaf, so that the two can be compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple


class Sample(NamedTuple):
    """A sample of the toy data set."""

    color: str
    shape: str
    label: str = ""


COLORS = ("blue", "green", "red", "yellow")
SHAPES = ("circle", "square")

TOY = tuple(
    Sample(*words.split())
    for words in (
        "blue square +", "blue square +", "blue circle +", "green square +",
        "green square +", "red square +", "red circle +",
        "blue square -", "blue square -", "blue circle -", "red square -", "green circle -",
    )
)  # fmt: skip
"""Twelve samples. The paper gives the shares of blue and of squares; how they are paired is our choice, and
so is who is green and who is red. No number of the paper depends on it."""

BLUE_SQUARE = Sample("blue", "square")
YELLOW_SQUARE = Sample("yellow", "square")

D1 = "Each state has its own laws."
D2 = "Every country has its own culture."
VOCABULARY = ("each", "state", "has", "its", "own", "laws", "every", "country", "culture")
SENTENCE = "A swimmer likes swimming, thus he swims."

N_DOCUMENTS, N_SPAM = 500, 100
HELLO, WORLD = 20, 2
"""Of the spam messages, how many have each word."""

MESSAGES = (
    ("spam", "win money now"),
    ("spam", "win win prize"),
    ("ham", "lunch now"),
    ("ham", "money for lunch"),
    ("ham", "now for lunch"),
)
"""A corpus small enough to read. The paper has formulas for spam but no messages; these are ours."""
QUESTION = "win win lunch"

MEANS, SIGMA = (4, 10), 1


class Share(NamedTuple):
    """A part of a whole, smoothed if `alpha` is above 0, written as one writes it by hand."""

    part: int | Fraction
    whole: int | Fraction
    alpha: Fraction = Fraction(0)
    cells: int = 0

    @property
    def value(self) -> Fraction:
        """The share as a number."""
        return Fraction(self.part + self.alpha) / Fraction(self.whole + self.alpha * self.cells)

    def __str__(self) -> str:
        if not self.alpha:
            return f"{self.part}/{self.whole}"
        times = "" if self.alpha == 1 else f"{self.alpha}·"
        return f"({self.part}+{self.alpha})/({self.whole}+{times}{self.cells})"


@dataclass(frozen=True)
class Line:
    """One calculation: what it gives, the shares it is made of, and what the paper prints."""

    name: str
    parts: tuple[Share | Fraction, ...]
    operator: str = "·"
    printed: str = ""

    @property
    def value(self) -> Fraction:
        """The result, exactly."""
        numbers = [part.value if isinstance(part, Share) else part for part in self.parts]
        if self.operator == "+":
            return sum(numbers, Fraction(0))
        if self.operator == "÷":
            return numbers[0] / numbers[1]
        return math.prod(numbers, start=Fraction(1))

    @property
    def formula(self) -> str:
        """The calculation as one writes it."""
        return f" {self.operator} ".join(map(str, self.parts))


def toy_table() -> tuple[dict[str, list[str]], list[str]]:
    """The toy samples as columns and labels, ready to be learned."""
    columns = {"color": [sample.color for sample in TOY], "shape": [sample.shape for sample in TOY]}
    return columns, [sample.label for sample in TOY]


def toy_prior(label: str) -> Share:
    """The part of the toy samples that has this label."""
    return Share(sum(sample.label == label for sample in TOY), len(TOY))


def toy_shares(new: Sample, label: str, alpha: Fraction = Fraction(0)) -> tuple[Share, Share]:
    """The parts of a class that have the color and the shape of a new sample."""
    own = [sample for sample in TOY if sample.label == label]
    color = sum(sample.color == new.color for sample in own)
    shape = sum(sample.shape == new.shape for sample in own)
    return Share(color, len(own), alpha, len(COLORS)), Share(shape, len(own), alpha, len(SHAPES))


@dataclass(frozen=True)
class Corpus:
    """Messages and their labels, and the estimates of the paper's two models of text."""

    messages: Sequence[tuple[str, str]] = MESSAGES

    @property
    def vocabulary(self) -> list[str]:
        """All words, sorted."""
        return sorted({word for _, text in self.messages for word in text.split()})

    def of(self, label: str) -> list[list[str]]:
        """The messages of a class, as lists of words."""
        return [text.split() for own, text in self.messages if own == label]

    def prior(self, label: str) -> Share:
        """The part of the messages that is of this class."""
        return Share(len(self.of(label)), len(self.messages))

    def bernoulli(self, word: str, label: str, present: bool = True) -> Share:
        """How probable it is that a message of the class has the word, or has it not."""
        own = self.of(label)
        having = sum(word in message for message in own)
        return Share(having if present else len(own) - having, len(own), Fraction(1), 2)

    def multinomial(self, word: str, label: str, alpha: Fraction = Fraction(1)) -> Share:
        """How probable it is that a word drawn from the class is this one."""
        counts = Counter(each for message in self.of(label) for each in message)
        return Share(counts[word], counts.total(), alpha, len(self.vocabulary))

    def normalized(self, word: str, label: str, alpha: Fraction = Fraction(1)) -> Share:
        """The same with term frequencies divided by the length of their message."""
        sums = sum((frequency(word, message) for message in self.of(label)), Fraction(0))
        return Share(sums, len(self.of(label)), alpha, len(self.vocabulary))

    def idf(self, word: str) -> float:
        """The logarithm of all messages by those that have the word."""
        return math.log(len(self.messages) / sum(word in text.split() for _, text in self.messages))

    def factors(self, question: str, label: str, model: str) -> tuple[Share, ...]:
        """What is multiplied to the likelihood of a message: for Bernoulli, words that are absent too."""
        asked = question.split()
        if model == "bernoulli":
            return tuple(self.bernoulli(word, label, word in asked) for word in self.vocabulary)
        return tuple(self.multinomial(word, label) for word in asked)


def frequency(word: str, message: Iterable[str]) -> Fraction:
    """How often the word occurs, divided by the length of the message."""
    words = list(message)
    return Fraction(words.count(word), len(words))


def density(x: float, mean: float, sigma: float = SIGMA) -> float:
    """The normal curve."""
    return math.exp(-((x - mean) ** 2) / (2 * sigma**2)) / math.sqrt(2 * math.pi * sigma**2)


def boundary(prior: float) -> float:
    """Where the decision changes between the two normal classes, given the prior of the first."""
    first, second = MEANS
    return (first + second) / 2 + SIGMA**2 * math.log(prior / (1 - prior)) / (second - first)
