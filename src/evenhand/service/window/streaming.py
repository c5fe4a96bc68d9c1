"""Answers that go out piece by piece, and stop when whoever asked goes away."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from evenhand.service.answer import ALWAYS, Answer, Headers

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


class Streamed(Answer):
    """An answer whose body is made while it is sent."""

    def __init__(self, pieces: AsyncIterator[bytes], media_type: bytes, headers: Headers = ()) -> None:
        super().__init__(b"", 200, media_type, headers)
        self.pieces = pieces
        """What is sent."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send pieces until there are no more, or until the other end is gone."""
        headers = [(b"content-type", self.media_type), *ALWAYS, *self.headers]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        sending = asyncio.ensure_future(self._send(send))
        leaving = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (sending, leaving):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, OSError):
                    await task
            await self.pieces.aclose()  # type: ignore[attr-defined]  # it is a generator

    async def _send(self, send: Send) -> None:
        async for piece in self.pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def is_stopping() -> bool:
    """Whether the server of this process was told to stop; it then waits for all answers to end."""
    # uvicorn's handler of signals is a method of the server; nothing else tells an application.
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False))
