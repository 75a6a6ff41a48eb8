"""One document at a time: learn and ask as River's models do, and a window over the latest documents."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Protocol, Self, TypeVar

from bayleaf.answering import Compiled
from bayleaf.types import Label

T = TypeVar("T")


class OneByOne:
    """`learn_one`, `predict_one` and `predict_proba_one`, of whatever learns and answers rows."""

    _multiclass = _supervised = True  # what River asks of a classifier

    def _learn_rows(self, X: Any, y: list[Any]) -> Any:
        """Learn rows."""
        raise NotImplementedError

    def _ask_one(self, X: Any, question: Callable[[Compiled, list[Any], int], T]) -> T | None:
        """What is asked of the only row of X; None if nothing was learned."""
        raise NotImplementedError

    def _as_rows(self, x: Any) -> Any:
        """One document as what holds several."""
        if type(x) is str or not isinstance(x, Mapping):
            return [x]
        return {name: [value] for name, value in x.items()}

    def learn_one(self, x: Any, y: Label) -> None:
        """Learn one document: a text, or a mapping from columns to values."""
        self._learn_rows(self._as_rows(x), [y])

    def predict_proba_one(self, x: Any) -> dict[Label, float]:
        """The posterior of each class for one document; empty if nothing was learned yet."""
        return self._ask_one(self._as_rows(x), Compiled.posterior_of_one) or {}

    def predict_one(self, x: Any) -> Label | None:
        """The most probable class of one document, or None; ties go to the first class."""
        return self._ask_one(self._as_rows(x), Compiled.best_of_one)


class _Learner(Protocol):
    def _as_rows(self, x: Any) -> Any:
        """One document as what holds several."""

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn one document."""

    def forget(self, X: Any, y: Any) -> Any:
        """Undo having learned documents."""

    def predict_one(self, x: Any) -> Any:
        """The most probable class."""

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The posterior of each class."""


class Window(OneByOne):
    """A model of the latest documents: it learns the new and forgets the oldest, exactly.

    | argument | values | meaning |
    |---|---|---|
    | `model` | `Model` or `NaiveBayes`; what it knows already it keeps | what learns |
    | `size` | number >= 1, None | how many documents are kept |
    | `age` | seconds or `timedelta`, None | for how long a document is kept |

    What the window holds is counted and nothing else: the model's bytes are those of a model that has learned
    these documents. They are kept in memory.
    """

    def __init__(
        self, model: _Learner, size: int | None = None, age: float | timedelta | None = None
    ) -> None:
        if size is None and age is None:
            raise ValueError("Give `size`, how many documents to keep, or `age`, for how long, or both.")
        if size is not None and (type(size) is not int or size < 1):
            raise ValueError(f"`size` must be a whole number >= 1, or None, got {size!r}.")
        seconds = age.total_seconds() if isinstance(age, timedelta) else age
        if seconds is not None and not seconds > 0:
            raise ValueError(f"`age` must be above 0 seconds, or None, got {age!r}.")
        self.model, self.size, self.age = model, size, seconds
        self._held: deque[tuple[float, Any, Label]] = deque()

    def __len__(self) -> int:
        return len(self._held)

    def learn_one(self, x: Any, y: Label, at: float | None = None) -> None:
        """Learn a document of now, or of the time `at` in seconds, and forget those that it displaces."""
        now = time.time() if at is None else at
        self.model.learn_one(x, y)
        self._held.append((now, x, y))
        self.expire(now)

    def expire(self, now: float | None = None) -> Self:
        """Forget what is too old or too much; `learn_one` does it by itself."""
        now = time.time() if now is None else now
        while self._held and self._is_over(now):
            _, x, y = self._held[0]
            self.model.forget(self.model._as_rows(x), [y])
            self._held.popleft()
        return self

    def _is_over(self, now: float) -> bool:
        too_many = self.size is not None and len(self._held) > self.size
        return too_many or (self.age is not None and now - self._held[0][0] > self.age)

    def predict_one(self, x: Any) -> Label | None:
        """The most probable class of one document by the latest ones; None if there are none."""
        answer: Label | None = self.model.predict_one(x)
        return answer

    def predict_proba_one(self, x: Any) -> dict[Label, float]:
        """The posterior of each class for one document by the latest ones."""
        return self.model.predict_proba_one(x)
