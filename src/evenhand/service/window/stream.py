"""The window's live stream: server-sent events, read once for each desk and process, sent to everybody who looks.

Every event tells whole parts of the window, never differences: whoever missed some is up to date with the next. The
id of an event is the version of what it tells; whoever comes back with it (Last-Event-ID) gets what is new since.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson

from evenhand.service.problems import Problem
from evenhand.service.window.streaming import is_stopping

log = logging.getLogger(__name__)

PAUSE = 0.5
"""Seconds between two looks at a desk, so that nobody gets more than two updates a second."""
HEARTBEAT = 10.0
"""After so many seconds without news a comment is sent, so that a broken line is noticed."""
MOST_VIEWERS = 500
"""Of one desk in one process."""
RETRY = b"retry: 2000\n\n"
"""Milliseconds after which a browser whose line broke asks again."""
PARTS = {"desk": slice(0, 2), "metric": slice(2, 3), "reviewers": slice(2, 3)}
"""What is told, and which places of a version say whether it is as before."""

Ask = Callable[[str | None], Awaitable[dict[str, Any]]]
"""What is new of a desk since a version; all without one."""


class Hub:
    """Everybody who looks at one desk through this process."""

    def __init__(self, ask: Ask, *, pause: float = PAUSE, heartbeat: float = HEARTBEAT) -> None:
        self._ask, self._pause, self._heartbeat = ask, pause, heartbeat
        self._version = ""
        self._parts: dict[str, tuple[int, bytes]] = {}
        """Of each part when it was last another, and what it says."""
        self._turn = 0
        self._news = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self.viewers = 0

    async def watch(self, known: str | None) -> AsyncIterator[bytes]:
        """Pieces of an event stream, for as long as they are taken; `known` is a version told before."""
        if self.viewers >= MOST_VIEWERS:
            raise Problem("unavailable", f"{MOST_VIEWERS} look at this desk already", headers={"Retry-After": "5"})
        self.viewers += 1
        try:
            await self._be_current()
            yield RETRY
            seen, known_parts = -1, self._same_as(known)
            while self._reader is not None:
                news, turn = self._news, self._turn
                pieces = self._since(seen, known_parts)
                if pieces:
                    yield pieces
                seen, known_parts = turn, frozenset()
                if not await _set_within(news, self._heartbeat):
                    yield b": still here\n\n"
        finally:
            self.viewers -= 1

    def _same_as(self, known: str | None) -> frozenset[str]:
        """The parts that are now as they were at a version."""
        then, now = (known or "").split("."), self._version.split(".")
        return frozenset(name for name, places in PARTS.items() if then[places] == now[places])

    def _since(self, turn: int, known: frozenset[str]) -> bytes:
        """The parts that are newer than a turn and not known, as events."""
        newer = [(name, said) for name, (made, said) in self._parts.items() if made > turn and name not in known]
        marked = f"id: {self._version}\n".encode()
        # The id comes with the last of them: a line that breaks before has not told all of this version.
        return b"".join(
            b"event: %s\n%sdata: %s\n\n" % (name.encode(), marked if place == len(newer) else b"", said)
            for place, (name, said) in enumerate(newer, start=1)
        )

    async def _be_current(self) -> None:
        """See that somebody reads, and that there is something to show."""
        if self._reader is None:
            self._take_in(await self._ask(self._version or None))
            if self._reader is None:
                self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        """Look at the desk again and again while anybody is there."""
        try:
            while self.viewers and not is_stopping():
                await asyncio.sleep(self._pause)
                if self.viewers:
                    self._take_in(await self._ask(self._version))
        except Exception as error:
            # Everybody's stream ends, and they ask again, to be told what is the matter.
            log.warning("a desk cannot be read", extra={"error": type(error).__name__})
        finally:
            self._reader = None
            self._wake()

    def _take_in(self, told: dict[str, Any]) -> None:
        if told["version"] == self._version:
            return
        self._turn += 1
        self._version = told["version"]
        for name in PARTS:
            if name in told:
                self._parts[name] = (self._turn, orjson.dumps(told[name]))
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
