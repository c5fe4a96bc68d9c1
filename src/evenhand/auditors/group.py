"""GroupAuditor: two people of one group are compared in one way, two of different groups in another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._internal.checks import is_number
from evenhand.auditors.checks import as_matrix, as_whole
from evenhand.auditors.distance_auditor import DistanceAuditor
from evenhand.auditors.mahalanobis import MahalanobisAuditor
from evenhand.errors import InvalidInput


class GroupAuditor(DistanceAuditor):
    """||A_within (x - y)|| for two of one group, ||A_across (x - y)|| otherwise; matrices (r, d) and (s, d).

    A candidate is of the one group if `feature`, counted from 0, is above `threshold`, and of the other if not. No
    single matrix has these distances, and the triangle inequality need not hold.

    >>> auditor = GroupAuditor([[1.0, 0.0]], [[0.2, 0.0]], feature=1)
    >>> contexts = np.array([[0.5, 0.1], [0.0, 0.1], [0.0, -0.1]])
    >>> auditor.distances(contexts).tolist()
    [[0.0, 0.5, 0.1], [0.5, 0.0, 0.0], [0.1, 0.0, 0.0]]
    """

    def __init__(self, A_within: ArrayLike, A_across: ArrayLike, *, feature: int, threshold: float = 0.0) -> None:
        self.A_within = as_matrix("A_within", A_within)
        d = self.A_within.shape[1]
        self.A_across = as_matrix("A_across", A_across, columns=d)
        self.feature = as_whole("feature", feature, least=0)
        if self.feature >= d:
            raise InvalidInput(f"feature is {feature!r}; allowed are the features 0 to {d - 1} of the matrices")
        if not is_number(threshold):
            raise InvalidInput(f"threshold is {threshold!r}; allowed is a finite number")
        self.threshold = float(threshold)

    def groups(self, contexts: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Who of the rows of `contexts` (k, d) is above the threshold, (k,)."""
        return np.asarray(contexts[:, self.feature] > self.threshold)

    def distances(self, contexts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        group = self.groups(contexts)
        within, across = (MahalanobisAuditor(A).distances(contexts) for A in (self.A_within, self.A_across))
        return np.where(group[:, None] == group[None, :], within, across)
