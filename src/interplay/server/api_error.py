"""Errors of the HTTP interface: a status for programs, a sentence for people, and nothing that helps to guess."""

from __future__ import annotations

from interplay.errors import InterplayError

_STATUS = {  # what each code is over HTTP
    "bad_request": 400,
    "unknown_key": 401,
    "not_allowed": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "too_many": 429,
    "unavailable": 503,
}


class ApiError(InterplayError):
    """A request that is turned down. `code` is stable and documented; the message may change."""

    def __init__(self, code: str, message: str, *, status: int | None = None, **detail: object):
        self.code, self.message, self.detail = code, message, detail
        self.status = status if status is not None else _STATUS.get(code, 400)
        super().__init__(message)

    def record(self) -> dict[str, object]:
        """What is sent."""
        return {"error": self.code, "message": self.message}
