"""Connections: those on which no request is under way are closed after a while, and there is a limit to all of them.

uvicorn limits how long a connection may be silent between two requests, and how long a head may be, but not how long
it may take to arrive. `TimedProtocol` stands between asyncio and uvicorn's protocol, which it passes every call on to.
When a head has arrived the application is called, so the application knows which connections have a request.
"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.h11_impl import H11Protocol

from evenhand.service.problems import unavailable

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from starlette.requests import Request
    from starlette.types import Scope

    from evenhand.service.settings import ServiceSettings

RESERVED_FILES = 256
"""Files that are not connections: the database, the log, the worker process, imported modules."""

Peer = tuple[str, int]
Result = TypeVar("Result")


@dataclass(eq=False)
class Connection:
    """An open connection."""

    transport: asyncio.Transport
    requests: int = 0
    """Requests under way."""
    idle_since: float = field(default_factory=time.monotonic)
    """When it was opened, or the last request ended."""


class Connections:
    """The open connections of this process, by the address and port of the client."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._head_seconds = settings.head_seconds
        self._most = max(1, min(settings.max_connections, _max_files() - RESERVED_FILES))
        self._open: dict[Peer, Connection] = {}

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, transport: asyncio.Transport) -> None:
        """Add a connection; if there are too many, close the one that has been waiting for a request the longest."""
        self._open[_peer(transport)] = Connection(transport)
        if len(self._open) > self._most:
            self._close(min(self._idle() or self._open.values(), key=lambda each: each.idle_since))

    def closed(self, transport: asyncio.Transport) -> None:
        """Remove a connection."""
        connection = self._open.get(_peer(transport))
        if connection is not None and connection.transport is transport:
            del self._open[_peer(transport)]

    def begun(self, scope: Scope) -> None:
        """A request has begun: its head has arrived."""
        connection = self._of(scope)
        if connection is not None:
            connection.requests += 1

    def ended(self, scope: Scope) -> None:
        """A request has ended."""
        connection = self._of(scope)
        if connection is not None:
            connection.requests -= 1
            connection.idle_since = time.monotonic()

    def abort(self, scope: Scope) -> None:
        """Close the connection of a request at once, without sending what waits."""
        connection = self._of(scope)
        if connection is not None:
            self._close(connection)

    def close_idle(self) -> None:
        """Close connections that have been waiting for the head of a request for too long."""
        before = time.monotonic() - self._head_seconds
        for connection in self._idle():
            if connection.idle_since < before:
                self._close(connection)

    async def watch(self) -> None:
        """Close idle connections from time to time, until cancelled."""
        while True:
            await asyncio.sleep(min(1.0, self._head_seconds / 4))
            self.close_idle()

    def _idle(self) -> list[Connection]:
        return [connection for connection in self._open.values() if connection.requests == 0]

    def _of(self, scope: Scope) -> Connection | None:
        client = scope.get("client")
        return None if client is None else self._open.get((client[0], client[1]))

    def _close(self, connection: Connection) -> None:
        connection.transport.abort()
        self.closed(connection.transport)


def _max_files() -> int:
    """How many files the process may have open."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if files == resource.RLIM_INFINITY else files


def _peer(transport: asyncio.Transport) -> Peer:
    name = transport.get_extra_info("peername") or ("", 0)
    return str(name[0]), int(name[1])


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Connections] = WeakKeyDictionary()


def count_connections(connections: Connections) -> None:
    """Have the server of the running event loop count its connections here."""
    _by_loop[asyncio.get_running_loop()] = connections


class TimedProtocol(asyncio.Protocol):
    """uvicorn's protocol for HTTP/1.1, and a note of when its connection begins and ends."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._http = H11Protocol(*args, **kwargs)
        self._transport: asyncio.Transport | None = None
        self._connections: Connections | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self._transport = cast("asyncio.Transport", transport)
        self._connections = _by_loop.get(asyncio.get_running_loop())
        if self._connections is not None:
            self._connections.opened(self._transport)
        self._http.connection_made(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        if self._connections is not None and self._transport is not None:
            self._connections.closed(self._transport)
        self._http.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass it on."""
        self._http.data_received(data)

    def eof_received(self) -> None:
        """Pass it on. A client who sends no more is taken for gone, and asyncio closes the connection."""
        self._http.eof_received()

    def pause_writing(self) -> None:
        """Pass it on."""
        self._http.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        self._http.resume_writing()


async def while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of some work; if the client disconnects before, the work is cancelled. The body has been read."""
    task, gone = asyncio.create_task(work), asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise unavailable("the client has gone")  # which the log gets, and nobody else
        return await task
    finally:
        gone.cancel()
        task.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
