"""OpenDesks: the desks that this process has open, and the commands that wait to be written to each of them."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from evenhand.desk.desk import Desk
from evenhand.desk.opening import open_once
from evenhand.desk.projection.projector import Projectors
from evenhand.errors import EvenhandError, LedgerUnavailable, UnknownRecord
from evenhand.review.interview_sessions import InterviewSessions
from evenhand.review.review_book import ReviewBook
from evenhand.review.review_sessions import ReviewSessions
from evenhand.service.dashboard.groups import GroupView
from evenhand.service.dashboard.overview import Overview
from evenhand.service.group_commit import GroupCommit
from evenhand.service.problems import Problem, unavailable

if TYPE_CHECKING:
    from starlette.requests import Request

    from evenhand.desk.commands import Command
    from evenhand.desk.differences import Differences
    from evenhand.ledger.event import Event
    from evenhand.ledger.ledger import Ledger
    from evenhand.service.authentication import Caller
    from evenhand.service.metrics import Metrics
    from evenhand.service.service import Service
    from evenhand.service.settings import ServiceSettings

WRITE_THREADS = 8
"""Desks that can write at the same time in one process."""

CHANGING = 64
"""Desks that can be opened or closed at the same time: one that takes long must not keep others from it."""

log = logging.getLogger(__name__)

Input = TypeVar("Input")
Result = TypeVar("Result")


class OpenDesk:
    """An open desk with its group commit, and the views of it that requests share."""

    def __init__(self, desk: Desk, commits: GroupCommit, keys: Sequence[bytes] = ()) -> None:
        self.desk, self.commits, self.used_at = desk, commits, time.monotonic()
        self._keys = keys
        self._reporting = threading.Lock()
        self._report: tuple[tuple[int, int, int], Differences] | None = None

    def differences(self, last: int) -> Differences:
        """Where the desk and the system in force differ; computed once for all who ask while nothing is new."""
        with self._reporting:
            key = (self.desk.head.seq, self.desk.projection.seq, last)
            if self._report is None or self._report[0] != key:
                self._report = (key, self.desk.differences(last))
            return self._report[1]

    @cached_property
    def book(self) -> ReviewBook:
        """All answers, a kilobyte each: in memory once for all views."""
        return ReviewBook(self.desk.ledger, self.desk.name)

    @cached_property
    def review_sessions(self) -> ReviewSessions:
        """What the review page asks."""
        return ReviewSessions(self.desk, self._keys, self.book)

    @cached_property
    def interview_sessions(self) -> InterviewSessions:
        """What the interview page asks."""
        return InterviewSessions(self.desk, self._keys, self.book)

    @cached_property
    def overview(self) -> Overview:
        """What the dashboard shows."""
        return Overview(self.desk, self.book)

    @cached_property
    def groups(self) -> GroupView:
        """Chance and outcome by group."""
        return GroupView(self.desk)


@dataclass(frozen=True)
class DeskAccess:
    """An open desk and the caller, who may use it."""

    service: Service
    caller: Caller
    opened: OpenDesk
    request: Request

    async def record(self, command: type[Command], *fields: Any, key: str | None, **named: Any) -> Event:
        """The event of a command of the caller, once it is durable."""
        lifetime = self.service.settings.idempotency_days * 86_400.0
        made = command(*fields, actor=self.caller.name, idempotency_key=key, key_lifetime=lifetime, **named)
        return await self.opened.commits.submit(made, is_abandoned=self.request.is_disconnected)


class OpenDesks:
    """Opens desks on demand, keeps their projections up to date, and closes them after `close_after` idle seconds."""

    def __init__(self, ledger: Ledger, settings: ServiceSettings, metrics: Metrics) -> None:
        self.ledger, self._settings, self._metrics = ledger, settings, metrics
        self._open: dict[str, OpenDesk] = {}
        self._changing = tuple(asyncio.Lock() for _ in range(CHANGING))
        """Held while a desk is opened or closed, so that no desk is open twice; few desks share one."""
        self._projectors = Projectors(ledger)
        self._executor = ThreadPoolExecutor(WRITE_THREADS, "evenhand-write")
        self._trying = asyncio.Lock()
        """Held while a model that came with a new desk is tried."""
        self._write_failed = False
        self._testing = asyncio.Lock()

    async def get(self, name: str) -> OpenDesk:
        """The desk with this name; a Problem if there is none."""
        opened = self._open.get(name)
        if opened is None:
            opened = await self._open_desk(name)
        opened.used_at = time.monotonic()
        return opened

    async def _open_desk(self, name: str) -> OpenDesk:
        async with self._changing[hash(name) % CHANGING]:
            if name not in self._open:
                try:
                    desk = await asyncio.to_thread(Desk.open, self.ledger, name)
                except UnknownRecord:  # whose message may name desks that the caller must not know of
                    raise Problem("not-found", f"there is no desk {name!r}") from None
                self._projectors.add(desk)
                commits = GroupCommit(
                    self._noting_failures(desk.execute),
                    self._executor,
                    max_batch=self._settings.max_batch,
                    max_waiting=self._settings.max_waiting,
                    max_seconds=self._settings.max_seconds,
                    on_written=self._metrics.batch,
                )
                self._open[name] = OpenDesk(desk, commits, self._settings.service_keys)
            return self._open[name]

    async def create(self, name: str, settings: dict[str, Any], key: str | None, actor: str) -> Event:
        """The first event of a new desk, or of the one that the same request made before.

        A Problem with Retry-After if the desk brings a model along while another one is being tried: trials take long,
        and each keeps a thread that others need for reading.
        """
        create = partial(open_once, self.ledger, settings=settings, actor=actor, key=key)
        reward = settings.get("reward")
        if not (isinstance(reward, Mapping) and "model" in reward):
            return await asyncio.to_thread(self._noting_failures(create), name)
        if self._trying.locked():
            raise unavailable("another model is being tried; try again later", 5)
        async with self._trying:
            return await asyncio.to_thread(self._noting_failures(create), name)

    async def names(self) -> list[str]:
        """The names of all desks, sorted."""
        return await asyncio.to_thread(self.ledger.names)

    def progress(self) -> dict[str, tuple[int, bool]]:
        """For each open desk: the last event of its projection, and whether this process projects it."""
        return {name: (opened.desk.projection.seq, opened.desk.is_projecting) for name, opened in self._open.items()}

    def stuck_seconds(self) -> float:
        """For how long the slowest batch of commands has been under way, or has waited for a thread."""
        return max((opened.commits.busy_seconds for opened in self._open.values()), default=0.0)

    async def close_idle(self) -> None:
        """Close idle desks from time to time, until cancelled."""
        while True:
            await asyncio.sleep(min(60.0, self._settings.close_after / 2))
            before = time.monotonic() - self._settings.close_after
            for name in [name for name, opened in self._open.items() if opened.used_at < before]:
                await self._close_desk(name, before)

    async def _close_desk(self, name: str, before: float) -> None:
        async with self._changing[hash(name) % CHANGING]:
            opened = self._open.get(name)
            if opened is not None and opened.used_at < before and opened.commits.is_idle:
                del self._open[name]
                await opened.commits.close()
                await asyncio.to_thread(opened.desk.close)

    async def close(self) -> None:
        """Write the commands that wait, and close all desks. The ledger stays open."""
        for opened in self._open.values():
            await opened.commits.close()
        for opened in self._open.values():
            await asyncio.to_thread(opened.desk.close)
        self._open.clear()
        await asyncio.to_thread(self._projectors.close)
        self._executor.shutdown()

    # A full disk can still be read. After a failed write readiness depends on a write that succeeds; a service that
    # gets no requests, because it is not ready, would otherwise never notice that there is room again.

    def _noting_failures(self, write: Callable[[Input], Result]) -> Callable[[Input], Result]:
        def noted(value: Input) -> Result:
            try:
                return write(value)
            except LedgerUnavailable as error:
                if not self._write_failed:
                    log.warning("the ledger cannot be written: %s", error)
                self._write_failed = True
                raise

        return noted

    async def is_writable(self) -> bool:
        """Whether the last write succeeded, or a test write succeeds now."""
        async with self._testing:
            if self._write_failed:
                try:
                    await asyncio.to_thread(self.ledger.check_writable)
                except EvenhandError:
                    return False
                self._write_failed = False
                log.info("the ledger can be written again")
        return True
