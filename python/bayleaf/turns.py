"""Who may use a model now: one thread at a time changes it or makes it ready to answer, the others wait."""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import ParamSpec, TypeVar

from bayleaf._core import in_callback

REENTERED = (
    "The model is being changed by the call that led here: a normalizer, a tokenizer or a signal handler "
    "cannot use the model that called it. Let it take note, and use the model when the call has returned."
)
ELSEWHERE = (
    "Another thread is using the model, and a normalizer or tokenizer cannot wait for it: both could wait "
    "for ever. Use the model outside of the callback."
)
FORKED = (
    "Another thread was changing the model when this process was forked, so it is half changed here. Load it "
    "again, or fork (or start a pool of processes) while no thread is learning."
)
CHANGED = (
    "Another thread changed the model meanwhile, so the result would fit neither before nor after. "
    "Call again."
)


class Turn:
    """A lock that refuses instead of waiting for ever: a thread that has its turn already, and a callback.

    It can be taken again until it is marked as busy, and after that mark is gone: a signal handler that runs
    just then finds the model at rest, may use it, and leaves it at rest.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._busy = self._lost = False
        self.changes = 0
        """How often the model was changed."""
        _turns.add(self)

    def __enter__(self) -> None:
        if not self._lock.acquire(False) and (in_callback() or not self._lock.acquire()):
            raise RuntimeError(ELSEWHERE)
        mine = False
        try:
            if self._busy or self._lost:
                raise RuntimeError(FORKED if self._lost else REENTERED)
            self._busy = mine = True
        except BaseException:
            self._busy = self._busy and not mine
            self._lock.release()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._busy = False
        if not self._lost:
            self._lock.release()

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """What happens inside is worth nothing if another thread changes the model meanwhile."""
        before = self.changes
        try:
            yield
        except Exception as error:
            if self.changes != before:
                raise RuntimeError(CHANGED) from error
            raise
        if self.changes != before:
            raise RuntimeError(CHANGED)

    def forked(self) -> None:
        """Forget the threads that are not in this process; what one of them was changing is lost."""
        self._lost = self._lost or self._busy
        self._busy, self._lock = False, threading.RLock()


_turns: weakref.WeakSet[Turn] = weakref.WeakSet()


def _forked() -> None:
    for turn in list(_turns):
        turn.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@contextmanager
def both(first: Turn, second: Turn) -> Iterator[None]:
    """The turn of two models, or of one; always taken in the same order, so that no two wait in a circle."""
    one, *other = sorted({first, second}, key=id)
    with one:
        if not other:
            yield
            return
        with other[0]:
            yield


P = ParamSpec("P")
T = TypeVar("T")


def changing(method: Callable[P, T]) -> Callable[P, T]:
    """A method that changes the model alone; the model keeps its turn in `_turn`."""

    @functools.wraps(method)
    def alone(*args: P.args, **settings: P.kwargs) -> T:
        turn: Turn = args[0]._turn  # type: ignore[attr-defined]
        with turn:
            turn.changes += 1
            return method(*args, **settings)

    return alone


def finish(work: Callable[[], object]) -> None:
    """Do what must not stop halfway: after Ctrl-C it is done once more, to its end; then that is raised."""
    interrupted: KeyboardInterrupt | None = None
    while True:
        try:
            work()
            break
        except KeyboardInterrupt as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted
