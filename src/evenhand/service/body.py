"""Reading a request's body, no further than it may go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.service.problems import Problem

if TYPE_CHECKING:
    from starlette.types import Receive


class ClientGone(Exception):
    """The client went away before its request was whole."""


def check_content_type(headers: dict[bytes, bytes]) -> None:
    """A Problem unless the body is said to be JSON."""
    kind = headers.get(b"content-type", b"")
    if kind != b"application/json" and kind.partition(b";")[0].strip().lower() != b"application/json":
        raise Problem("media-type", "send the body as application/json", headers={"Accept": "application/json"})


async def read_body(headers: dict[bytes, bytes], receive: Receive, limit: int) -> bytes:
    """The whole body, or a Problem as soon as it is too long or no JSON."""
    check_content_type(headers)
    length = headers.get(b"content-length")
    if length is not None and length.isdigit() and int(length) > limit:
        raise _too_large(limit)
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        part: bytes = message.get("body", b"")
        body = body + part if body else part
        if len(body) > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return body


def _too_large(limit: int) -> Problem:
    return Problem("too-large", f"the body is longer than {limit} bytes", headers={"Connection": "close"})
