"""Pairs whose answer is obvious are not asked about."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.desk import Desk
from evenhand.desk.obvious import are_far_apart
from evenhand.ledger.waiting_pairs import WaitingPair
from evenhand.review.review_sessions import ReviewSessions
from evenhand.schema import Number, Schema

SCHEMA = Schema([Number("income", low=0, high=300_000, unit="EUR"), Number("age", low=18, high=90)])


def desk_with(reviewing: dict[str, Any], people: int = 8) -> Desk:
    """A desk with some decisions about people with very different incomes."""
    desk = Desk.open("memory:", "loans", schema=SCHEMA, seed=4, pairs_per_decision=10, reviewing=reviewing)
    rng = np.random.default_rng(2)
    for number in range(4):
        rows = [{"income": float(rng.uniform(0, 3e5)), "age": float(rng.uniform(18, 90))} for _ in range(people)]
        desk.decide([{"id": f"{number}-{i}", "features": row} for i, row in enumerate(rows)])
    desk.catch_up(wait=True)
    return desk


def incomes(desk: Desk) -> list[float]:
    """By how much the incomes of the waiting pairs differ."""
    found = []
    for waiting in desk.queue(1000):
        body = desk.event(waiting.decision).body
        by_name = dict(zip(body["candidates"], body["features"], strict=True))
        found.append(abs(by_name[waiting.first]["income"] - by_name[waiting.second]["income"]))
    return found


def test_nobody_is_asked_about_people_who_are_far_apart() -> None:
    """Nobody calls 261,000 and 24,000 of income alike; without a limit such pairs are asked about."""
    with desk_with({"certain": 1}) as desk:
        assert max(incomes(desk)) > 100_000
    with desk_with({"certain": 1, "far_apart": {"income": 100_000}}) as desk:
        assert 0 < max(incomes(desk)) <= 100_000


def test_nor_are_such_pairs_drawn_as_controls() -> None:
    """With every pair a control, none is far apart."""
    with desk_with({"controls": 0.5, "repeats": 0.0, "far_apart": {"income": 50_000}}) as desk:
        sessions = ReviewSessions(desk)
        for turn in range(12):
            item = sessions.next(f"reviewer {turn}")
            if item is not None:
                body = desk.event(item.decision).body
                i, j = (body["candidates"].index(name) for name in (item.left, item.right))
                assert not are_far_apart(body, i, j, desk.settings)


def test_nobody_is_asked_what_the_desk_can_predict() -> None:
    """Every waiting pair is open or limits the probabilities; with `certain` 1 all others wait as well."""
    with desk_with({"certain": 1}) as everything, desk_with({"certain": 0.85}) as some:
        assert all(0.15 < pair.chance_unfair < 0.85 for pair in some.queue(1000) if not _is_tight(some, pair))
        obvious = [pair for pair in everything.queue(1000) if not 0.15 < pair.chance_unfair < 0.85]
        assert any(not _is_tight(everything, pair) for pair in obvious)
        assert any(_is_tight(some, pair) for pair in some.queue(1000))


def _is_tight(desk: Desk, waiting: WaitingPair) -> bool:
    body = desk.event(waiting.decision).body
    pair = sorted(body["candidates"].index(name) for name in (waiting.first, waiting.second))
    return pair in [sorted(one) for one in body["tight_pairs"]]


def test_contexts_are_decoded_to_be_compared() -> None:
    """Candidates given as contexts are far apart by the same rule; contexts that are nobody's are not."""
    near, far = ({"income": income, "age": 30.0} for income in (24_000.0, 261_000.0))
    contexts = SCHEMA.encode([near, far]).tolist()
    with desk_with({"far_apart": {"income": 100_000}}, people=2) as desk:
        assert are_far_apart({"contexts": contexts}, 0, 1, desk.settings)
        assert not are_far_apart({"contexts": [contexts[0], contexts[0]]}, 0, 1, desk.settings)
        assert not are_far_apart({"contexts": [None, contexts[0]]}, 0, 1, desk.settings)
        assert not are_far_apart({"contexts": [[0.9, 0.0, 0.1], contexts[0]]}, 0, 1, desk.settings)
