"""Decisions about real candidates under the review of somebody with a rule: what they earn, and who is wronged."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.randomness import Seed
from evenhand.allocation import fair_distribution
from evenhand.auditors import DistanceAuditor
from evenhand.bandit import FairBandit
from evenhand.baselines.assembled import ignore_fairness
from evenhand.baselines.lottery import Lottery, Play
from evenhand.datasets import Dataset
from evenhand.datasets.dataset import ROUND_SIZE
from evenhand.errors import InconsistentReviews, MisleadingReviewer, NoMetricFits
from evenhand.interview.bandit_of_schema import bandit_of_schema
from evenhand.lab.people.online import REVIEWED, Round, counted, reviewed_by, totals
from evenhand.lab.people.person_model import expected_rewards
from evenhand.lab.people.players import PlusFavourite, no_metric
from evenhand.lab.real_data.rules import RULES, loaded
from evenhand.lab.store import Columns
from evenhand.rewards import RewardModel, RidgeUCB

CAPACITY = {"loanapp": 3, "credit_data": 3, "resume": 1}
"""Places of a round."""

EPSILON = 0.01

EVENHAND, IGNORE, KNOWS = "evenhand", "ignore fairness", "knows the rule"
EQUAL = "equal probabilities"
FAVOURITES = {f"favourites {share:.0%}": share for share in (0.05, 0.1, 0.2, 0.4)}
"""Equal probabilities, but this much of each place for one of the best."""

CONTENDERS = (EVENHAND, IGNORE, *FAVOURITES, EQUAL, KNOWS)


class KnownRule(Lottery):
    """The best fair probabilities under a rule that is known; only rewards are learned."""

    def __init__(self, rule: DistanceAuditor, reward: RewardModel, *, capacity: int, seed: Seed = None) -> None:
        super().__init__(reward.n_features, capacity=capacity, metric=no_metric(reward), reward=reward, seed=seed)
        self.rule = rule

    def play(self, contexts: Floats) -> Play:
        """The best for optimistic rewards under the rule."""
        rewards = self.reward.optimistic(contexts)
        best = fair_distribution(rewards, self.rule.distances(contexts), self.capacity)
        return Play(best.probabilities, rewards, best.tight_pairs, best.worst_residual)


@dataclass(frozen=True, eq=False)
class RealCandidates:
    """The people of a data set who have an outcome, half of them as the past: their outcomes are known from the start.

    The others compete, as the table says or in rounds of ROUND_SIZE drawn at random; after the last round they come
    again, in other rounds or in another order. seed: fixes who belongs to the past, and all rounds.
    """

    dataset: Dataset
    outcomes: Floats
    """Less their mean, (n,); NaN for those without. Above 0 is better than the average applicant."""
    rewards: Floats
    """Expected, by a cross-fitted model that no player sees, (n,)."""
    past: Indices
    present: tuple[Indices, ...]
    """The first rounds, as places among all people."""

    @classmethod
    def of(cls, name: str, seed: int) -> RealCandidates:
        """The candidates of the data set of this name."""
        dataset, outcomes, rewards = _rewarded(name)
        rounds = [members[np.isfinite(outcomes[members])] for members in dataset.rounds(seed=seed)]
        half = len(rounds) // 2
        present = tuple(members for members in rounds[half:] if len(members) > 1)
        return cls(dataset, outcomes, rewards, np.concatenate(rounds[:half]), present)

    def rounds(self, rng: np.random.Generator) -> Iterator[Indices]:
        """Rounds without end."""
        yield from self.present
        while True:
            if self.dataset.recipe.round is None:
                order = rng.permutation(np.concatenate(self.present))
                yield from (order[start : start + ROUND_SIZE] for start in range(0, len(order) - 1, ROUND_SIZE))
            else:
                yield from (self.present[i] for i in rng.permutation(len(self.present)))

    def informed_reward(self) -> RidgeUCB:
        """The reward model that has learned from the past."""
        model = RidgeUCB(self.dataset.schema.n_features)
        model.learn(self.dataset.contexts[self.past], self.outcomes[self.past])
        return model


@cache
def _rewarded(name: str) -> tuple[Dataset, Floats, Floats]:
    """A data set, outcomes and expected rewards, both less the mean; NaN for whoever has no outcome."""
    dataset = loaded(name)
    known, mean = np.isfinite(dataset.rewards), np.nanmean(dataset.rewards)
    expected = np.full(len(dataset), np.nan)
    expected[known] = expected_rewards(dataset.contexts[known], 2.0 * dataset.rewards[known] - 1.0)
    return dataset, dataset.rewards - mean, (expected + 1.0) / 2.0 - mean


def made(contender: str, people: RealCandidates, rule: DistanceAuditor, rng: np.random.Generator) -> FairBandit:
    """The player of this name; all know the outcomes of the past."""
    schema, reward = people.dataset.schema, people.informed_reward()
    capacity = CAPACITY[people.dataset.name]
    if contender == EVENHAND:
        own = int(rng.integers(2**31))
        return bandit_of_schema(schema, capacity=capacity, epsilon=EPSILON, reward=reward, seed=own)
    if contender == IGNORE:
        return ignore_fairness(schema.n_features, capacity=capacity, reward=reward, seed=rng)
    if contender == KNOWS:
        return KnownRule(rule, reward, capacity=capacity, seed=rng)
    return PlusFavourite(FAVOURITES.get(contender, 0.0), reward, rng, capacity=capacity)


def play_rule(*, dataset: str, reviewer: str, contender: str, rounds: int, seed: int) -> Columns:
    """One contender under the review of REVIEWED pairs a round by somebody with this rule; one row."""
    people = RealCandidates.of(dataset, seed)
    contexts, rule = people.dataset.contexts, RULES[dataset][reviewer](people.dataset.schema)
    of_rounds, of_player = np.random.default_rng([seed, 1]).spawn(2)
    bandit, played = made(contender, people, rule, of_player), list[Round]()
    with warnings.catch_warnings():
        for kind in (InconsistentReviews, MisleadingReviewer, NoMetricFits):
            warnings.simplefilter("ignore", kind)
        for members in islice(people.rounds(of_rounds), rounds):
            decision = bandit.decide(contexts[members])
            distances = rule.distances(decision.contexts)
            pairs = [proposal.pair for proposal in bandit.pairs_to_review(decision, REVIEWED)]
            played.append(counted(decision, people.rewards[members], distances, pairs))
            earned = {i: float(people.outcomes[members[i]]) for i in decision.chosen}
            bandit.learn(decision, rewards=earned, review=reviewed_by(decision, distances, pairs) if pairs else None)
    found = totals(played) | {"no_metric": float(bandit.fit_check.speaks_up)}
    return {name: [value] for name, value in found.items()}
