"""Group commit: what comes in while one batch is written is the next batch.

A request puts its command here and waits. At the end of the event loop's turn all that came in goes to one thread,
which writes it in one transaction, wakes the loop once, and goes on with whatever came in meanwhile, without waiting
for the loop. The busier the service, the larger the batches.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Generic, TypeVar

from evenhand.service.problems import Problem
from evenhand.service.telling import give

Command = TypeVar("Command")
Result = TypeVar("Result")
Tell = Callable[[Result | Exception], None]
Batch = list[tuple[Command, Tell[Result]]]


class Gatherer(Generic[Command, Result]):
    """Commands for one desk. `execute` is called in a thread of its own, never twice at once."""

    def __init__(
        self,
        name: str,
        execute: Callable[[list[Command]], Sequence[Result | Exception]],
        *,
        max_batch: int,
        max_waiting: int,
        written: Callable[[int], None] = lambda number: None,
    ) -> None:
        self._execute, self._max_batch, self._max_waiting, self._written = execute, max_batch, max_waiting, written
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[Command, Tell[Result]]] = deque()
        self._handed: SimpleQueue[Batch[Command, Result] | None] = SimpleQueue()
        self._busy = False
        """Whether the thread has work, or gets some at the end of this turn; changed with the lock alone."""
        self._lock = threading.Lock()
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._thread = threading.Thread(target=self._work, name=f"write {name}", daemon=True)
        self._thread.start()

    def submit(self, command: Command) -> asyncio.Future[Result]:
        """The future result of a command; it is in the ledger when the future is done."""
        future: asyncio.Future[Result] = self._loop.create_future()

        def tell(result: Result | Exception) -> None:
            if future.done():
                return
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)

        self.hand_in(command, tell)
        return future

    def hand_in(self, command: Command, tell: Tell[Result]) -> None:
        """The same without a future: `tell` gets the result, or what went wrong, within the event loop."""
        if self._closed or len(self._waiting) >= self._max_waiting:
            raise Problem(
                "unavailable",
                "the service is stopping" if self._closed else f"{self._max_waiting} commands wait already",
                headers={"Retry-After": "1"},
            )
        with self._lock:
            self._waiting.append((command, tell))
            begins, self._busy = not self._busy, True
        if begins:
            self._idle.clear()
            self._loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        self._handed.put(self._next())

    def _next(self) -> Batch[Command, Result]:
        """What waits, as far as it may go together; if nothing does, whoever comes next begins anew."""
        with self._lock:
            waiting = self._waiting
            self._busy = bool(waiting)
            return [waiting.popleft() for _ in range(min(len(waiting), self._max_batch))]

    def _work(self) -> None:
        while (batch := self._handed.get()) is not None:
            while batch:
                results: Sequence[Result | Exception]
                try:
                    results = self._execute([command for command, _ in batch])
                except Exception as error:
                    results = [error] * len(batch)
                done, batch = batch, self._next()
                self._loop.call_soon_threadsafe(self._deliver, done, results)

    def _deliver(self, batch: Batch[Command, Result], results: Sequence[Result | Exception]) -> None:
        if not self._busy:
            self._idle.set()
        self._written(len(batch))
        for (_, tell), result in zip(batch, results, strict=True):
            give(tell, result)

    async def close(self) -> None:
        """Write what waits, then end."""
        self._closed = True
        await self._idle.wait()
        self._handed.put(None)
        await asyncio.to_thread(self._thread.join)
