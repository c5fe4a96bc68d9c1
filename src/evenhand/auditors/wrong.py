"""Auditors that are wrong: at random, with a limited number of lies, or about whatever is played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from evenhand._internal.checks import check_number, check_one_of, check_share, check_whole
from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.auditor import Auditor, Truth, WrappingAuditor
from evenhand.auditors.pairs import flagging, gaps, unequal_pairs, verdicts_by_pair, with_verdicts, worst_pair
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair, Review

Aim = Literal["regret", "unfairness", "confusion"]


class NoisyAuditor(WrappingAuditor):
    """Flips each verdict of `auditor` with probability `error_rate`, independently.

    Only reviewed pairs have a verdict to flip; in a one-bit review the bit is flipped. Verdicts on pairs with equal
    probabilities stay: nobody flags those. The number of draws depends neither on the verdicts nor on the
    probabilities, so reviewers with the same seed err on the same pairs of a round under every policy.

    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(3), np.array([0.6, 0.2, 0.2]), (0,), 1, np.zeros(3))
    >>> always_wrong = NoisyAuditor(MahalanobisAuditor(np.eye(3)), 1.0, seed=0)
    >>> always_wrong.review(decision).unfair
    ((0, 1), (0, 2))
    """

    def __init__(self, auditor: Auditor, error_rate: float, *, seed: Seed = None) -> None:
        super().__init__(auditor)
        self.error_rate = check_share("error_rate", error_rate)
        self._rng = as_generator(seed)

    def change(self, decision: Decision, review: Review) -> Review:
        """The review, with errors."""
        unequal = unequal_pairs(decision)
        if review.kind == "one_bit":
            wrong = self._rng.random() < self.error_rate and unequal.any()
            return replace(review, any_unfair=review.any_unfair != wrong)
        flipped = (self._rng.random(unequal.shape) < self.error_rate) & unequal
        verdicts = verdicts_by_pair(decision, review)
        return with_verdicts(review, {pair: bad != flipped[pair] for pair, bad in verdicts.items()})


class SoftAuditor:
    """Flags a gap that exceeds the distance of `truth` plus noise, N(0, softness^2), new for each pair and decision.

    Complete reviews. The number of draws does not depend on the probabilities.

    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(2), np.array([0.3, 0.0]), (0,), 1, np.zeros(2))
    >>> auditor = SoftAuditor(MahalanobisAuditor(0.3 * np.eye(2) / np.sqrt(2)), 0.1, seed=0)
    >>> sorted({len(auditor.review(decision).unfair) for _ in range(20)})
    [0, 1]
    """

    def __init__(self, truth: Truth, softness: float, *, seed: Seed = None) -> None:
        self.truth = truth
        self.softness = check_number("softness", softness, least=0)
        self._rng = as_generator(seed)

    def review(self, decision: Decision) -> Review:
        """A complete review."""
        excess = self.truth.excess(decision)
        noise = self.softness * self._rng.normal(size=excess.shape)
        return flagging((excess > noise + PROBABILITY_TOLERANCE) & unequal_pairs(decision))


class PureNoiseAuditor:
    """Flags each pair with unequal probabilities with probability `rate`, whoever they are; complete reviews.

    >>> decision = Decision("", 0, np.eye(3), np.array([0.6, 0.2, 0.2]), (0,), 1, np.zeros(3))
    >>> PureNoiseAuditor(1.0, seed=0).review(decision).unfair
    ((0, 1), (0, 2))
    """

    def __init__(self, rate: float, *, seed: Seed = None) -> None:
        self.rate = check_share("rate", rate)
        self._rng = as_generator(seed)

    def review(self, decision: Decision) -> Review:
        """A complete review; the number of draws does not depend on the probabilities."""
        unequal = unequal_pairs(decision)
        return flagging((self._rng.random(unequal.shape) < self.rate) & unequal)


class AdversarialAuditor(WrappingAuditor):
    """The reviews of `auditor` with at most `budget` lies, told as soon as there is something to gain.

    per_decision: maximum number of lies about one decision; several make a burst, complete before anybody can learn
    from it.

    aim "regret": flags a fair pair; a tight one if there is one, and among these the pair with the largest difference
    of optimistic rewards. "unfairness": passes the worst unfair pair, whose gap exceeds its distance most (or is
    widest, if `auditor` knows no distances). "confusion": alternates between the two. Ties are broken at random. Pairs
    with equal probabilities are not lied about. A lie in a one-bit review is the other bit.

    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    >>> liar = AdversarialAuditor(MahalanobisAuditor(np.eye(2)), 1, "regret", seed=0)
    >>> [liar.review(decision).unfair for _ in range(3)], liar.lies_told
    ([((0, 1),), (), ()], 1)
    """

    def __init__(self, auditor: Auditor, budget: int, aim: Aim, *, per_decision: int = 1, seed: Seed = None) -> None:
        super().__init__(auditor)
        self.budget = check_whole("budget", budget, least=0)
        self.per_decision = check_whole("per_decision", per_decision, least=1)
        check_one_of("aim", aim, get_args(Aim))
        self.aim: Aim = aim
        self.lies_told = 0
        self._rng = as_generator(seed)

    def change(self, decision: Decision, review: Review) -> Review:
        """The review with lies in it, or unchanged."""
        if review.kind == "one_bit":
            return self._other_bit(decision, review) if self.lies_told < self.budget else review
        truth = verdicts_by_pair(decision, review)
        answers = dict(truth)
        for _ in range(min(self.per_decision, self.budget - self.lies_told)):
            pair = self._target(decision, truth, answers)
            if pair is None:
                break
            answers[pair] = not answers[pair]
            self.lies_told += 1
        return review if answers == truth else with_verdicts(review, answers)

    @property
    def _accuses(self) -> bool:
        """Whether the next lie is a false flag."""
        return self.aim == "regret" or (self.aim == "confusion" and self.lies_told % 2 == 0)

    def _other_bit(self, decision: Decision, review: Review) -> Review:
        if review.any_unfair == self._accuses or not unequal_pairs(decision).any():
            return review
        changed = replace(review, any_unfair=self._accuses)
        self.lies_told += 1
        return changed

    def _target(self, decision: Decision, truth: Mapping[Pair, bool], answers: Mapping[Pair, bool]) -> Pair | None:
        """The pair with the most to gain, among those not lied about yet."""
        accuse, unequal = self._accuses, unequal_pairs(decision)
        pairs = [p for p, unfair in truth.items() if unfair != accuse and answers[p] == unfair and unequal[p]]
        if not pairs:
            return None
        shuffled = [pairs[i] for i in self._rng.permutation(len(pairs))]  # the first of equals is taken
        return _most_binding(decision, shuffled) if accuse else worst_pair(self.auditor, decision, shuffled)


def _most_binding(decision: Decision, pairs: list[Pair]) -> Pair:
    """Tight pairs before others, then the largest difference of rewards."""
    rewards, tight = decision.optimistic_rewards, set(decision.tight_pairs)
    return max(pairs, key=lambda pair: (pair in tight, abs(float(rewards[pair[0]] - rewards[pair[1]]))))


class HostileAuditor:
    """Flags the pair with the widest gap in every decision and calls all others fair; complete reviews.

    Every decision is flagged unless all probabilities are equal, and the fair verdicts on all other pairs suggest that
    there is still something to gain. Among equally wide gaps one is drawn.

    >>> p = np.array([0.7, 0.2, 0.1])
    >>> HostileAuditor(seed=0).review(Decision("", 0, np.eye(3), p, (0,), 1, np.zeros(3))).unfair
    ((0, 2),)
    """

    def __init__(self, *, seed: Seed = None) -> None:
        self._rng = as_generator(seed)

    def review(self, decision: Decision) -> Review:
        """A complete review with one flag, or none if all probabilities are equal."""
        widths = np.triu(np.where(unequal_pairs(decision), gaps(decision), 0.0), 1)
        draws = self._rng.random(widths.shape)  # their number does not depend on the probabilities
        if not widths.any():
            return Review.complete()
        widest = widths >= widths.max()
        first, second = np.unravel_index(int(np.argmax(np.where(widest, draws, -1.0))), widths.shape)
        return Review.complete(unfair=[(int(first), int(second))])
