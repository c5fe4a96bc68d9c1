"""Moment matching for many unknowns: rows in batches, so that the covariance is read once a batch.

What `update_rows` does, rearranged. Let S be the covariance at the start of a batch, U its normals. The covariance only
changes by multiples of (S u)(S u)' of rows that count, so the scores follow from U S U' (n, n), and S u at a row's turn
is a combination of the rows of U S (n, m). A batch takes three matrix products instead of two passes over the
covariance per row. Same formulas, same order of rows; only sums are added up in another order.
"""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.jit import jit
from evenhand.metrics.gaussian._moment_matching import match_moments
from evenhand.metrics.gaussian.tuning import BayesPointTuning


def update_in_batches(
    mean: Floats,
    cov: Floats,
    rows: tuple[Floats, Floats, Floats, Floats, Mask],
    blur: float,
    contradiction: float,
    tuning: BayesPointTuning,
    scores: Floats,
    evidences: Floats,
) -> int:
    """What `update_rows` does: mean (m,) and cov (m, m) change in place, scores and evidences are filled. O(n m^2).

    rows: normals (n, m), thresholds, sides, error rates and repeats (n,).
    """
    limits = (blur, contradiction, tuning.max_shrink, tuning.min_slope)
    for start in range(0, len(scores), tuning.batch_rows):
        part = slice(start, start + tuning.batch_rows)
        normals, thresholds, sides, error_rates, repeats = rows
        U = normals[part]
        reach, n = U @ cov, len(U)
        known = tuning.known_variance * float(np.max(np.diag(cov))) * np.einsum("ij,ij->i", U, U)
        shares, steps, shrinks = np.eye(n), np.zeros(n), np.zeros(n)
        batch = (thresholds[part], sides[part], error_rates[part], repeats[part], known, *limits)
        update_batch(reach @ U.T, U @ mean, *batch, scores[part], evidences[part], shares, steps, shrinks)
        counts = steps != 0.0
        changes, steps, shrinks = shares[counts] @ reach, steps[counts], shrinks[counts]
        mean += steps @ changes
        # Products of a matrix with its own transpose are symmetric to the bit, and so the covariance stays symmetric.
        for sign in (1.0, -1.0):
            those = sign * shrinks > 0.0
            if np.any(those):
                roots = changes[those] * np.sqrt(np.abs(shrinks[those]))[:, None]
                cov -= sign * (roots.T @ roots)
    return int(np.sum(scores < contradiction))


@jit
def update_batch(
    spread: Floats,
    middle: Floats,
    thresholds: Floats,
    sides: Floats,
    error_rates: Floats,
    repeats: Mask,
    known: Floats,
    blur: float,
    contradiction: float,
    max_shrink: float,
    min_slope: float,
    scores: Floats,
    evidences: Floats,
    shares: Floats,
    steps: Floats,
    shrinks: Floats,
) -> None:
    """Fill in, for each row: S u at its turn as shares of all S u (n, n), the step of the mean, the shrink.

    spread: U S U' (n, n), and middle: U mean (n,), both used up; known: the variance below which a row changes nothing;
    shares: the identity; steps and shrinks: zeros.
    """
    n = len(middle)
    for row in range(n):
        inside = sides[row] * (middle[row] - thresholds[row])
        scores[row], evidences[row], step, shrink = match_moments(
            inside, spread[row, row], known[row], error_rates[row], blur, contradiction, repeats[row], max_shrink,
            min_slope,
        )  # fmt: skip
        if step == 0.0:
            continue
        steps[row], shrinks[row] = step * sides[row], shrink
        for later in range(row + 1, n):
            middle[later] += steps[row] * spread[row, later]
            part = shrink * spread[row, later]
            for i in range(row + 1):
                shares[later, i] -= part * shares[row, i]
            for j in range(row + 1, n):
                spread[later, j] -= part * spread[row, j]
