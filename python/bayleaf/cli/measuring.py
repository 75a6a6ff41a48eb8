"""Evaluation on labeled documents, for `train` and `evaluate`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from bayleaf.class_names import by_name

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
    document: str | dict[str, Any]
    """The text, or the row of a table or a mail."""
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

        classes = self.model.classes
        self._known = {name: classes.index(label) for name, label in by_name(classes).items()}
        self._strangers: list[Label] = []
        self.card: Scorecard = Scorecard(len(classes))

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
                self._known[name] = len(self.names)
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
            Mistake(
                origin(row), _document(texts, row), names[truth[row]], names[answers[row]], float(sure[row])
            )
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


def _document(texts: Any, row: int) -> str | dict[str, Any]:
    """A document as it can be explained, and written as JSON."""
    if isinstance(texts, dict):
        return {name: _plain(column[row]) for name, column in texts.items()}
    return str(_plain(texts[row]))


def _plain(value: Any) -> Any:
    for method in ("as_py", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    return value
