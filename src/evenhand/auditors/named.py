"""NamedAuditor: signs every review."""

from __future__ import annotations

from dataclasses import replace

from evenhand.auditors.auditor import Auditor
from evenhand.auditors.checks import as_name
from evenhand.auditors.wrapping import WrappingAuditor
from evenhand.records.decision import Decision, Review


class NamedAuditor(WrappingAuditor):
    """What `auditor` says, under the name of `reviewer`.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    >>> NamedAuditor(MahalanobisAuditor(np.eye(2)), "Ada").review(decision).reviewer
    'Ada'
    """

    def __init__(self, auditor: Auditor, reviewer: str) -> None:
        super().__init__(auditor)
        self.reviewer = as_name("reviewer", reviewer)

    def change(self, decision: Decision, review: Review) -> Review:
        """The review, signed; a name it had before is replaced."""
        return replace(review, reviewer=self.reviewer)
