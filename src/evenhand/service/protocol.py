"""HTTP as uvicorn speaks it, but for what cannot be read as HTTP at all, and for decisions.

The former gets a problem document too. The latter go straight to the office, if the application says so: a task, a
receiving and a sending end for each request cost more than all that is to be done with it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from evenhand.service.problems import MEDIA_TYPE, Problem

if TYPE_CHECKING:
    from evenhand.service.straight import Request, Straight


UPGRADE = re.compile(rb"\r\nupgrade:", re.IGNORECASE)
UNHEARD = b"\r\nx-grade:"


class DeskProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._straight: Straight | None = getattr(self.app, "straight", None)
        self._held: Request | None = None

    def data_received(self, data: bytes) -> None:
        """Read on. A wish for another protocol, as Java's client has it by default, is not heard, as HTTP allows.

        The parser would stop there, and lose the body. JSON has no line that begins so.
        """
        if b"pgrade:" in data:
            data = UPGRADE.sub(UNHEARD, data)
        super().data_received(data)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Begin with a request whose head is there: wait for its body if it goes straight."""
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
        held, self._held = self._held, None
        if held is not None and self._straight is not None and not self._straight.begin(held):
            super()._start_asgi_task(held.cycle, self.app)

    def send_400_response(self, msg: str) -> None:
        """What is sent before the connection is closed."""
        body = orjson.dumps(Problem("malformed", "this is no HTTP request that can be read").document())
        lines = [
            b"HTTP/1.1 400 Bad Request",
            b"content-type: " + MEDIA_TYPE,
            b"content-length: " + str(len(body)).encode(),
            b"connection: close",
        ]
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        self.transport.close()
