"""How a model has been doing: answers given before the truth was taught, and the shares of classes."""

from __future__ import annotations

import math
from collections import Counter, deque

from bayleaf.types import Label

WINDOW = 1_000
SMALLEST = 1e-15


class Record:
    """Progressive accuracy and log loss, and how far the last answers are from all answers."""

    def __init__(self, asked: int = 0, right: int = 0, loss: float = 0.0) -> None:
        self.asked, self.right, self.loss = asked, right, loss
        self._all: Counter[Label] = Counter()
        self._last: deque[Label] = deque(maxlen=WINDOW)
        self._recent: Counter[Label] = Counter()

    def taught(self, answer: Label, label: Label, probability: float) -> None:
        """A document that was asked about has been taught."""
        self.asked += 1
        self.right += answer == label
        self.loss -= math.log(max(probability, SMALLEST))

    def answered(self, label: Label) -> None:
        """A question was answered with this class."""
        if len(self._last) == WINDOW:
            self._recent[self._last[0]] -= 1
        self._last.append(label)
        self._recent[label] += 1
        self._all[label] += 1

    def answered_before(self, label: Label, count: int) -> None:
        """So many questions were answered with this class before the last ones."""
        self._all[label] += count

    @property
    def accuracy(self) -> float | None:
        """The share of answers that were right."""
        return self.right / self.asked if self.asked else None

    @property
    def log_loss(self) -> float | None:
        """The mean of -log of the probability that the answers gave to the truth."""
        return self.loss / self.asked if self.asked else None

    def shares(self) -> dict[str, float]:
        """The share of each class among the last answers."""
        total = len(self._last)
        return {str(label): count / total for label, count in sorted(self._recent.items(), key=str) if count}

    def drift(self) -> float:
        """How much of the last answers would have to change class to be like all since the start: 0 to 1."""
        total, last = self._all.total(), len(self._last)
        if not total:
            return 0.0
        differences = (abs(self._recent[label] / last - count / total) for label, count in self._all.items())
        return sum(differences) / 2
