"""NoisyAuditor: means well, and errs."""

from __future__ import annotations

from dataclasses import replace

from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.auditor import Auditor
from evenhand.auditors.checks import as_share
from evenhand.auditors.gaps import unequal_odds
from evenhand.auditors.said import restated, said
from evenhand.auditors.wrapping import WrappingAuditor
from evenhand.records.decision import Decision, Review


class NoisyAuditor(WrappingAuditor):
    """What `auditor` says of each pair, turned into its opposite with probability `error_rate`, pair by pair.

    Only pairs that were looked at have a verdict to turn; of a one-bit review the bit is turned. Verdicts on equal odds
    are left alone: no reviewer flags them. As many numbers are drawn whatever was said and whatever the odds, so
    reviewers with one seed err on the same pairs of a round whoever plays.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(3), np.array([0.6, 0.2, 0.2]), (0,), 1, np.zeros(3))
    >>> always_wrong = NoisyAuditor(MahalanobisAuditor(np.eye(3)), 1.0, seed=0)
    >>> always_wrong.review(decision).unfair
    ((0, 1), (0, 2))
    """

    def __init__(self, auditor: Auditor, error_rate: float, *, seed: Seed = None) -> None:
        super().__init__(auditor)
        self.error_rate = as_share("error_rate", error_rate)
        self._rng = as_generator(seed)

    def change(self, decision: Decision, review: Review) -> Review:
        """The review, with errors."""
        unequal = unequal_odds(decision)
        if review.kind == "one_bit":
            wrong = self._rng.random() < self.error_rate and unequal.any()
            return replace(review, any_unfair=review.any_unfair != wrong)
        turned = (self._rng.random(unequal.shape) < self.error_rate) & unequal
        return restated(review, {pair: bad != turned[pair] for pair, bad in said(decision, review).items()})
