"""Exact auditors whose metric changes from round to round."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.checks import check_matrix, check_number, check_whole
from evenhand.auditors.exact import DistanceAuditor, Floats, MahalanobisAuditor
from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision


class MovingAuditor(DistanceAuditor):
    """Judges each decision by the distances of the decision's own round; a subclass defines them in `at`.

    So a late review equals a prompt one.
    """

    @abstractmethod
    def at(self, round: int) -> DistanceAuditor:
        """The fixed auditor with the distances of that round, counted from 0."""

    def distances(self, contexts: Floats) -> Floats:
        """The distances of round 0 between the rows of `contexts` (k, d), (k, k); see `at` for other rounds."""
        return self.at(0).distances(contexts)

    def excess(self, decision: Decision) -> Floats:
        """By how much each pair's gap exceeds its distance in the decision's round, (k, k)."""
        return self.at(decision.round).excess(decision)


class DriftingAuditor(MovingAuditor):
    """G = A'A moves in a straight line from that of `A_first` (r, d) to that of `A_last` (s, d), then stays.

    In round t < rounds it has gone t / rounds of the way.

    >>> auditor = DriftingAuditor([[0.0]], [[1.0]], rounds=100)
    >>> contexts = np.array([[1.0], [0.0]])
    >>> [float(auditor.at(t).distances(contexts)[0, 1]) for t in (0, 25, 100, 1000)]
    [0.0, 0.5, 1.0, 1.0]
    """

    def __init__(self, A_first: ArrayLike, A_last: ArrayLike, rounds: int) -> None:
        self.A_first = check_matrix("A_first", A_first)
        self.A_last = check_matrix("A_last", A_last, columns=self.A_first.shape[1])
        self.rounds = check_whole("rounds", rounds, least=1)

    def at(self, round: int) -> MahalanobisAuditor:
        """The fixed auditor of that round."""
        gone = min(max(round / self.rounds, 0.0), 1.0)
        # The weighted rows of both, stacked: their A'A is the weighted sum of the two.
        return MahalanobisAuditor(np.vstack([math.sqrt(1.0 - gone) * self.A_first, math.sqrt(gone) * self.A_last]))


class RotatingAuditor(MovingAuditor):
    """In round t distances are ||A R_t (x - y)||, R_t a rotation by t times `turns_per_round`.

    A is any (r, d) matrix, d >= 2. Features rotate in pairs, the first with the second, the third with the fourth; the
    last of an odd number stays. G = A'A keeps its norm; a multiple of the identity does not move.

    >>> auditor = RotatingAuditor([[1.0, 0.0]], turns_per_round=0.25)
    >>> contexts = np.array([[0.5, 0.0], [0.0, 0.0]])
    >>> [round(float(auditor.at(t).distances(contexts)[0, 1]), 6) for t in (0, 1, 2)]
    [0.5, 0.0, 0.5]
    """

    def __init__(self, A: ArrayLike, turns_per_round: float) -> None:
        self.A = check_matrix("A", A)
        if self.A.shape[1] < 2:
            raise InvalidInput(f"A must have at least 2 columns to rotate, got shape {self.A.shape}")
        self.turns_per_round = check_number("turns_per_round", turns_per_round)

    def at(self, round: int) -> MahalanobisAuditor:
        """The fixed auditor of that round."""
        angle = 2 * math.pi * math.fmod(self.turns_per_round * round, 1.0)
        d = self.A.shape[1]
        R = np.eye(d)
        for i in range(0, d - 1, 2):
            R[i, i] = R[i + 1, i + 1] = math.cos(angle)
            R[i, i + 1], R[i + 1, i] = -math.sin(angle), math.sin(angle)
        return MahalanobisAuditor(self.A @ R)
