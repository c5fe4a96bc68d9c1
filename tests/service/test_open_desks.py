"""Desks are opened by requests and closed when idle; idle desks cost next to nothing."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Decide, Desk
from evenhand.desk.event_records import decision_of
from evenhand.errors import LedgerUnavailable
from evenhand.ledger.event import Event
from evenhand.ledger.ledger import Ledger, open_ledger
from evenhand.review.review_book import ReviewBook
from evenhand.service.background.certificates import make_certificate, projection_with
from evenhand.service.verification import VERIFIED
from tests.support.desk_play import QUICK, done, people, play
from tests.support.running_service import DECISIONS, MEMORY, Asking, asking, candidates
from tests.support.waiting import wait_for


def test_an_idle_desk_is_closed_and_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while without requests a desk is closed; the next request goes on where it was."""
    close, closed = Desk.close, list[str]()

    def noted(self: Desk) -> None:
        close(self)
        closed.append(self.name)

    monkeypatch.setattr(Desk, "close", noted)
    settings = replace(MEMORY, database_url=f"sqlite:///{tmp_path}/ledger.db", close_after=0.2)
    with asking(settings) as ask:
        closed.clear()  # creating the desk opened and closed it
        number = ask.decide()["number"]
        wait_for(lambda: "loans" in closed and "loans" not in ask.service.desks.progress(), what="the end of the desk")
        assert ask.decide()["number"] == number + 1


def test_answers_are_in_memory_once_for_all_views(ask: Asking) -> None:
    """The review page, the interview and the dashboard share one book, which has a kilobyte for each answer."""
    made = ask.decide()
    ask("POST", f"{DECISIONS}/{made['id']}/reviews", {"kind": "partial", "fair": [["c0", "c1"]]}, by="review")
    for path in ("review/next", "interview/next", "window"):
        assert ask("GET", f"/api/desks/loans/{path}").status_code == 200
    gc.collect()
    there = [thing for thing in gc.get_objects() if type(thing) is ReviewBook]  # isinstance fails on a dead proxy
    books = [book for book in there if book.count("review")]
    assert books == [ask.service.desks._open["loans"].book]


@contextmanager
def with_open_desks(folder: Path, count: int) -> Iterator[Asking]:
    """A service with so many open desks; each has made a decision."""
    url, desks = f"sqlite:///{folder}/ledger.db", [f"desk-{number}" for number in range(count)]
    ledger = open_ledger(url)
    for name in desks:
        Desk.open(ledger, name, n_features=2, seed=1).close()
    ledger.close()
    with asking(replace(MEMORY, database_url=url, rate=1e6, burst=1e6)) as ask:
        for name in desks:
            ask.decide(name)
        assert set(desks) <= set(ask.service.desks.progress())
        yield ask


def test_many_open_desks_need_few_threads(tmp_path: Path) -> None:
    """40 open desks that have just decided: fewer than 20 threads more in the process."""
    before = threading.active_count()
    with with_open_desks(tmp_path, 40):
        assert threading.active_count() - before < 20, [thread.name for thread in threading.enumerate()]


@pytest.mark.statistical
def test_many_idle_desks_need_little_time(tmp_path: Path) -> None:
    """150 open desks: under 2% of a core while nothing happens."""
    with with_open_desks(tmp_path, 150) as ask:
        verification = ask.service.verification
        desks = list(ask.service.desks.progress())
        wait_for(lambda: {verification.result(name) for name in desks} == {VERIFIED}, seconds=300, pause=0.1)
        shares: list[float] = []
        while not shares or shares[-1] >= 0.02:  # snapshots may still be written
            assert len(shares) < 10, shares
            begun, used = time.monotonic(), time.process_time()
            time.sleep(3.0)
            shares.append((time.process_time() - used) / (time.monotonic() - begun))


def test_a_slow_desk_does_not_hold_up_others(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one desk decides, requests to another are answered, and requests to the slow one wait for it."""
    ask.decide("jobs")
    execute, deciding, go = Desk.execute, threading.Event(), threading.Event()

    def slow(self: Desk, commands: Any) -> Any:
        if self.name == "loans":
            deciding.set()
            assert go.wait(30)
        return execute(self, commands)

    monkeypatch.setattr(Desk, "execute", slow)
    results: list[int] = []
    waiting = threading.Thread(target=lambda: results.append(ask.decide()["number"]))
    waiting.start()
    assert deciding.wait(30)
    for number in range(1, 6):
        assert ask.decide("jobs")["number"] == number
    assert not results
    go.set()
    waiting.join(30)
    assert results == [0]


def test_a_database_that_is_away_is_a_problem_to_come_back_for(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 with a time, without the words of the database; once it is back, decisions go on."""
    ask.decide()

    def away(*_: Any) -> Any:
        raise LedgerUnavailable("no route to db.internal.example")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "writing", away)
        answer = ask("POST", DECISIONS, candidates())
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert "db.internal" not in answer.text
    assert ask.decide()["number"] == 1


def test_a_certificate_does_not_wait_for_another_process(tmp_path: Path) -> None:
    """A decision that this process has not projected yet gets the certificate that the projecting process gives it."""
    url = f"sqlite:///{tmp_path / 'desks.db'}"
    with Desk.open(url, "loans", **QUICK, seed=3) as projecting, Desk.open(url, "loans") as following:
        play(projecting, 4)
        projecting.catch_up(wait=True)
        (event,) = done(following.execute([Decide(people(np.random.default_rng(9)))]))
        assert following.projection.seq < event.seq
        early = certificate(following, event)
        projecting.catch_up(wait=True)
        assert early == certificate(projecting, event)


def certificate(desk: Desk, event: Event) -> bytes:
    """What the worker process would make."""
    decision = decision_of(event.body)
    return make_certificate(("", 0), projection_with(desk, decision).bandit.state(), decision, frozenset(), 60.0)
