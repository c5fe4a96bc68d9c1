"""Decisions go from the connection to the office without a task each; a client cannot tell."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.service.asking import ADMIN, Asking, candidates

BODY = json.dumps(candidates()).encode()


def request(
    body: bytes = BODY, *, version: str = "1.1", token: str = ADMIN, kind: str = "json", more: str = ""
) -> bytes:
    """The bytes of a request for a decision."""
    lines = [f"POST /api/desks/loans/decisions HTTP/{version}", "Host: 127.0.0.1", f"Content-Type: application/{kind}"]
    lines += [f"Authorization: Bearer {token}", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + f"\r\n{more}\r\n").encode() + body


@contextmanager
def connected(ask: Asking) -> Iterator[socket.socket]:
    """A connection to the service."""
    host, port = ask.url.removeprefix("http://").strip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        yield connection


def answers(connection: socket.socket, number: int) -> list[tuple[int, dict[str, str], bytes]]:
    """The next so many answers: status, headers, body."""
    file, found = connection.makefile("rb"), []
    for _ in range(number):
        status, headers = int(file.readline().split()[1]), {}
        while (line := file.readline().decode().strip()) != "":
            name, _, value = line.partition(": ")
            headers[name] = value
        found.append((status, headers, file.read(int(headers.get("content-length", 0)))))
    return found


def test_requests_sent_together_are_answered_in_their_order(ask: Asking) -> None:
    """Good ones, one that is no JSON, one of a wrong kind, one without a known token: each gets its own answer."""
    ask.decide()
    sent = [request(), request(b"{"), request(kind="xml"), request(token="nobody-knows-this-one"), request()]
    with connected(ask) as connection:
        connection.sendall(b"".join(sent))
        found = answers(connection, len(sent))
    assert [status for status, _, _ in found] == [201, 400, 415, 401, 201]
    assert [json.loads(found[i][2])["number"] for i in (0, 4)] == [1, 2]


def test_thousands_of_bad_requests_at_once_are_all_refused(ask: Asking) -> None:
    """However many wait on one connection, none is answered within another."""
    ask.decide()
    with connected(ask) as connection:
        connection.settimeout(60)
        connection.sendall(request(b"{") * 1500)
        assert {status for status, _, _ in answers(connection, 1500)} == {400}
    assert ask.decide()["number"] == 1


def test_a_body_may_come_in_pieces_or_never(ask: Asking) -> None:
    """A decision is made once the body is whole; one that breaks off makes none."""
    ask.decide()
    with connected(ask) as connection:
        for piece in (request()[:-60], request()[-60:-20], request()[-20:]):
            connection.sendall(piece)
            time.sleep(0.05)
        assert answers(connection, 1)[0][0] == 201
        connection.sendall(request()[:-10])
    assert ask.decide()["number"] == 2


def test_both_ways_answer_alike(ask: Asking) -> None:
    """The straight way, and the one that a request in chunks or with Expect takes: the same headers and members."""
    ask.decide()
    chunked = request().partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n"
    chunked += f"{len(BODY):x}\r\n".encode() + BODY + b"\r\n0\r\n\r\n"
    with connected(ask) as connection:
        connection.sendall(request() + chunked + request(more="Expect: 100-continue\r\n"))
        straight, other, _, expected = answers(connection, 4)
    for _, headers, body in (other, expected):
        assert set(headers) == set(straight[1])
        assert headers["content-type"] == straight[1]["content-type"]
        assert json.loads(body).keys() == json.loads(straight[2]).keys()


@pytest.mark.parametrize(("version", "more"), [("1.0", ""), ("1.1", "Connection: close\r\n")])
def test_a_connection_that_is_not_to_stay_is_closed(ask: Asking, version: str, more: str) -> None:
    """After the answer, which says so."""
    ask.decide()
    with connected(ask) as connection:
        connection.sendall(request(version=version, more=more))
        ((status, headers, _),) = answers(connection, 1)
        assert (status, headers["connection"]) == (201, "close")
        assert connection.recv(10) == b""


def test_what_goes_straight_is_counted(ask: Asking) -> None:
    """Answers and refusals alike stand in the measures, by status."""
    ask.decide()
    ask("POST", "/api/desks/loans/decisions", {"candidates": []})
    text = ask("GET", "/metrics").text
    assert 'evenhand_requests_total{operation="decide",status="201"} 1.0' in text
    assert 'evenhand_requests_total{operation="decide",status="422"} 1.0' in text
