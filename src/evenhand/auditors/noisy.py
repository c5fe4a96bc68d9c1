"""Auditors that err at random."""

from __future__ import annotations

from dataclasses import replace

from evenhand._internal.checks import check_share
from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.auditor import Auditor, WrappingAuditor
from evenhand.auditors.pairs import flagging, unequal_pairs, verdicts_by_pair, with_verdicts
from evenhand.records.decision import Decision, Review


class NoisyAuditor(WrappingAuditor):
    """Flips each verdict of `auditor` with probability `error_rate`, independently.

    Only reviewed pairs have a verdict to flip; in a one-bit review the bit is flipped. Verdicts on pairs with equal
    probabilities stay: nobody flags those. The number of draws depends neither on the verdicts nor on the
    probabilities, so reviewers with the same seed err on the same pairs of a round under every policy.

    >>> import numpy as np
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


class PureNoiseAuditor:
    """Flags each pair with unequal probabilities with probability `rate`, whoever they are; complete reviews.

    >>> import numpy as np
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
