"""WrappingAuditor: answers by changing what another reviewer answers."""

from __future__ import annotations

from abc import ABC, abstractmethod

from evenhand.auditors.arriving import arriving
from evenhand.auditors.auditor import Arrival, Auditor
from evenhand.auditors.checks import as_auditor
from evenhand.records.decision import Decision, Review


class WrappingAuditor(ABC):
    """A reviewer made from another; a subclass says how a review is changed.

    Wrapped auditors may be wrapped again. Prompt reviews and late ones are changed alike, as they come in, and a
    reviewer's name stays. Whoever wraps knows no distances: in the lab, say who knows the truth.

    >>> from evenhand.auditors import MahalanobisAuditor
    >>> class Yes(WrappingAuditor):
    ...     def change(self, decision, review):
    ...         return Review.complete()
    >>> type(Yes(MahalanobisAuditor([[0.1]])).auditor).__name__
    'MahalanobisAuditor'
    """

    def __init__(self, auditor: Auditor) -> None:
        self.auditor = as_auditor(auditor)

    @abstractmethod
    def change(self, decision: Decision, review: Review) -> Review:
        """What is said of `decision` in place of `review`."""

    def review(self, decision: Decision) -> Review:
        """The wrapped auditor's review, changed."""
        return self.change(decision, self.auditor.review(decision))

    def reviews(self, decision: Decision) -> list[Arrival]:
        """All that comes in from the wrapped auditor, changed."""
        return [(seen, self.change(seen, review)) for seen, review in arriving(self.auditor, decision)]
