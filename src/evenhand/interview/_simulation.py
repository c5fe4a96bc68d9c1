"""A bandit live for a while, against a simulated reviewer: how many pairs are unfair in each decision."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.bandit import FairBandit
from evenhand.errors import InconsistentReviews, MisleadingReviewer, NoMetricFits
from evenhand.interview.plan import ReviewPlan
from evenhand.metrics.verdicts import Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair, Review
from evenhand.rewards import RewardModel

Outcomes = Callable[[Decision], dict[int, float]]


def unfair_pairs_live(
    bandit: FairBandit, people: Floats, G: Floats, plan: ReviewPlan, *, epsilon: float, rng: np.random.Generator
) -> Indices:
    """The number of pairs unfair by more than epsilon in each decision of a copy of the bandit, (plan.decisions,).

    people: contexts (n, d) that candidates are drawn from. G: the metric of an exact reviewer, (d, d). Rewards lie
    within the reward model's widths, in a random direction.
    """
    direction = rng.normal(size=bandit.n_features)
    direction /= np.linalg.norm(direction)
    trial = trial_of(bandit)
    trial.reseed(np.random.default_rng(rng.integers(2**63)))
    counts = np.empty(plan.decisions, dtype=np.int64)
    outcomes = partial(outcomes_in, bandit.reward, direction)
    with without_warnings():
        for number in range(plan.decisions):
            counts[number] = np.sum(live_step(trial, people, G, plan, outcomes, rng).excess > epsilon)
    return counts


def trial_of(bandit: FairBandit) -> FairBandit:
    """A copy for simulated reviewers: they follow a metric, and it prepares for no others."""
    trial = copy.deepcopy(bandit)
    trial.metric = trial.metric.without_last_resort()
    return trial


@dataclass(frozen=True, eq=False)
class LiveStep:
    """One decision, reviewed and learned from."""

    excess: Floats
    """By how much the gap of each pair exceeds its distance, (k(k-1)/2,)."""
    deciding: float
    """Seconds, the choice of pairs to review included."""
    learning: float


def live_step(
    bandit: FairBandit, people: Floats, G: Floats, plan: ReviewPlan, outcomes: Outcomes, rng: np.random.Generator
) -> LiveStep:
    """Let the bandit decide about some of the people, and learn from an exact review under G and from outcomes."""
    contexts = people[rng.choice(len(people), plan.candidates, replace=False)]
    start = time.perf_counter()
    decision = bandit.decide(contexts)
    shown = [each.pair for each in bandit.pairs_to_review(decision, plan.pairs)] if plan.pairs else []
    decided = time.perf_counter()
    excess = _excess(decision, G)
    review = _review(decision, excess, None if plan.pairs is None else shown)
    rewards = outcomes(decision)
    answered = time.perf_counter()
    bandit.learn(decision, rewards=rewards, review=review)
    return LiveStep(excess, decided - start, time.perf_counter() - answered)


@contextmanager
def without_warnings() -> Iterator[None]:
    """A belief may be wrong about a simulated reviewer."""
    with warnings.catch_warnings():
        for kind in (InconsistentReviews, MisleadingReviewer, NoMetricFits):
            warnings.simplefilter("ignore", kind)
        yield


def _excess(decision: Decision, G: Floats) -> Floats:
    """By how much the gap of each pair exceeds its distance under G, (k(k-1)/2,)."""
    pairs, p = Pairs.of(decision.contexts), decision.probabilities
    first, second = pairs.indices.T
    squared = np.sum((pairs.differences @ G) * pairs.differences, axis=1)
    return np.asarray(np.abs(p[first] - p[second]) - np.sqrt(np.maximum(squared, 0.0)))


def _review(decision: Decision, excess: Floats, shown: list[Pair] | None) -> Review | None:
    """The exact review of the pairs that are shown, or of all; None if none is shown."""
    names = Pairs.of(decision.contexts).names()
    unfair = {name for name, wide in zip(names, excess > PROBABILITY_TOLERANCE, strict=True) if wide}
    if shown is None:
        return Review.complete(unfair=unfair)
    if not shown:
        return None
    return Review.partial(unfair=[p for p in shown if p in unfair], fair=[p for p in shown if p not in unfair])


def outcomes_in(reward: RewardModel, direction: Floats, decision: Decision) -> dict[int, float]:
    """Rewards of those chosen: within the widths of what the reward model knows, in this direction."""
    contexts = decision.contexts[list(decision.chosen)]
    rewards = reward.estimate(contexts) + reward.widths(contexts) * (contexts @ direction)
    return dict(zip(decision.chosen, rewards.tolist(), strict=True))
