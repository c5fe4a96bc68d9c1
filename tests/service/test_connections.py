"""Connections have limits: for heads, bodies and responses that do not move, and in number."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from evenhand.service.connections import Connections
from tests.service.test_http_parsing import GET, connected, read_to_end, request, responses
from tests.support.running_service import MEMORY, Asking, asking
from tests.support.waiting import wait_for


@contextmanager
def with_limits(**limits: float) -> Iterator[Asking]:
    """A service with short times."""
    with asking(replace(MEMORY, **cast("dict[str, Any]", limits))) as ask:
        yield ask


@pytest.mark.parametrize("begin", [b"", b"G", GET, GET + b"X: a"], ids=["nothing", "a letter", "no end", "half a line"])
def test_a_head_that_does_not_come_ends_the_connection(begin: bytes) -> None:
    """However much of it was sent, and however slowly it goes on."""
    with with_limits(head_seconds=0.3) as ask, connected(ask) as connection:
        connection.sendall(begin)
        assert read_to_end(connection) == b""
        wait_for(lambda: len(ask.service.connections) <= 1, what="the end of the connection")  # the client's own


def test_a_head_after_a_response_has_the_same_time() -> None:
    """The time begins again with every response."""
    with with_limits(head_seconds=0.5) as ask, connected(ask) as connection:
        for _ in range(3):
            connection.sendall(GET + b"\r\n")
            assert responses(connection, 1)[0][0] == 200
        connection.sendall(GET)
        assert read_to_end(connection) == b""


def test_a_long_response_is_no_idle_connection() -> None:
    """A live stream goes on for as long as it is watched."""
    with with_limits(head_seconds=0.2) as ask:
        headers = {"Authorization": f"Bearer {ask.secrets['admin']}"}
        with ask.http.stream("GET", "/api/desks/loans/stream", headers=headers) as live:
            pieces = live.iter_bytes()
            next(pieces)
            with connected(ask) as silent:
                assert read_to_end(silent) == b""  # closed: so much time has passed
            ask.decide()
            assert next(pieces)


def test_when_there_are_too_many_the_one_that_waited_longest_goes() -> None:
    """Half-sent heads do not keep others out: the newest connection is always served."""
    with with_limits(max_connections=20, head_seconds=60.0) as ask:
        host, port = ask.url.removeprefix("http://").split(":")
        waiting = [socket.create_connection((host, int(port)), timeout=10) for _ in range(60)]
        try:
            for connection in waiting:
                connection.sendall(GET)
            with connected(ask) as connection:
                connection.sendall(GET + b"\r\n")
                assert responses(connection, 1)[0][0] == 200
            assert len(ask.service.connections) <= 20
            assert read_to_end(waiting[0]) == b""
        finally:
            for connection in waiting:
                connection.close()


def test_a_body_that_does_not_come_is_refused() -> None:
    """408, a problem document, and the end of the connection; nothing is decided."""
    with with_limits(body_seconds=0.3) as ask, connected(ask) as connection:
        ask.decide()
        connection.sendall(request()[:-20])
        ((status, headers, body),) = responses(connection, 1)
        assert (status, headers["connection"]) == (408, "close")
        assert json.loads(body)["type"].endswith(":timeout")
        assert read_to_end(connection) == b""
        assert ask.decide()["number"] == 1


def test_a_client_that_does_not_read_is_disconnected() -> None:
    """A response that nobody takes does not wait for ever."""
    with with_limits(send_seconds=0.3, max_body=10_000_000) as ask, connected(ask) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        before = len(ask.service.connections)
        one = GET.replace(b"/health", b"/openapi.json") + b"\r\n"
        connection.sendall(one * 500)
        wait_for(lambda: len(ask.service.connections) < before, what="the end of the connection")


class _Transport:
    """A connection that only counts."""

    def __init__(self, port: int) -> None:
        self.port, self.is_aborted = port, False

    def get_extra_info(self, name: str) -> Any:
        return ("192.0.2.7", self.port) if name == "peername" else None

    def abort(self) -> None:
        self.is_aborted = True


def test_connections_with_a_request_are_closed_last() -> None:
    """Those that wait for a request go first; then the oldest, so that the process never runs out of files."""
    connections = Connections(replace(MEMORY, max_connections=2))
    transports = [_Transport(port) for port in range(4)]
    scopes = [{"client": ("192.0.2.7", port)} for port in range(4)]
    for transport, scope in zip(transports[:2], scopes, strict=False):
        connections.opened(cast("asyncio.Transport", transport))
        connections.begun(scope)
    connections.ended(scopes[1])
    connections.opened(cast("asyncio.Transport", transports[2]))
    assert [each.is_aborted for each in transports] == [False, True, False, False]
    connections.ended(scopes[1])  # of a connection that is gone
    connections.begun(scopes[2])
    connections.opened(cast("asyncio.Transport", transports[3]))
    assert [each.is_aborted for each in transports] == [False, True, False, True]
    assert len(connections) == 2


def test_requests_without_an_address_are_not_counted() -> None:
    """As over a Unix socket."""
    connections = Connections(MEMORY)
    connections.begun({"client": None})
    connections.ended({})
    connections.abort({})
    assert len(connections) == 0
