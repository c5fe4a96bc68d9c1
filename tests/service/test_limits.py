"""Limits: requests, streams and sessions of one token, pairs reserved for one reviewer, metadata of one review.

Commands of clients who have gone, and a desk that is stuck.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from evenhand.desk import Desk
from evenhand.records.review_metadata import MOST_BYTES
from evenhand.service import middleware, sessions
from evenhand.service.group_commit import GroupCommit
from evenhand.service.problems import Problem
from evenhand.service.routers import health, reviews
from tests.service.test_http_parsing import connected, request
from tests.support.running_service import DECISIONS, MEMORY, Asking, asking, candidates, is_problem
from tests.support.waiting import wait_for


def test_one_token_cannot_take_all_streams() -> None:
    """Beyond its own limit it gets 429, while others still connect; a stream that ends makes room."""
    with asking(replace(MEMORY, max_streams=3)) as ask, ExitStack() as streams:

        def stream(by: str) -> Any:
            headers = {"Authorization": f"Bearer {ask.secrets[by]}"}
            return streams.enter_context(ask.http.stream("GET", "/api/desks/loans/stream", headers=headers))

        ours = [stream("review") for _ in range(3)]
        assert [each.status_code for each in ours] == [200] * 3
        refused = ask("GET", "/api/desks/loans/stream", by="review")
        assert "3 live streams" in is_problem(refused, 429, "rate")["detail"]
        assert refused.headers["retry-after"]
        assert stream("decide").status_code == 200
        ours[0].close()
        wait_for(lambda: stream("review").status_code == 200, what="room for another stream")


def test_metadata_of_a_review_is_limited(ask: Asking) -> None:
    """422 and a sentence; nothing is recorded. The same for interview answers."""
    decision, long = ask.decide(), {"file": "x" * MOST_BYTES}
    review = {"kind": "complete", "unfair": [], "circumstances": long}
    answer = {"x": [0.1, 0.2], "y": [0.3, 0.4], "gap": 0.2, "unfair": True, "circumstances": long}
    for path, body in ((f"{DECISIONS}/{decision['id']}/reviews", review), ("/api/desks/loans/answers", answer)):
        refused = is_problem(ask("POST", path, body, by="review"), 422, "invalid")
        assert f"at most {MOST_BYTES} bytes" in refused["detail"]
        body["circumstances"] = {"file": "x" * (MOST_BYTES - 100)}
        assert ask("POST", path, body, by="review").status_code == 201


def test_one_token_cannot_fill_the_database_with_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signing in once more ends its oldest session, and nobody else's."""
    monkeypatch.setattr(sessions, "MAX_SESSIONS", 3)
    monkeypatch.setattr(sessions, "CACHE_SECONDS", 0.0)
    with asking() as ask:

        def signed_in(by: str) -> str:
            answer = ask("POST", "/session", {"token": ask.secrets[by]})
            assert answer.status_code == 201, answer.text
            ask.http.cookies.clear()
            return str(answer.headers["set-cookie"]).partition(";")[0]

        def status(cookie: str) -> int:
            return ask("GET", "/api/desks/loans", by="", headers={"Cookie": cookie}).status_code

        other = signed_in("decide")
        ours = [signed_in("review") for _ in range(5)]
        assert [status(cookie) for cookie in (*ours, other)] == [401, 401, 200, 200, 200, 200]


def test_one_reviewer_cannot_reserve_the_whole_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many pairs a page is asked for, and however often."""
    monkeypatch.setattr(reviews, "MOST_RESERVED", 2)
    with asking() as ask:
        opened = {"name": "many", "n_features": 2, "pairs_per_decision": 10, "reviewing": {"certain": 1.0}}
        assert ask("POST", "/api/desks", opened).status_code == 201
        ask.token("Kim", ["review"], ["many"])
        ask.token("Lee", ["review"], ["many"])
        ask.decide("many", k=5)
        path = "/api/desks/many/queue?limit=1000"
        wait_for(lambda: len(ask("GET", path).json()["pairs"]) >= 5, what="pairs that wait")
        pages = [ask("GET", f"{path}&reviewer=Kim", by="Kim").json()["pairs"] for _ in range(3)]
        assert [len(page) for page in pages] == [2, 2, 2]
        others = ask("GET", f"{path}&reviewer=Lee", by="Lee").json()["pairs"]
        assert len(others) == 2
        assert all(pair not in pages[0] for pair in others)


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Batches of all desks stop until told to go on: an event that says one has begun, and one that lets it go on."""
    execute, begun, go = Desk.execute, threading.Event(), threading.Event()

    def slow(self: Desk, commands: Any) -> Any:
        begun.set()
        assert go.wait(60)
        return execute(self, commands)

    with monkeypatch.context() as patched:
        patched.setattr(Desk, "execute", slow)
        try:
            yield begun, go
        finally:
            go.set()


def test_a_decision_whose_client_has_gone_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """If its batch had not begun; what had begun is recorded, and its key gets the same response."""
    with held(monkeypatch) as (begun, go), asking() as ask:
        go.set()
        ask.decide()
        go.clear()
        begun.clear()
        with connected(ask) as first:
            first.sendall(request(more="Idempotency-Key: first\r\n"))
            assert begun.wait(60)
        commits = ask.service.desks._open["loans"].commits
        for key in ("second", "third"):
            with connected(ask) as gone:
                gone.sendall(request(more=f"Idempotency-Key: {key}\r\n"))
                wait_for(lambda: len(commits._waiting) >= 1, what="a command that waits")
        wait_for(lambda: len(commits._waiting) == 2, what="both commands")
        wait_for(lambda: len(ask.service.connections) <= 1, what="the end of their connections")
        wait_for(lambda: commits.busy_seconds > 0.3, what="commands that have waited")
        go.set()
        wait_for(lambda: commits.is_idle, what="the end of the batch")
        again = ask("POST", DECISIONS, candidates(), headers={"Idempotency-Key": "first"})
        assert (again.status_code, again.json()["number"]) == (201, 1)
        assert ask.decide()["number"] == 2


def test_a_command_waits_for_a_limited_time() -> None:
    """503 with a time; if its batch has not begun by then it is not executed."""
    done: list[int] = []
    begun, go = threading.Event(), threading.Event()

    def execute(commands: list[int]) -> list[int]:
        begun.set()
        assert go.wait(60)
        done.extend(commands)
        return commands

    async def test(commits: Any) -> None:
        first = asyncio.create_task(commits.submit(1))
        assert await asyncio.to_thread(begun.wait, 60)
        second = asyncio.create_task(commits.submit(2))
        for late in (first, second):
            with pytest.raises(Problem) as refused:
                await late
            assert (refused.value.status, refused.value.headers["Retry-After"]) == (503, "5")
        assert commits.busy_seconds > 0.0
        go.set()
        await commits.close()
        assert commits.busy_seconds == 0.0

    with ThreadPoolExecutor(1) as executor:
        limits: dict[str, Any] = {"max_batch": 10, "max_waiting": 10, "max_seconds": 0.2}
        asyncio.run(test(GroupCommit(execute, executor, **limits)))  # type: ignore[arg-type]
    assert done == [1]


def test_slow_reads_do_not_keep_others_waiting(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many explanations at once as asyncio has threads by default: the service is still ready, and decides."""
    explain, go, begun = Desk.explain, threading.Event(), threading.Semaphore(0)

    def slow(self: Desk, decision: str) -> Any:
        begun.release()
        assert go.wait(60)
        return explain(self, decision)

    path, many = f"{DECISIONS}/{ask.decide()['id']}", min(32, (os.cpu_count() or 1) + 4)
    readers = [f"reader {number}" for number in range(many)]
    for reader in readers:
        ask.token(reader, ["decide"], ["loans"])
    monkeypatch.setattr(Desk, "explain", slow)
    with ThreadPoolExecutor(many) as clients:
        reads = [clients.submit(ask, "GET", path, by=reader) for reader in readers]
        try:
            for _ in range(many):
                assert begun.acquire(timeout=60)
            assert ask("GET", "/ready").status_code == 200
            ask.decide("jobs")
        finally:
            go.set()
        assert [read.result().status_code for read in reads] == [200] * many


def test_requests_of_one_token_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reviewer's reads beyond a few wait, and too many are refused; whoever else asks is answered meanwhile."""
    monkeypatch.setattr(middleware, "MOST_WAITING", 2)
    explain, go, running = Desk.explain, threading.Event(), list[str]()

    def slow(self: Desk, decision: str) -> Any:
        running.append(decision)
        assert go.wait(60)
        return explain(self, decision)

    many = middleware.AT_ONCE + middleware.MOST_WAITING + 1
    with asking() as ask, ThreadPoolExecutor(many) as clients:
        path = f"{DECISIONS}/{ask.decide()['id']}"
        monkeypatch.setattr(Desk, "explain", slow)
        reads = [clients.submit(ask, "GET", path, by="review") for _ in range(many)]
        try:
            refused = next(as_completed(reads)).result()
            assert "waiting already" in is_problem(refused, 429, "rate")["detail"]
            assert refused.headers["retry-after"] == "1"
            assert ask("GET", "/api/desks/loans", by="decide").status_code == 200
            ask.decide(by="decide")
            assert len(running) <= middleware.AT_ONCE
        finally:
            go.set()
        assert sorted(read.result().status_code for read in reads) == [200] * (many - 1) + [429]
        assert ask("GET", "/api/desks/loans", by="review").status_code == 200


def test_streams_and_changes_by_deciders_take_no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """More streams than turns leave a token its reads; any number of decisions is taken at once."""
    with held(monkeypatch) as (begun, go), asking() as ask, ThreadPoolExecutor(9) as clients:
        headers = {"Authorization": f"Bearer {ask.secrets['decide']}"}
        with ExitStack() as open_streams:
            for _ in range(middleware.AT_ONCE + 1):
                stream = open_streams.enter_context(ask.http.stream("GET", "/api/desks/loans/stream", headers=headers))
                assert next(stream.iter_lines())
            assert ask("GET", "/api/desks/loans", by="decide").status_code == 200
        made = [clients.submit(ask.decide, by="decide") for _ in range(9)]
        assert begun.wait(60)
        commits = ask.service.desks._open["loans"].commits
        wait_for(lambda: len(commits._waiting) == 8, what="all other decisions waiting for the next batch")
        go.set()
        assert sorted(one.result()["number"] for one in made) == list(range(9))


def test_a_stuck_desk_makes_the_service_unready(monkeypatch: pytest.MonkeyPatch) -> None:
    """/ready says 503 while a batch takes longer than it may, and 200 once it has ended; /health goes on."""
    monkeypatch.setattr(health, "STUCK_SECONDS", 0.2)
    with held(monkeypatch) as (begun, go), asking() as ask:
        assert ask("GET", "/ready").status_code == 200
        deciding = threading.Thread(target=lambda: ask("POST", DECISIONS, candidates()))
        deciding.start()
        assert begun.wait(60)
        wait_for(lambda: ask("GET", "/ready").status_code == 503, what="a service that is not ready")
        assert "has been writing" in is_problem(ask("GET", "/ready"), 503, "unavailable")["detail"]
        assert ask("GET", "/health").status_code == 200
        go.set()
        deciding.join()
        wait_for(lambda: ask("GET", "/ready").status_code == 200, what="a ready service")


def test_a_read_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """503 with a time at which to try again; other requests are answered meanwhile, and later this one, too."""
    monkeypatch.setattr("evenhand.service.app.GRACE_SECONDS", 0.1)
    explain, go = Desk.explain, threading.Event()

    def slow(desk: Desk, decision: str) -> Any:
        go.wait(60)
        return explain(desk, decision)

    with asking(replace(MEMORY, read_seconds=0.3, certificate_seconds=0.1)) as ask:
        path = f"{DECISIONS}/{ask.decide()['id']}"
        monkeypatch.setattr(Desk, "explain", slow)
        refused = ask("GET", path)
        assert "not read within 0.3 s" in is_problem(refused, 503, "unavailable")["detail"]
        assert refused.headers["retry-after"] == "5"
        assert ask("GET", "/api/desks/loans").status_code == 200
        go.set()
        assert ask("GET", path).status_code == 200


def test_a_stream_is_not_a_slow_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a response has begun it may last."""
    monkeypatch.setattr("evenhand.service.app.GRACE_SECONDS", 0.1)
    with asking(replace(MEMORY, read_seconds=0.3, certificate_seconds=0.1)) as ask:
        headers = {"Authorization": f"Bearer {ask.secrets['decide']}"}
        with ask.http.stream("GET", "/api/desks/loans/stream", headers=headers) as stream:
            pieces = stream.iter_lines()
            next(pieces)
            time.sleep(0.5)  # longer than a response may take to begin
            made = ask.decide()
            assert any(made["id"] in line for line in pieces)
