"""What every outcome model does: expected rewards in, outcomes out."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class OutcomeModel(ABC):
    """Draws an outcome for every candidate of a round, with the mean it is given."""

    @property
    @abstractmethod
    def noise(self) -> float:
        """The sub-Gaussian scale R of outcome minus mean, for any mean: what `rewards.RidgeUCB` calls `noise`."""

    @abstractmethod
    def draw(self, expected: Floats, rng: np.random.Generator) -> Floats:
        """Outcomes (k,) for expected rewards (k,) in [-1, 1]; takes k numbers from `rng`, whatever they are."""
