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


def elliptical_slice_step(logs: Callable[[Floats], Floats], points: Floats, rng: np.random.Generator) -> Floats:
    """One step of each chain: points (D, N) with a standard normal prior, `logs` their log-likelihoods (N,)."""
    n = points.shape[1]
    others = rng.normal(size=points.shape)
    least = logs(points) + np.log(rng.random(n))
    angles = np.asarray(rng.uniform(0.0, 2.0 * np.pi, n))
    low, high = angles - 2.0 * np.pi, angles.copy()
    moved, waiting = points.copy(), np.arange(n)
    for _ in range(MAX_SHRINKS):
        proposed = points[:, waiting] * np.cos(angles[waiting]) + others[:, waiting] * np.sin(angles[waiting])
        accepted = logs(proposed) > least[waiting]
        moved[:, waiting[accepted]] = proposed[:, accepted]
        waiting = waiting[~accepted]
        if not len(waiting):
            break
        now = angles[waiting]
        low[waiting], high[waiting] = np.where(now < 0.0, now, low[waiting]), np.where(now < 0.0, high[waiting], now)
        angles[waiting] = rng.uniform(low[waiting], high[waiting])
    return moved
