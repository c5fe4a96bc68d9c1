"""One file as an answer, with the headers that all of the pages and their files have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
ALWAYS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "html": "text/html; charset=utf-8",
}
FOR_EVER = "public, max-age=31536000, immutable"


class File:
    """One file as an answer."""

    def __init__(
        self, body: bytes, kind: str, cache_control: str, status: int = 200, more: Mapping[str, str] | None = None
    ) -> None:
        self.body, self.status = body, status
        named = {
            **ALWAYS,
            "content-type": KINDS[kind],
            "cache-control": cache_control,
            "content-length": str(len(body)),
            **(more or {}),
        }
        self.headers = [(name.encode(), value.encode()) for name, value in named.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; of HEAD only the headers."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else self.body})
