"""Ratings and Comparisons: what a reviewer said of candidates or pairs of one decision, as metric learners get it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats
from evenhand.metrics.verdicts import Pairs

TOLERANCE = 0.05


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of some candidates of one decision: contexts (n, d), scores (n,) in [0, 1], shares of the scale."""

    contexts: Floats
    scores: Floats
    tolerance: float = TOLERANCE
    """Two whose scores differ by s may be treated differently by s + tolerance."""
    reviewer: str | None = None

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of pairs: answers (n,), +1 if the first of the two comes first, -1 if the second one, 0 for alike."""

    pairs: Pairs
    answers: NDArray[np.int64]
    tolerance: float = TOLERANCE
    """A gap above it is unfair to two who should be treated alike."""
    reviewer: str | None = None

    def __len__(self) -> int:
        return len(self.answers)
