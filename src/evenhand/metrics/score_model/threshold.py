"""The threshold h(g): monotone, zero at gap 0, piecewise linear with even knots."""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats

N_RAMPS = 8
"""Number of pieces of the threshold."""

MAX_LOG_RISE = 6.0
"""Rises beyond e^6 standard deviations are not told apart."""


def ramps(gaps: Floats) -> Floats:
    """How much of each piece lies below each gap: (n,) -> (n, 8), entries from 0 to 1.

    >>> ramps(np.array([0.0, 0.1875, 1.0])).sum(axis=1).tolist()
    [0.0, 1.5, 8.0]
    """
    return np.clip(np.asarray(gaps)[:, None] * N_RAMPS - np.arange(N_RAMPS), 0.0, 1.0)


def rises(log_rises: Floats) -> Floats:
    """The rise of the threshold over each piece, from its logarithm."""
    return np.asarray(np.exp(np.minimum(log_rises, MAX_LOG_RISE)))
