"""Whether the model of a scikit-learn estimator has its settings and classes already."""

from __future__ import annotations

import warnings
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from bayleaf.labels import as_array

if TYPE_CHECKING:
    from bayleaf.naive_bayes import NaiveBayes


class Settled:
    """The settings that the model was last found to have, so that they are not compared with every call."""

    def __init__(self) -> None:
        self._seen: tuple[Any, ...] | None = None
        self._classes: Any = None

    def is_known(self, estimator: NaiveBayes) -> bool:
        """Whether neither the estimator nor its model was set otherwise since."""
        if self._seen is None:
            return False
        # Every question comes by here: compared one by one they take half the time of two tuples.
        (model, alpha, priors, unseen, tuning, class_weight, threads, sums), of_model = self._seen
        own_alpha, own_priors, own_unseen, weighed, own_threads, judgment, fits = of_model
        return (
            estimator.model_ is model
            and estimator.alpha is alpha
            and estimator.priors is priors
            and estimator.unseen is unseen
            and estimator.tuning is tuning
            and estimator.class_weight is class_weight
            and estimator.threads is threads
            and estimator._sizes_.sums is sums
            and model.alpha is own_alpha
            and model.priors is own_priors
            and model.unseen is own_unseen
            and model.weighed is weighed
            and model.threads is own_threads
            and model._judgment is judgment
            and model._fits is fits
        )

    def note(self, estimator: NaiveBayes) -> None:
        """The model has the settings of the estimator; the prior by weights follows every row."""
        weighs = estimator._sizes_.sums is not None or estimator.class_weight is not None
        self._seen = None if weighs else _seen(estimator)

    def classes(self, estimator: NaiveBayes) -> None:
        """Name the classes anew if there are others."""
        key = estimator.model_._counts.key
        if key != self._classes:
            before, model = set(getattr(estimator, "classes_", ())), estimator.model_
            estimator.classes_, self._classes = as_array(model.classes), key
            warn_of_strangers(model, before)


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


_SETTINGS = attrgetter("model_", "alpha", "priors", "unseen", "tuning", "class_weight", "threads")
_OF_MODEL = attrgetter("alpha", "priors", "unseen", "weighed", "threads", "_judgment", "_fits")


def _seen(estimator: NaiveBayes) -> tuple[Any, ...]:
    return (*_SETTINGS(estimator), estimator._sizes_.sums), _OF_MODEL(estimator.model_)
