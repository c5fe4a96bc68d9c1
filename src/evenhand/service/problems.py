"""Errors as problem documents (RFC 9457), and the handlers that turn exceptions into them.

>>> Problem("not-found", "there is no desk 'loans'").document()["status"]
404
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match

from evenhand import errors
from evenhand.errors import CollidingBounds, DamagedLedger, EvenhandError, LedgerUnavailable
from evenhand.service.logs import about
from evenhand.service.responses import json_response
from evenhand.service.validation import sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
LONGEST_DETAIL = 10_000
"""Characters of a detail; it may quote a request, which can be a hundred times as long."""

KINDS: dict[str, tuple[int, str]] = {
    "malformed": (400, "The request cannot be read"),
    "unauthorized": (401, "A token is needed"),
    "forbidden": (403, "The token does not allow this"),
    "not-found": (404, "There is no such thing"),
    "method-not-allowed": (405, "The path has no such method"),
    "timeout": (408, "The request took too long to arrive"),
    "conflict": (409, "The ledger holds this already"),
    "signed-in": (409, "Somebody else is signed in"),
    "erased": (410, "The person was erased"),
    "too-large": (413, "The request is too large"),
    "media-type": (415, "The body is not JSON"),
    "invalid": (422, "The request is not valid"),
    "colliding-bounds": (422, "Floors and ceilings collide with fairness or with the capacity"),
    "key-reused": (422, "The idempotency key was used for another request"),
    "rate": (429, "Too many requests"),
    "internal": (500, "The service failed"),
    "damaged": (500, "The ledger is damaged"),
    "unavailable": (503, "The service cannot do this now"),
}
"""The kinds of problems, each with its status and title."""

KIND_OF_ERROR: dict[type[EvenhandError], str] = {
    errors.UnknownRecord: "not-found",
    errors.AlreadyRecorded: "conflict",
    errors.Erased: "erased",
    errors.IdempotencyConflict: "key-reused",
    errors.InvalidInput: "invalid",
    errors.UnknownPair: "invalid",
    errors.NotChosen: "invalid",
    errors.ContradictoryReview: "invalid",
    errors.UnsupportedReview: "invalid",
    errors.ForeignDecision: "invalid",
}
"""Errors of the library that a caller can cause. All others are failures of the service."""


class Problem(EvenhandError, RuntimeError):
    """An error with its HTTP status."""

    def __init__(self, kind: str, detail: str, *, headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.headers, self.more = kind, detail, headers or {}, more
        self.status, self.title = KINDS[kind]

    def document(self) -> dict[str, Any]:
        """The members of the problem document."""
        members = {"type": f"urn:evenhand:problem:{self.kind}", "title": self.title, "status": self.status}
        detail = self.detail if len(self.detail) <= LONGEST_DETAIL else f"{self.detail[:LONGEST_DETAIL]}..."
        return {**members, "detail": detail, **self.more}

    def response(self) -> Response:
        """The problem document as a response."""
        return json_response(self.document(), self.status, self.headers, MEDIA_TYPE)


class ProblemDocument(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


def unavailable(detail: str, seconds: int = 1) -> Problem:
    """The request can be sent again after some seconds."""
    return Problem("unavailable", detail, headers={"Retry-After": str(seconds)})


def problem_responses(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """The responses of an operation with these problems, for the OpenAPI document."""
    titles = dict(KINDS[kind] for kind in ("internal", "unavailable", *kinds))
    content = {MEDIA_TYPE: {"schema": ProblemDocument.model_json_schema()}}
    return {status: {"description": f"{titles[status]}.", "content": content} for status in sorted(titles)}


WITH_TOKEN = problem_responses("unauthorized", "forbidden", "rate")
LISTED = problem_responses("unauthorized", "forbidden", "rate", "malformed", "invalid")
AT_DESK = LISTED | problem_responses("not-found")
WRITE = AT_DESK | problem_responses("conflict", "erased", "too-large", "media-type")
"""Problems of requests that need a token, that have a query, that name a desk, and that change it."""


def problem_of(error: Exception) -> Problem:
    """The problem that an exception is; unexpected ones are logged without their words, which may quote a request."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, LedgerUnavailable):  # its message names files and hosts
        return unavailable(
            "the ledger cannot be read or written now; acknowledged requests are safe, send this one again"
        )
    if isinstance(error, DamagedLedger):
        log.error("a ledger is damaged: %s", error)
        return Problem("damaged", "the ledger was changed or damaged; see the log, or run: evenhand ledger verify")
    if isinstance(error, CollidingBounds):
        return Problem("colliding-bounds", str(error), collisions=error.collisions.to_dict())
    kind = next((kind for known, kind in KIND_OF_ERROR.items() if isinstance(error, known)), None)
    if kind is not None:
        return Problem(kind, str(error))
    instance = f"urn:uuid:{uuid4()}"
    log.error("request failed", extra={**about(error), "instance": instance})
    return Problem("internal", "the service failed; the log has the place, under this instance", instance=instance)


def problem_of_status(error: HTTPException) -> Problem:
    """The problem of an HTTP status that the framework raised."""
    details = {
        404: "unknown path; /openapi.json lists all paths",
        405: "this path does not have this method; /openapi.json lists what it has",
    }
    known = {status: kind for kind, (status, _) in reversed(KINDS.items())}
    kind = known.get(error.status_code, "malformed" if error.status_code < 500 else "internal")
    return Problem(kind, details.get(error.status_code, str(error.detail)), headers=dict(error.headers or {}))


def add_problem_handlers(app: FastAPI, not_found_page: Callable[[Request], Response | None]) -> None:
    """Have the application answer every exception with a problem document; browsers get a page for unknown paths."""

    async def on_error(request: Request, error: Exception) -> Response:
        return problem_of(error).response()

    async def on_invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        if first["type"] == "missing" and first["loc"] == ("body",):
            return Problem("malformed", "the body is not JSON: it is empty").response()
        if isinstance(error.body, bytes):  # FastAPI parses no other media type
            headers = {"Accept": "application/json"}
            return Problem("media-type", "the body must be sent as application/json", headers=headers).response()
        if first["type"] == "json_invalid":
            return Problem("malformed", f"the body is not JSON: {first['ctx']['error']}").response()
        return Problem("invalid", sentence(error.errors(), request.scope["route"])).response()

    async def on_status(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        problem = problem_of_status(error)
        if problem.status == 405:
            problem.headers["Allow"] = _methods(app, request)
        page = not_found_page(request) if problem.status == 404 else None
        return page or problem.response()

    app.add_exception_handler(EvenhandError, on_error)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_status)


def _methods(app: FastAPI, request: Request) -> str:
    """All methods of a path; the router names those of one route only."""
    scope = dict(request.scope)
    known = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    has = [m for m in known if any(route.matches({**scope, "method": m})[0] == Match.FULL for route in app.routes)]
    return ", ".join(has)
