"""Requests as bytes on a connection: heads without end, trailers, upgrades and pipelines, as an attacker sends them."""

from __future__ import annotations

import contextlib
import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from evenhand.service.serve import MAX_HEAD
from tests.support.running_service import ADMIN, DECISIONS, Asking, candidates

GET = b"GET /health HTTP/1.1\r\nHost: desk\r\n"
BODY = json.dumps(candidates()).encode()
SECONDS = 10.0
"""How long a response may take: where a parser waits for bytes that never come, the test fails after this."""


def request(
    body: bytes = BODY, *, version: str = "1.1", token: str = ADMIN, kind: str = "json", more: str = ""
) -> bytes:
    """The bytes of a request for a decision."""
    lines = [f"POST {DECISIONS} HTTP/{version}", "Host: 127.0.0.1", f"Content-Type: application/{kind}"]
    lines += [f"Authorization: Bearer {token}", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + f"\r\n{more}\r\n").encode() + body


def chunked(body: bytes, *, headers: str = "", trailers: str = "") -> bytes:
    """The bytes of a request for a decision whose body comes in one chunk."""
    head = (
        f"POST {DECISIONS} HTTP/1.1\r\nHost: desk\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    )
    return f"{head}{headers}\r\n{len(body):x}\r\n".encode() + body + f"\r\n0\r\n{trailers}\r\n".encode()


@contextmanager
def connected(ask: Asking, seconds: float = SECONDS) -> Iterator[socket.socket]:
    """A connection to the service; nothing sent or received takes longer than some seconds."""
    host, port = ask.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield connection


def wait_until_read(ask: Asking) -> None:
    """Wait until the service has read what was sent on other connections: its one loop reads in order of arrival."""
    assert ask("GET", "/health", timeout=SECONDS).status_code == 200


def read_to_end(connection: socket.socket) -> bytes:
    """What comes until the service closes the connection."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def responses(connection: socket.socket, number: int) -> list[tuple[int, dict[str, str], bytes]]:
    """The next responses: status, headers, body."""
    found: list[tuple[int, dict[str, str], bytes]] = []
    with connection.makefile("rb") as file:
        for _ in range(number):
            line = file.readline()
            assert line, f"the connection was closed after {len(found)} of {number} responses"
            status, headers = int(line.split()[1]), {}
            while (header := file.readline().decode().strip()) != "":
                name, _, value = header.partition(": ")
                headers[name.lower()] = value
            found.append((status, headers, file.read(int(headers.get("content-length", 0)))))
    return found


@pytest.mark.parametrize(
    "begin",
    [GET + b"X: ", GET + b"X", b"GET /health?", GET + b"X: a\r\n" * 9_000 + b"Y: "],
    ids=["value", "name", "path", "many"],
)
def test_a_head_without_end_is_refused(ask: Asking, begin: bytes) -> None:
    """Sent in pieces, beyond the limit: 400, and the connection is closed before any token was seen."""
    with connected(ask) as connection:
        sent = begin + b"a" * (MAX_HEAD + 20_000 - len(begin))
        with contextlib.suppress(ConnectionError):
            for at in range(0, len(sent), 20_000):
                connection.sendall(sent[at : at + 20_000])
        response = read_to_end(connection)
    assert not response or response.startswith(b"HTTP/1.1 400 ")  # lost if more was sent than was read
    assert ask("GET", "/health").status_code == 200


def test_a_long_head_below_the_limit_is_read(ask: Asking) -> None:
    """One request after the other on one connection, with bodies far above the limit of heads."""
    long = {"X-Long": "a" * (MAX_HEAD - 1_000)}
    for _ in range(3):
        assert ask("GET", "/health", headers=long).status_code == 200
        answer = ask("POST", DECISIONS, {**candidates(), "more": "a" * 500_000}, headers=long)
        assert answer.status_code == 422


def test_bytes_that_are_not_http_are_refused(ask: Asking) -> None:
    """400, and the connection is closed."""
    with connected(ask) as connection:
        connection.sendall(b"this is not HTTP\r\n\r\n")
        assert read_to_end(connection).startswith(b"HTTP/1.1 400 ")


UPGRADE = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"


@pytest.mark.parametrize("cut", [b"Upgra", b"Upgrade", b"Upgrade:", b"Upgrade: h2", b"Upgrade: h2c\r\n", None])
def test_an_upgrade_header_in_two_reads_does_not_smuggle_a_request(ask: Asking, cut: bytes | None) -> None:
    """The body of a request that proposes another protocol is its body, wherever the bytes are split.

    Its body is itself a request; if it were read as one there would be two decisions and two responses.
    """
    ask.decide()
    smuggled = request()
    outer = request(smuggled, more=UPGRADE)
    at = outer.rindex(b"Upgrade: h2c") + len(cut) if cut is not None else len(outer)
    with connected(ask) as connection:
        connection.sendall(outer[:at])
        wait_until_read(ask)
        connection.sendall(outer[at:] + GET + b"Connection: close\r\n\r\n")
        assert re.findall(rb"HTTP/1\.1 (\d+) ", read_to_end(connection)) == [b"400", b"200"]
    assert ask.decide()["number"] == 1


def test_a_client_that_proposes_another_protocol_is_answered(ask: Asking) -> None:
    """A client that prefers HTTP/2, as Java's does, gets its decision."""
    with connected(ask) as connection:
        connection.sendall(request(more=UPGRADE) + request())
        assert [status for status, _, _ in responses(connection, 2)] == [201, 201]


@pytest.mark.parametrize("apart", [False, True], ids=["one read", "two reads"])
def test_trailers_are_not_headers(ask: Asking, apart: bool) -> None:
    """A token after the body does not authorize the request, and a key there is no idempotency key."""
    ask.decide()
    token = f"Authorization: Bearer {ADMIN}\r\n"
    for sent, status in (
        (chunked(BODY, trailers=token), 401),
        (chunked(BODY, headers=token, trailers="Idempotency-Key: k\r\n"), 201),
        (chunked(BODY, headers=token, trailers="Idempotency-Key: k\r\n"), 201),
    ):
        with connected(ask) as connection:
            at = len(sent) - 20 if apart else len(sent)
            connection.sendall(sent[:at])
            if apart:
                wait_until_read(ask)
                connection.sendall(sent[at:])
            assert responses(connection, 1)[0][0] == status
    assert ask.decide()["number"] == 3


def test_pipelined_requests_are_answered_in_order(ask: Asking) -> None:
    """Valid ones, one that is not JSON, one of a wrong type, one with an unknown token: each gets its own response."""
    ask.decide()
    sent = [request(), request(b"{"), request(kind="xml"), request(token="nobody-knows-this-one"), request()]
    with connected(ask) as connection:
        connection.sendall(b"".join(sent))
        found = responses(connection, len(sent))
    assert [status for status, _, _ in found] == [201, 400, 415, 401, 201]
    assert [json.loads(found[i][2])["number"] for i in (0, 4)] == [1, 2]


def test_hundreds_of_pipelined_requests_are_answered_in_order(ask: Asking) -> None:
    """However many wait on one connection."""
    bad = request(more=f"Idempotency-Key: {'k' * 201}\r\n")
    with connected(ask, seconds=60) as connection:
        connection.sendall(bad * 300 + request(b"{") * 300 + request())
        assert [status for status, _, _ in responses(connection, 601)] == [422] * 300 + [400] * 300 + [201]


def test_a_client_that_disconnects_disturbs_nobody(ask: Asking) -> None:
    """Several requests at once, then the end of the connection: everybody else is answered."""
    for _ in range(5):
        with connected(ask) as connection:
            connection.sendall(request() * 3)
            connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                while connection.recv(65536):
                    pass
        ask.decide("jobs")


def test_a_body_may_come_in_pieces_or_never(ask: Asking) -> None:
    """A decision is made once the body is complete; one that breaks off makes none."""
    ask.decide()
    with connected(ask) as connection:
        for piece in (request()[:-60], request()[-60:-20], request()[-20:]):
            connection.sendall(piece)
            wait_until_read(ask)
        assert responses(connection, 1)[0][0] == 201
        connection.sendall(request()[:-10])
    assert ask.decide()["number"] == 2


def test_a_client_may_expect_100_continue(ask: Asking) -> None:
    """Expect: 100-continue gets an interim response, then the decision."""
    with connected(ask) as connection:
        connection.sendall(request(more="Expect: 100-continue\r\n"))
        assert [status for status, _, _ in responses(connection, 2)] == [100, 201]


@pytest.mark.parametrize(("version", "more"), [("1.0", ""), ("1.1", "Connection: close\r\n")])
def test_a_connection_that_is_not_to_stay_is_closed(ask: Asking, version: str, more: str) -> None:
    """After the response, which says so."""
    with connected(ask) as connection:
        connection.sendall(request(version=version, more=more))
        ((status, headers, _),) = responses(connection, 1)
        assert (status, headers["connection"]) == (201, "close")
        assert connection.recv(10) == b""
