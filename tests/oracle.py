"""Naive Bayes from the definitions, in exact fractions: slow, short, independent of the core."""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

MARKS = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "M")
WORD = {False: re.compile(r"\w+"), True: re.compile(rf"[\w{MARKS}]+")}
Number = Fraction | float


def words(text: str, shortest: int = 1, longest: int = 1, *, marks: bool = True) -> list[str]:
    """N-grams of words: runs of letters, digits and underscores, and of marks if wanted, in lower case."""
    found = WORD[marks].findall(text.lower())
    return [" ".join(gram) for n in range(shortest, longest + 1) for gram in windows(found, n)]


def windows(items: Sequence[str], n: int) -> Iterator[Sequence[str]]:
    return (items[i : i + n] for i in range(len(items) - n + 1))


def log(p: Number) -> float:
    if p == 0:
        return -math.inf
    return math.log(p.numerator) - math.log(p.denominator) if isinstance(p, Fraction) else math.log(p)


@dataclass(frozen=True)
class Oracle:
    """Documents are lists of terms; everything else is as in `Model` and `words`."""

    documents: Sequence[Sequence[str]]
    labels: Sequence[Hashable]
    event: str = "multinomial"
    tf: str = "count"
    alpha: Fraction = Fraction(1)
    priors: str | Mapping[Hashable, float] = "empirical"
    unseen: str = "ignore"

    @cached_property
    def classes(self) -> list[Hashable]:
        return sorted(set(self.labels), key=lambda label: (isinstance(label, str), label))

    @cached_property
    def with_term(self) -> Counter[str]:
        return Counter(term for document in self.documents for term in set(document))

    @cached_property
    def mass(self) -> dict[Hashable, Counter[str]]:
        """What each class has of each term: F, D or R of the design, times idf for tf-idf."""
        mass: dict[Hashable, Counter[str]] = {label: Counter() for label in self.classes}
        for document, label in zip(self.documents, self.labels, strict=True):
            for term, value in self.values(document).items():
                mass[label][term] += value  # type: ignore[assignment]
        return mass

    def values(self, document: Sequence[str]) -> dict[str, Number]:
        """What each term of a document counts for."""
        share = {term: Fraction(n, len(document)) for term, n in Counter(document).items()}
        if self.event == "bernoulli" or self.tf == "binary":
            return dict.fromkeys(share, Fraction(1))
        if self.tf == "count":
            return {term: part * len(document) for term, part in share.items()}
        return (
            dict(share) if self.tf == "normalized" else {t: part * self.idf(t) for t, part in share.items()}
        )

    def idf(self, term: str) -> float:
        return log(Fraction(len(self.documents), self.with_term[term])) if term in self.with_term else 1.0

    def probability(self, term: str, label: Hashable) -> Number:
        """Of drawing the term (complement: from the other classes), or of its presence (Bernoulli)."""
        if self.event == "bernoulli":
            return (self.mass[label][term] + self.alpha) / (self.labels.count(label) + 2 * self.alpha)
        own = [label] if self.event == "multinomial" else [each for each in self.classes if each != label]
        drawn = sum(self.mass[each][term] for each in own) + self.alpha
        total = sum(sum(self.mass[each].values()) for each in own) + self.alpha * len(self.with_term)
        return drawn / total if drawn else Fraction(0)

    def prior(self, label: Hashable) -> float:
        if isinstance(self.priors, Mapping):
            return log(Fraction(self.priors[label]))
        if self.priors == "uniform":
            return -math.log(len(self.classes))
        return (
            0.0 if self.event == "complement" else log(Fraction(self.labels.count(label), len(self.labels)))
        )

    def log_joint(self, document: Sequence[str]) -> list[float]:
        return [self.prior(label) + math.fsum(self.factors(document, label)) for label in self.classes]

    def factors(self, document: Sequence[str], label: Hashable) -> Iterator[float]:
        sign = -1 if self.event == "complement" else 1
        for term, value in self.values(document).items():
            if (term in self.with_term or (self.with_term and self.unseen == "smooth")) and value:
                yield sign * float(value) * log(self.probability(term, label))
        if self.event == "bernoulli":
            yield from (
                log(1 - self.probability(term, label)) for term in self.with_term if term not in document
            )
