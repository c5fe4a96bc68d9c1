"""A load generator: keep-alive connections that each send the next request once the last one is answered.

Raw asyncio on uvloop: a request is a block of bytes made beforehand, of an answer only the status and the length are
read. That costs about a tenth of what an empty FastAPI endpoint costs, so the server is what is measured.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np


@dataclass(frozen=True)
class Load:
    """What came of a stretch of load: answers a second, and how long the answers took, in milliseconds."""

    answers: int
    rate: float
    p50: float
    p99: float
    wrong: int
    """Answers whose status was not the wanted one."""


class Connection(asyncio.Protocol):
    """One keep-alive connection that sends requests until the time is up."""

    def __init__(self, requests: Sequence[bytes], first: int, until: float, status: bytes) -> None:
        self.requests, self.next, self.until, self.status = requests, first, until, status
        self.buffer = b""
        self.times: list[float] = []
        self.wrong = 0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask the first time."""
        self.transport = cast(asyncio.Transport, transport)
        self._ask()

    def _ask(self) -> None:
        self.sent = time.perf_counter()
        self.transport.write(self.requests[self.next % len(self.requests)])
        self.next += 1

    def data_received(self, data: bytes) -> None:
        """Take in an answer once it is whole, then ask again."""
        self.buffer = self.buffer + data if self.buffer else data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        start = self.buffer.lower().find(b"content-length:", 0, end) + 15
        length = int(self.buffer[start : self.buffer.find(b"\r\n", start)])
        if len(self.buffer) < end + 4 + length:
            return
        self.wrong += self.buffer[9:12] != self.status
        self.buffer = self.buffer[end + 4 + length :]
        now = time.perf_counter()
        self.times.append(now - self.sent)
        if now < self.until:
            self._ask()
        else:
            self.transport.close()

    def connection_lost(self, exception: Exception | None) -> None:
        """Done, or cut off."""
        if not self.done.done():
            self.done.set_result(None)


async def _stretch(port: int, requests: Sequence[bytes], connections: int, seconds: float, status: int) -> Load:
    loop, start = asyncio.get_running_loop(), time.perf_counter()
    parts = []
    for number in range(connections):
        first = number * len(requests) // connections
        _, part = await loop.create_connection(
            lambda first=first: Connection(requests, first, start + seconds, str(status).encode()),  # type: ignore[misc]
            "127.0.0.1",
            port,
        )
        parts.append(part)
    await asyncio.wait_for(asyncio.gather(*(part.done for part in parts)), seconds + 30)
    took = time.perf_counter() - start
    times = np.array([moment for part in parts for moment in part.times]) * 1000
    p50, p99 = np.percentile(times, [50, 99]) if len(times) else (np.nan, np.nan)
    return Load(len(times), len(times) / took, float(p50), float(p99), sum(part.wrong for part in parts))


def load(
    port: int, requests: Sequence[bytes], *, connections: int = 32, seconds: float = 3.0, status: int = 200
) -> Load:
    """Ask a server on loopback with these requests, in turn, for so many seconds."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_stretch(port, requests, connections, seconds, status))


def request(method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
    """The bytes of one request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body
