"""Who is at the other end of a Unix socket, as the kernel says."""

from __future__ import annotations

import os
import pwd
import socket
import struct
from typing import Any, NamedTuple

_CREDENTIALS = struct.Struct("3i")


class Peer(NamedTuple):
    """A user of this machine."""

    uid: int
    name: str

    def may_speak_for_others(self, trusted: str) -> bool:
        """Whether it may name users: root, the user of the service, and those who are trusted."""
        return self.uid in (0, os.getuid()) or self.name in trusted.replace(",", " ").split()


def peer_of(connection: Any) -> Peer | None:
    """The user who opened a connection; None on TCP, and where the system does not tell."""
    if connection is None or connection.family != socket.AF_UNIX or not hasattr(socket, "SO_PEERCRED"):
        return None
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(found)
    return user_of(uid)


def user_of(uid: int) -> Peer:
    """A user by number."""
    try:
        return Peer(uid, pwd.getpwuid(uid).pw_name)
    except KeyError:
        return Peer(uid, f"uid {uid}")
