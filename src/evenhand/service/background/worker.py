"""Worker: one process beside the service for what is slow. It has a deadline, and is started again when it fails."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, TypeVar

from evenhand.service.problems import Problem, unavailable
from evenhand.service.process_settings import limit_arenas, limit_blas
from evenhand.service.shutdown import end_with_parent, is_stopping

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

log = logging.getLogger(__name__)

Result = TypeVar("Result")

START_SECONDS = 60.0
"""How long a new process may take to answer for the first time."""
WATCH_SECONDS = 5.0
"""How often an idle process is asked whether it answers, and how long it may take to."""
STOPPING_SECONDS = 0.1
"""How soon work is given up when the service stops."""
NICENESS = 19
"""The process leaves the processor to decisions."""


class Worker:
    """Runs one function at a time in a process of its own, which is started when it is first needed.

    Work that is cancelled or takes too long ends with the process: nothing is computed for a client who has gone.
    """

    def __init__(self, *, watch_seconds: float = WATCH_SECONDS) -> None:
        self._watch_seconds = watch_seconds
        self._executor: ProcessPoolExecutor | None = None
        self._processes: set[BaseProcess] = set()
        self._turn = asyncio.Lock()
        self._is_wanted = False

    @property
    def pid(self) -> int | None:
        """The id of the process; None while there is none."""
        return next((process.pid for process in self._processes), None)

    async def run(self, function: Callable[..., Result], *args: Any, seconds: float) -> Result:
        """The result of a function; a Problem with Retry-After if there is none after these seconds, waiting included.

        Function, arguments and result must be picklable.
        """
        self._is_wanted = True
        try:
            async with asyncio.timeout(seconds), self._turn:
                return await self._run(function, *args)
        except TimeoutError:
            raise unavailable("this takes too long now; try again later", 5) from None

    async def _run(self, function: Callable[..., Result], *args: Any) -> Result:
        future: asyncio.Future[Result] | None = None
        try:
            future = asyncio.wrap_future(self._submit(function, *args))
            while not future.done():
                if is_stopping():
                    raise unavailable("the service is stopping")
                await asyncio.wait({future}, timeout=STOPPING_SECONDS)
            return future.result()
        except BrokenProcessPool:
            self._end()
            raise unavailable("the worker process ended; another one is being started") from None
        except (asyncio.CancelledError, Problem):
            if future is not None:
                future.cancel()  # nobody waits for its failure, which asyncio would log as an error
            self._end()
            raise

    def _submit(self, function: Callable[..., Result], *args: Any) -> Future[Result]:
        if self._executor is None:
            context = multiprocessing.get_context("spawn")  # a fork would copy locks that other threads hold
            self._executor = ProcessPoolExecutor(1, context, initializer=_start)
        before = set(multiprocessing.active_children())
        future = self._executor.submit(function, *args)
        self._processes |= set(multiprocessing.active_children()) - before
        return future

    def _end(self) -> None:
        """End the process, whatever it does; a stopped one, too."""
        for process in self._processes:
            process.kill()
        self._processes = set()
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None

    async def watch(self) -> None:
        """Start the process again after it died, was ended, or does not answer; until cancelled."""
        while True:
            await asyncio.sleep(self._watch_seconds)
            if not self._is_wanted or self._turn.locked():  # work has a deadline of its own
                continue
            seconds = START_SECONDS if self._executor is None else self._watch_seconds
            try:
                await self.run(os.getpid, seconds=seconds)
            except Problem:
                log.warning("worker process does not answer; restarting")

    def close(self) -> None:
        """End the process."""
        self._is_wanted = False
        self._end()


def _start() -> None:
    """Prepare the process: it ends with the service, and leaves signals for the group to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    if sys.platform != "win32":
        os.nice(NICENESS)
    limit_arenas()
    limit_blas()
