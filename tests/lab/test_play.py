"""Playing: the policy learns from the reviewer and is judged by the truth, also when late."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.auditors import (
    AdversarialAuditor,
    DelayedAuditor,
    MahalanobisAuditor,
    NoisyAuditor,
    OneBitAuditor,
    PanelAuditor,
    PureNoiseAuditor,
    RotatingAuditor,
)
from evenhand.environments import FairEnvironment, make_world
from evenhand.errors import InvalidInput
from evenhand.lab import play
from evenhand.lab.account import checkpoints
from tests.support.simulation import same

K = 4


def _world() -> FairEnvironment:
    return make_world("sphere", n_features=3, n_candidates=K, seed=5)


def _bandit() -> eh.FairBandit:
    return eh.FairBandit(3, epsilon=0.05, seed=0)


class Listening:
    """Plays as somebody else does and records what it learns from, and when."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.decided: list[eh.Decision] = []
        self.outcomes: list[tuple[int, Mapping[int, float]]] = []
        self.learned: list[tuple[int, int, eh.Review]] = []

    def decide(self, contexts: Any) -> eh.Decision:
        """As the other."""
        self.decided.append(self.policy.decide(contexts))
        return self.decided[-1]

    def learn(
        self, decision: eh.Decision, *, rewards: Mapping[int, float] | None = None, review: eh.Review | None = None
    ) -> eh.Learned:
        """The round of the decision for outcomes; and the round it is now for reviews."""
        if rewards is not None:
            self.outcomes.append((decision.round, rewards))
        if review is not None:
            self.learned.append((decision.round, len(self.decided) - 1, review))
        learned = self.policy.learn(decision, rewards=rewards, review=review)
        assert isinstance(learned, eh.Learned)
        return learned


def test_a_prompt_review_comes_with_the_outcomes() -> None:
    """The bandit ends as if outcomes and review of each round had been given in one call."""
    world, by_hand, played = _world(), _bandit(), _bandit()
    auditor = MahalanobisAuditor(world.A)
    contexts, _ = world.reset(seed=1)
    for _ in range(12):
        decision = by_hand.decide(contexts)
        by_hand.learn(decision, rewards=world.settle(decision.chosen), review=auditor.review(decision))
        contexts = world.advance()
    play(played, world, auditor, rounds=12, epsilon=0.05, seed=1)
    assert same(by_hand.state(), played.state())


def test_late_reviews_are_learned_with_their_own_decision() -> None:
    """Every review comes exactly three rounds late and once, outcomes in their round; a bandit takes it all."""
    world = _world()
    exact, policy = MahalanobisAuditor(world.A), Listening(_bandit())
    play(policy, world, DelayedAuditor(exact, 3), rounds=15, epsilon=0.05, seed=1, truth=exact)
    assert [(made, now) for made, now, _ in policy.learned] == [(t, t + 3) for t in range(12)]
    assert all(review == exact.review(policy.decided[made]) for made, _, review in policy.learned)
    assert [made for made, _ in policy.outcomes] == list(range(15))


def test_all_reviews_of_a_decision_are_learned() -> None:
    """Two of a panel, each under their name; the decision's outcomes are learned once."""
    world = _world()
    exact, policy = MahalanobisAuditor(world.A), Listening(_bandit())
    panel = PanelAuditor({"a": exact, "b": exact, "c": OneBitAuditor(exact)}, per_decision=2, seed=0)
    play(policy, world, panel, rounds=10, epsilon=0.05, seed=1, truth=exact)
    assert [made for made, _, _ in policy.learned] == [t for t in range(10) for _ in range(2)]
    assert {review.reviewer for _, _, review in policy.learned} == {"a", "b", "c"}
    assert [made for made, _ in policy.outcomes] == list(range(10))


def test_a_reviewer_of_ones_own_needs_one_method() -> None:
    """An object with `review` alone can be played with, once somebody else knows the truth."""

    class Content:
        def review(self, decision: eh.Decision) -> eh.Review:
            return eh.Review.complete()

    world = _world()
    truth = MahalanobisAuditor(world.A)
    account = play(_bandit(), world, Content(), rounds=5, epsilon=0.05, seed=1, truth=truth)
    assert account.rounds == 5
    assert account.flagged_rounds_by_reviewer == 0
    assert np.sum(account.unfair_pairs) > 0


@pytest.mark.parametrize("truth", [None, "me"])
def test_the_truth_must_be_known(truth: Any) -> None:
    """An auditor that errs does not know the truth: refused before anything is played."""
    world, bandit = _world(), _bandit()
    noisy = NoisyAuditor(MahalanobisAuditor(world.A), 0.1)
    with pytest.raises(InvalidInput, match=rf"truth must have .* got {truth!r} with a NoisyAuditor"):
        play(bandit, world, noisy, rounds=5, epsilon=0.05, truth=truth)
    assert bandit.rounds == 0


def test_the_account_is_held_by_the_truth_not_by_the_reviewer() -> None:
    """Same probabilities, other reviewers: what is counted of regret and unfair pairs is the same, of flags not."""
    world = _world()
    exact = MahalanobisAuditor(world.A)
    kept = []
    for auditor in (exact, PureNoiseAuditor(1.0, seed=0), PureNoiseAuditor(0.0, seed=0)):
        policy = eh.baselines.ignore_fairness(3, seed=0)
        kept.append(play(policy, world, auditor, rounds=40, epsilon=0.05, seed=1, truth=exact))
    for account in kept[1:]:
        assert np.array_equal(account.regret, kept[0].regret)
        assert np.array_equal(account.unfair_pairs, kept[0].unfair_pairs)
    assert kept[0].flagged_rounds_by_reviewer == np.sum(kept[0].flagged_pairs > 0)
    assert kept[1].flagged_rounds_by_reviewer == 40
    assert kept[2].flagged_rounds_by_reviewer == 0


def test_a_truth_that_moves_is_read_for_each_round() -> None:
    """Who plays the best fair probabilities of each round's own metric has no regret and nothing unfair."""
    world = _world()
    truth = RotatingAuditor(world.A, 0.02)

    class Clairvoyant:
        """Knows theta, and the metric of the round."""

        rounds = 0

        def decide(self, contexts: Any) -> eh.Decision:
            rewards = world.expected_rewards(contexts)
            best = eh.fair_distribution(rewards, truth.at(self.rounds).distances(contexts))
            self.rounds += 1
            return eh.Decision("", self.rounds - 1, contexts, best.probabilities, (), 1, rewards, best.tight_pairs)

        def learn(self, decision: eh.Decision, **_: Any) -> eh.Learned:
            return eh.Learned()

    account = play(Clairvoyant(), world, truth, rounds=30, epsilon=0.05, seed=1)
    assert np.max(np.abs(account.regret)) < 1e-9
    assert np.sum(account.flagged_pairs) == 0
    other = play(Clairvoyant(), world, truth, rounds=30, epsilon=0.05, seed=1, truth=truth.at(0))
    assert np.sum(other.flagged_pairs) > 0


@pytest.mark.parametrize("delay", [0, 4])
def test_a_round_flagged_twice_counts_once(delay: int) -> None:
    """Two reviewers who flag one decision, together or at different times, have flagged one round."""
    exact = MahalanobisAuditor(_world().A)
    panel = PanelAuditor({"a": exact, "b": OneBitAuditor(exact)}, per_decision=2, seed=0)
    late = DelayedAuditor(panel, delay, at_random=True, seed=2)
    policy = eh.baselines.ignore_fairness(3, seed=0)
    account = play(policy, _world(), late, rounds=60, epsilon=0.05, seed=1, truth=exact)
    flagged = account.flagged_pairs > 0
    assert account.flagged_rounds_by_reviewer <= np.sum(flagged)
    assert account.flagged_rounds_by_reviewer >= np.sum(flagged[: 60 - delay])
    column = account.curve()["flagged_rounds_by_reviewer"]
    assert column[-1] == account.flagged_rounds_by_reviewer > 20
    assert column == sorted(column)
    if delay == 0:
        assert column == np.cumsum(flagged)[np.array(checkpoints(60)) - 1].tolist()


def test_lies_are_counted() -> None:
    """Every lie that accuses a round of nothing adds one; the account of the truth has none of it."""
    world = _world()
    optimum = eh.baselines.fair_optimum(world.theta, world.A, seed=0)
    exact = MahalanobisAuditor(world.A)
    liar = AdversarialAuditor(exact, 5, "regret", seed=0)
    account = play(optimum, world, liar, rounds=30, epsilon=0.05, seed=1, truth=exact)
    assert liar.lies_told == 5
    assert account.flagged_rounds_by_reviewer == 5
    assert np.sum(account.flagged_pairs) == 0


def test_a_flag_on_equal_probabilities_is_no_flag() -> None:
    """Neither a pair nor a bit: with equal probabilities nothing can be unfair."""

    class Accuser:
        def __init__(self, review: eh.Review) -> None:
            self.answer = review

        def review(self, decision: eh.Decision) -> eh.Review:
            return self.answer

    world = _world()
    truth = MahalanobisAuditor(world.A)
    for review in (eh.Review.complete(unfair=[(0, 1)]), eh.Review.one_bit(any_unfair=True)):
        account = play(
            eh.baselines.EqualProbabilities(seed=0), world, Accuser(review), rounds=5, epsilon=0.05, seed=1, truth=truth
        )
        assert account.flagged_rounds_by_reviewer == 0
