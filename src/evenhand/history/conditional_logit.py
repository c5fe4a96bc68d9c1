"""Conditional logistic regression: who gets the places of a round, given how many there were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand.errors import SolverFailed
from evenhand.history._padded import PaddedRounds, round_sums
from evenhand.history.inclusion import included

PENALTY = 1.0
"""Ridge penalty on coefficients of standardised features, half the sum of squares times this."""

MOST_STEPS = 500
GRADIENT_TOLERANCE = 1e-6  # Per candidate chosen.


@dataclass(frozen=True, eq=False)
class ConditionalLogit:
    """Scores x.beta of candidates; those of a round compete for its places (McFadden 1974; with one place a softmax).

    The number of places is taken as given: what a round has in common with no other cancels out.
    """

    centre: Floats
    coefficients: Floats
    """(d,)."""

    @classmethod
    def fitted(cls, contexts: Floats, starts: Indices, chosen: Mask) -> ConditionalLogit:
        """By maximum penalised likelihood; contexts (N, d), starts (n + 1,), chosen (N,)."""
        from scipy.optimize import minimize

        centre, scale = contexts.mean(axis=0), contexts.std(axis=0)
        features = (contexts - centre) / np.where(scale > 0.0, scale, 1.0)
        rounds, taken = PaddedRounds.of(starts), chosen.astype(np.float64)
        places = round_sums(taken, starts).astype(np.int64)

        def loss(beta: Floats) -> tuple[float, Floats]:
            scores = features @ beta
            p, logs = included(rounds.table(scores), rounds, places)
            value = np.sum(logs) - scores @ taken + 0.5 * PENALTY * beta @ beta
            return float(value), features.T @ (rounds.flat(p) - taken) + PENALTY * beta

        found = minimize(
            loss,
            np.zeros(features.shape[1]),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": MOST_STEPS, "gtol": GRADIENT_TOLERANCE * max(1.0, float(taken.sum()))},
        )
        if not np.all(np.isfinite(found.x)):
            raise SolverFailed(f"conditional logistic regression found no finite coefficients: {found.message}")
        return cls(centre, np.where(scale > 0.0, found.x / np.where(scale > 0.0, scale, 1.0), 0.0))

    def scores(self, contexts: Floats) -> Floats:
        """Log-odds of candidates, (N,), up to a constant of the round."""
        return np.asarray((contexts - self.centre) @ self.coefficients)
