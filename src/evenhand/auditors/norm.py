"""NormAuditor: exact, but measures with another norm than the Euclidean one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._internal.checks import is_number
from evenhand.auditors.checks import as_matrix
from evenhand.auditors.distance_auditor import DistanceAuditor
from evenhand.errors import InvalidInput


class NormAuditor(DistanceAuditor):
    """Distances ||A (x - y)||_p, A any (r, d) matrix, p >= 1 or math.inf; p = 2 is MahalanobisAuditor.

    A distance, but for other p none of the class that is learned, unless r = 1.

    >>> contexts = np.array([[0.3, 0.4], [0.0, 0.0]])
    >>> [round(float(NormAuditor(np.eye(2), p).distances(contexts)[0, 1]), 3) for p in (1, 2, math.inf)]
    [0.7, 0.5, 0.4]
    """

    def __init__(self, A: ArrayLike, p: float) -> None:
        self.A = as_matrix("A", A)
        if not (p == math.inf or (is_number(p) and p >= 1)):
            raise InvalidInput(f"p is {p!r}; allowed is a number >= 1, or math.inf")
        self.p = float(p)

    def distances(self, contexts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        images = contexts @ self.A.T
        return np.asarray(np.linalg.norm(images[:, None, :] - images[None, :, :], ord=self.p, axis=2))
