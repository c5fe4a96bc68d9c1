"""How differently the candidates of a decision were treated, all pairs at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision


def gaps(decision: Decision) -> NDArray[np.float64]:
    """|p_i - p_j| of every pair, (k, k)."""
    p = decision.probabilities
    return np.asarray(np.abs(p[:, None] - p[None, :]))


def unequal_odds(decision: Decision) -> NDArray[np.bool_]:
    """Which pairs have unequal odds, (k, k): no other can be unfair, and a flag on any other is no flag.

    >>> decision = Decision("", 0, np.zeros((3, 1)), np.array([0.5, 0.5, 0.0]), (0,), 1, np.zeros(3))
    >>> unequal_odds(decision).tolist()
    [[False, False, True], [False, False, True], [True, True, False]]
    """
    return np.asarray(gaps(decision) > PROBABILITY_TOLERANCE)
