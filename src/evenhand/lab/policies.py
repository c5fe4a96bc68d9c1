"""Every policy the laboratory compares, under a name, made from the same few facts."""

from __future__ import annotations

from collections.abc import Callable

from evenhand import paper
from evenhand._internal.randomness import Seed, as_generator
from evenhand.bandit import FairBandit
from evenhand.baselines import BASELINES, Facts, Policy
from evenhand.errors import InvalidInput
from evenhand.metrics import BayesPoint, Ellipsoid, MetricLearner, PerPair, ProjectedVolume
from evenhand.rewards import KnownReward

Make = Callable[[Facts, Seed], Policy]


def _with(metric: Callable[[Facts, Seed], MetricLearner], *, known_reward: bool = False) -> Make:
    """FairBandit with this metric learner, and with theta told to it or not."""

    def make(facts: Facts, seed: Seed) -> Policy:
        rng = as_generator(seed)
        (own,) = rng.spawn(1)
        reward = KnownReward(facts.theta) if known_reward else None
        return FairBandit(facts.n_features, capacity=facts.capacity, metric=metric(facts, own), reward=reward, seed=rng)

    return make


def _bayes_point(facts: Facts, seed: Seed) -> MetricLearner:
    return BayesPoint(facts.n_features, epsilon=facts.epsilon)


def _ellipsoid(facts: Facts, seed: Seed) -> MetricLearner:
    return Ellipsoid(facts.n_features, epsilon=facts.epsilon)


def _projected_volume(facts: Facts, seed: Seed) -> MetricLearner:
    return ProjectedVolume(facts.n_features, epsilon=facts.epsilon, seed=seed)


def _per_pair(facts: Facts, seed: Seed) -> MetricLearner:
    return PerPair(_projected_volume(facts, seed))


def _paper(facts: Facts, seed: Seed) -> Policy:
    algorithm = paper.many if facts.capacity is None else paper.full
    return algorithm(facts.n_features, epsilon=facts.epsilon or 1.0 / facts.rounds, seed=seed)


POLICIES: dict[str, Make] = {
    "evenhand": _with(_bayes_point),
    "projected-volume": _with(_projected_volume),
    "ellipsoid": _with(_ellipsoid),
    "paper": _paper,
    "evenhand-known-reward": _with(_bayes_point, known_reward=True),
    "projected-volume-known-reward": _with(_projected_volume, known_reward=True),
    "ellipsoid-known-reward": _with(_ellipsoid, known_reward=True),
    "paper-known-reward": _with(_per_pair, known_reward=True),
    **BASELINES,
}


def make_policy(name: str, facts: Facts, seed: Seed) -> Policy:
    """The policy of this name, which reads of the facts only what it is allowed to know."""
    if name not in POLICIES:
        raise InvalidInput(f"no policy is called {name!r}; known are {', '.join(POLICIES)}")
    return POLICIES[name](facts, seed)
