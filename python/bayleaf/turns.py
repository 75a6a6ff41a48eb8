"""Who may use a model now: one thread at a time changes it or makes it ready to answer, the others wait."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from bayleaf import _core

CHANGED = (
    "Another thread changed the model meanwhile, so the result would fit neither before nor after. "
    "Call again."
)


class Turn(_core.Turn):
    """A lock that refuses instead of waiting for ever: a thread that has its turn already, and a callback."""

    def __init__(self) -> None:
        _turns.add(self)

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
