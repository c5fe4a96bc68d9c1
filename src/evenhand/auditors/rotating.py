"""RotatingAuditor: what counts moves slowly from one feature to another, and back."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.checks import is_number
from evenhand.auditors.checks import as_matrix
from evenhand.auditors.mahalanobis import MahalanobisAuditor
from evenhand.auditors.moving import MovingAuditor
from evenhand.errors import InvalidInput


class RotatingAuditor(MovingAuditor):
    """In round t distances are ||A R_t (x - y)||, R_t a rotation by t times `turns_per_round`.

    A is any (r, d) matrix, d >= 2. Features turn two by two: the first with the second, the third with the fourth; the
    last of an odd number stays. G = A'A keeps its norm. Where it is a multiple of the identity nothing moves.

    >>> auditor = RotatingAuditor([[1.0, 0.0]], turns_per_round=0.25)
    >>> contexts = np.array([[0.5, 0.0], [0.0, 0.0]])
    >>> [round(float(auditor.at(t).distances(contexts)[0, 1]), 6) for t in (0, 1, 2)]
    [0.5, 0.0, 0.5]
    """

    def __init__(self, A: ArrayLike, turns_per_round: float) -> None:
        self.A = as_matrix("A", A)
        if self.A.shape[1] < 2:
            raise InvalidInput(f"A has shape {self.A.shape}; allowed is an (r, d) matrix with d >= 2, to turn in")
        if not is_number(turns_per_round):
            raise InvalidInput(f"turns_per_round is {turns_per_round!r}; allowed is a finite number")
        self.turns_per_round = float(turns_per_round)

    def at(self, round: int) -> MahalanobisAuditor:
        """The auditor of that round for ever."""
        angle = 2 * math.pi * math.fmod(self.turns_per_round * round, 1.0)
        d = self.A.shape[1]
        R = np.eye(d)
        for i in range(0, d - 1, 2):
            R[i, i] = R[i + 1, i + 1] = math.cos(angle)
            R[i, i + 1], R[i + 1, i] = -math.sin(angle), math.sin(angle)
        return MahalanobisAuditor(self.A @ R)
