"""Every policy the laboratory compares, by name, made from the same facts."""

from __future__ import annotations

from collections.abc import Callable

from evenhand import paper
from evenhand._internal.randomness import Seed, as_generator
from evenhand.bandit import FairBandit
from evenhand.baselines import BASELINES, Facts, Policy
from evenhand.errors import InvalidInput
from evenhand.metrics import (
    BayesPoint,
    ByEvidence,
    Ellipsoid,
    MetricLearner,
    PerPair,
    ProjectedVolume,
    VersionSpace,
    default_learner,
)
from evenhand.rewards import KnownReward

Make = Callable[[Facts, Seed], Policy]


def _without_last_resort(facts: Facts, seed: Seed) -> MetricLearner:
    """The default learner for reviewers who follow a metric, however badly it fits."""
    learner = default_learner(facts.n_features, epsilon=facts.epsilon, seed=seed)
    assert isinstance(learner, ByEvidence)
    return ByEvidence(learner.learners)


LEARNERS: dict[str, Callable[[Facts, Seed], MetricLearner]] = {
    "evenhand": lambda facts, seed: default_learner(facts.n_features, epsilon=facts.epsilon, seed=seed),
    "evenhand-without-last-resort": _without_last_resort,
    "rate-learned": lambda facts, seed: BayesPoint(facts.n_features, epsilon=facts.epsilon, error_rate=None),
    "bayes-point": lambda facts, seed: BayesPoint(facts.n_features, epsilon=facts.epsilon),
    "projected-volume": lambda facts, seed: ProjectedVolume(facts.n_features, epsilon=facts.epsilon, seed=seed),
    "version-space": lambda facts, seed: VersionSpace(facts.n_features, epsilon=facts.epsilon, seed=seed),
    "ellipsoid": lambda facts, seed: Ellipsoid(facts.n_features, epsilon=facts.epsilon),
    "paper": lambda facts, seed: PerPair(ProjectedVolume(facts.n_features, epsilon=facts.epsilon, seed=seed)),
}


def _bandit(learner: str, *, known_reward: bool = False) -> Make:
    """FairBandit with this metric learner, and with theta known or not."""

    def make(facts: Facts, seed: Seed) -> Policy:
        rng = as_generator(seed)
        (own,) = rng.spawn(1)
        metric, reward = LEARNERS[learner](facts, own), KnownReward(facts.theta) if known_reward else None
        return FairBandit(facts.n_features, capacity=facts.capacity, metric=metric, reward=reward, seed=rng)

    return make


def _paper(facts: Facts, seed: Seed) -> Policy:
    algorithm = paper.many if facts.capacity is None else paper.full
    return algorithm(facts.n_features, epsilon=facts.epsilon or 1.0 / facts.rounds, seed=seed)


POLICIES: dict[str, Make] = {
    **{name: _bandit(name) for name in LEARNERS},
    "paper": _paper,
    **{f"{name}-known-reward": _bandit(name, known_reward=True) for name in LEARNERS},
    **BASELINES,
}


def make_policy(name: str, facts: Facts, seed: Seed) -> Policy:
    """The policy of this name, which reads only the facts that it may know."""
    if name not in POLICIES:
        raise InvalidInput(f"unknown policy {name!r}; there are {', '.join(POLICIES)}")
    return POLICIES[name](facts, seed)
