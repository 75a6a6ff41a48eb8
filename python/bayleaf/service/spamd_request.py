"""One SPAMD request, as the core has read it, and how one is refused."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import NamedTuple

from bayleaf.service.peers import Peer

USAGE, DATA, UNAVAILABLE, SOFTWARE, LATER, PROTOCOL, PERMISSION = 64, 65, 69, 70, 75, 76, 77
"""Codes of sysexits.h."""


class SpamdError(Exception):
    """A request that is refused with a code of sysexits.h."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Version(NamedTuple):
    """What the client speaks."""

    major: int
    minor: int


@dataclass
class Request:
    """One request."""

    method: str
    version: Version
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    peer: Peer | None = None

    def names(self, header: str) -> list[str]:
        """The words of a header such as `Set: local,remote`."""
        return [word.strip().lower() for word in self.headers.get(header, "").split(",") if word.strip()]

    def inflate(self, most: int) -> None:
        """Make the body what it was before the client compressed it, if it did."""
        if self.headers.get("compress", "").lower() != "zlib":
            return
        try:
            self.body = zlib.decompressobj().decompress(self.body, most + 1)
        except zlib.error:
            raise SpamdError(
                DATA, "The mail is not compressed with zlib, as its Compress header says."
            ) from None
        if len(self.body) > most:
            raise SpamdError(DATA, f"The mail has more than {most} bytes.")
