"""The application: FastAPI, and a shorter way for the busiest operation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from evenhand.service.straight import Straight


class Application(FastAPI):
    """A FastAPI application that hands requests of one operation straight to where they are handled.

    FastAPI's own way there, with its telemetry, three layers for errors and the router, costs as much as reading,
    checking and answering the request. The operation stands in the router too, for the document and for whoever
    mounts this application elsewhere; both ways lead to the same function.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._method = ""
        self._matches = re.compile("").fullmatch
        self._shorter: ASGIApp | None = None
        self.straight: Straight | None = None
        """An even shorter way, for a server that knows of it."""

    def shorten(self, method: str, path: str, application: ASGIApp) -> None:
        """From now on `application` gets the requests with this method and path."""
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path)
        self._method, self._matches, self._shorter = method, re.compile(pattern).fullmatch, application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection's request, or the beginning and end of the process."""
        if self._shorter is not None and scope["type"] == "http" and scope["method"] == self._method:
            match = self._matches(scope["path"])
            if match is not None and not scope.get("root_path"):
                scope["path_params"] = match.groupdict()
                await self._shorter(scope, receive, send)
                return
        await super().__call__(scope, receive, send)
