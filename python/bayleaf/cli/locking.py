"""One command at a time changes a model: a lock beside its file, which ends with its process."""

from __future__ import annotations

import contextlib
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POLL = 0.05


@contextlib.contextmanager
def locked(path: str, wait: bool, remark: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a file, from before it is read until after it is written.

    The lock is on a file of its own, because the model is replaced; whoever holds it removes it in the end.
    """
    from bayleaf.atomic import is_stream

    if os.name == "nt" or is_stream(path):
        yield
        return
    folder, base = os.path.split(os.path.realpath(path))
    name = os.path.join(folder, f".{base[:100]}.lock")
    handle = _taken(name, path, wait, remark)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
        os.close(handle)


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
