"""From rewards and distances to probabilities, under the safeguards; and who gets a share."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.allocation import Allocation, BoundedDistances, fair_distribution, fair_distribution_within
from evenhand.bandit._proved_distances import binding_pairs
from evenhand.bandit.safeguards import Safeguards
from evenhand.metrics import MetricLearner
from evenhand.records.decision import PROBABILITY_TOLERANCE, Pair


def allocate(
    safeguards: Safeguards,
    metric: MetricLearner,
    contexts: Floats,
    rewards: Floats,
    capacity: float | None,
    lower: Any,
    upper: Any,
) -> tuple[Allocation, tuple[Pair, ...], int]:
    """The best probabilities for the rows of `contexts` (k, d) with these rewards (k,), floors and ceilings.

    With them the pairs that bind, and how many pairs lack a proof that the cap asks for.
    """
    if safeguards.is_capped:
        proved = safeguards.proved_distances(contexts, rewards, capacity, lower=lower, upper=upper)
        best = fair_distribution(rewards, proved.table, capacity, lower=lower, upper=upper)
        return best, binding_pairs(best.probabilities, proved.table), proved.unproved_pairs
    distances = safeguards.distances_that_matter(metric, contexts)
    if isinstance(distances, BoundedDistances):
        best = fair_distribution_within(rewards, distances, capacity, lower=lower, upper=upper)
    else:
        best = fair_distribution(rewards, distances, capacity, lower=lower, upper=upper)
    return best, best.tight_pairs, 0


def receivers(shares: Floats) -> tuple[int, ...]:
    """The candidates who get a share; one of PROBABILITY_TOLERANCE or less is rounding."""
    return tuple(np.flatnonzero(shares > PROBABILITY_TOLERANCE).tolist())
