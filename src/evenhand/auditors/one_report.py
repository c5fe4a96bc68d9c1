"""OneReportAuditor: reports the worst unfair pair of a decision and nothing else."""

from __future__ import annotations

from evenhand.auditors.auditor import Auditor
from evenhand.auditors.said import said
from evenhand.auditors.worst import worst
from evenhand.auditors.wrapping import WrappingAuditor
from evenhand.records.decision import Decision, Review


class OneReportAuditor(WrappingAuditor):
    """One unfair pair, and no word on any other; where `auditor` finds nothing unfair, silence.

    Reported is the pair whose gap exceeds its distance most or, if `auditor` knows no distances, the flagged pair of
    the widest gap. silent_means_fair: silence says that all pairs `auditor` looked at were fair, which of an auditor
    who looks at everything is a complete review; if False, it says nothing. One-bit reviews name no pairs and are
    refused.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> contexts, odds = np.array([[0.0], [0.1], [0.9]]), np.array([0.1, 0.4, 0.7])
    >>> decision = Decision("", 0, contexts, odds, (), 1, np.zeros(3))
    >>> MahalanobisAuditor([[0.5]]).review(decision).unfair
    ((0, 1), (0, 2))
    >>> OneReportAuditor(MahalanobisAuditor([[0.5]])).review(decision)
    Review(kind='partial', unfair=((0, 1),), fair=(), any_unfair=None, reviewer=None)
    """

    def __init__(self, auditor: Auditor, *, silent_means_fair: bool = True) -> None:
        super().__init__(auditor)
        self.silent_means_fair = bool(silent_means_fair)

    def change(self, decision: Decision, review: Review) -> Review:
        """A partial review with one pair; the review itself, or an empty one, if it has none."""
        if any(said(decision, review).values()):
            pair = worst(self.auditor, decision, review.unfair)
            return Review.partial(unfair=[pair], reviewer=review.reviewer)
        return review if self.silent_means_fair else Review.partial(reviewer=review.reviewer)
