"""Atomic writes: a file is replaced when all of it is on disk, or stays as it was."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from typing import IO, Any

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_TRIES = 100
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)
"""What folders answer that cannot be synchronized, or not by us; not a failure of the disk."""
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)\Z")


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` if nothing goes wrong.

    It is made in the same folder under an unpredictable name. A link is kept, and what it leads to
    is replaced, with the permissions, the owner and the extended attributes that it has, as far as the user
    may give them. A device, a pipe or a socket is written to instead.
    """
    if is_stream(path):
        with _stream(os.fspath(path)) as file:
            yield file
        return
    target = os.path.realpath(path)
    _remove_leftovers(target)
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


def write(path: str | os.PathLike[str], *pieces: bytes | memoryview) -> None:
    """Write a file completely or not at all."""
    with replacing(path) as file:
        file.writelines(pieces)


def hard_links(path: str | os.PathLike[str]) -> int:
    """How many names a file has that can be replaced under one of them only; 0 if there is no such file."""
    try:
        found = os.stat(path)
    except OSError:
        return 0
    return found.st_nlink if stat.S_ISREG(found.st_mode) else 0


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is something to write to that cannot be replaced: a device, a pipe, standard output."""
    name = os.fspath(path)
    if name == "/dev/stdout" or _DESCRIPTOR.match(name):
        return True
    try:
        mode = os.stat(name).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextlib.contextmanager
def _stream(name: str) -> Iterator[IO[bytes]]:
    descriptor = _DESCRIPTOR.match("/dev/fd/1" if name == "/dev/stdout" else name)
    if descriptor:
        with os.fdopen(os.dup(int(descriptor[1])), "wb") as file:
            yield file
    elif stat.S_ISSOCK(os.stat(name).st_mode):
        import socket

        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(name)
            with connection.makefile("wb") as file:
                yield file
    else:
        with open(name, "wb") as file:
            yield file


def _beside(target: str) -> tuple[int, str]:
    """A new, hidden file in the folder of another, with what is known of it or as any new file.

    The kernel applies the umask: to read it, a process must change it, and all of its threads with it. The
    file is locked while it is written, so that what a killed process left can be told from what is in use.
    """
    before = os.stat(target) if os.path.exists(target) else None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    for _ in range(_TRIES):
        name = f"{_prefix(target)}{os.urandom(6).hex()}"
        try:
            handle = os.open(name, flags, 0o666 if before is None else 0o600)
        except FileExistsError:
            continue
        except OSError as error:  # the user knows the target, not the file beside it
            raise type(error)(error.errno, error.strerror, target) from None
        if not _locked(handle) or not os.path.exists(name):  # taken for a leftover before it was locked
            os.close(handle)
            continue
        if before is not None:
            _make_alike(target, before, handle)
        return handle, name
    raise FileExistsError(errno.EEXIST, "no name is free beside it", target)


def _prefix(target: str) -> str:
    folder, base = os.path.split(target)
    return os.path.join(folder, f".{base[:100]}.")


def _locked(handle: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: nothing is ever taken for a leftover there
        return True
    return True


def _make_alike(target: str, before: os.stat_result, handle: int) -> None:
    """Give a new file the owner, the attributes and the permissions of the one that it will replace."""
    if hasattr(os, "fchown"):
        mine = os.fstat(handle)
        if mine.st_gid != before.st_gid:
            with contextlib.suppress(OSError):
                os.fchown(handle, -1, before.st_gid)
        if mine.st_uid != before.st_uid:
            with contextlib.suppress(OSError):
                os.fchown(handle, before.st_uid, -1)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for attribute in os.listxattr(target):
                with contextlib.suppress(OSError):
                    os.setxattr(handle, attribute, os.getxattr(target, attribute))
    os.chmod(handle if os.chmod in os.supports_fd else target, before.st_mode & 0o777)


def _remove_leftovers(target: str) -> None:
    """Remove what killed processes left beside a file: their locks have gone with them."""
    if fcntl is None:
        return
    prefix = _prefix(target)
    leftover = re.compile(re.escape(os.path.basename(prefix)) + r"[0-9a-f]{12}\Z")
    with contextlib.suppress(OSError), os.scandir(os.path.dirname(target)) as entries:
        for name in [entry.path for entry in entries if leftover.match(entry.name)]:
            with contextlib.suppress(OSError):
                handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(name)
                finally:
                    os.close(handle)


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
