"""Sizing: what to expect of a desk before there is one: unfair pairs, answers, time, and whether to interview first."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.bandit import FairBandit
from evenhand.interview._simulation import live_step, outcomes_in, trial_of, without_warnings
from evenhand.interview.forecast import Forecast, SimulatedWorld, plausible_worlds
from evenhand.interview.interview import Interview
from evenhand.interview.plan import ReviewPlan
from evenhand.schema import Schema

LEAST_WORLDS = 3  # Simulated even if the time is over: fewer make no interval.
LEAST_INTERVIEWED = 2
FOR_INTERVIEWS = 0.4  # The share of the time for worlds with an interview first.
QUESTION_PAIRS = 300  # From which a question of a simulated interview is chosen.
Counts = tuple[int, ...]  # Of every decision.
TIMED = 7  # Decisions of which the time is measured, the first one apart.


@dataclass(frozen=True)
class Sizing:
    """The forecast of all worlds; of the first few of them with an interview first, and the same ones without."""

    forecast: Forecast
    interviewed: Forecast
    not_interviewed: Forecast
    questions: int
    deciding: float
    """Seconds of a decision, in the median."""
    learning: float
    """Seconds of learning from a review."""


@dataclass
class Budget:
    """So many seconds of a clock; `each` is called with the share that is used up."""

    seconds: float
    each: Callable[[float], None]
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Count from now."""
        self._start = self.clock()

    @property
    def used(self) -> float:
        """The share that is used up, and more than 1 after the end."""
        return (self.clock() - self._start) / self.seconds

    def next(self, until: float, cost: float) -> bool:
        """Whether there is time for something that takes `cost` seconds, up to this share of the budget."""
        self.each(min(self.used, 1.0))
        return self.used + cost / self.seconds < until


def size(
    bandit: FairBandit,
    people: Floats,
    plan: ReviewPlan,
    *,
    epsilon: float,
    questions: int,
    differ_in: int | None,
    features: Schema,
    draws: int,
    budget: Budget,
    seed: int,
) -> Sizing:
    """Simulate up to `draws` worlds within the budget, the first few of them also with an interview of `questions`."""
    of_times, of_worlds = np.random.default_rng(seed).spawn(2)
    deciding, learning = _times(bandit, people, plan, of_times)
    budget.start()  # kernels may have been compiled until now
    worlds = plausible_worlds(bandit, people, draws, of_worlds)

    def at_once(world: SimulatedWorld) -> Counts:
        return world.unfair_pairs(bandit, people, plan, epsilon)

    def after_interview(world: SimulatedWorld) -> Counts:
        expert = _interviewed(bandit, people, world, questions, epsilon, differ_in, features, seed)
        return world.unfair_pairs(expert, people, plan, epsilon)

    plain = _played(worlds, at_once, budget, 1.0 - FOR_INTERVIEWS)
    interviewed = _played(worlds[: len(plain)], after_interview, budget, 1.0, LEAST_INTERVIEWED)
    budget.each(1.0)
    without = Forecast(tuple(plain[: len(interviewed)]))
    return Sizing(Forecast(tuple(plain)), Forecast(tuple(interviewed)), without, questions, deciding, learning)


def forecast_within(
    bandit: FairBandit,
    people: Floats,
    plan: ReviewPlan,
    *,
    epsilon: float,
    draws: int,
    budget: Budget,
    rng: np.random.Generator,
) -> Forecast:
    """The forecast of up to `draws` simulated worlds, as many as the budget allows."""
    worlds = plausible_worlds(bandit, people, draws, rng)
    counts = _played(worlds, lambda world: world.unfair_pairs(bandit, people, plan, epsilon), budget, 1.0)
    budget.each(1.0)
    return Forecast(tuple(counts))


def _played(
    worlds: list[SimulatedWorld],
    unfair_pairs: Callable[[SimulatedWorld], Counts],
    budget: Budget,
    until: float,
    least: int = LEAST_WORLDS,
) -> list[Counts]:
    """The unfair pairs of every decision in each world, of as many worlds as there is time for."""
    counts: list[Counts] = []
    cost = 0.0
    for world in worlds:
        if len(counts) >= least and not budget.next(until, cost):
            break
        start = budget.clock()
        counts.append(unfair_pairs(world))
        cost = max(cost, budget.clock() - start)
    return counts


def _interviewed(
    bandit: FairBandit,
    people: Floats,
    world: SimulatedWorld,
    questions: int,
    epsilon: float,
    differ_in: int | None,
    features: Schema,
    seed: int,
) -> FairBandit:
    """A copy of the bandit after an interview with the world's reviewer."""
    interview = Interview(
        trial_of(bandit),
        people,
        epsilon=epsilon,
        enough=0.0,
        max_questions=questions,
        n_pairs=QUESTION_PAIRS,
        seed=seed,
        differ_in=differ_in,
        features=features,
    )
    with without_warnings():
        for question in interview:
            x, y = interview.contexts_of(question)
            squared = float((x - y) @ world.G @ (x - y))
            interview.answer("unfair" if question.gap**2 > squared else "acceptable")
    return interview.bandit


def _times(bandit: FairBandit, people: Floats, plan: ReviewPlan, rng: np.random.Generator) -> tuple[float, float]:
    """Seconds of a decision and of learning from its review, each a median; kernels are compiled before."""
    trial, G = copy.deepcopy(bandit), bandit.metric.sample_matrix(rng)
    plan = replace(plan, pairs=1 if plan.pairs == 0 else plan.pairs)
    outcomes = partial(outcomes_in, bandit.reward, np.zeros(bandit.n_features))
    with without_warnings():
        steps = [live_step(trial, people, G, plan, outcomes, rng) for _ in range(TIMED)][1:]
    return float(np.median([s.deciding for s in steps])), float(np.median([s.learning for s in steps]))
