"""Decisions go from the connection to the office without a task each; a client cannot tell."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evenhand.service.answer import Answer
from evenhand.service.apart import Apart
from evenhand.service.operations.table import BUSIEST
from evenhand.service.replies import DecisionTold
from evenhand.service.straight import Request, Straight
from tests.support.running_service import ADMIN, MEMORY, Asking, asking, candidates

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


def test_hundreds_of_bad_keys_at_once_are_all_refused_in_their_order(ask: Asking) -> None:
    """What is refused on its way to the desk is not answered within another answer either."""
    ask.decide()
    bad = request(more=f"Idempotency-Key: {'k' * 201}\r\n")
    with connected(ask) as connection:
        connection.settimeout(60)
        connection.sendall(bad * 600 + request())
        assert [status for status, _, _ in answers(connection, 601)] == [422] * 600 + [201]


@pytest.mark.parametrize("is_apart", [False, True])
def test_a_client_that_leaves_behind_its_requests_disturbs_nobody(tmp_path: Path, is_apart: bool) -> None:
    """Several requests at once, then the end: the office stays, and everybody else is answered."""
    settings = replace(MEMORY, database_url=f"sqlite:///{tmp_path}/ledger.db") if is_apart else MEMORY
    with asking(settings, loop="uvloop") as ask:
        ask.decide()
        office = ask.service.office
        process = office._process if isinstance(office, Apart) else None
        for _ in range(5):
            with connected(ask) as connection:
                connection.sendall(request() * 3)
                connection.shutdown(socket.SHUT_WR)
                with suppress(ConnectionError):
                    while connection.recv(65536):
                        pass
            ask.decide("jobs")
        if isinstance(office, Apart):
            assert office._process is process
            assert office._frames is not None


class Closed:
    """A transport that is closed already, as uvloop's behaves."""

    def is_closing(self) -> bool:
        """It is."""
        return True

    def write(self, data: bytes) -> None:
        """Not any more."""
        raise RuntimeError("the handler is closed")


def test_nothing_is_written_to_a_connection_that_is_closed(ask: Asking) -> None:
    """Even if nobody told the request so: the answer is counted, and that is all."""
    straight = Straight(BUSIEST, ask.service)
    for is_paused in (False, True):
        flow = SimpleNamespace(write_paused=is_paused)
        cycle: Any = SimpleNamespace(disconnected=False, transport=Closed(), flow=flow, keep_alive=True)
        straight._end(Request(cycle, {}, {"desk": "loans"}, 0.0), None, Answer(b"{}"))


def test_requests_of_an_unknown_server_take_the_usual_way(ask: Asking) -> None:
    """A version of uvicorn whose insides are others costs speed, not answers."""
    straight = Straight(BUSIEST, ask.service)
    cycle: Any = SimpleNamespace(scope={"method": "POST", "path": "/api/desks/loans/decisions", "headers": []})
    assert straight.taken(cycle) is None


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


def test_decisions_go_straight_here(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service of these tests is set up as `serve` does it: else all of them would pass by the usual way."""
    begun, begin = [], Straight.begin

    def noted(self: Straight, request: Request) -> bool:
        begun.append(request.path)
        return begin(self, request)

    monkeypatch.setattr(Straight, "begin", noted)
    ask.decide()
    assert begun == [{"desk": "loans"}]


def test_the_answer_is_cut_from_the_line(ask: Asking) -> None:
    """It has the fields that the document names and no others, word for word as the ledger has them."""
    for _ in range(2):  # the first opens the desk, and takes another way
        told = ask.decide()
        line = ask("GET", f"/api/desks/loans/decisions/{told['id']}").json()["record"]
        assert set(told) == set(DecisionTold.__struct_fields__)
        assert told == {name: line[name] if name in line else line["body"][name] for name in told}


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
