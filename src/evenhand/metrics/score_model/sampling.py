"""Elliptical slice sampling: a Markov chain for a Gaussian prior and any likelihood, without a step size.

Murray, Adams, MacKay (2010). A step draws a second point from the prior, and a point on the ellipse through both whose
likelihood exceeds a random share of the present one; the bracket shrinks until there is one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand._internal.arrays import Floats

MAX_SHRINKS = 200
"""A bracket of 2 pi shrinks to rounding in far fewer; chains that found nothing stay where they are."""


def elliptical_slice_step(
    logs: Callable[[Floats], Floats], points: Floats, values: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """One step of each chain: the new points (D, N) and their log-likelihoods (N,), from the present ones.

    The prior is standard normal; `logs` gives the log-likelihoods of points.
    """
    n = points.shape[1]
    others = rng.normal(size=points.shape)
    least = values + np.log(rng.random(n))
    angles = np.asarray(rng.uniform(0.0, 2.0 * np.pi, n))
    low, high = angles - 2.0 * np.pi, angles.copy()
    moved, values, waiting = points.copy(), values.copy(), np.arange(n)
    for _ in range(MAX_SHRINKS):
        proposed = points[:, waiting] * np.cos(angles[waiting]) + others[:, waiting] * np.sin(angles[waiting])
        proposed_values = logs(proposed)
        accepted = proposed_values > least[waiting]
        moved[:, waiting[accepted]], values[waiting[accepted]] = proposed[:, accepted], proposed_values[accepted]
        waiting = waiting[~accepted]
        if not len(waiting):
            break
        now = angles[waiting]
        low[waiting], high[waiting] = np.where(now < 0.0, now, low[waiting]), np.where(now < 0.0, high[waiting], now)
        angles[waiting] = rng.uniform(low[waiting], high[waiting])
    return moved, values
