"""Middleware: what happens to every request before it is routed, as plain ASGI applications."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson
from starlette.exceptions import HTTPException

from evenhand.errors import EvenhandError
from evenhand.rewards.estimator_files import MOST_BYTES
from evenhand.service.problems import Problem, problem_of, unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from evenhand.service.authentication import Caller
    from evenhand.service.connections import Connections
    from evenhand.service.service import Service

log = logging.getLogger(__name__)

FLUSH_SECONDS = 0.2

SINGLE = (b"authorization", b"idempotency-key")
"""Headers of which a request may have one: of two, a proxy could check the one that is not used here."""
DESKS = "/api/desks"
AT_ONCE = 4
"""Requests of one token that are handled at a time; see `TakeTurns`."""
MOST_WAITING = 100
"""Requests of one token that wait for their turn; more are refused with 429."""
MOST_WITH_MODEL = 2 * MOST_BYTES
"""Maximum bytes of a request that opens a desk: a model in base64, and the other settings."""


class RequestLog:
    """One line of JSON per request, written a few times per second: a write for each would cost as much as the request.

    A line has nothing about a person: no path, query, body or address, and no words of an error, which may quote them.
    """

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._is_flushing = False
        self._desks: set[str] = set()

    def add(self, operation: str, status: int, seconds: float, size: int, caller: str | None, desk: str | None) -> None:
        """Log a request.

        caller: the token's id. desk: as in the path; it is logged only if some request about it succeeded, since a path
        may contain anything.
        """
        if desk is not None and status < 400:
            self._desks.add(desk)
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "operation": operation,
            "status": status,
            "microseconds": round(seconds * 1e6),
            "bytes": size,
            "caller": caller,
            "desk": desk if desk in self._desks else None,
            "level": "info",
            "message": "request",
        }
        self._lines.append(orjson.dumps(line))
        if not self._is_flushing:
            self._is_flushing = True
            asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Write all lines that wait."""
        lines, self._lines, self._is_flushing = self._lines, [], False
        if lines:
            sys.stderr.write(b"\n".join([*lines, b""]).decode())
            sys.stderr.flush()


class ObserveRequests:
    """Counts and logs every request, and answers exceptions with a problem document."""

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
            caller = scope.get("caller")  # of a page there is none: anybody may request one, for a desk of any name
            desk = None if caller is None else scope.get("path_params", {}).get("desk")
            service.request_log.add(operation, status, seconds, size, caller and caller.token, desk)


class CheckRequests:
    """Refuses requests to /api without a valid token, then bodies that are too long, before routing.

    So whoever has no token learns nothing else: all paths look the same. A body is refused at once if its length is
    declared, otherwise while it is read. An admin who opens a desk may send the file of a model with it.
    """

    def __init__(self, app: ASGIApp, max_body: int) -> None:
        self.app, self._max_body = app, max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; a Problem if it is refused."""
        if scope["type"] == "http" and scope["path"].startswith("/api"):
            names = [name for name, _ in scope["headers"]]
            for name in SINGLE:
                if names.count(name) > 1:
                    raise Problem("malformed", f"send one header {name.decode().title()}, got {names.count(name)}")
            scope["caller"] = await scope["app"].state.service.authenticator.caller(scope)
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        opens = scope["path"] == DESKS and scope["caller"].has_role("admin")
        most = max(self._max_body, MOST_WITH_MODEL) if opens else self._max_body
        detail, headers = f"the body must be at most {most} bytes long", {"Connection": "close"}
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if length.isdigit() and int(length) > most:
            raise Problem("too-large", detail, headers=headers)
        received = 0

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise HTTPException(413, detail, headers)  # FastAPI lets this one through
            return message

        await self.app(scope, limited, send)


class AnswerInTime:
    """Refuses a request to read with 503 if its response has not begun in time. Changes have a deadline at their desk.

    A thread cannot be ended: one that reads for such a request goes on, and `end_if_hung` sees it if it never ends.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return

        async def noted(message: Message) -> None:
            limit.reschedule(None)  # how long the rest may take is up to `LimitTime`
            await send(message)

        try:
            async with asyncio.timeout(self._seconds) as limit:
                await self.app(scope, receive, noted)
        except TimeoutError:
            if not limit.expired():
                raise
            raise unavailable(f"this was not read within {self._seconds:g} s; try again later", 5) from None


class TakeTurns:
    """A few requests of one token are handled at a time, and the others wait: no token keeps the service to itself.

    What is computed for them shares one interpreter with decisions. Deciders' changes are excepted, since they are
    written in groups, the more the better; so are certificates, which another process makes. A turn ends when the
    response begins: streams have limits of their own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._present: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; a Problem if too many of its token wait already."""
        caller: Caller | None = scope.get("caller") if scope["type"] == "http" else None
        if caller is None or not _takes_turns(scope, caller):
            await self.app(scope, receive, send)
            return
        async with AsyncExitStack() as turn:

            async def noted(message: Message) -> None:
                await turn.aclose()
                await send(message)

            await turn.enter_async_context(self._turn_of(str(caller.token)))
            await self.app(scope, receive, noted)

    @asynccontextmanager
    async def _turn_of(self, token: str) -> AsyncIterator[None]:
        if self._present[token] >= AT_ONCE + MOST_WAITING:
            detail = f"{MOST_WAITING} requests of this token are waiting already; send fewer at a time"
            raise Problem("rate", detail, headers={"Retry-After": "1"})
        self._present[token] += 1
        try:
            async with self._turns.setdefault(token, asyncio.Semaphore(AT_ONCE)):
                yield
        finally:
            self._present[token] -= 1
            if not self._present[token]:
                del self._present[token], self._turns[token]


def _takes_turns(scope: Scope, caller: Caller) -> bool:
    is_change = scope["method"] not in ("GET", "HEAD")
    return not ((is_change and caller.has_role("decide")) or scope["path"].endswith("/certificate"))


class LimitTime:
    """Limits how long the body of a request may take to arrive, and how long a client may not read a response.

    The connection counts as busy meanwhile; otherwise it would be closed, as one that sends no request.
    """

    def __init__(self, app: ASGIApp, body_seconds: float, send_seconds: float) -> None:
        self.app, self._body_seconds, self._send_seconds = app, body_seconds, send_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        connections: Connections = scope["app"].state.connections
        deadline, is_read = asyncio.get_running_loop().time() + self._body_seconds, False

        async def timed() -> Message:
            nonlocal is_read
            if is_read:  # what comes next is the end of the connection
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                detail = f"the body must arrive within {self._body_seconds:g} s"
                raise HTTPException(408, detail, {"Connection": "close"}) from None
            is_read = not message.get("more_body", False)
            return message

        async def patient(message: Message) -> None:
            try:
                async with asyncio.timeout(self._send_seconds):
                    await send(message)
            except TimeoutError:
                connections.abort(scope)  # the rest is sent to nobody

        connections.begun(scope)
        try:
            await self.app(scope, timed, patient)
        finally:
            connections.ended(scope)


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
                error = sys.exc_info()[1]
                reason = f"{type(error).__name__}, see the log at level debug"  # whose message may quote anything
                if isinstance(error, EvenhandError):
                    reason = " ".join(str(error).split())
                message = {**message, "message": f"the service cannot {step}: {reason}"}
            await send(message)

        await self.app(scope, receive, explained if scope["type"] == "lifespan" else send)
