"""Evaluation on labeled documents, for `train` and `evaluate`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayleaf.metrics import Scorecard
    from bayleaf.model import Model
    from bayleaf.types import Label


@dataclass(frozen=True)
class Mistake:
    """A document that got the wrong class, and how sure the model was of it."""

    origin: str
    text: str
    truth: Label
    answer: Label
    log_posterior: float


@dataclass
class Measurement:
    """A scorecard, the names of its classes, and the mistakes that were made with most confidence."""

    model: Model
    most: int = 0
    mistakes: list[Mistake] = field(default_factory=list)

    def __post_init__(self) -> None:
        from bayleaf.metrics import Scorecard

        self._known = {str(name): number for number, name in enumerate(self.model.classes)}
        self._strangers: list[Label] = []
        self.card: Scorecard = Scorecard(len(self._known))

    @property
    def names(self) -> list[Label]:
        """The classes of the model, then those that only the documents have."""
        return [*self.model.classes, *self._strangers]

    def add(self, texts: Any, labels: Any, origin: Any) -> None:
        """Answer documents and compare."""
        truth = self._numbers(labels)
        posterior = self.model.log_posterior(texts)
        answers = self.card.add(truth, posterior)
        if self.most:
            self._keep_worst(texts, truth, answers, posterior.max(axis=1), origin)

    def _numbers(self, labels: Any) -> NDArray[np.intp]:
        import numpy as np

        from bayleaf.corpus import Numbering

        seen = Numbering()
        numbers = seen.encode(labels)
        for name in seen.names:
            if name not in self._known:
                self._known[name] = len(self._known)
                self._strangers.append(name)
        return np.array([self._known[name] for name in seen.names], np.intp)[numbers]

    def _keep_worst(
        self, texts: Any, truth: NDArray[Any], answers: NDArray[Any], sure: NDArray[Any], origin: Any
    ) -> None:
        import numpy as np

        wrong = np.flatnonzero(truth != answers)
        worst = wrong[np.argsort(-sure[wrong], kind="stable")[: self.most]].tolist()
        names = self.names
        self.mistakes += [
            Mistake(origin(row), _text(texts, row), names[truth[row]], names[answers[row]], float(sure[row]))
            for row in worst
        ]
        self.mistakes.sort(key=lambda mistake: -mistake.log_posterior)
        del self.mistakes[self.most :]

    def check(self, where: str) -> None:
        """Refuse to measure nothing."""
        if not self.card.n:
            raise click.ClickException(f"{where} holds no document to measure with.")

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        card = self.card
        columns = zip(self.names, card.precision, card.recall, card.f1, card.support, strict=True)
        return {
            "documents": card.n,
            "accuracy": card.accuracy,
            "macro_f1": card.macro_f1,
            "mcc": card.mcc,
            "log_loss": card.log_loss,
            "ece": card.ece,
            "classes": [
                {
                    "class": name,
                    "precision": float(p),
                    "recall": float(r),
                    "f1": float(f),
                    "documents": int(n),
                }
                for name, p, r, f, n in columns
            ],
            "confusion": card.confusion.tolist(),
        }


def _text(texts: Any, row: int) -> str:
    value = texts[row]
    return str(value.as_py() if hasattr(value, "as_py") else value)
