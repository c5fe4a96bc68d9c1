"""A small world for desks: candidates, a reviewer who knows the true metric, and some days of play."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.auditors import MahalanobisAuditor
from evenhand.desk import Command, Decide, Desk, Event, GiveReview, RecordOutcome
from evenhand.desk.event_records import decision_of
from evenhand.errors import EvenhandError

D = 3
TRUE = np.diag([0.4, 0.1, 0.0])
QUICK: dict[str, Any] = {"n_features": D, "reviewer_error": 1e-3}
"""Settings of a desk in tests that are not about its learner: the default learners take ten times as long."""


def people(rng: np.random.Generator, k: int = 4, d: int = D) -> list[dict[str, Any]]:
    """Candidates with ids."""
    x = rng.normal(size=(k, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True) * 1.0001
    return [{"id": f"person {i}", "context": row.tolist()} for i, row in enumerate(x)]


def outcome_of(event: Event, rng: np.random.Generator) -> RecordOutcome | None:
    """What came of a decision; None if nobody was chosen."""
    body = event.body
    rewards = {name: float(rng.normal(0.3, 0.1)) for name in body["chosen"]}
    return RecordOutcome(event.id, rewards) if rewards else None


def review_of(event: Event, reviewer: str = "Kim") -> GiveReview:
    """What an exact reviewer says of all pairs."""
    review = MahalanobisAuditor(TRUE).review(decision_of(event.body))
    names = event.body["candidates"]
    return GiveReview(event.id, "complete", [(names[i], names[j]) for i, j in review.unfair], reviewer=reviewer)


def done(results: list[Event | EvenhandError]) -> list[Event]:
    """The events; an error is raised."""
    events = []
    for result in results:
        if isinstance(result, EvenhandError):
            raise result
        events.append(result)
    return events


def play(desk: Desk, days: int, seed: int = 0, *, project_every: int = 3) -> list[Event]:
    """Some days at a desk: two decisions, their outcomes and reviews; returns the reviews' events."""
    rng = np.random.default_rng(seed)
    reviews = []
    for day in range(days):
        made = done(desk.execute([Decide(people(rng)), Decide(people(rng, k=3))]))
        later: list[Command] = [command for event in made for command in _after(event, rng)]
        reviews += [event for event in done(desk.execute(later)) if event.kind == "review"]
        if day % project_every == 0:
            desk.catch_up()
    desk.catch_up(wait=True)
    return reviews


def _after(event: Event, rng: np.random.Generator) -> Iterator[Command]:
    outcome = outcome_of(event, rng)
    if outcome is not None:
        yield outcome
    yield review_of(event)


def bound(desk: Desk, rng: np.random.Generator) -> Event:
    """A decision whose probabilities some pair bound."""
    while True:
        (event,) = done(desk.execute([Decide(people(rng, k=5))]))
        if event.body["tight_pairs"]:
            return event
