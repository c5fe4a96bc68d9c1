"""The past of the demo's desk: decisions, outcomes, and the answers of two reviewers, as on the review page."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.desk.commands import Decide, RecordOutcome
from evenhand.desk.desk import Desk
from evenhand.desk.event_records import DeskDecision
from evenhand.environments.lending import PAY_OFF, SCHEMA, Applicants, reviewer_metric
from evenhand.ledger.event import Event
from evenhand.review.review_sessions import ReviewSessions

DESK = "loans"
CANDIDATES = 5
NOISE = 0.2
REVIEWERS = {"Ana": 0.03, "Ben": 0.12}
"""Error rates."""
ROUND = 10
"""Decisions between two answers."""
SETTINGS: dict[str, Any] = {
    "capacity": 1,
    "reviewer_error": None,
    "target_unfair_share": 0.05,
    "overlap": 0.3,
    "reviewing": {"repeats": 0.1, "repeat_after": 6, "controls": 0.05, "session": 10},
}

Floats = NDArray[np.float64]


@dataclass
class World:
    """Generates applicants and their outcomes."""

    rng: np.random.Generator
    applicants: int = 0
    theta: Floats = field(default_factory=lambda: np.array([PAY_OFF[name] for name in SCHEMA.coordinates]))

    def candidates(self, k: int = CANDIDATES) -> list[dict[str, Any]]:
        """The next k applicants, under pseudonyms."""
        rows = Applicants().rows(k, self.rng)
        self.applicants += k
        first = self.applicants - k + 1
        return [{"id": f"applicant {first + i}", "features": row} for i, row in enumerate(rows)]

    def reward(self, candidate: dict[str, Any]) -> float:
        """The outcome of a loan to this applicant."""
        (context,) = SCHEMA.encode([candidate["features"]])
        return round(float(np.clip(context @ self.theta + NOISE * self.rng.normal(), -1, 1)), 3)


def make_past(url: str, *, decisions: int, seed: int = 11) -> World:
    """Create a desk with a past; returns the world, which goes on."""
    world = World(np.random.default_rng(seed))
    with Desk.open(url, DESK, schema=SCHEMA, seed=seed, **SETTINGS) as desk:
        sessions = ReviewSessions(desk)
        for turn in range(decisions // ROUND):
            _decide(desk, world)
            _answer(desk, sessions, world, list(REVIEWERS)[turn % len(REVIEWERS)])
        desk.catch_up(wait=True)
    return world


def _decide(desk: Desk, world: World) -> None:
    """Some decisions, with their outcomes."""
    rounds = [world.candidates() for _ in range(ROUND)]
    results = desk.execute([Decide(candidates, actor="intake") for candidates in rounds])
    decisions = [DeskDecision(event) for event in results if isinstance(event, Event)]
    outcomes = []
    for candidates, decision in zip(rounds, decisions, strict=True):
        rewards = {one["id"]: world.reward(one) for one in candidates if one["id"] in decision.chosen}
        if rewards:
            outcomes.append(RecordOutcome(decision.id, rewards, actor="intake"))
    desk.execute(outcomes)
    desk.catch_up()


def _answer(desk: Desk, sessions: ReviewSessions, world: World, reviewer: str) -> None:
    """One answer of a reviewer who knows the true metric and errs now and then."""
    item = sessions.next(reviewer)
    if item is None:
        return
    body = desk.event(item.decision).body
    i, j = (body["candidates"].index(name) for name in (item.left, item.right))
    difference = reviewer_metric() @ (np.array(body["contexts"][i]) - np.array(body["contexts"][j]))
    unfair = abs(body["probabilities"][i] - body["probabilities"][j]) > np.linalg.norm(difference)
    errs = world.rng.random() < REVIEWERS[reviewer]
    answer = "unfair" if unfair != errs else "acceptable"
    seconds = round(3.0 + float(world.rng.gamma(2.0, 3.0)), 1)
    ended = datetime.now(UTC)
    started = (ended - timedelta(seconds=seconds)).isoformat()
    remarks = {"reason": None, "note": None, "started": started, "ended": ended.isoformat(), "seconds": seconds}
    desk.execute([sessions.command(item, answer, remarks)])
    sessions.settle(item, answer)
    desk.catch_up()
