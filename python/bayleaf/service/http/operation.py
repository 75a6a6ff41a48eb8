"""What a path does, and the scope that it needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from bayleaf.service.http.asgi import Call, Reply
from bayleaf.service.service import Service
from bayleaf.service.tokens import Scope as TokenScope

Handler = Callable[[Service, Call], Awaitable[Reply]]


class Operation(NamedTuple):
    """What a path does, and the scope that it needs."""

    name: str
    handler: Handler
    scope: TokenScope | None
