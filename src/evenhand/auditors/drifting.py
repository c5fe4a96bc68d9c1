"""DriftingAuditor: begins with one metric and ends with another."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evenhand.auditors.checks import as_matrix, as_whole
from evenhand.auditors.mahalanobis import MahalanobisAuditor
from evenhand.auditors.moving import MovingAuditor


class DriftingAuditor(MovingAuditor):
    """G = A'A moves in a straight line from that of `A_first` (r, d) to that of `A_last` (s, d), and stays there.

    In round t < rounds it has gone t / rounds of the way.

    >>> auditor = DriftingAuditor([[0.0]], [[1.0]], rounds=100)
    >>> contexts = np.array([[1.0], [0.0]])
    >>> [float(auditor.at(t).distances(contexts)[0, 1]) for t in (0, 25, 100, 1000)]
    [0.0, 0.5, 1.0, 1.0]
    """

    def __init__(self, A_first: ArrayLike, A_last: ArrayLike, rounds: int) -> None:
        self.A_first = as_matrix("A_first", A_first)
        self.A_last = as_matrix("A_last", A_last, columns=self.A_first.shape[1])
        self.rounds = as_whole("rounds", rounds, least=1)

    def at(self, round: int) -> MahalanobisAuditor:
        """The auditor of that round for ever."""
        gone = min(max(round / self.rounds, 0.0), 1.0)
        # The rows of both, weighted, one below the other: their A'A is the weighted sum of the two.
        return MahalanobisAuditor(np.vstack([math.sqrt(1.0 - gone) * self.A_first, math.sqrt(gone) * self.A_last]))
