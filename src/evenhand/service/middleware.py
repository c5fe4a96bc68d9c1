"""Middleware: what happens to every request before it is routed, as plain ASGI applications."""

from __future__ import annotations

import logging
import sys
import time
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from evenhand.errors import EvenhandError
from evenhand.service.problems import Problem, problem_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from evenhand.service.service import Service

log = logging.getLogger(__name__)


class ObserveRequests:
    """Counts and logs every request, and answers unexpected exceptions with a problem document."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status, size = time.perf_counter(), 0, 0

        async def observed(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, observed)
        except Exception as error:
            response = problem_of(error).response()
            if status == 0:  # otherwise a part has been sent already
                await response(scope, receive, observed)
        service: Service = scope["app"].state.service
        route, seconds = scope.get("route"), time.perf_counter() - begun
        operation = "unknown" if route is None else route.name
        service.metrics.request(operation, status, seconds)
        if service.settings.log_requests:
            caller, desk = scope.get("caller"), scope.get("path_params", {}).get("desk")
            service.request_log.add(operation, status, seconds, size, caller and caller.token, desk)


class Authenticate:
    """Refuses every request to /api that has no valid token, before routing and before the body is read.

    So whoever has no token learns nothing else: all paths look the same.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http" and scope["path"].startswith("/api"):
            try:
                scope["caller"] = await scope["app"].state.service.authenticator.caller(scope)
            except EvenhandError as error:
                await problem_of(error).response()(scope, receive, send)
                return
        await self.app(scope, receive, send)


class LimitBody:
    """Refuses bodies that are too long: at once if the length is declared, otherwise while reading."""

    def __init__(self, app: ASGIApp, max_body: int) -> None:
        self.app, self._max_body = app, max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        detail, headers = f"the body must be at most {self._max_body} bytes long", {"Connection": "close"}
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if length.isdigit() and int(length) > self._max_body:
            await Problem("too-large", detail, headers=headers).response()(scope, receive, send)
            return
        received = 0

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_body:
                raise HTTPException(413, detail, headers)
            return message

        await self.app(scope, limited, send)


class ExplainStartup:
    """Tells the server in a sentence why the application cannot start; the framework would send a traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the lifespan of the application; pass requests on."""

        async def explained(message: Message) -> None:
            if message["type"].endswith(".failed"):
                step = "start" if "startup" in message["type"] else "stop"
                log.debug("the service could not %s", step, exc_info=True)
                message = {**message, "message": f"the service cannot {step}: {reason_of(sys.exc_info()[1])}"}
            await send(message)

        await self.app(scope, receive, explained if scope["type"] == "lifespan" else send)


def reason_of(error: BaseException | None) -> str:
    """An error's message in one line; of an unexpected error its name only, since its message may quote anything.

    >>> reason_of(KeyError("a secret"))
    'KeyError, see the log at level debug'
    """
    if isinstance(error, EvenhandError):
        return " ".join(str(error).split())
    return f"{type(error).__name__}, see the log at level debug"
