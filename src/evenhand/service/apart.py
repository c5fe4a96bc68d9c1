"""The office in a process of its own, seen from the door: send what is asked, get what is told."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from evenhand.errors import EvenhandError
from evenhand.service.asked import Asked, Caller, Told
from evenhand.service.logs import places
from evenhand.service.office_process import MEASURED, READY, Answers, Frames
from evenhand.service.problems import Problem
from evenhand.service.telling import give

if TYPE_CHECKING:
    from evenhand.service.settings import Settings

log = logging.getLogger(__name__)

START_SECONDS = 600.0
"""A slow machine may take minutes to compile what a new installation needs."""
STOP_SECONDS = 60.0
AGAIN_SECONDS = 0.5
BUSY = 8
"""With so many requests on their way the office is at work, and new ones may gather for a moment."""


Tell = Callable[[Told | Exception], None]


class OfficeFailed(EvenhandError, RuntimeError):
    """The office's process did not start; its log says why."""


class Apart:
    """Starts the office's process, and another one should it end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._frames: Frames | None = None
        self._waiting: dict[int, Tell] = {}
        self._number = 0
        self._closing = False
        self._process: subprocess.Popen[bytes] | None = None
        self._lost = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    @classmethod
    async def opened(cls, settings: Settings) -> Apart:
        """The office, ready to work."""
        office = cls(settings)
        await office._start()
        office._keeping = asyncio.create_task(office._keep())
        return office

    async def carry_out(self, asked: Asked) -> Told:
        """The answer to a request. A Problem if the office ended before: whether it was carried out is not known."""
        answer, tell = _future()
        self.decide(asked, tell)
        return await answer

    def decide(self, asked: Asked, tell: Tell) -> bool:
        """The same without a task: `tell` gets the answer, or the Problem. True, always: it is on its way."""
        if self._frames is None:
            raise _away()
        self._number += 1
        self._waiting[self._number] = tell
        self._frames.send((self._number, asked), patiently=len(self._waiting) > BUSY)
        return True

    async def why_not_ready(self) -> str | None:
        """None if decisions can be made now, or else why not."""
        told = await self.carry_out(_plain(READY))
        return None if told.status == 200 else told.body.decode()

    async def measured(self, desks: tuple[str, ...] | None) -> bytes:
        """Numbers about these desks, or all, for Prometheus."""
        return (await self.carry_out(_plain(MEASURED, desks))).body

    async def _start(self) -> None:
        here, there = socket.socketpair()
        try:
            with there:
                self._process = process = self._begun(there)
            self._lost.clear()
            frames = Frames(Answers, self._receive, self._on_lost)
            begun, self._waiting[0] = _future()
            here.setblocking(False)
            await asyncio.get_running_loop().create_connection(lambda: frames, sock=here)
        except BaseException:
            here.close()
            raise
        try:
            await asyncio.wait_for(begun, START_SECONDS)
        except BaseException as error:
            process.kill()
            if not isinstance(error, Problem | TimeoutError):
                raise
            raise OfficeFailed("the part of the service that has the desks did not start; its log says why") from None
        self._frames = frames

    def _begun(self, end: socket.socket) -> subprocess.Popen[bytes]:
        """The process, which has been told its settings."""
        command = [sys.executable, "-m", "evenhand.service.office_process", str(end.fileno())]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[end.fileno()])
        # Settings go by the pipe, not by arguments, which others on the machine may read; the office needs no token.
        told = replace(self._settings, admin_token=None, metrics_token=None).to_environment()
        try:
            assert process.stdin is not None
            with process.stdin as line:
                line.write(msgspec.json.encode(told) + b"\n")
        except OSError:
            process.kill()
            process.wait()
            raise
        return process

    def _receive(self, answers: Answers) -> None:
        for number, told in answers:
            tell = self._waiting.pop(number, None)
            if tell is not None:
                give(tell, told)

    def _on_lost(self) -> None:
        self._frames = None
        self._lost.set()
        waiting, self._waiting = self._waiting, {}
        for tell in waiting.values():
            give(tell, _away())

    async def _keep(self) -> None:
        """Start another process whenever the last one ended, until closed."""
        while True:
            await self._lost.wait()
            if self._process is not None:
                await asyncio.to_thread(self._process.wait)
            log.error("the office ended; it is started again")
            try:
                await self._start()
            except Exception as error:  # whatever it was, it may be over the next time
                log.error("the office did not start", extra={"error": type(error).__name__, "at": places(error)})
                self._lost.set()
                await asyncio.sleep(AGAIN_SECONDS)

    async def close(self) -> None:
        """Let the office write what waits and end."""
        if self._keeping is not None:
            self._keeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeping
        if self._frames is not None:
            self._frames.flush()
            self._frames.transport.write_eof()
        if self._process is not None:
            try:
                await asyncio.to_thread(self._process.wait, STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()


def _future() -> tuple[asyncio.Future[Told], Tell]:
    """A future, and what gives it its result."""
    future: asyncio.Future[Told] = asyncio.get_running_loop().create_future()

    def tell(told: Told | Exception) -> None:
        if future.done():
            return
        if isinstance(told, Exception):
            future.set_exception(told)
        else:
            future.set_result(told)

    return future, tell


def _plain(operation: str, desks: tuple[str, ...] | None = None) -> Asked:
    return Asked(operation, Caller("", (), desks), {}, None, b"", b"")


def _away() -> Problem:
    return Problem(
        "unavailable",
        "the part of the service that has the desks is starting again; send the request again with its key",
        headers={"Retry-After": "1"},
    )
