"""A service is a process that may die: what was answered is in the ledger, once."""

from __future__ import annotations

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
from tests.support.processes import Running, answered, check_ledger, open_desk, started, streams_of
from tests.support.running_service import ADMIN

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
            before = answered(streams)
            time.sleep(float(rng.uniform(0.0, 1.0)))
            until = time.monotonic() + 60
            while answered(streams) < before + 5:
                assert time.monotonic() < until, "clients do not get on"
                time.sleep(0.01)
            running.kill()
            running.start()
        before = answered(streams)
        until = time.monotonic() + 60
        while answered(streams) < before + 20:
            assert time.monotonic() < until, "clients do not get on after the last kill"
            time.sleep(0.01)
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


def folders(services: list[Running], desk: str) -> list[float]:
    """Which of the services projects the desk, as each of them reports."""
    found = []
    for running in services:
        text = httpx.get(f"{running.address}/metrics", headers={"Authorization": f"Bearer {ADMIN}"}).text
        lines = [line for line in text.splitlines() if line.startswith(f'evenhand_folds_desk{{desk="{desk}"')]
        found += [float(line.rsplit(" ", 1)[1]) for line in lines] or [0.0]
    return found


@pytest.mark.postgres
def test_two_services_on_one_postgresql(postgresql: str, desk: str, tmp_path: Path) -> None:
    """No event is lost or doubled, one of them projects at a time, and the other takes over when that one dies."""
    with started(postgresql, tmp_path) as first, started(postgresql, tmp_path) as second:
        open_desk(first, desk)
        streams = streams_of([first.address, second.address], desk)
        try:
            seen, until = set(), time.monotonic() + 60
            while answered(streams) < 200:
                assert time.monotonic() < until
                seen.add(tuple(folders([first, second], desk)))
                time.sleep(0.1)
            assert all(sum(who) <= 1 for who in seen), seen
            now = folders([first, second], desk)
            assert sum(now) == 1
            folder, other = (first, second) if now[0] else (second, first)
            folder.kill()
            takes_over(other, desk)
            folder.start()
        finally:
            for stream in streams:
                stream.stop()
        first.stop()
        second.stop()
        check_ledger(postgresql, desk, streams)


def takes_over(running: Running, desk: str) -> None:
    """Check that a service becomes the one that projects, and that the state moves on with new decisions."""
    until = time.monotonic() + 60
    while folders([running], desk) != [1.0]:
        assert time.monotonic() < until, "nobody took over"
        time.sleep(0.05)
    with DeskClient(running.address, ADMIN) as client:
        # The clients may all be waiting for the service that was killed, so this test decides by itself.
        made = client.decide(desk, [{"id": "a", "context": [0.1, 0.2, 0.3]}], key="0-0")
        while client.desk(desk)["state"] < made["seq"]:
            assert time.monotonic() < until, "the new folder does not get on"
            time.sleep(0.05)


def test_several_workers_of_one_service(desk: str, tmp_path: Path) -> None:
    """Two workers on one SQLite file: concurrent clients lose and double nothing; measures are those of both."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    with started(url, tmp_path, "--workers", "2") as running:
        open_desk(running, desk)
        streams = streams_of([running.address], desk)
        until = time.monotonic() + 60
        while answered(streams) < 100:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert sum(folders([running], desk)) <= 1
        for stream in streams:
            stream.stop()
        text = httpx.get(f"{running.address}/metrics", headers={"Authorization": f"Bearer {ADMIN}"}).text
        counted = sum(
            float(line.rsplit(" ", 1)[1])
            for line in text.splitlines()
            if line.startswith("evenhand_requests_total") and 'status="20' in line and "show" not in line
        )
        assert counted >= answered(streams)
    check_ledger(url, desk, streams)


def test_stopping_finishes_what_was_begun(desk: str, tmp_path: Path) -> None:
    """SIGTERM under load: every request that was taken is answered or refused, the processes end, all is in order."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    with started(url, tmp_path) as running:
        open_desk(running, desk)
        streams = streams_of([running.address], desk)
        time.sleep(1.0)
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
