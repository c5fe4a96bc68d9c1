"""Shutdown: live streams end when the server is told to stop, workers when their parent is gone or they hang."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

log = logging.getLogger(__name__)

_stopping = threading.Event()


def is_stopping() -> bool:
    """Whether the process was told to stop."""
    return _stopping.is_set()


@contextmanager
def noticing_signals() -> Iterator[None]:
    """Notice SIGINT and SIGTERM before the server's own handlers, which wait for all responses to end."""
    _stopping.clear()
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def notice(number: int, frame: FrameType | None) -> None:
        _stopping.set()
        handler = handlers[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in handlers:
        signal.signal(number, notice)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def end_with_parent() -> None:
    """End this worker as by SIGTERM when the process that started it is gone."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def end() -> None:
        parent.join()
        log.warning("the parent process is gone; stopping")
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end, name="evenhand-parent", daemon=True).start()


async def end_if_stuck(seconds: float) -> None:
    """End this worker if its event loop does not turn for some seconds, with a traceback of all threads in the log.

    The parent notices processes that are stopped or gone, not one whose loop hangs; when this one ends, it starts
    another.
    """
    try:
        while True:
            faulthandler.dump_traceback_later(seconds, exit=True)
            await asyncio.sleep(seconds / 4)
    finally:
        faulthandler.cancel_dump_traceback_later()


async def end_if_hung(stuck_seconds: Callable[[], float], seconds: float) -> None:
    """End this worker if a batch of commands, or every thread that reads, hangs for some seconds.

    A thread within a database driver or an endless computation cannot be ended in any other way. What was acknowledged
    is in the ledger; who waits sends the request again.

    stuck_seconds: for how long the slowest batch has been under way.
    """
    reading, asked = asyncio.create_task(asyncio.to_thread(int)), time.monotonic()
    while True:
        await asyncio.sleep(seconds / 10)
        now = time.monotonic()
        if reading.done():
            reading, asked = asyncio.create_task(asyncio.to_thread(int)), now
        if max(now - asked, stuck_seconds()) > seconds:
            log.error("a thread has been hanging for more than %g s; restarting this worker", seconds)
            faulthandler.dump_traceback()
            os._exit(1)
