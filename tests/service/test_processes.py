"""A service is a process that may die: what was answered is in the ledger, once."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import httpx
import numpy as np
import pytest

from evenhand.client import DeskClient
from tests.support.processes import (
    Running,
    answered,
    below,
    can_listen,
    check_ledger,
    command_of,
    open_desk,
    started,
    streams_of,
    two_workers,
    wait_for_answers,
)
from tests.support.running_service import ADMIN
from tests.support.waiting import wait_for

pytestmark = pytest.mark.process


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    return str(request.getfixturevalue("postgresql"))


@pytest.fixture
def desk() -> str:
    """A name no other test has."""
    return f"desk-{uuid4().hex[:8]}"


def killed_again_and_again(running: Running, desk: str, times: int, rng: np.random.Generator) -> None:
    """Clients stream on while the service is killed at random moments and started again; then all is checked."""
    open_desk(running, desk)
    streams = streams_of([running.address], desk)
    try:
        for _ in range(times):
            wait_for_answers(streams, 5)
            time.sleep(float(rng.uniform(0.0, 1.0)))  # a random moment is what this is about
            running.kill()
            running.start()
        wait_for_answers(streams, 20)
    finally:
        for stream in streams:
            stream.stop()
    running.stop()
    check_ledger(running.url, desk, streams)


def test_killed_at_random_moments_nothing_answered_is_lost(url: str, desk: str, tmp_path: Path) -> None:
    """SIGKILL under four clients."""
    with started(url, tmp_path) as running:
        killed_again_and_again(running, desk, 2, np.random.default_rng(1))


@pytest.mark.slow
def test_killed_fifty_times_nothing_answered_is_lost(url: str, desk: str, tmp_path: Path) -> None:
    """The same, fifty times."""
    with started(url, tmp_path) as running:
        killed_again_and_again(running, desk, 50, np.random.default_rng(2))


KINDS = ("certificates", "serving", "parent", "all")
"""Kinds of processes of a service with several workers; the last is all of them at once."""


def kill_one(running: Running, kind: str, desk: str, rng: np.random.Generator) -> int:
    """Kill one of the processes of a service with two workers, or all, and see it back; how many were killed."""
    assert running.process is not None
    parent = running.process.pid
    workers = wait_for(lambda: two_workers(parent), what="two workers", seconds=120)
    if kind == "certificates":
        made = wait_for(lambda: makes_certificates(running, workers, desk), what="a process for certificates")
        os.kill(made, signal.SIGKILL)
    elif kind == "serving":
        killed = int(rng.choice(workers))
        os.kill(killed, signal.SIGKILL)
        wait_for(lambda: killed not in below(parent) and two_workers(parent), what="another worker", seconds=120)
    else:
        running.kill(kind)
        wait_for(lambda: can_listen(running.port), what="a free port", seconds=60)  # workers end after their parent
        running.start()
    return len(workers) + 1 if kind == "all" else 1


def makes_certificates(running: Running, workers: list[int], desk: str) -> int:
    """The process that makes certificates for one of the workers, after asking for one; 0 if there is none yet."""
    headers = {"Authorization": f"Bearer {ADMIN}"}
    client = httpx.Client(base_url=running.address, headers=headers, timeout=60)
    with contextlib.suppress(httpx.TransportError), client as http:
        (made,) = http.get(f"/api/desks/{desk}/window/decisions").json()["lines"][:1]
        http.get(f"/api/desks/{desk}/decisions/{made['id']}/certificate")
    found = [each for worker in workers for each in below(worker) if "spawn_main" in command_of(each)]
    return found[0] if found else 0


def kinds_killed(running: Running, desk: str, times: int, rng: np.random.Generator) -> None:
    """Clients stream on while processes of each kind are killed in turn, at random moments; then all is checked."""
    open_desk(running, desk)
    streams, killed = streams_of([running.address], desk), 0
    try:
        for number in range(times):
            wait_for_answers(streams, 5)
            time.sleep(float(rng.uniform(0.0, 0.5)))  # a random moment is what this is about
            killed += kill_one(running, KINDS[number % len(KINDS)], desk, rng)
        wait_for_answers(streams, 20)
    finally:
        for stream in streams:
            stream.stop()
    running.stop()
    check_ledger(running.url, desk, streams)
    print(f"{times} times killed, {killed} processes; {answered(streams)} answers, none lost, none doubled")


def test_each_kind_of_process_killed(desk: str, tmp_path: Path) -> None:
    """Two workers: one of them, the process for certificates, the parent, all at once."""
    with started(f"sqlite:///{tmp_path}/ledger.db", tmp_path, "--workers", "2") as running:
        kinds_killed(running, desk, len(KINDS), np.random.default_rng(3))


@pytest.mark.slow
def test_each_kind_of_process_killed_many_times(url: str, desk: str, tmp_path: Path) -> None:
    """The same, three times each."""
    with started(url, tmp_path, "--workers", "2") as running:
        kinds_killed(running, desk, 3 * len(KINDS), np.random.default_rng(4))


def metrics(running: Running) -> str:
    """The metrics of a service, in Prometheus's text format."""
    return httpx.get(f"{running.address}/metrics", headers={"Authorization": f"Bearer {ADMIN}"}, timeout=60).text


def projecting(services: list[Running], desk: str) -> list[float]:
    """Which of the services projects the desk, as each of them reports."""
    found = []
    for running in services:
        text = metrics(running)
        lines = [line for line in text.splitlines() if line.startswith(f'evenhand_projects_desk{{desk="{desk}"')]
        found += [float(line.rsplit(" ", 1)[1]) for line in lines] or [0.0]
    return found


@pytest.mark.postgres
def test_two_services_on_one_postgresql(postgresql: str, desk: str, tmp_path: Path) -> None:
    """No event is lost or doubled, one of them projects at a time, and the other takes over when that one dies."""
    with started(postgresql, tmp_path) as first, started(postgresql, tmp_path) as second:
        open_desk(first, desk)
        streams = streams_of([first.address, second.address], desk)
        try:
            seen: set[tuple[float, ...]] = set()

            def has_enough() -> bool:
                seen.add(tuple(projecting([first, second], desk)))
                return answered(streams) >= 200

            wait_for(has_enough, what="200 answers", seconds=120, pause=0.1)
            assert all(sum(who) <= 1 for who in seen), seen
            wait_for(lambda: sum(projecting([first, second], desk)) == 1, what="a service that projects", pause=0.1)
            projector, other = (first, second) if projecting([first], desk) == [1.0] else (second, first)
            projector.kill()
            takes_over(other, desk)
            projector.start()
        finally:
            for stream in streams:
                stream.stop()
        first.stop()
        second.stop()
        check_ledger(postgresql, desk, streams)


def takes_over(running: Running, desk: str) -> None:
    """Check that a service becomes the one that projects, and that the state moves on with new decisions."""
    wait_for(lambda: projecting([running], desk) == [1.0], what="the other service taking over", pause=0.05)
    with DeskClient(running.address, ADMIN, timeout=60) as client:
        # The clients may all be waiting for the service that was killed, so this test decides by itself.
        made = client.decide(desk, [{"id": "a", "context": [0.1, 0.2, 0.3]}], key="0-0")
        wait_for(lambda: client.desk(desk)["state"] >= made["seq"], what="the new projection", pause=0.05)


def test_several_workers_of_one_service(desk: str, tmp_path: Path) -> None:
    """Two workers on one SQLite file: concurrent clients lose and double nothing; measures are those of both."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    with started(url, tmp_path, "--workers", "2") as running:
        open_desk(running, desk)
        streams = streams_of([running.address], desk)
        wait_for_answers(streams, 100)
        assert sum(projecting([running], desk)) <= 1
        for stream in streams:
            stream.stop()

        def counted() -> float:
            return sum(
                float(line.rsplit(" ", 1)[1])
                for line in metrics(running).splitlines()
                if line.startswith("evenhand_requests_total") and 'status="20' in line and "show" not in line
            )

        # A worker counts a request after its response is sent; another worker answers for both.
        wait_for(lambda: counted() >= answered(streams), what="a count of all requests", pause=0.05)
    check_ledger(url, desk, streams)


def test_stopping_finishes_what_was_begun(desk: str, tmp_path: Path) -> None:
    """SIGTERM under load: every request that was taken is answered or refused, the processes end, all is in order."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    with started(url, tmp_path) as running:
        open_desk(running, desk)
        streams = streams_of([running.address], desk)
        wait_for_answers(streams, 50)
        assert running.process is not None
        os.kill(running.process.pid, signal.SIGTERM)
        assert running.process.wait(60) in (0, -signal.SIGTERM)
        for stream in streams:
            stream.stop()
            stream.failures.clear()  # the service is gone for good
        log = running.log.read_text()
        assert "Traceback" not in log
    check_ledger(url, desk, streams)


def test_the_first_token_is_printed_once_and_opens(tmp_path: Path) -> None:
    """`evenhand serve` in an empty folder prints an address and a token that works."""
    environment = {name: value for name, value in os.environ.items() if name != "EVENHAND_ADMIN_TOKEN"}
    command = [sys.executable, "-m", "evenhand", "serve", "--data", str(tmp_path), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        secret = process.stdout.readline().split()[-1]
        address = process.stdout.readline().split()[-1]
        with DeskClient(address, secret, retries=40) as client:
            client.open_desk("loans", n_features=2)
            assert list(client.desks()) == ["loans"]
        process.terminate()
        assert process.wait(60) in (0, -signal.SIGTERM)
