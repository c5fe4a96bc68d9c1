"""A soft threshold as a ladder of sharp ones: an answer near its threshold is right in part."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from evenhand._internal.arrays import Floats

STEPS = 4
"""Half-spaces that stand for one answer of a reviewer with a soft threshold."""
USUAL_RATE = 0.05
"""The error rate for which the steps are set, where it is learned."""


def ladder(softness: float, error_rate: float | None) -> Floats:
    """How far beyond the gap each step of an answer lies, in distance, (STEPS,); negative: short of it.

    A reviewer whose threshold wobbles by `softness` and who errs at the rate eta gives an answer that is wrong by
    z deviations with probability eta + (1 - 2 eta) Phi(-z). Its log falls from log(1 - eta) to log(eta); each step
    takes the same part of that, and lies where the log has fallen by half a part more than the steps before it took.

    >>> np.round(ladder(0.1, 0.01), 3)
    array([-0.015,  0.095,  0.168,  0.238])
    """
    eta = USUAL_RATE if not error_rate else error_rate
    parts = (np.arange(STEPS) + 0.5) / STEPS
    chances = ((1.0 - eta) * (eta / (1.0 - eta)) ** parts - eta) / (1.0 - 2.0 * eta)
    return np.array([-softness * NormalDist().inv_cdf(chance) for chance in chances])
