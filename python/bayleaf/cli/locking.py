"""One command at a time changes a model: a lock beside its file, which ends with its process."""

from __future__ import annotations

import os
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

POLL = 0.05


class locked:  # noqa: N801 (a context manager, written as one: `contextlib` takes longer to import than to lock)
    """Hold the lock of a file, from before it is read until after it is written.

    The lock is on a file of its own, because the model is replaced; whoever holds it removes it in the end.
    """

    def __init__(self, path: str, wait: bool, remark: Callable[[str], None]) -> None:
        self._path, self._wait, self._remark = path, wait, remark
        folder, base = os.path.split(os.path.realpath(path))
        self._name = os.path.join(folder, f".{base[:100]}.lock")
        self._handle: int | None = None

    def __enter__(self) -> None:
        if os.name != "nt" and _can_be_replaced(self._path):
            self._handle = _taken(self._name, self._path, self._wait, self._remark)

    def __exit__(self, *_: object) -> None:
        if self._handle is None:
            return
        try:  # noqa: SIM105 (as above)
            os.unlink(self._name)
        except OSError:
            pass
        os.close(self._handle)


def _can_be_replaced(path: str) -> bool:
    """Whether a path is a file, or nothing yet; devices and pipes are written to, and need no lock."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _taken(name: str, path: str, wait: bool, remark: Callable[[str], None]) -> int:
    waiting = False
    while (handle := _attempt(name)) is None:
        if not wait:
            import click

            raise click.ClickException(f"{path} is being changed by another command. Try again later.")
        if not waiting:
            remark(f"Waiting for another command that changes {path}.")
            waiting = True
        time.sleep(POLL)
    return handle


def _attempt(name: str) -> int | None:
    """The lock, if it is free. Who held it may have removed its file meanwhile: then it is not ours."""
    import fcntl

    try:
        handle = os.open(name, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except PermissionError:
        if os.path.exists(name):  # another user's, who does not let us look
            return None
        raise
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.stat(name)):
            return handle
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None
