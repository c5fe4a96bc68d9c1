"""HTTP as uvicorn speaks it, but for what cannot be read as HTTP at all, for heads without end, and for decisions.

What cannot be read gets a problem document too, and so does a head that is too long: it is kept in memory before any
token was seen. Decisions go straight to the office, if the application says so: a task, a receiving and a sending end
for each request cost more than all that is to be done with it.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from evenhand.errors import EvenhandError
from evenhand.service.problems import MEDIA_TYPE, Problem

if TYPE_CHECKING:
    from evenhand.service.straight import Request, Straight


UPGRADE = re.compile(rb"\r\nupgrade:", re.IGNORECASE)
UNHEARD = b"\r\nx-grade:"
MOST_HEAD = 65_536
"""Bytes of a request's line and headers; also of trailers, of which nobody reads any."""


class HeadTooLarge(EvenhandError, ValueError):
    """A request whose head is longer than allowed."""


LAST_SECONDS = 0.3
"""So long a connection that nothing is asked on stays open when the service stops."""

MALFORMED = Problem("malformed", "this is no HTTP request that can be read")
TOO_LARGE = Problem("head-too-large", f"line and headers of a request are longer than {MOST_HEAD} bytes")


class DeskProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._straight: Straight | None = getattr(self.app, "straight", None)
        self._held: Request | None = None
        self._head = 0
        """Bytes since the last that were of a body, or ended a request: no fewer than there are of a head so far."""
        self._is_too_large = False
        self._is_ending = False

    def data_received(self, data: bytes) -> None:
        """Read on. A wish for another protocol, as Java's client has it by default, is not heard, as HTTP allows.

        The parser would stop there, and lose the body. JSON has no line that begins so.
        """
        if b"pgrade:" in data:
            data = UPGRADE.sub(UNHEARD, data)
        self._head += len(data)
        super().data_received(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self._refuse(TOO_LARGE)

    def on_headers_complete(self) -> None:
        """The head is there; too long a one is not looked at."""
        if self._head > MOST_HEAD:  # with what follows it, perhaps
            head = len(self.url) + sum(len(name) + len(value) + len(": \r\n") for name, value in self.headers)
            if head > MOST_HEAD:
                self._is_too_large = True
                raise HeadTooLarge  # ends the parser, which then says that it cannot read on
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Some of the body is there: how much of that may come is not decided here."""
        self._head = 0
        super().on_body(body)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Begin with a request whose head is there: wait for its body if it goes straight."""
        if self._is_ending:
            cycle.keep_alive = False
        if self._straight is not None and app is self.app:
            taken = self._straight.taken(cycle)
            if taken is not None and cycle.more_body:
                self._held = taken
                return
            if taken is not None and self._straight.begin(taken):
                return
        super()._start_asgi_task(cycle, app)

    def on_message_complete(self) -> None:
        """The body is there."""
        super().on_message_complete()
        self._head = 0
        held, self._held = self._held, None
        if held is not None and self._straight is not None and not self._straight.begin(held):
            super()._start_asgi_task(held.cycle, self.app)

    def shutdown(self) -> None:
        """The service stops: close after this answer, or the next one.

        A client that has just been answered may have sent its next request already; closed at once, it would be cut off
        in place of being told to go elsewhere. Who sends none for a while is closed then.
        """
        if self.cycle is not None and not self.cycle.response_complete:
            super().shutdown()
        elif not self._is_ending:
            self._is_ending = True
            self.loop.call_later(LAST_SECONDS, super().shutdown)

    def send_400_response(self, msg: str) -> None:
        """What is sent before the connection is closed, if something cannot be read."""
        self._refuse(TOO_LARGE if self._is_too_large else MALFORMED)

    def _refuse(self, problem: Problem) -> None:
        body = orjson.dumps(problem.document())
        lines = [
            f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}".encode(),
            b"content-type: " + MEDIA_TYPE,
            b"content-length: " + str(len(body)).encode(),
            b"connection: close",
        ]
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        self.transport.close()
