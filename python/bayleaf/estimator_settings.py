"""Whether the model of a scikit-learn estimator has its settings and classes already."""

from __future__ import annotations

from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any

from bayleaf.labels import as_array

if TYPE_CHECKING:
    from bayleaf.naive_bayes import NaiveBayes


class Settled:
    """The settings that the model was last found to have, so that they are not compared with every call."""

    def __init__(self) -> None:
        self._seen: tuple[Any, ...] = ()
        self._classes: Any = None

    def is_known(self, estimator: NaiveBayes) -> bool:
        """Whether neither the estimator nor its model was set otherwise since."""
        seen = _seen(estimator)
        return len(seen) == len(self._seen) and all(map(is_, seen, self._seen))

    def note(self, estimator: NaiveBayes) -> None:
        """The model has the settings of the estimator; the prior by weights follows every row."""
        weighs = estimator._sizes_.sums is not None or estimator.class_weight is not None
        self._seen = () if weighs else _seen(estimator)

    def classes(self, estimator: NaiveBayes) -> None:
        """Name the classes anew if there are others."""
        key = estimator.model_._counts.key
        if key != self._classes:
            estimator.classes_, self._classes = as_array(estimator.model_.classes), key


_SETTINGS = attrgetter("alpha", "priors", "unseen", "tuning", "class_weight", "threads", "model_")
_OF_MODEL = attrgetter("alpha", "priors", "unseen", "weighed", "threads", "judgment")


def _seen(estimator: NaiveBayes) -> tuple[Any, ...]:
    return *_SETTINGS(estimator), *_OF_MODEL(estimator.model_), estimator._sizes_.sums
