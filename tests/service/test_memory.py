"""What a service keeps of each event is little: memory grows with answers, by kilobytes, and with nothing else."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.running_service import DECISIONS, MEMORY, Asking, asking

ROUNDS = 40
KEPT = 6_000
"""Bytes that may stay of a round, which has seven requests and three events: the review is in the book of answers, and
learners remember the pair. Between 400 and 4,500 were seen, depending on whether a table had to grow."""


def play(ask: Asking, rounds: int) -> None:
    """Decisions with outcomes and reviews, each looked at on all pages; new people every time."""
    for _ in range(rounds):
        made = ask.decide(k=8)
        path = f"{DECISIONS}/{made['id']}"
        if made["chosen"]:
            ask("POST", f"{path}/outcomes", {"rewards": {made["chosen"][0]: 0.5}})
        assert ask("POST", f"{path}/reviews", {"kind": "partial", "fair": [["c0", "c7"]]}).status_code == 201
        for page in (path, "/api/desks/loans/window", "/api/desks/loans/queue", "/desks/loans"):
            assert ask("GET", page).status_code == 200
    assert ask.service.desks._open["loans"].desk.wait_for(ask("GET", "/api/desks/loans").json()["events"], 60)


def traced() -> int:
    """Bytes that Python objects have, all garbage collected."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.statistical
def test_little_stays_of_an_event(tmp_path: Path) -> None:
    """After three times as many rounds there is hardly more: less than the record of one decision for each."""
    with asking(replace(MEMORY, database_url=f"sqlite:///{tmp_path}/ledger.db")) as ask:
        tracemalloc.start()
        try:
            play(ask, ROUNDS)
            before = traced()
            play(ask, 2 * ROUNDS)
            assert (traced() - before) / (2 * ROUNDS) < KEPT
        finally:
            tracemalloc.stop()
