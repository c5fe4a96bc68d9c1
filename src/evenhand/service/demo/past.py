"""The demo's past: applicants, their outcomes, and the answers of two reviewers, given as on the review page."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from evenhand.desk.commands import Decide, RecordOutcome
from evenhand.desk.desk import Desk
from evenhand.desk.event_records import DeskDecision
from evenhand.ledger.event import Event
from evenhand.review.item import Item
from evenhand.review.review_sessions import ReviewSessions
from evenhand.service.demo.sizes import SMALL, DemoSize
from evenhand.service.demo.story import Story

DESK = "loans"
NOISE = 0.2
SEED = 11


@dataclass
class DemoWorld:
    """Generates applicants and their outcomes."""

    rng: np.random.Generator
    size: DemoSize = SMALL
    applicants: int = 0
    story: Story = field(default_factory=Story)

    def candidates(self) -> list[dict[str, Any]]:
        """The next applicants, under pseudonyms."""
        rows = self.size.applicants(self.size.candidates, self.rng)
        first = self.applicants + 1
        self.applicants += len(rows)
        return [{"id": f"applicant {first + i}", "features": row} for i, row in enumerate(rows)]

    def reward(self, candidate: dict[str, Any]) -> float:
        """The outcome of a loan to this applicant."""
        (context,) = self.size.schema.encode([candidate["features"]])
        return round(float(np.clip(context @ self.size.pay_off + NOISE * self.rng.normal(), -1, 1)), 3)


def make_past(url: str, size: DemoSize, *, decisions: int) -> DemoWorld:
    """Create a desk with a past; returns the world, which goes on."""
    world = DemoWorld(np.random.default_rng(SEED), size)
    settings = {**size.settings, "capacity": size.capacity}
    with Desk.open(url, DESK, schema=size.schema, seed=SEED, **settings) as desk:
        sessions, names = ReviewSessions(desk), list(size.reviewers)
        for turn in range(decisions // size.together):
            _decide(desk, world)
            for answer in range(size.answers):
                _answer(desk, sessions, world, names[(turn * size.answers + answer) % len(names)])
        desk.catch_up(wait=True)
    return world


def _decide(desk: Desk, world: DemoWorld) -> None:
    """Some decisions, with their outcomes."""
    rounds = [world.candidates() for _ in range(world.size.together)]
    results = desk.execute([Decide(candidates, actor="intake") for candidates in rounds])
    decisions = [DeskDecision(event) for event in results if isinstance(event, Event)]
    outcomes = []
    for candidates, decision in zip(rounds, decisions, strict=True):
        rewards = {one["id"]: world.reward(one) for one in candidates if one["id"] in decision.chosen}
        if rewards:
            outcomes.append(RecordOutcome(decision.id, rewards, actor="intake"))
        world.story.add(desk.event(decision.id).body, world.size)
    desk.execute(outcomes)
    desk.catch_up()


def _answer(desk: Desk, sessions: ReviewSessions, world: DemoWorld, reviewer: str) -> None:
    """One answer of a reviewer who knows the true metric and errs now and then."""
    item = sessions.next(reviewer)
    if item is None:
        return
    errs = world.rng.random() < world.size.reviewers[reviewer]
    answer = "unfair" if _is_unfair(desk, item, world.size) != errs else "acceptable"
    seconds = round(3.0 + float(world.rng.gamma(2.0, 3.0)), 1)
    ended = datetime.now(UTC)
    started = (ended - timedelta(seconds=seconds)).isoformat()
    remarks = {"reason": None, "note": None, "started": started, "ended": ended.isoformat(), "seconds": seconds}
    desk.execute([sessions.command(item, answer, remarks)])
    sessions.settle(item, answer)
    desk.catch_up()


def _is_unfair(desk: Desk, item: Item, size: DemoSize) -> bool:
    body = desk.event(item.decision).body
    i, j = (body["candidates"].index(name) for name in (item.left, item.right))
    difference = size.metric @ (np.array(body["contexts"][i]) - np.array(body["contexts"][j]))
    return bool(abs(body["probabilities"][i] - body["probabilities"][j]) > np.linalg.norm(difference))
