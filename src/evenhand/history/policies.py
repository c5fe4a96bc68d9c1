"""Policies to evaluate: anything that gives the candidates of a round probabilities, frozen."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import refusal
from evenhand._internal.randomness import Seed
from evenhand.bandit import FairBandit
from evenhand.baselines import EqualProbabilities, fixed_euclidean, ignore_fairness
from evenhand.baselines.lottery import Lottery
from evenhand.errors import InvalidInput
from evenhand.history.past_log import PastLog
from evenhand.interview.bandit_of_schema import bandit_of_schema
from evenhand.metrics import MetricLearner
from evenhand.records.contexts import as_contexts

RoundPolicy = Callable[[Floats, int], Any]
"""Contexts (k, d) and the capacity of a round -> probabilities (k,)."""

TOLERANCE = 1e-6
"""By how much probabilities may leave [0, 1], and their sum the capacity: rounding."""

EPSILON = 0.05
"""Unfairness that is tolerated between people, as in an interview."""


def frozen(policy: Any) -> RoundPolicy:
    """A policy as it is now: it decides round after round and learns nothing.

    policy: a FairBandit or a baseline, which is copied, or a function of contexts (k, d) and capacity.

    >>> frozen(lambda contexts, capacity: np.full(len(contexts), capacity / len(contexts)))(np.zeros((4, 2)), 1)
    array([0.25, 0.25, 0.25, 0.25])
    """
    if hasattr(policy, "decide"):
        return partial(_play, copy.deepcopy(policy))
    if not callable(policy) or isinstance(policy, type):
        raise refusal("a policy", "a bandit, a baseline, or a function of contexts and capacity", policy)
    play_round: RoundPolicy = policy
    return play_round


def _play(policy: Any, contexts: Floats, capacity: int) -> Any:
    """The probabilities of a policy with this capacity; nothing else of it changes, nor is the round counted."""
    policy.capacity = capacity
    if isinstance(policy, Lottery):
        return policy.play(as_contexts(contexts, policy.n_features)).probabilities
    if isinstance(policy, FairBandit):
        return policy.propose(contexts, number=policy.rounds, rng=np.random.default_rng(0)).probabilities
    return copy.deepcopy(policy).decide(contexts).probabilities


def played_by(policy: Any, log: PastLog, name: str = "the policy") -> Floats:
    """The probabilities (N,) that a policy would have given to the candidates of a log; checked.

    policy: as `frozen` takes it, or a dict of probabilities by candidates' ids: what another system would have done.
    """
    values = np.empty(log.n_candidates)
    play = _by_id(policy, log, name) if isinstance(policy, Mapping) else frozen(policy)
    for number, (start, end) in enumerate(zip(log.starts, log.starts[1:], strict=False)):
        capacity = int(log.capacities[number])
        try:
            p = np.asarray(play(log.contexts[start:end], capacity), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"{name} failed in round {log.names[number]}: {error}") from error
        if p.shape != (end - start,) or not np.all((p >= -TOLERANCE) & (p <= 1.0 + TOLERANCE)):
            got = f"{p.min():g} to {p.max():g}" if p.shape == (end - start,) else f"shape {p.shape}"
            raise InvalidInput(
                f"{name} must give {end - start} probabilities from 0 to 1 in round {log.names[number]}, got {got}"
            )
        if p.sum() > capacity + TOLERANCE * len(p):
            raise InvalidInput(
                f"probabilities of {name} must add up to at most the capacity {capacity} in round "
                f"{log.names[number]}, got {p.sum():.6g}"
            )
        values[start:end] = np.clip(p, 0.0, 1.0)
    return values


def _by_id(policy: Mapping[str, float], log: PastLog, name: str) -> RoundPolicy:
    """The policy that gives the candidates of a log, asked round after round, these probabilities by their ids."""
    missing = next((one for one in log.ids if one not in policy), None)
    if missing is not None:
        raise InvalidInput(f"{name} must have a probability for every candidate of the log, got none for {missing!r}")
    rows = iter(log.ids)
    return lambda contexts, capacity: [policy[one] for one in itertools.islice(rows, len(contexts))]


def default_policies(past: PastLog, *, metric: MetricLearner | None = None, seed: Seed = 0) -> dict[str, Any]:
    """What to compare, each having learned from the same past: evenhand, under two fixed metrics, and without any.

    metric: plays in "evenhand" instead of the default learner, which learns from past reviews and complaints alone:
    where there are none it knows nothing of who is like whom, and is careful. Equal probabilities come on top.
    """
    capacity, d = int(np.median(past.capacities)), past.n_features
    policies = {
        "evenhand": untaught(past, metric=metric, seed=seed),
        "evenhand, half the Euclidean distance": fixed_euclidean(d, capacity=capacity, seed=seed),
        "evenhand, the Euclidean distance": fixed_euclidean(d, scale=1.0, capacity=capacity, seed=seed),
        "ignore fairness": ignore_fairness(d, capacity=capacity, seed=seed),
    }
    for bandit in policies.values():
        past.warm_up(bandit)
    return policies


def untaught(past: PastLog, *, metric: MetricLearner | None = None, seed: Seed = 0) -> FairBandit:
    """A bandit for people as in the past, which has learned nothing of it yet."""
    capacity, d = int(np.median(past.capacities)), past.n_features
    if metric is not None:
        return FairBandit(d, capacity=capacity, metric=copy.deepcopy(metric), seed=seed)
    if past.schema is not None:
        number = int(np.random.default_rng(seed).integers(2**31))
        return bandit_of_schema(past.schema, capacity=capacity, epsilon=EPSILON, seed=number)
    return FairBandit(d, capacity=capacity, epsilon=EPSILON, seed=seed)


def equal_probabilities() -> EqualProbabilities:
    """The same probability for everybody in a round."""
    return EqualProbabilities(seed=0)
