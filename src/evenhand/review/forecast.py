"""What to expect of a desk from now on: its unfair pairs, by simulation of the review plan in force."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenhand.desk.replay import projected
from evenhand.errors import InvalidInput
from evenhand.interview.forecast import Forecast
from evenhand.interview.interview import EPSILON_OF_PEOPLE
from evenhand.interview.plan import ReviewPlan
from evenhand.interview.sizing import Budget, forecast_within
from evenhand.ledger.ledger import Ledger
from evenhand.review._interview_people import known_people, plan_in_force


@dataclass(frozen=True)
class DeskForecast:
    """A forecast, and what it is about."""

    forecast: Forecast
    plan: ReviewPlan
    people: int
    """How many people candidates were drawn from."""
    epsilon: float
    decided: int
    """Decisions so far."""


def forecast_of_desk(
    ledger: Ledger, desk: str, *, decisions: int, draws: int, budget: Budget, seed: int
) -> DeskForecast:
    """The desk's next decisions: about its people, with what it knows now, in up to `draws` simulated worlds."""
    projection, settings = projected(ledger, desk)
    people = known_people(ledger, desk, settings)
    plan = replace(plan_in_force(ledger, desk, settings), decisions=decisions)
    if len(people.rows) < plan.candidates:
        raise InvalidInput(
            f"a forecast needs at least as many people as a decision has candidates, {plan.candidates}, got "
            f"{len(people.rows)}; let the desk decide first, or upload people on its interview page"
        )
    epsilon = EPSILON_OF_PEOPLE if settings.epsilon is None else settings.epsilon
    with ledger.reading(desk) as view:
        decided = view.head.decisions
    forecast = forecast_within(
        projection.bandit,
        people.contexts,
        plan,
        epsilon=epsilon,
        draws=draws,
        budget=budget,
        rng=np.random.default_rng(seed),
    )
    return DeskForecast(forecast, plan, len(people.rows), epsilon, decided)
