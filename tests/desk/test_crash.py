"""SIGKILL at random moments: all that was acknowledged is in the ledger, once; the chain holds; replay agrees."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest

from evenhand.desk import Decide, Desk, Ledger, open_ledger
from evenhand.desk.replay import replay
from evenhand.ledger.verify import verify
from tests.support.desk_play import D, done, people
from tests.support.waiting import wait_for

# Threads of the linear algebra would only fight for the two cores.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def started(url: str, name: str, *seeds: int) -> list[subprocess.Popen[str]]:
    """Workers that are at work, one for each seed."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.desk_worker", url, name, str(seed)],
            stdout=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        for seed in seeds
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline().startswith("ready")
    return workers


def killed(worker: subprocess.Popen[str]) -> list[tuple[str, str]]:
    """Kill it; returns the ids and hashes of the events that were acknowledged to it."""
    assert worker.stdout is not None
    worker.send_signal(signal.SIGKILL)
    with worker.stdout:
        output = worker.stdout.read()
    worker.wait(timeout=60)
    acknowledged = [tuple(line.split(" ")) for line in output.split("\n")[:-1]]
    return [(name, digest) for name, digest in acknowledged]


def check(ledger: Ledger, name: str, acknowledged: list[tuple[str, str]]) -> None:
    """Every acknowledged event is there once, with its hash, and the ledger is intact."""
    head = verify(ledger, name)
    lines = Counter((row.id, row.hash) for row in ledger.rows(name, until=head.seq))
    assert max(lines.values()) == 1
    assert [event for event in acknowledged if event not in lines] == []
    keys = Counter(row.key for row in ledger.rows(name, until=head.seq) if row.key is not None)
    assert max(keys.values(), default=1) == 1


def kill_many(url: str, name: str, times: int, workers: int) -> None:
    """Kill workers again and again; check after each time, and replay in the end."""
    rng = np.random.default_rng(0)
    acknowledged: list[tuple[str, str]] = []
    Desk.open(url, name, n_features=D, seed=1).close()
    ledger = open_ledger(url)
    try:
        round_ = 0
        while round_ < times or not acknowledged:
            round_ += 1
            running = started(url, name, *(100 * round_ + i for i in range(workers)))
            time.sleep(float(rng.uniform(0.0, 0.6)))
            for worker in running:
                acknowledged += killed(worker)
            check(ledger, name, acknowledged)
        with Desk.open(ledger, name) as desk:
            done(desk.execute([Decide(people(rng))]))
            desk.catch_up(wait=True)
            assert desk.projection.seq == desk.head.seq
        assert replay(ledger, name).differences == []
    finally:
        ledger.close()


@pytest.mark.process
def test_a_few_kills(durable_url: str, name: str) -> None:
    """Twice, two processes on one ledger."""
    kill_many(durable_url, name, times=2, workers=2)


@pytest.mark.process
@pytest.mark.slow
def test_many_kills(durable_url: str, name: str) -> None:
    """Fifty times, two processes on one ledger."""
    kill_many(durable_url, name, times=50, workers=2)


@pytest.mark.process
def test_another_process_takes_over_projecting(durable_url: str, name: str) -> None:
    """When the process that projects is killed, another one does from the next event on."""
    Desk.open(durable_url, name, n_features=D, seed=1).close()
    (worker,) = started(durable_url, name, 7)
    with Desk.open(durable_url, name) as desk:
        try:
            wait_for(lambda: is_taken(desk))
            desk.project_in_background()
            assert desk.wait_for(desk.head.seq, 120)  # by the snapshots of the other process, which rests between them
            assert not desk.is_projecting
        finally:
            killed(worker)
        done(desk.execute([Decide(people(np.random.default_rng(0)))]))  # the other may have projected all there was
        wait_for(lambda: desk.is_projecting and desk.projection.seq == desk.head.seq)


def is_taken(desk: Desk) -> bool:
    """Whether some process projects."""
    lock = desk.ledger.projection_lock(desk.name)
    free = lock.acquire()
    lock.release()
    return not free
