"""Bearer tokens: shown once, kept as hashes, read again when their file changes."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from pathlib import Path
from typing import Literal, NamedTuple

from bayleaf import atomic
from bayleaf.service.refusals import Forbidden, Unauthorized

FILE = "tokens.json"
LOOK_SECONDS = 0.2
"""How long a token that was revoked may still be good for."""

SCOPES = ("read", "learn", "admin")
"""Each may do what those before it may."""

Scope = Literal["read", "learn", "admin"]


class Token(NamedTuple):
    """Who may do what; the token itself is not kept."""

    name: str
    scope: str
    hash: str


class Tokens:
    """The tokens of a folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._made = False
        self._read_at = -1
        self._looked_at = -LOOK_SECONDS
        self._tokens: list[Token] = []

    def known(self) -> list[Token]:
        """All tokens; the file is read again when it has changed."""
        try:
            changed = os.stat(self._path).st_mtime_ns
        except FileNotFoundError:
            self._made, self._read_at, self._tokens = False, -1, []
            return []
        if changed != self._read_at:
            self._tokens = [Token(**each) for each in json.loads(self._path.read_text("utf-8"))]
            self._made, self._read_at = True, changed
        return self._tokens

    def _lately(self) -> list[Token]:
        """All tokens, as of a moment ago: a look at the file would cost as much as an answer."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_SECONDS:
            return self._tokens
        self._looked_at = now
        return self.known()

    def make(self, name: str, scope: str) -> str:
        """A new token for a name, in place of its old one."""
        if scope not in SCOPES:
            raise ValueError(f"There is no scope {scope!r}. The scopes are {', '.join(SCOPES)}.")
        if not name or not name.isprintable() or len(name) > 100:
            raise ValueError(f"{name!r} is no name for a token: 1 to 100 printable characters.")
        token = secrets.token_urlsafe(32)
        kept = [each for each in self.known() if each.name != name]
        self._write([*kept, Token(name, scope, _hash(token))])
        return token

    def revoke(self, name: str) -> None:
        """Take a token back."""
        kept = [each for each in self.known() if each.name != name]
        if len(kept) == len(self.known()):
            raise ValueError(f"There is no token {name!r}.")
        self._write(kept)

    def _write(self, tokens: list[Token]) -> None:
        data = json.dumps([token._asdict() for token in tokens], indent=1, ensure_ascii=False)
        atomic.write(self._path, data.encode())
        self._path.chmod(0o600)

    def check(self, authorization: str, needed: Scope) -> str:
        """The name of who asks, if the token has the scope; without any token ever made, everybody may."""
        known = self._lately()
        if not self._made:
            return ""
        kind, _, token = authorization.partition(" ")
        hashed = _hash(token.strip()) if kind.lower() == "bearer" else ""
        found = [each for each in known if hmac.compare_digest(each.hash, hashed)]
        if not found:
            said = (
                "The token is not known." if authorization else "A token is needed: Authorization: Bearer …"
            )
            raise Unauthorized(said, WWW_Authenticate="Bearer")
        if SCOPES.index(found[0].scope) < SCOPES.index(needed):
            raise Forbidden(f"The token {found[0].name!r} may {found[0].scope}; this needs {needed}.")
        return found[0].name


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
