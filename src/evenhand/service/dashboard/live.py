"""The live stream of the dashboard: server-sent events, read once per desk and process, sent to all viewers.

Every event contains a whole part of the dashboard, never a difference: a viewer who missed some is up to date with the
next. The id of an event is the version of what it contains; a viewer who returns with it (Last-Event-ID) gets what
changed since.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson

from evenhand.service.problems import Problem, unavailable
from evenhand.service.shutdown import is_stopping
from evenhand.service.visibility import visible_overview

if TYPE_CHECKING:
    from evenhand.service.open_desks import OpenDesks

log = logging.getLogger(__name__)

PAUSE = 0.5
"""Seconds between two reads of a desk; nobody gets more than two updates per second."""
HEARTBEAT = 10.0
"""After so many seconds without news a comment is sent, so that a broken connection is noticed."""
CHECK_SECONDS = 5.0
"""How often a viewer's token is checked: it can be revoked while a stream runs."""
MAX_VIEWERS = 500
"""Of one desk in one process."""
RETRY = b"retry: 2000\n\n"
"""Milliseconds after which a browser connects again."""
PARTS = {"desk": slice(0, 2), "metric": slice(2, 3), "reviewers": slice(2, 3)}
"""The parts, and which places of a version tell whether they changed."""

Read = Callable[[str | None], Awaitable[dict[str, Any]]]
"""What changed since a version; everything without one."""


class LiveView:
    """All viewers of one desk in this process."""

    def __init__(self, read: Read, *, pause: float = PAUSE, heartbeat: float = HEARTBEAT) -> None:
        self._read_desk, self._pause, self._heartbeat = read, pause, heartbeat
        self._version = ""
        self._parts: dict[str, tuple[int, bytes]] = {}
        """For each part the turn in which it changed, and its content."""
        self._turn = 0
        self._news = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self.viewers = 0

    async def watch(
        self, known: str | None, check: Callable[[], Awaitable[None]] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Pieces of an event stream. known: a version from before. check: raises once the viewer may not watch."""
        if self.viewers >= MAX_VIEWERS:
            raise unavailable(f"{MAX_VIEWERS} viewers watch this desk already", 5)
        self.viewers += 1
        checked_at = time.monotonic()
        try:
            await self._start_reading()
            yield RETRY
            seen, known_parts = -1, self._same_as(known)
            while self._reader is not None:
                if check is not None and time.monotonic() - checked_at > CHECK_SECONDS:
                    checked_at = time.monotonic()
                    try:
                        await check()
                    except Problem:
                        return
                news, turn = self._news, self._turn
                pieces = self._since(seen, known_parts)
                if pieces:
                    yield pieces
                seen, known_parts = turn, frozenset()
                try:
                    await asyncio.wait_for(news.wait(), self._heartbeat)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self.viewers -= 1

    def _same_as(self, known: str | None) -> frozenset[str]:
        """The parts that have not changed since a version."""
        then, now = (known or "").split("."), self._version.split(".")
        return frozenset(name for name, places in PARTS.items() if then[places] == now[places])

    def _since(self, turn: int, known: frozenset[str]) -> bytes:
        """The parts that are newer than a turn and not known, as events."""
        newer = [(name, content) for name, (made, content) in self._parts.items() if made > turn and name not in known]
        version = f"id: {self._version}\n".encode()
        # The id comes with the last part: a connection that breaks before has not got all of this version.
        return b"".join(
            b"event: %s\n%sdata: %s\n\n" % (name.encode(), version if place == len(newer) else b"", content)
            for place, (name, content) in enumerate(newer, start=1)
        )

    async def _start_reading(self) -> None:
        if self._reader is None:
            self._take(await self._read_desk(self._version or None))
            if self._reader is None:
                self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        """Read the desk again and again while anybody watches."""
        try:
            while self.viewers and not is_stopping():
                await asyncio.sleep(self._pause)
                if self.viewers:
                    self._take(await self._read_desk(self._version))
        except Exception as error:
            # All streams end; viewers connect again and get the reason.
            log.warning("a desk cannot be read", extra={"error": type(error).__name__})
        finally:
            self._reader = None
            self._wake()

    def _take(self, changed: dict[str, Any]) -> None:
        if changed["version"] == self._version:
            return
        self._turn += 1
        self._version = changed["version"]
        for name in PARTS:
            if name in changed:
                self._parts[name] = (self._turn, orjson.dumps(changed[name]))
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


class LiveViews:
    """The live views of all desks: for viewers who see everything, and for reviewers."""

    def __init__(self, desks: OpenDesks, max_streams: int) -> None:
        self._desks, self._max_streams = desks, max_streams
        self._views: dict[tuple[str, bool], LiveView] = {}
        self._streams: Counter[str] = Counter()

    @contextmanager
    def stream_of(self, token: str) -> Iterator[None]:
        """While one more stream of a token runs; a Problem if it has too many."""
        if self._streams[token] >= self._max_streams:
            detail = f"this token has {self._max_streams} live streams already; close one of them"
            raise Problem("rate", detail, headers={"Retry-After": "5"})
        self._streams[token] += 1
        try:
            yield
        finally:
            self._streams[token] -= 1
            self._streams += Counter()  # forget tokens without streams

    def view(self, desk: str, *, to_reviewers: bool) -> LiveView:
        """The view of a desk; views that nobody watches are dropped."""

        async def read(version: str | None) -> dict[str, Any]:
            opened = await self._desks.get(desk)
            overview = await asyncio.to_thread(opened.overview.since, version)
            return visible_overview(overview, to_reviewers=to_reviewers)

        self._views = {key: view for key, view in self._views.items() if view.viewers}
        return self._views.setdefault((desk, to_reviewers), LiveView(read))
