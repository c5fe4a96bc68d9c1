"""Pairs that wait for reviewers: the most informative first, none for two people at once unless planned."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from evenhand.desk import Decide, Desk, GiveReview, Ledger, WaitingPair
from evenhand.errors import InvalidInput
from evenhand.ledger.waiting_pairs import Answered
from tests.support.desk_play import QUICK, done, people, review_of
from tests.support.waiting import wait_for


@pytest.fixture
def desk(ledger: Ledger, name: str) -> Iterator[Desk]:
    """A desk with some decisions that nobody has reviewed."""
    with filled(ledger, name) as opened:
        yield opened


def filled(ledger: Ledger, name: str) -> Desk:
    """A desk with some decisions that nobody has reviewed."""
    desk, rng = Desk.open(ledger, name, **QUICK, seed=1), np.random.default_rng(0)
    done(desk.execute([Decide(people(rng, k=5)) for _ in range(10)]))
    desk.catch_up(wait=True)
    return desk


def places(pairs: list[WaitingPair]) -> list[tuple[str, str, str]]:
    """Which pairs, whatever else is known of them."""
    return [(pair.decision, pair.first, pair.second) for pair in pairs]


def test_the_most_informative_come_first(desk: Desk) -> None:
    """By priority, with a reason each; a few of every decision, and looking at them takes nothing away."""
    waiting = desk.queue(1000)
    assert waiting == sorted(waiting, key=lambda pair: -pair.priority)
    assert 10 <= len(waiting) <= 30
    assert all(pair.reason and pair.gap > 0 for pair in waiting)
    assert desk.queue(5) == waiting[:5]
    assert desk.queue(1000) == waiting


def test_two_reviewers_never_get_the_same(desk: Desk) -> None:
    """What one has on lease another does not get; who asks again gets the same again."""
    mine, yours = desk.queue(5, reviewer="Kim"), desk.queue(5, reviewer="Lee")
    assert len(mine) == len(yours) == 5
    assert not set(places(mine)) & set(places(yours))
    assert places(desk.queue(5, reviewer="Kim")) == places(mine)
    more = places(desk.queue(7, reviewer="Kim"))
    assert set(places(mine)) < set(more)
    assert not set(more) & set(places(yours))


def test_a_lease_runs_out(desk: Desk) -> None:
    """A pair that somebody took and forgot comes back."""
    mine = desk.queue(3, reviewer="Kim", lease=60.0)
    pairs, moment = desk.ledger.pairs, time.time()
    assert places(pairs.lease(desk.name, 3, "Lee", moment, moment + 1)) != places(mine)
    assert places(pairs.lease(desk.name, 3, "Ana", moment + 61, moment + 70)) == places(mine)


def test_an_answer_takes_a_pair_out(desk: Desk) -> None:
    """A partial review takes its pairs out of the queue, a complete one all pairs of its decision."""
    pair = desk.queue(1, reviewer="Kim")[0]
    done(desk.execute([GiveReview(pair.decision, "partial", [(pair.second, pair.first)], reviewer="Kim")]))
    desk.catch_up(wait=True)
    left = places(desk.queue(1000))
    assert (pair.decision, pair.first, pair.second) not in left
    other = next(decision for decision, _, _ in left)
    done(desk.execute([review_of(desk.event(other))]))
    desk.catch_up(wait=True)
    assert other not in {decision for decision, _, _ in places(desk.queue(1000))}


def test_a_planned_overlap_asks_two_people(ledger: Ledger, name: str) -> None:
    """With overlap 1 every pair has two places, for two different people, also after one has answered."""
    with Desk.open(ledger, name, **QUICK, seed=1, overlap=1.0) as desk:
        done(desk.execute([Decide(people(np.random.default_rng(0), k=5))]))
        desk.catch_up(wait=True)
        n = desk.ledger.pairs.count(name) // 2
        assert n >= 1
        mine = desk.queue(100, reviewer="Kim")
        assert len(mine) == len(set(places(mine))) == n
        assert set(places(desk.queue(100, reviewer="Lee"))) == set(places(mine))
        assert desk.queue(100, reviewer="Ada") == []
        first = mine[0]
        done(desk.execute([GiveReview(first.decision, "partial", [], [(first.first, first.second)], reviewer="Kim")]))
        desk.catch_up(wait=True)
        assert places([first])[0] not in places(desk.queue(100, reviewer="Kim"))
        assert places([first])[0] in places(desk.queue(100, reviewer="Lee"))
        assert desk.ledger.pairs.count(name) == 2 * n - 1


def test_many_ask_at_once(durable_ledger: Ledger, name: str) -> None:
    """Threads that ask at the same moment share the pairs without overlap."""
    desk = filled(durable_ledger, name)
    got: dict[str, list[tuple[str, str, str]]] = {}

    def ask(reviewer: str) -> None:
        got[reviewer] = places(desk.queue(3, reviewer=reviewer))

    threads = [threading.Thread(target=ask, args=(f"r{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [pair for pairs in got.values() for pair in pairs]
    assert len(everything) == len(set(everything)) == 12
    desk.close()


def test_the_queue_is_bounded(ledger: Ledger, name: str) -> None:
    """Beyond the most that may wait, the least informative go."""
    made = [pair(i) for i in range(30)]
    ledger.pairs.put(name, made, 100)
    ledger.pairs.put(name, made, 100)
    assert ledger.pairs.count(name) == 30
    ledger.pairs.put(name, [pair(30), pair(31)], 12)
    assert ledger.pairs.count(name) == 12
    assert [p.priority for p in ledger.pairs.page(name, 12, 0.0)] == [float(i) for i in range(31, 19, -1)]
    ledger.pairs.settle(name, [Answered("dec_31", None, "Kim"), Answered("dec_nothing", None, "Kim")])
    assert ledger.pairs.count(name) == 11


def test_the_queue_comes_in_pages(ledger: Ledger, name: str) -> None:
    """Pages of any size, put together, are the whole queue in its order, though many pairs have one priority."""
    made = [replace(pair(i), priority=float(i // 4), copy=copy) for i in range(20) for copy in range(1 + i % 2)]
    ledger.pairs.put(name, made, 100)
    whole = ledger.pairs.page(name, 100, 0.0)
    assert sorted(places(whole)) == sorted({*places(made)})
    assert [one.priority for one in whole] == sorted((one.priority for one in whole), reverse=True)
    for size in (1, 3, 7, 20, 50):
        pages: list[WaitingPair] = []
        while page := ledger.pairs.page(name, size, 0.0, pages[-1].position if pages else None):
            assert len(page) <= size
            pages += page
        assert pages == whole


def test_pages_go_on_whatever_happens_between_them(ledger: Ledger, name: str) -> None:
    """The pair at which a page ended may be gone; what is on lease is left out; what is new comes if later."""
    ledger.pairs.put(name, [pair(i) for i in range(10)], 100)
    page = ledger.pairs.page(name, 3, 0.0)
    ledger.pairs.settle(name, [Answered(one.decision, None, "Kim") for one in page])
    assert places(ledger.pairs.lease(name, 1, "Lee", 0.0, 5.0)) == places([pair(6)])
    ledger.pairs.put(name, [pair(11), replace(pair(12), priority=5.5)], 100)
    rest = places(ledger.pairs.page(name, 100, 1.0, page[-1].position))
    assert rest == places([pair(12), *(pair(i) for i in range(5, -1, -1))])
    assert places([pair(6)])[0] in places(ledger.pairs.page(name, 100, 6.0, page[-1].position))


def test_a_lease_is_one_page(desk: Desk) -> None:
    """Whoever gets pairs on lease answers them; there is no paging on through everything."""
    with pytest.raises(InvalidInput, match="after must be None"):
        desk.queue(1, reviewer="Kim", after=desk.queue(1)[0].position)
    whole = desk.queue(100)
    assert [*desk.queue(4), *desk.queue(100, after=whole[3].position)] == whole


def pair(i: int) -> WaitingPair:
    """A pair of some decision."""
    return WaitingPair(f"dec_{i}", "a", "b", "why", 0.1, 0.2, 0.3, 0.4, float(i))


NONSENSE = [{"n": 0}, {"n": 1.5}, {"n": 10**6}, {"n": 1, "lease": -1.0}, {"n": 1, "reviewer": ""}]


@pytest.mark.parametrize("options", NONSENSE)
def test_nonsense_is_refused(options: dict[str, object]) -> None:
    """A number of pairs, a name, and seconds above zero."""
    with Desk.open("memory:", "loans", **QUICK) as desk, pytest.raises(InvalidInput):
        desk.queue(**options)  # type: ignore[arg-type]


def test_the_first_decision_waits_for_no_second(ledger: Ledger, name: str) -> None:
    """Projected in the background, the pairs of a desk's first decision, and of the last before a pause, are there."""
    with Desk.open(ledger, name, n_features=2, seed=3) as desk:
        desk.project_in_background()
        for _ in range(2):
            made = desk.decide([[0.9, 0.0], [0.0, 0.9], [0.4, 0.4]])
            wait_for(lambda made=made: made.id in {pair.decision for pair in desk.queue(100)})  # type: ignore[misc]
