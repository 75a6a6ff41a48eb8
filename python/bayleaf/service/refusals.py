"""What the service says no to: each refusal has the HTTP status and the sentence that a user needs."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818 (a refusal is no error of the service)
    """A request that is not carried out; nothing was changed by it."""

    status = 400
    title = "Bad request"

    def __init_subclass__(cls, status: int, title: str) -> None:
        cls.status, cls.title = status, title

    def __init__(self, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.headers = headers


class Unauthorized(Refusal, status=401, title="Unauthorized"):
    """No token, or one that is not known."""


class Forbidden(Refusal, status=403, title="Forbidden"):
    """A token without the scope that the request needs."""


class NotFound(Refusal, status=404, title="Not found"):
    """A model, a document or a path that does not exist."""


class WrongMethod(Refusal, status=405, title="Method not allowed"):
    """A path that exists, with a method that does not."""


class TooSlow(Refusal, status=408, title="Request timeout"):
    """A client that does not finish its request."""


class Conflict(Refusal, status=409, title="Conflict"):
    """A request that contradicts what is there."""


class TooLarge(Refusal, status=413, title="Too large"):
    """More than the limits allow."""


class WrongType(Refusal, status=415, title="Unsupported media type"):
    """A body of a type that is not read."""


class Invalid(Refusal, status=422, title="Invalid value"):
    """A value that cannot be meant."""


class TooMany(Refusal, status=429, title="Too many requests"):
    """More requests or connections at once than the limits allow."""


class HeadTooLarge(Refusal, status=431, title="Request header fields too large"):
    """More header lines, or longer ones, than the limits allow."""


class Failed(Refusal, status=500, title="Internal error"):
    """A fault of the service itself."""


class Broken(Refusal, status=503, title="Learning has stopped"):
    """The disk failed: answers go on, learning has stopped until the service is started again."""


class DiskFull(Refusal, status=507, title="Insufficient storage"):
    """There is no room to write; what was asked is not done."""
