"""MahalanobisAuditor: the exact fairness oracle of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.decision import ODDS_TOLERANCE, Decision, Review
from evenhand.errors import InvalidInput


class MahalanobisAuditor:
    """Flags exactly the pairs whose gap exceeds d(x, y) = ||A (x - y)||; A is any (r, d) matrix.

    Odds are exact to ODDS_TOLERANCE only, so a gap that exceeds its distance by less is no violation.

    >>> from evenhand import FairBandit
    >>> decision = FairBandit(n_features=2, seed=0).decide([[1.0, 0.0], [0.0, 1.0]])
    >>> MahalanobisAuditor([[0.0, 0.0]]).review(decision).kind
    'complete'
    """

    def __init__(self, A: ArrayLike) -> None:
        try:
            self.A = np.array(A, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"A is {A!r}; allowed is an (r, d) matrix of finite numbers") from None
        if self.A.ndim != 2 or not np.all(np.isfinite(self.A)):
            raise InvalidInput(f"A has shape {self.A.shape}; allowed is an (r, d) matrix of finite numbers")

    def distances(self, contexts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        images = contexts @ self.A.T
        return np.asarray(np.linalg.norm(images[:, None, :] - images[None, :, :], axis=2))

    def excess(self, decision: Decision) -> NDArray[np.float64]:
        """By how much each pair's gap exceeds its distance, (k, k); negative where it does not."""
        p = decision.probabilities
        return np.asarray(np.abs(p[:, None] - p[None, :]) - self.distances(decision.contexts))

    def review(self, decision: Decision) -> Review:
        """A complete review."""
        first, second = np.nonzero(np.triu(self.excess(decision) > ODDS_TOLERANCE, 1))
        return Review.complete(unfair=zip(first.tolist(), second.tolist(), strict=True))
