"""Bytes on a connection, however they are cut and whatever their lengths say: one answer for each request, in order."""

from __future__ import annotations

import contextlib
import json
import re
import socket

import pytest

from tests.service.test_http_parsing import (
    BODY,
    GET,
    chunked,
    connected,
    read_to_end,
    request,
    responses,
    wait_until_read,
)
from tests.support.running_service import ADMIN, DECISIONS, Asking, candidates

TOKEN = f"Authorization: Bearer {ADMIN}\r\n"


def statuses(received: bytes) -> list[int]:
    """The statuses of all responses in some bytes."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", received)]


def test_a_request_in_single_bytes_is_one_request(ask: Asking) -> None:
    """Head and body, cut everywhere; followed by another one at once."""
    ask.decide()
    sent = request() + request(more="Connection: close\r\n")
    with connected(ask) as connection:
        for at in range(len(sent)):
            connection.sendall(sent[at : at + 1])
        assert statuses(read_to_end(connection)) == [201, 201]
    assert ask.decide()["number"] == 3


@pytest.mark.parametrize("at", range(0, 60, 7))
def test_a_chunked_body_may_be_cut_anywhere(ask: Asking, at: int) -> None:
    """Within a length, a line end, the data, the last chunk or a trailer."""
    sent = chunked(BODY, headers=TOKEN, trailers="X-Sum: 1\r\n")
    cut = len(sent) - 60 + at
    with connected(ask) as connection:
        connection.sendall(sent[:cut])
        wait_until_read(ask)
        connection.sendall(sent[cut:] + GET + b"Connection: close\r\n\r\n")
        assert statuses(read_to_end(connection)) == [201, 200]


LENGTHS = {
    "two lengths": f"Content-Length: {len(BODY)}\r\nContent-Length: 5\r\n",
    "a list of lengths": f"Content-Length: {len(BODY)}, 5\r\n",
    "a sign": f"Content-Length: +{len(BODY)}\r\n",
    "a negative length": "Content-Length: -1\r\n",
    "no number": "Content-Length: many\r\n",
    "an unknown coding": "Transfer-Encoding: gzip, chunked\r\n",
    "chunked twice": "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    "a space before the colon": f"Content-Length : {len(BODY)}\r\n",
}


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS.keys())
def test_a_length_that_is_not_clear_is_refused(ask: Asking, lengths: str) -> None:
    """One refusal, the connection is closed, and nothing after the head is taken for a request."""
    ask.decide()
    head = f"POST {DECISIONS} HTTP/1.1\r\nHost: desk\r\nContent-Type: application/json\r\n{TOKEN}{lengths}\r\n"
    with connected(ask) as connection:
        connection.sendall(head.encode() + BODY + request())
        (status,) = statuses(read_to_end(connection))
        assert status in (400, 501)
    assert ask.decide()["number"] == 1


@pytest.mark.parametrize("header", [TOKEN, "Authorization: Bearer nobody\r\n", "Idempotency-Key: b\r\n"])
def test_a_second_token_or_key_is_refused(ask: Asking, header: str) -> None:
    """Whoever stands before the service may have checked the other one."""
    ask.decide()
    with connected(ask) as connection:
        connection.sendall(request(more=f"Idempotency-Key: a\r\n{header}Connection: close\r\n"))
        assert statuses(read_to_end(connection)) == [400]
    assert ask.decide()["number"] == 1


def test_the_same_length_twice_is_one_length(ask: Asking) -> None:
    """As proxies send it sometimes: the request, and what follows it, are answered once each."""
    with connected(ask) as connection:
        connection.sendall(request(more=f"Content-Length: {len(BODY)}\r\n") + request(more="Connection: close\r\n"))
        assert statuses(read_to_end(connection)) == [201, 201]


def test_a_length_beside_chunks_smuggles_nothing(ask: Asking) -> None:
    """The chunks count; what the length would leave over is no request."""
    ask.decide()
    sent = chunked(BODY, headers=f"{TOKEN}Content-Length: 5\r\n")
    with connected(ask) as connection:
        connection.sendall(sent + GET + b"Connection: close\r\n\r\n")
        found = statuses(read_to_end(connection))
    assert found in ([201, 200], [201], [400])
    assert ask.decide()["number"] == 1 + found.count(201)


def test_a_client_that_sends_no_more_is_taken_for_gone(ask: Asking) -> None:
    """After a half-close each request is made at most once, and a second attempt with its key gets its response."""
    before = ask.decide()["number"]
    for key in "abc":
        with connected(ask) as connection:
            connection.sendall(request(more=f"Idempotency-Key: {key}\r\n"))
            connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                assert len(statuses(read_to_end(connection))) <= 1
    made = [ask("POST", DECISIONS, candidates(), headers={"Idempotency-Key": key}).json()["number"] for key in "abc"]
    again = [ask("POST", DECISIONS, candidates(), headers={"Idempotency-Key": key}).json()["number"] for key in "abc"]
    assert made == again
    assert sorted(made) == [before + 1, before + 2, before + 3]


def test_slow_heads_hold_up_nobody(ask: Asking) -> None:
    """While many connections send their heads byte by byte, another one is answered; then they are, in their order."""
    with contextlib.ExitStack() as opened:
        slow = [opened.enter_context(connected(ask)) for _ in range(20)]
        for connection in slow:
            connection.sendall(request()[:40])
        ask.decide()
        for connection in slow:
            connection.sendall(request()[40:])
        numbers = [json.loads(responses(connection, 1)[0][2])["number"] for connection in slow]
    assert sorted(numbers) == list(range(1, 21))


def test_pipelined_writes_and_reads_keep_their_order(ask: Asking) -> None:
    """Of two hundred requests on one connection each gets the answer to its own."""
    sent = b"".join(
        request(more=f"Idempotency-Key: key {i}\r\n") if i % 2 else GET.replace(b"health", b"nothing") + b"\r\n"
        for i in range(200)
    )
    with connected(ask, seconds=60) as connection:
        connection.sendall(sent)
        found = responses(connection, 200)
    assert [status for status, _, _ in found] == [404, 201] * 100
    numbers = [json.loads(body)["number"] for status, _, body in found if status == 201]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 100
