"""Every error as a problem document (RFC 9457): what was wrong, in a sentence, and what is allowed.

>>> Problem("not-found", "there is no desk 'loans'").document()["status"]
404
"""

from __future__ import annotations

from typing import Any

import orjson

from evenhand.errors import EvenhandError
from evenhand.service.answer import Answer

MEDIA_TYPE = b"application/problem+json"

KINDS: dict[str, tuple[int, str]] = {
    "malformed": (400, "The request cannot be read"),
    "unauthorized": (401, "A token is needed"),
    "forbidden": (403, "The token does not allow this"),
    "not-found": (404, "There is no such thing"),
    "method-not-allowed": (405, "The path knows no such method"),
    "conflict": (409, "The ledger holds this already"),
    "too-large": (413, "The request is too large"),
    "media-type": (415, "The body is no JSON"),
    "invalid": (422, "The request does not fit"),
    "key-reused": (422, "The idempotency key was used for something else"),
    "rate": (429, "Too many requests"),
    "head-too-large": (431, "The headers are too large"),
    "internal": (500, "The service failed"),
    "damaged": (500, "The ledger is damaged"),
    "unavailable": (503, "The service cannot do this now"),
}
"""The kinds of problems, each with its status and title."""


class Problem(EvenhandError, RuntimeError):
    """An error with its HTTP status, ready to be sent."""

    def __init__(self, kind: str, detail: str, *, headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.headers, self.more = kind, detail, headers or {}, more
        self.status, self.title = KINDS[kind]

    def document(self) -> dict[str, Any]:
        """The members of the document, with those of this problem's own."""
        return {
            "type": f"urn:evenhand:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            **self.more,
        }

    def answer(self) -> Answer:
        """The document as an answer."""
        headers = tuple((name.lower().encode(), value.encode()) for name, value in self.headers.items())
        return Answer(orjson.dumps(self.document()), self.status, MEDIA_TYPE, headers)


def problem_of_status(status: int) -> Problem:
    """The problem of a bare HTTP status, as the router gives them."""
    details = {
        404: "there is nothing at this path; /openapi.json lists all paths",
        405: "this path does not know this method; /openapi.json lists what it knows",
    }
    for kind, (known, title) in KINDS.items():
        if known == status:
            return Problem(kind, details.get(status, title))
    return Problem("malformed" if status < 500 else "internal", f"the request was refused with status {status}")
