"""Whether the model of a scikit-learn estimator has its settings and classes already."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from bayleaf.labels import as_array

if TYPE_CHECKING:
    from bayleaf.answering import Compiled
    from bayleaf.model import Model

T = TypeVar("T")
_SETTINGS = frozenset({"alpha", "priors", "unseen", "tuning", "class_weight", "threads"})
"""What is looked at before the model answers, unless nothing was assigned since."""


class Settled:
    """The settings that the model was last found to have, so that they are not compared with every call."""

    def __init__(self) -> None:
        self._seen: tuple[Any, ...] | None = None
        self._classes: Any = None

    def is_known(self, estimator: Any) -> bool:
        """Whether neither the estimator nor its model was set otherwise since."""
        if self._seen is None:
            return False
        # Every question comes by here, and to compare all settings would take a tenth of a short answer.
        model, settings, threads, sums = self._seen
        return (
            estimator.model_ is model
            and model._answers.settings is settings
            and model.threads is threads
            and estimator._sizes_.sums is sums
        )

    def note(self, estimator: Any) -> None:
        """The model has the settings of the estimator; the prior by weights follows every row."""
        weighs = estimator._sizes_.sums is not None or estimator.class_weight is not None
        model = estimator.model_
        self._seen = (
            None if weighs else (model, model._answers.settings, model.threads, estimator._sizes_.sums)
        )

    def forget(self) -> None:
        """A setting of the estimator was assigned."""
        self._seen = None

    def classes(self, estimator: Any) -> None:
        """Name the classes anew if there are others."""
        key = estimator.model_._counts.key
        if key != self._classes:
            before, model = set(getattr(estimator, "classes_", ())), estimator.model_
            estimator.classes_, self._classes = as_array(model.classes), key
            warn_of_strangers(model, before)


class SettledAnswers:
    """Answers of an estimator to one text, without a look at settings of which none was assigned since."""

    model_: Model
    _settled_: Settled

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in _SETTINGS and "_settled_" in self.__dict__:
            self._settled_.forget()

    def _answer_to(self, X: Any, question: Callable[[Compiled, str], T]) -> T | None:
        """What is asked of the only row, if that is a text and everything is ready: as services ask."""
        if type(X) is not list or len(X) != 1 or type(X[0]) is not str:
            return None
        settled: Settled | None = self.__dict__.get("_settled_")
        if settled is None or not settled.is_known(self):
            return None
        return self.model_._answers.of_text(X[0], question)


def warn_of_counts(model: Any) -> None:
    """Say that there are too few rows to weigh the evidence."""
    warnings.warn(
        f"The evidence stays as counted: {model.n_documents} rows in {len(model.classes)} classes are fewer "
        'than 4 a class. Give more rows, or choose a level of `tuning` other than "auto".',
        stacklevel=4,
    )


def warn_of_strangers(model: Any, before: set[Any]) -> None:
    """Say that weights were earned without a class that has come just now."""
    found = [] if model.judgment is None else model.judgment.strangers(model.classes)
    new = [label for label in found if label not in before]
    if new:
        warnings.warn(
            f"The class {new[0]!r} is new, and the evidence was weighed without it: it will be found too "
            "rarely until `retune` is called with the rows that were learned, or `fit` with all of them.",
            stacklevel=5,
        )
