"""GroupCommit: commands that arrive while a batch is being written form the next batch.

The busier a desk, the larger its batches, and the fewer times the disk is synced per command.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from evenhand.service.problems import unavailable

if TYPE_CHECKING:
    from evenhand.desk.commands import Command
    from evenhand.ledger.event import Event

Execute = Callable[[list["Command"]], Sequence["Event | Exception"]]


class GroupCommit:
    """The commands of one desk. `execute` runs in a thread of the executor, one batch at a time."""

    def __init__(
        self,
        execute: Execute,
        executor: Executor,
        *,
        max_batch: int,
        max_waiting: int,
        on_written: Callable[[int], None] = lambda commands: None,
    ) -> None:
        self._execute, self._executor, self._on_written = execute, executor, on_written
        self._max_batch, self._max_waiting = max_batch, max_waiting
        self._waiting: deque[tuple[Command, asyncio.Future[Event]]] = deque()
        self._writer: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def is_idle(self) -> bool:
        """Whether no command waits or is being written."""
        return self._writer is None

    async def submit(self, command: Command) -> Event:
        """The event of a command, once it is durable; a Problem if too many commands wait."""
        if self._is_closed:
            raise unavailable("the service is stopping")
        if len(self._waiting) >= self._max_waiting:
            raise unavailable(f"{self._max_waiting} commands are waiting at this desk")
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, future))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())
        return await future

    async def _write(self) -> None:
        """Write batches until no command waits."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._max_batch))]
            results: Sequence[Event | Exception]
            try:
                results = await loop.run_in_executor(self._executor, self._execute, [command for command, _ in batch])
            except Exception as error:
                results = [error] * len(batch)
            for (_, future), result in zip(batch, results, strict=True):
                if future.done():  # the client has gone
                    continue
                if isinstance(result, Exception):
                    future.set_exception(result)
                else:
                    future.set_result(result)
            self._on_written(len(batch))
        self._writer = None

    async def close(self) -> None:
        """Refuse further commands and write those that wait."""
        self._is_closed = True
        if self._writer is not None:
            await self._writer
