"""The head of a request has an end: whoever sends one without end is refused, before any token and without growing."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from evenhand.service.protocol import MOST_HEAD
from tests.support.running_service import Asking, candidates

GET = b"GET /health HTTP/1.1\r\nHost: desk\r\n"
CHUNKED = (
    b"POST /api/desks/loans/decisions HTTP/1.1\r\nHost: desk\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
)


@contextmanager
def connected(ask: Asking) -> Iterator[socket.socket]:
    """A connection of one's own."""
    host, port = ask.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        yield connection


def all_of(connection: socket.socket) -> bytes:
    """What comes until the other end closes."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def check_refused(said: bytes) -> None:
    """A problem document, and nothing else, at the end."""
    head, _, body = said[said.rindex(b"HTTP/1.1") :].partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert b"content-type: application/problem+json" in head
    assert b"connection: close" in head
    assert json.loads(body)["type"] == "urn:evenhand:problem:head-too-large"


@pytest.mark.parametrize(
    "begin",
    [GET + b"X: ", GET + b"X", b"GET /health?", GET + b"X: a\r\n" * 9_000 + b"Y: "],
    ids=["value", "name", "path", "many"],
)
def test_a_head_without_end_is_refused(ask: Asking, begin: bytes) -> None:
    """One byte too many, sent in pieces: 431, and the connection is closed."""
    with connected(ask) as connection:
        sent = begin + b"a" * (MOST_HEAD + 1 - len(begin))
        for at in range(0, len(sent), 20_000):
            connection.sendall(sent[at : at + 20_000])
        check_refused(all_of(connection))
    assert ask("GET", "/health").status_code == 200


def test_a_head_that_ends_but_is_too_long(ask: Asking) -> None:
    """Whole, perhaps in one piece, with a right token or none."""
    for line in (b"X: " + b"a" * (MOST_HEAD + 1), b"\r\n".join([b"X: a"] * MOST_HEAD)):
        with connected(ask) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(GET + line + b"\r\n\r\n")
            said = all_of(connection)
        assert not said or b" 431 " in said  # lost, if more came than was read when it was closed


def test_trailers_without_end_are_refused(ask: Asking) -> None:
    """After a body headers may follow, too."""
    with connected(ask) as connection:
        connection.sendall(CHUNKED)
        assert b" 401 " in connection.recv(65_536)
        connection.sendall(b"X: " + b"a" * MOST_HEAD)
        check_refused(all_of(connection))


def test_a_long_head_that_is_allowed(ask: Asking) -> None:
    """Just below the limit, one request after the other on one connection, and bodies far above it."""
    long = {"X-Long": "a" * (MOST_HEAD - 1_000)}
    for _ in range(3):
        assert ask("GET", "/health", headers=long).status_code == 200
        answer = ask("POST", "/api/desks/loans/decisions", {**candidates(), "more": "a" * 500_000}, headers=long)
        assert answer.status_code == 422
        pieces = iter([b" " * 20_000] * 20)
        assert ask("POST", "/api/desks/loans/decisions", content=pieces).status_code in (400, 415)


def test_many_requests_in_one_piece_are_no_long_head(ask: Asking) -> None:
    """Together longer than the limit, each short: all are answered."""
    one = GET + b"X: " + b"a" * 1_000 + b"\r\n\r\n"
    with connected(ask) as connection:
        connection.sendall(one * 100 + GET + b"Connection: close\r\n\r\n")
        assert all_of(connection).count(b"HTTP/1.1 200") == 101
