"""Atomic writes: a file is replaced when all of it is on disk, or stays as it was."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import IO

_TRIES = 100
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)
"""What folders answer that cannot be synchronized, or not by us; not a failure of the disk."""


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` if nothing goes wrong.

    It is made in the same folder under a name that nobody can foresee. A link is kept, and what it leads to
    is replaced, with the permissions that it has.
    """
    target = os.path.realpath(path)
    handle, name = _beside(target)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(os.path.dirname(target))


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file completely or not at all."""
    with replacing(path) as file:
        file.write(data)


def _beside(target: str) -> tuple[int, str]:
    """A new, hidden file in the folder of another, with its permissions or with those of any new file.

    The kernel applies the umask: to read it, a process must change it, and all of its threads with it.
    """
    folder, base = os.path.split(target)
    mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    for _ in range(_TRIES):
        name = os.path.join(folder, f".{base[:100]}.{os.urandom(6).hex()}")
        try:
            handle = os.open(name, flags, 0o666 if mode is None else 0o600)
        except FileExistsError:
            continue
        if mode is not None:
            os.chmod(name, mode)
        return handle, name
    raise FileExistsError(errno.EEXIST, "no name is free beside it", target)


def _sync_folder(folder: str) -> None:
    """Make the new name durable, where folders can be synchronized."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
