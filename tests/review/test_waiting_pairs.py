"""The contract of a store of waiting pairs, over memory, SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Ledger, WaitingPair
from evenhand.ledger.waiting_pairs import Answered, WaitingPairs
from tests.support.queue_model import QueueModel

AB = frozenset(("a", "b"))


def waiting(i: int, copy: int = 0, **known: Any) -> WaitingPair:
    """A pair of some decision."""
    return replace(WaitingPair(f"dec_{i:02}", "a", "b", "why", 0.1, 0.2, 0.3, 0.4, float(i), copy), **known)


def places(pairs: list[WaitingPair]) -> list[tuple[str, int]]:
    """Which decisions, and which place of their pair."""
    return [(pair.decision, pair.copy) for pair in pairs]


def test_a_pair_put_anew_gets_its_reason_and_priority(durable_ledger: Ledger, name: str) -> None:
    """All else of it stays: what was known of it, whose it is, and who is not to see it. Without `anew` all stays."""
    pairs = durable_ledger.pairs
    pairs.put(name, [waiting(i) for i in range(5)], 100)
    pairs.decline(name, "dec_00", AB, "Lee")
    other = waiting(0, reason="random control", priority=10.0, gap=0.9, distance=0.9)
    pairs.put(name, [other], 100)
    assert places(pairs.page(name, 9, 0.0)) == [(f"dec_{i:02}", 0) for i in (4, 3, 2, 1, 0)]
    pairs.put(name, [other], 100, replace=True)
    assert pairs.count(name) == 5
    assert pairs.page(name, 1, 0.0) == [waiting(0, reason="random control", priority=10.0)]
    assert places(pairs.lease(name, 1, "Lee", 0.0, 9.0)) == [("dec_04", 0)]
    pairs.put(name, [waiting(4, priority=20.0)], 100, replace=True)
    assert places(pairs.lease(name, 1, "Kim", 1.0, 9.0)) == [("dec_00", 0)]
    pairs.put(name, [waiting(7, priority=30.0), waiting(7, 1)], 100, replace=True)
    assert places(pairs.page(name, 1, 1.0)) == [("dec_07", 0)]
    assert pairs.count(name) == 7


def test_a_claim_keeps_a_place_for_one_person(durable_ledger: Ledger, name: str) -> None:
    """Refused while somebody else looks at it; not when their time is over, nor when the pair does not wait at all."""
    pairs = durable_ledger.pairs
    pairs.put(name, [waiting(1), waiting(2)], 100)
    assert places(pairs.lease(name, 1, "Kim", 0.0, 10.0)) == [("dec_02", 0)]
    assert not pairs.claim(name, "dec_02", AB, 0, "Lee", 5.0, 15.0)
    assert pairs.claim(name, "dec_02", AB, 0, "Kim", 5.0, 20.0)
    assert places(pairs.lease(name, 9, "Lee", 15.0, 16.0)) == [("dec_01", 0)], "it was kept for longer"
    assert pairs.claim(name, "dec_02", AB, 0, "Lee", 20.0, 30.0)
    assert not pairs.claim(name, "dec_02", AB, 0, "Kim", 25.0, 35.0)
    assert pairs.claim(name, "dec_02", AB, 1, "Kim", 25.0, 35.0), "there is no such place"
    assert pairs.claim(name, "dec_99", AB, 0, "Kim", 25.0, 35.0)
    assert pairs.count(name) == 2


def test_who_declined_may_want_it_after_all(durable_ledger: Ledger, name: str) -> None:
    """Declined, a pair is somebody else's; claimed, it comes again, on lease, to whoever had declined it."""
    pairs = durable_ledger.pairs
    pairs.put(name, [waiting(1), waiting(1, 1)], 100)
    assert places(pairs.lease(name, 9, "Kim", 0.0, 10.0)) == [("dec_01", 1)]
    pairs.decline(name, "dec_01", AB, "Kim")
    assert pairs.lease(name, 9, "Kim", 0.0, 10.0) == []
    assert pairs.claim(name, "dec_01", AB, 1, "Kim", 1.0, 11.0)
    assert places(pairs.lease(name, 9, "Kim", 2.0, 12.0)) == [("dec_01", 1)]
    assert places(pairs.lease(name, 9, "Lee", 2.0, 12.0)) == [("dec_01", 0)]
    assert not pairs.claim(name, "dec_01", AB, 0, "Kim", 3.0, 12.0)


def test_of_many_who_claim_one_gets_it(durable_ledger: Ledger, name: str) -> None:
    """Threads that claim one place at the same moment: one succeeds."""
    durable_ledger.pairs.put(name, [waiting(1)], 100)
    ready, reported = threading.Barrier(6), list[bool]()

    def claim(reviewer: str) -> None:
        ready.wait(20)
        reported.append(durable_ledger.pairs.claim(name, "dec_01", AB, 0, reviewer, 0.0, 10.0))

    threads = [threading.Thread(target=claim, args=(f"r{i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(reported) == [False] * 5 + [True]


def test_a_pair_that_waits_again_is_for_everybody(durable_ledger: Ledger, name: str) -> None:
    """Answered, taken out and put back, a place is offered also to whoever had answered; the other place is not."""
    pairs = durable_ledger.pairs
    pairs.put(name, [waiting(1), waiting(1, 1)], 100)
    pairs.settle(name, [Answered("dec_01", frozenset({AB}), "Kim")])
    assert places(pairs.page(name, 9, 0.0)) == [("dec_01", 1)]
    assert pairs.lease(name, 9, "Kim", 0.0, 1.0) == []
    pairs.put(name, [waiting(1)], 100)
    assert places(pairs.lease(name, 9, "Kim", 0.0, 1.0)) == [("dec_01", 0)]


Does = Callable[[WaitingPairs | QueueModel, str], Any]


def anything(rng: np.random.Generator, now: float) -> Does:
    """One thing that a desk's day does with its queue."""
    who, i, copy = f"r{rng.integers(3)}", int(rng.integers(12)), int(rng.integers(2))
    decision, pair, until = f"dec_{i:02}", AB, now + float(rng.integers(1, 8))
    put = [waiting(int(j), int(c), priority=float(rng.integers(4))) for j, c in rng.integers((12, 2), size=(3, 2))]
    return (
        lambda store, desk: store.put(desk, put, 16),
        lambda store, desk: store.put(desk, put[:1], 16, replace=True),
        lambda store, desk: store.lease(desk, i % 4 + 1, who, now, until),
        lambda store, desk: store.page(desk, i % 5 + 1, now, put[0].position if copy else None),
        lambda store, desk: store.claim(desk, decision, pair, copy, who, now, until),
        lambda store, desk: store.decline(desk, decision, pair, who),
        lambda store, desk: store.settle(desk, [Answered(decision, frozenset({pair}), who)]),
        lambda store, desk: store.settle(desk, [Answered(decision, None, who if copy else None)]),
    )[rng.integers(8)]


@pytest.mark.parametrize("seed", range(4))
def test_every_store_does_the_same(durable_ledger: Ledger, name: str, seed: int) -> None:
    """Whatever is done in whatever order: the same answers as from the simplest store, and the same queue after it."""
    rng, model = np.random.default_rng(seed), QueueModel()
    for step in range(150):
        does = anything(rng, now=float(step // 3))
        assert does(durable_ledger.pairs, name) == does(model, name), step
        assert durable_ledger.pairs.count(name) == model.count(name), step
        assert durable_ledger.pairs.page(name, 50, 1e9) == model.page(name, 50, 1e9), step
