"""DistanceAuditor: the exact reviewer of any distance, who is also the one who knows the truth."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from evenhand.auditors.gaps import gaps
from evenhand.auditors.said import flagging
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review


class DistanceAuditor(ABC):
    """Flags exactly the pairs whose gap exceeds their distance; a subclass says what the distance is.

    Odds are exact to PROBABILITY_TOLERANCE only, so a gap that exceeds its distance by less is no violation.

    >>> class Everybody(DistanceAuditor):
    ...     def distances(self, contexts):
    ...         return 0.3 * (1.0 - np.eye(len(contexts)))
    >>> decision = Decision("", 0, np.eye(3), np.array([0.6, 0.4, 0.0]), (0,), 1, np.zeros(3))
    >>> Everybody().review(decision).unfair
    ((0, 2), (1, 2))
    """

    @abstractmethod
    def distances(self, contexts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The true distances between the rows of `contexts` (k, d), (k, k): symmetric, >= 0, 0 on the diagonal."""

    def excess(self, decision: Decision) -> NDArray[np.float64]:
        """By how much each pair's gap exceeds its distance, (k, k); negative where it does not."""
        return np.asarray(gaps(decision) - self.distances(decision.contexts))

    def review(self, decision: Decision) -> Review:
        """A complete review."""
        return flagging(self.excess(decision) > PROBABILITY_TOLERANCE)
