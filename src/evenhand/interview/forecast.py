"""Forecast: the unfair pairs to expect live, by simulation of the review plan in force, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.bandit import FairBandit
from evenhand.interview._plausible_metrics import KINDS, MOST_ANSWERS, SAMPLED, AnswersToExplain, plausible_metric
from evenhand.interview._simulation import unfair_pairs_live
from evenhand.interview.plan import ReviewPlan
from evenhand.interview.question import sample_pairs

COVERAGE = 0.8  # The stated probability of the interval, from nine worlds on.
BELIEVED = 0.25  # The share of reviewers drawn from the learner's belief.
POOL = 40  # Draws of each other kind, from which the plausible ones are taken.


@dataclass(frozen=True)
class Forecast:
    """How many pairs were unfair, by more than epsilon, in each decision of simulated worlds.

    >>> forecast = Forecast(((1, 1, 0), (0, 0, 0), (5, 2, 1)))
    >>> forecast.expected, forecast.by_decision(1).expected
    (2.0, 1.0)
    """

    counts: tuple[tuple[int, ...], ...]
    """Of every world, of every decision."""

    @property
    def decisions(self) -> int:
        """How many decisions it is about."""
        return len(self.counts[0])

    @property
    def unfair_pairs(self) -> tuple[int, ...]:
        """The sum over all decisions, in every world."""
        return tuple(map(sum, self.counts))

    @property
    def expected(self) -> float:
        """The median of the sums: half of the worlds have more."""
        return float(np.median(self.unfair_pairs))

    @property
    def coverage(self) -> float:
        """The probability of the interval: 0.8, and less with fewer than nine worlds, which cannot say more.

        >>> Forecast(((1, 1, 0), (0, 0, 0), (5, 2, 1))).coverage
        0.5
        """
        n = len(self.counts)
        return min(COVERAGE, (n - 1) / (n + 1))

    @property
    def lower(self) -> float:
        """The lower end of the interval: fewer come with half the probability that it leaves."""
        return self._quantile((1.0 - COVERAGE) / 2.0)

    @property
    def upper(self) -> float:
        """The upper end of the interval: more come with the same probability."""
        return self._quantile((1.0 + COVERAGE) / 2.0)

    def _quantile(self, share: float) -> float:
        """With n worlds, another one lies below the k-th smallest with probability k / (n + 1)."""
        return float(np.quantile(self.unfair_pairs, share, method="weibull"))

    def between(self, first: int, last: int) -> Forecast:
        """The same for the decisions from number `first`, counted from 0, to before `last`."""
        return Forecast(tuple(counts[first:last] for counts in self.counts))

    def by_decision(self, n: int) -> Forecast:
        """The same for the first n decisions."""
        return self.between(0, n)


@dataclass(frozen=True, eq=False)
class SimulatedWorld:
    """A reviewer with the metric G (d, d), and a seed for candidates and rewards."""

    G: Floats
    seed: int

    def unfair_pairs(self, bandit: FairBandit, people: Floats, plan: ReviewPlan, epsilon: float) -> tuple[int, ...]:
        """The unfair pairs of every decision of a copy of the bandit; in the same world, the same candidates come."""
        rng = np.random.default_rng(self.seed)
        return tuple(unfair_pairs_live(bandit, people, self.G, plan, epsilon=epsilon, rng=rng).tolist())


def plausible_worlds(bandit: FairBandit, people: Floats, n: int, rng: np.random.Generator) -> list[SimulatedWorld]:
    """n worlds in random order: the first few are a sample as well."""
    metrics = plausible_metrics(bandit, people, n, rng)
    return [SimulatedWorld(G, int(rng.integers(2**63))) for G in metrics]


def plausible_metrics(bandit: FairBandit, people: Floats, n: int, rng: np.random.Generator) -> list[Floats]:
    """n metrics that the reviewer may have, in random order: of the learner's belief, and of several other kinds.

    Of those that are not drawn from the belief, all are equally likely before any answer; then those that needed to be
    moved least to explain the answers are the likeliest, and their kinds with them.
    """
    answers, newest = bandit.fit_check.answers, slice(-MOST_ANSWERS, None)
    answered = AnswersToExplain(answers.differences[newest], answers.gaps[newest], answers.unfair[newest])
    typical = sample_pairs(people, SAMPLED, rng).differences[:SAMPLED]
    pool = [plausible_metric(kind, typical, answered, rng) for kind in KINDS for _ in range(POOL)]
    weights = np.exp([-each.misfit for each in pool] + np.min([each.misfit for each in pool]))
    of_belief = int(np.floor(BELIEVED * n + rng.random()))
    rows = _systematic(weights / np.sum(weights), n - of_belief, rng)
    metrics = [bandit.metric.sample_matrix(rng) for _ in range(of_belief)] + [pool[row].G for row in rows]
    return [metrics[row] for row in rng.permutation(n)]


def _systematic(shares: Floats, n: int, rng: np.random.Generator) -> Indices:
    """n rows, each as often as its share says, to within one: systematic resampling."""
    points = (np.arange(n) + rng.random()) / max(n, 1)
    return np.minimum(np.searchsorted(np.cumsum(shares), points, side="right"), len(shares) - 1)


def forecast_live(
    bandit: FairBandit, people: Floats, plan: ReviewPlan, *, epsilon: float, draws: int, rng: np.random.Generator
) -> Forecast:
    """The forecast of `draws` simulated worlds."""
    worlds = plausible_worlds(bandit, people, draws, rng)
    return Forecast(tuple(world.unfair_pairs(bandit, people, plan, epsilon) for world in worlds))
