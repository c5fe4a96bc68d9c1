"""What a policy would do next, found out without its noticing."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.allocation import fair_distribution
from evenhand.bandit import FairBandit
from evenhand.environments.contexts.source import Decider

Floats = NDArray[np.float64]


class NextOdds(NamedTuple):
    """The odds (k,) a policy would play, and how many it may choose at most."""

    probabilities: Floats
    capacity: int | None


def next_odds(policy: Decider, contexts: Floats) -> NextOdds:
    """The odds `policy` would play on checked `contexts` (k, d); the policy is as it was afterwards.

    A FairBandit's parts are asked, which changes nothing. Any other policy, and a FairBandit whose `decide` was
    replaced, is copied and the copy decides: right for any policy that can be copied, and as slow as copying it.

    >>> bandit = FairBandit(2, seed=0)
    >>> odds = next_odds(bandit, np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> odds.probabilities.shape, odds.capacity, bandit.rounds
    ((2,), 1, 0)
    """
    if isinstance(policy, FairBandit) and type(policy).decide is FairBandit.decide:
        rewards, distances = policy.reward.optimistic(contexts), policy.metric.playable_distances(contexts)
        return NextOdds(fair_distribution(rewards, distances, policy.capacity).probabilities, policy.capacity)
    decision = copy.deepcopy(policy).decide(contexts)
    return NextOdds(decision.probabilities, decision.capacity)
