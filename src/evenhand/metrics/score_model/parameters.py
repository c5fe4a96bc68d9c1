"""Parameters of a reviewer's score model: weights, rises of the threshold, and the lapse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.score_model.threshold import N_RAMPS, rises

N_OTHERS = N_RAMPS + 1
"""Number of parameters that are not weights."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """N sets of parameters, one a column."""

    table: Floats
    """Weights, logarithms of the rises, logit of the lapse, (d + 9, N)."""

    @property
    def weights(self) -> Floats:
        """w, (d, N)."""
        return self.table[:-N_OTHERS]

    @property
    def log_rises(self) -> Floats:
        """The logarithm of the threshold's rise over each piece, (8, N)."""
        return self.table[-N_OTHERS:-1]

    @property
    def lapses(self) -> Floats:
        """The share of answers that are random, (N,)."""
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(self.table[-1], -700.0, 700.0))))

    @property
    def full_thresholds(self) -> Floats:
        """The threshold at gap 1, (N,)."""
        return np.asarray(rises(self.log_rises).sum(axis=0))

    def __len__(self) -> int:
        return int(self.table.shape[1])
