"""The office as a process of its own, so that HTTP and deciding do not wait for each other's interpreter.

Messages are frames on a socket: four bytes of length, then MessagePack. What gathers within one turn of the event loop
goes out as one frame; under load, what gathers within a millisecond. The process ends when the other end of the socket
does.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from evenhand.errors import EvenhandError
from evenhand.service.asked import Asked, Told
from evenhand.service.starting import reason_of

if TYPE_CHECKING:
    from evenhand.service.office import Office

log = logging.getLogger("evenhand.service.office_process")  # as a program its own name would be __main__

LENGTH = 4
SWITCH_SECONDS = 0.0005
"""So long a busy thread may keep the interpreter from others, in place of Python's five milliseconds: answers are to
leave while the next batch is decided."""
PAUSE_SECONDS = 0.001
READY, MEASURED = "ready", "measured"
"""What can be asked for beside operations."""

Requests = list[tuple[int, Asked]]
Answers = list[tuple[int, Told]]


class Frames(asyncio.Protocol):
    """Reads and writes lists of messages; what is sent within one turn goes out together."""

    def __init__(self, kind: Any, receive: Callable[[Any], None], lost: Callable[[], None]) -> None:
        self._decode = msgspec.msgpack.Decoder(kind).decode
        self._encode = msgspec.msgpack.Encoder().encode
        self._receive, self._lost = receive, lost
        self._sent = float("-inf")
        self._buffer = bytearray()
        self._waiting: list[Any] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is there."""
        self.transport: Any = transport
        self._loop = asyncio.get_running_loop()

    def send(self, message: Any, *, patiently: bool = False) -> None:
        """Send with all else of this turn; patiently: with all of a pause, so that the reader is not always roused."""
        if not self._waiting:
            if patiently and self._loop.time() < self._sent + PAUSE_SECONDS:
                self._loop.call_later(PAUSE_SECONDS, self.flush)
            else:
                self._loop.call_soon(self.flush)
        self._waiting.append(message)

    def flush(self) -> None:
        """Send what waits now."""
        messages, self._waiting, self._sent = self._waiting, [], self._loop.time()
        if messages and not self.transport.is_closing():  # else nobody is there any more to be told
            content = self._encode(messages)
            self.transport.write(len(content).to_bytes(LENGTH) + content)

    def data_received(self, data: bytes) -> None:
        """Give on every frame that is whole."""
        self._buffer += data
        while len(self._buffer) >= LENGTH:
            end = LENGTH + int.from_bytes(self._buffer[:LENGTH])
            if len(self._buffer) < end:
                return
            frame = bytes(self._buffer[LENGTH:end])
            del self._buffer[:end]
            self._receive(self._decode(frame))

    def connection_lost(self, error: Exception | None) -> None:
        """The other end is gone."""
        self._lost()


class Clerk:
    """Takes requests from the socket to the office, and answers back."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._running: set[asyncio.Task[None]] = set()
        self.gone = asyncio.Event()
        """Set once the other end is gone."""
        self.frames = Frames(Requests, self._receive, self.gone.set)

    def _receive(self, messages: Requests) -> None:
        for number, asked in messages:
            if self._office.decide(asked, partial(self._tell, number)):
                continue
            task = asyncio.create_task(self._carry_out(number, asked))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def _tell(self, number: int, answer: Told) -> None:
        self.frames.send((number, answer))

    async def _carry_out(self, number: int, asked: Asked) -> None:
        if asked.operation == READY:
            why_not = await self._office.why_not_ready()
            answer = Told((why_not or "").encode(), 200 if why_not is None else 503, b"")
        elif asked.operation == MEASURED:
            answer = Told(await self._office.measured(asked.caller.desks), 200, b"")
        else:
            answer = await self._office.carry_out(asked)
        self.frames.send((number, answer))


async def work(end: socket.socket, settings: dict[str, str]) -> None:
    """Carry out what comes in, until the other end goes away."""
    from evenhand.bandit.warm_up import warm_up
    from evenhand.ledger.ledger import open_ledger
    from evenhand.service.office import Office
    from evenhand.service.settings import Settings

    told = Settings.from_environment(settings)
    ledger = open_ledger(told.database_url, make=False)  # the door has opened it: if it is gone, it is lost
    await asyncio.to_thread(warm_up)
    office = Office(told, ledger)
    clerk = Clerk(office)
    await asyncio.get_running_loop().create_connection(lambda: clerk.frames, sock=end)
    clerk.frames.send((0, Told(b"", 200, b"")))  # ready to work
    await clerk.gone.wait()
    await office.close()
    ledger.close()


def main() -> None:
    """Begin: the socket's number is the argument, the settings come as the first line of input."""
    import uvloop

    from evenhand.service.logs import set_up_logs

    # Whoever stops the service stops its door first; the office ends when the door has let go.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    set_up_logs()
    sys.setswitchinterval(SWITCH_SECONDS)
    settings: dict[str, str] = msgspec.json.decode(sys.stdin.buffer.readline(), type=dict[str, str])
    with socket.socket(fileno=int(sys.argv[1])) as end, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        end.setblocking(False)
        try:
            runner.run(work(end, settings))
        except EvenhandError as error:
            log.error("the office cannot work: %s", reason_of(error))
            log.debug("the office cannot work", exc_info=True)
            sys.exit(1)


if __name__ == "__main__":
    main()
