"""MahalanobisAuditor: the exact fairness oracle of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.auditors.checks import as_matrix
from evenhand.auditors.distance_auditor import DistanceAuditor


class MahalanobisAuditor(DistanceAuditor):
    """Flags exactly the pairs whose gap exceeds d(x, y) = ||A (x - y)||; A is any (r, d) matrix.

    Odds are exact to PROBABILITY_TOLERANCE only, so a gap that exceeds its distance by less is no violation.

    >>> from evenhand import FairBandit
    >>> decision = FairBandit(n_features=2, seed=0).decide([[1.0, 0.0], [0.0, 1.0]])
    >>> MahalanobisAuditor([[0.0, 0.0]]).review(decision).kind
    'complete'
    """

    def __init__(self, A: ArrayLike) -> None:
        self.A = as_matrix("A", A)

    def distances(self, contexts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        images = contexts @ self.A.T
        return np.asarray(np.linalg.norm(images[:, None, :] - images[None, :, :], axis=2))
