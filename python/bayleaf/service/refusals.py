"""What the service says no to: each refusal has the HTTP status and the sentence that a user needs."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818 (a refusal is no error of the service)
    """A request that is not carried out; nothing was changed by it."""

    status = 400
    title = "Bad request"

    def __init__(self, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.headers = headers


class Invalid(Refusal):
    """A value that cannot be meant."""

    status, title = 422, "Invalid value"


class NotFound(Refusal):
    """A model, a document or a path that does not exist."""

    status, title = 404, "Not found"


class Conflict(Refusal):
    """A request that contradicts what is there."""

    status, title = 409, "Conflict"


class TooLarge(Refusal):
    """More than the limits allow."""

    status, title = 413, "Too large"


class TooMany(Refusal):
    """More requests at once than the limits allow."""

    status, title = 429, "Too many requests"


class TooSlow(Refusal):
    """A client that does not finish its request."""

    status, title = 408, "Request timeout"


class Unauthorized(Refusal):
    """No token, or one that is not known."""

    status, title = 401, "Unauthorized"


class Forbidden(Refusal):
    """A token without the scope that the request needs."""

    status, title = 403, "Forbidden"


class DiskFull(Refusal):
    """There is no room to write; what was asked is not done."""

    status, title = 507, "Insufficient storage"


class Broken(Refusal):
    """The disk failed: answers go on, learning has stopped until the service is started again."""

    status, title = 503, "Learning has stopped"
