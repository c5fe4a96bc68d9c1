"""MovingAuditor: an exact reviewer whose mind changes from round to round."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from evenhand.auditors.distance_auditor import DistanceAuditor
from evenhand.records.decision import Decision


class MovingAuditor(DistanceAuditor):
    """Judges each decision by the distances of its own round; a subclass says what they are `at` a round.

    A late review of a decision is thus the same as a prompt one.
    """

    @abstractmethod
    def at(self, round: int) -> DistanceAuditor:
        """The auditor who always thinks as this one does in that round, counted from 0."""

    def distances(self, contexts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distances of round 0 between the rows of `contexts` (k, d), (k, k); of another, `at(round).distances`."""
        return self.at(0).distances(contexts)

    def excess(self, decision: Decision) -> NDArray[np.float64]:
        """By how much each pair's gap exceeds its distance in the decision's round, (k, k)."""
        return self.at(decision.round).excess(decision)
