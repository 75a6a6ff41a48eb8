"""What answers now and learns one text at once: derived for all threads, and in step with the counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bayleaf.answering import Compiled, Settings
from bayleaf.turns import Turn

if TYPE_CHECKING:
    from bayleaf.columns import Drift
    from bayleaf.labeled_counts import LabeledCounts

T = TypeVar("T")
NEVER = -1
"""Of what answers no longer: it follows no change."""
TRIES = 3
"""How often an answer is tried while another thread changes the model, before that must wait."""
Question = Callable[[Compiled, list[Any], int], T]
"""Of what answers, what each view reads, and how many threads."""
Derive = Callable[[Compiled | None], Compiled]
"""Makes what answers of the counts as they are, and of what answered before."""


class Lessons(Protocol):
    """What learns and forgets one text in one call; False if it is not as simple as that."""

    def learn(self, X: Any, y: Any, /) -> bool:
        """Learn the only text of X."""

    def forget(self, X: Any, y: Any, /) -> bool:
        """Forget the only text of X."""


class Answers:
    """What answers now: derived once for all threads, and kept in step with the counts."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._compiled: Compiled | None = None
        self.lessons: Lessons | None = None
        """Made when the first document has been learned the long way."""
        self.settings = object()
        """Another one after each change of a setting."""

    def drop(self) -> None:
        """Derive everything anew when it is asked for: a setting has changed."""
        if self._compiled is not None:
            self._compiled.changes = NEVER  # for lessons that another thread has at hand
        self._compiled, self.lessons, self.settings = None, None, object()

    def keep_up(self, counts: LabeledCounts, settings: Settings, drift: Drift | None) -> None:
        """Be in step with the change that its thread has just made, if nothing must be derived anew."""
        compiled, changes = self._compiled, self._turn.changes
        if compiled is None or compiled.changes != changes - 1 or not compiled.keeps_up(counts.key, settings):
            return
        compiled.changes = changes
        if self.lessons is None and compiled.lives_alone:
            self.lessons = counts.lessons(self._turn, compiled, drift)

    def current(self, derive: Derive) -> Compiled:
        """What answers after all changes so far."""
        compiled = self._compiled
        if compiled is not None and compiled.changes == self._turn.changes:
            return compiled
        with self._turn:
            return self._derived(derive)

    def ask(self, question: Question[T], columns: list[Any], threads: int, derive: Derive) -> T:
        """What is asked, as it is at one moment between two changes by other threads."""
        for _ in range(TRIES):
            changes, compiled = self._turn.changes, self._compiled
            if compiled is None or compiled.changes != changes:
                compiled = self.current(derive)
                changes = compiled.changes
            answer = question(compiled, columns, threads)
            if changes == self._turn.changes:
                return answer
        with self._turn:
            return question(self._derived(derive), columns, threads)

    def of_text(self, text: str, question: Callable[[Compiled, str], T]) -> T | None:
        """What is asked of one text, if nothing must be derived and no other thread changes the model."""
        compiled, changes = self._compiled, self._turn.changes
        if compiled is None or compiled.changes != changes or not compiled.takes_text:
            return None
        answer = question(compiled, text)
        return answer if changes == self._turn.changes else None

    def _derived(self, derive: Derive) -> Compiled:
        compiled, changes = self._compiled, self._turn.changes
        if compiled is None or compiled.changes != changes:
            derived = derive(compiled)
            derived.changes = changes
            if derived is not compiled:
                self._compiled, self.lessons = derived, None
            compiled = derived
        return compiled
