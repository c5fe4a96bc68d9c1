"""From rewards and distances to a decision: probabilities under the safeguards, and who is drawn or gets a share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.allocation import Allocation, BoundedDistances, draw_from, fair_distribution, fair_distribution_within
from evenhand.bandit._proved_distances import binding_pairs
from evenhand.bandit.safeguards import Safeguards
from evenhand.metrics import MetricLearner
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Mode, Pair
from evenhand.rewards import RewardModel


class Allocated(NamedTuple):
    """The probabilities to play, and why they are no better."""

    best: Allocation
    tight_pairs: tuple[Pair, ...]
    unproved_pairs: int = 0
    """How many pairs lack a proof that the cap asks for."""


def allocate(
    safeguards: Safeguards,
    metric: MetricLearner,
    contexts: Floats,
    rewards: Floats,
    capacity: float | None,
    lower: Any,
    upper: Any,
) -> Allocated:
    """The best probabilities for the rows of `contexts` (k, d) with these rewards (k,), floors and ceilings."""
    if safeguards.is_capped:
        proved = safeguards.proved_distances(contexts, rewards, capacity, lower=lower, upper=upper)
        best = fair_distribution(rewards, proved.table, capacity, lower=lower, upper=upper)
        return Allocated(best, binding_pairs(best.probabilities, proved.table), proved.unproved_pairs)
    distances = safeguards.distances_that_matter(metric, contexts)
    if isinstance(distances, BoundedDistances):
        best = fair_distribution_within(rewards, distances, capacity, lower=lower, upper=upper)
    else:
        best = fair_distribution(rewards, distances, capacity, lower=lower, upper=upper)
    return Allocated(best, best.tight_pairs)


def choose(mode: Mode, probabilities: Floats, limit: float, rng: np.random.Generator) -> tuple[int, ...]:
    """The candidates who are drawn; with mode "shares" all who get a share, and `rng` is not used."""
    if mode == "lottery":
        return draw_from(probabilities, limit, rng)
    return tuple(np.flatnonzero(probabilities > PROBABILITY_TOLERANCE).tolist())


def learn_outcomes(model: RewardModel, decision: Decision, candidates: Indices, outcomes: Floats) -> None:
    """Have a reward model learn outcomes (n,) of these candidates (n,); with mode "shares" at the shares they got."""
    contexts = decision.contexts.take(candidates, axis=0)
    if decision.mode == "lottery":
        model.learn(contexts, outcomes)
    else:
        model.learn_shares(contexts, outcomes, decision.probabilities.take(candidates))
