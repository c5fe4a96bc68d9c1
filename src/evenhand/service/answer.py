"""An answer as it goes out: bytes that are ready, a status, few headers. Less than a framework's response costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

JSON = b"application/json"
Headers = tuple[tuple[bytes, bytes], ...]

# An answer speaks of people's cases: no cache keeps it, no browser guesses its kind.
ALWAYS: Headers = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


class Answer:
    """A status and a body; an ASGI application that sends them."""

    __slots__ = ("body", "headers", "media_type", "status")

    def __init__(self, body: bytes, status: int = 200, media_type: bytes = JSON, headers: Headers = ()) -> None:
        self.body, self.status, self.media_type, self.headers = body, status, media_type, headers

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
