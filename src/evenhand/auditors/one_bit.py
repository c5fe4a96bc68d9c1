"""OneBitAuditor: says whether anything was unfair, and not what."""

from __future__ import annotations

from math import comb

from evenhand.auditors.said import said
from evenhand.auditors.wrapping import WrappingAuditor
from evenhand.records.decision import Decision, Review


class OneBitAuditor(WrappingAuditor):
    """Of what `auditor` would say, one bit.

    That nothing was unfair is a word on every pair. One who looked at some pairs only and saw nothing unfair cannot say
    it, and says nothing: an empty partial review.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    >>> [OneBitAuditor(MahalanobisAuditor(a * np.eye(2))).review(decision).any_unfair for a in (0.1, 1.0)]
    [True, False]
    """

    def change(self, decision: Decision, review: Review) -> Review:
        """A one-bit review, or an empty partial one."""
        if review.kind == "one_bit":
            return review
        verdicts = said(decision, review)
        any_unfair = any(verdicts.values())
        if any_unfair or len(verdicts) == comb(decision.n_candidates, 2):
            return Review.one_bit(any_unfair, reviewer=review.reviewer)
        return Review.partial(reviewer=review.reviewer)
