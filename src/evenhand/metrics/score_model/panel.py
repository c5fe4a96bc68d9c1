"""What a panel of reviewers has in common: the prior of a reviewer who has not answered yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import cholesky
from evenhand.metrics.score_model.belief import aligned
from evenhand.metrics.score_model.parameters import N_OTHERS, Parameters
from evenhand.metrics.score_model.prior import ScorePrior
from evenhand.metrics.score_model.tuning import ScoreTuning


@dataclass(frozen=True, eq=False)
class Panel:
    """The fitted parameters of r people, one a row: (r, d + 9). Signs of weights do not matter."""

    people: Floats

    @classmethod
    def of(cls, n_features: int, people: list[Parameters]) -> Self:
        """The panel of these people."""
        return cls(np.array([person.table[:, 0] for person in people]).reshape(-1, n_features + N_OTHERS))

    def __len__(self) -> int:
        return len(self.people)

    @property
    def n_features(self) -> int:
        """d."""
        return int(self.people.shape[1]) - N_OTHERS

    def joined(self, other: Panel) -> Panel:
        """Both panels as one."""
        return Panel(np.vstack([self.people, other.people]))

    def prior(self, tuning: ScoreTuning) -> ScorePrior:
        """The prior of another person: the people's mean, and a regularised covariance; the usual one for no people.

        One pass of empirical Bayes: people are fitted on their own first.
        """
        r, d = len(self), self.n_features
        usual = ScorePrior.usual(d, tuning)
        if not r:
            return usual
        weights, others = aligned(self.people[:, :d]), self.people[:, d:]
        centre = np.concatenate([weights.mean(axis=0), others.mean(axis=0)])
        guess = tuning.unknown_panel_people
        shared = (r * _scatter(weights, tuning) + guess * tuning.unknown_panel_sd**2 * np.eye(d)) / (r + guess)
        variances = (r * others.var(axis=0) + guess * usual.sds**2) / (r + guess)
        sds = np.maximum(np.sqrt(variances), tuning.panel_ramp_sd)
        return ScorePrior(centre, cholesky(shared), sds, 0.0, tuning.panel_scale_sd)

    def state(self) -> dict[str, Any]:
        """The table."""
        return {"people": self.people}


def _scatter(weights: Floats, tuning: ScoreTuning) -> Floats:
    """The covariance of a new person's weights around the mean of these, (d, d), away from singular."""
    r, d = weights.shape
    moved = weights - weights.mean(axis=0)
    scatter = moved.T @ moved / max(r - 1, 1)
    diagonal, share = np.diag(np.diag(scatter)), tuning.panel_diagonal
    ridge = tuning.panel_ridge * np.trace(scatter) / d + tuning.panel_least_sd**2
    return np.asarray(((1.0 - share) * scatter + share * diagonal + ridge * np.eye(d)) * (1.0 + 1.0 / r))
