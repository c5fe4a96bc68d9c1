"""An answer as it goes out: bytes that are ready, a status, few headers. Less than a framework's response costs."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Receive, Scope, Send

JSON = b"application/json"
Headers = tuple[tuple[bytes, bytes], ...]

# An answer speaks of people's cases: no cache keeps it, no browser guesses its kind.
ALWAYS: Headers = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
STATUS_LINE = {int(one): b"HTTP/1.1 %d %b\r\n" % (one, one.phrase.encode()) for one in HTTPStatus}
ALWAYS_LINES = b"".join(b"%b: %b\r\n" % header for header in ALWAYS)


class Answer:
    """A status and a body; an ASGI application that sends them."""

    __slots__ = ("body", "headers", "media_type", "status")

    def __init__(self, body: bytes, status: int = 200, media_type: bytes = JSON, headers: Headers = ()) -> None:
        self.body, self.status, self.media_type, self.headers = body, status, media_type, headers

    def whole(self, first: Iterable[tuple[bytes, bytes]], *, keep_alive: bool) -> bytes:
        """All of it as it goes over the wire; `first` are headers that come before its own."""
        lines = [STATUS_LINE[self.status], *(b"%b: %b\r\n" % header for header in first)]
        lines.append(b"content-type: %b\r\ncontent-length: %d\r\n" % (self.media_type, len(self.body)))
        lines += [ALWAYS_LINES, *(b"%b: %b\r\n" % header for header in self.headers)]
        if not keep_alive and (b"connection", b"close") not in self.headers:
            lines.append(b"connection: close\r\n")
        return b"".join((*lines, b"\r\n", self.body))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        headers = [
            (b"content-type", self.media_type),
            (b"content-length", str(len(self.body)).encode()),
            *ALWAYS,
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def told(content: Any, status: int = 200, headers: Headers = ()) -> Answer:
    """Plain data as a JSON answer; floats keep every bit."""
    return Answer(orjson.dumps(content), status, JSON, headers)
