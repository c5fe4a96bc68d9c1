"""GroupCommit: commands that arrive at a desk while a batch is being written form the next batch."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evenhand.service.problems import unavailable

if TYPE_CHECKING:
    from evenhand.desk.commands import Command
    from evenhand.ledger.event import Event

ABANDONED_SECONDS = 0.1
"""A command that has waited this long is dropped if its client has gone; asking costs as much as a small command."""

Execute = Callable[[list["Command"]], Sequence["Event | Exception"]]


@dataclass(frozen=True, eq=False)
class Waiting:
    """A command that waits for the next batch."""

    command: Command
    future: asyncio.Future[Event]
    is_abandoned: Callable[[], Awaitable[bool]] | None = None
    since: float = field(default_factory=time.monotonic)

    async def is_dropped(self) -> bool:
        """Whether nobody waits for the result any more."""
        if self.future.done():  # cancelled, or the time was up
            return True
        if self.is_abandoned is None or time.monotonic() - self.since < ABANDONED_SECONDS:
            return False
        return await self.is_abandoned()


class GroupCommit:
    """The commands of one desk, executed in batches.

    The busier a desk, the larger its batches, and the fewer times the disk is synced per command. `execute` runs in a
    thread of the executor, one batch at a time. A command whose client has gone before its batch began is not executed;
    one that has begun is, and with its idempotency key the client gets the result later.
    """

    def __init__(
        self,
        execute: Execute,
        executor: Executor,
        *,
        max_batch: int,
        max_waiting: int,
        max_seconds: float = 30.0,
        on_written: Callable[[int], None] = lambda commands: None,
    ) -> None:
        self._execute, self._executor, self._on_written = execute, executor, on_written
        self._max_batch, self._max_waiting, self._max_seconds = max_batch, max_waiting, max_seconds
        self._waiting: deque[Waiting] = deque()
        self._writer: asyncio.Task[None] | None = None
        self._begun_at: float | None = None
        self._is_closed = False

    @property
    def is_idle(self) -> bool:
        """Whether no command waits or is being written."""
        return self._writer is None

    @property
    def busy_seconds(self) -> float:
        """For how long the batch that is being written has been; 0 if there is none."""
        return 0.0 if self._begun_at is None else time.monotonic() - self._begun_at

    async def submit(self, command: Command, *, is_abandoned: Callable[[], Awaitable[bool]] | None = None) -> Event:
        """The event of a command, once it is durable; a Problem if too many commands wait, or it takes too long.

        is_abandoned: whether the client has gone.
        """
        if self._is_closed:
            raise unavailable("the service is stopping")
        if len(self._waiting) >= self._max_waiting:
            raise unavailable(f"{self._max_waiting} commands are waiting at this desk")
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._waiting.append(Waiting(command, future, is_abandoned))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())
        try:
            async with asyncio.timeout(self._max_seconds):
                return await future
        except TimeoutError:
            raise unavailable(
                f"this desk did not answer within {self._max_seconds:g} s; send it again with the same idempotency key",
                5,
            ) from None

    async def _write(self) -> None:
        """Write batches until no command waits."""
        while self._waiting:
            taken = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._max_batch))]
            batch = []
            for each in taken:
                if await each.is_dropped():
                    each.future.cancel()
                else:
                    batch.append(each)
            if batch:
                await self._write_batch(batch)
        self._writer = None

    async def _write_batch(self, batch: list[Waiting]) -> None:
        results: Sequence[Event | Exception]
        self._begun_at = time.monotonic()
        try:
            commands = [each.command for each in batch]
            results = await asyncio.get_running_loop().run_in_executor(self._executor, self._execute, commands)
        except Exception as error:
            results = [error] * len(batch)
        finally:
            self._begun_at = None
        for each, result in zip(batch, results, strict=True):
            if each.future.done():  # the client has gone
                continue
            if isinstance(result, Exception):
                each.future.set_exception(result)
            else:
                each.future.set_result(result)
        self._on_written(len(batch))

    async def close(self) -> None:
        """Refuse further commands and write those that wait."""
        self._is_closed = True
        if self._writer is not None:
            await self._writer
