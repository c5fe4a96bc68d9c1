"""How good predicted probabilities of a flag are: area under the curve, log-loss and reliability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask

SUREST = 1e-4
"""Log-loss takes predictions as no nearer to 0 or 1 than this."""
BINS = 10


class Reliability(NamedTuple):
    """Predictions in BINS bins of equal width: how many, and the sums of predictions and of flags, each (BINS,)."""

    number: list[int]
    predicted: list[float]
    flagged: list[int]


def area_under_curve(flagged: Mask, chance: Floats, strata: Indices | None = None) -> float:
    """The probability that a flagged pair has a higher chance than another, ties counting half; NaN without both.

    strata: only pairs of the same stratum (n,) are compared, such as those that one model predicted.

    >>> area_under_curve(np.array([True, False, False]), np.array([0.5, 0.5, 0.1]))
    0.75
    """
    strata = np.zeros(len(flagged), np.int64) if strata is None else strata
    won, compared = 0.0, 0
    for stratum in np.unique(strata):
        mine = flagged[strata == stratum]
        n_flagged = int(np.sum(mine))
        _, place, counts = np.unique(chance[strata == stratum], return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
        won += float(np.sum(ranks[mine])) - n_flagged * (n_flagged + 1) / 2
        compared += n_flagged * (len(mine) - n_flagged)
    return won / compared if compared else math.nan


def log_loss(flagged: Mask, chance: Floats) -> float:
    """Minus the mean log-probability of what happened.

    >>> round(log_loss(np.array([True, False]), np.array([0.5, 0.5])), 3)
    0.693
    """
    p = np.clip(chance, SUREST, 1.0 - SUREST)
    return float(-np.mean(np.log(np.where(flagged, p, 1.0 - p))))


def reliability(flagged: Mask, chance: Floats) -> Reliability:
    """Predictions against what happened, bin by bin."""
    bins = np.minimum((chance * BINS).astype(np.int64), BINS - 1)
    count, predicted, seen = (np.bincount(bins, weights, BINS) for weights in (None, chance, flagged.astype(float)))
    return Reliability(count.tolist(), predicted.tolist(), seen.astype(int).tolist())


def calibration_error(tables: Sequence[Reliability]) -> float:
    """The mean distance between predictions and what happened, over the bins, weighted by their counts.

    >>> calibration_error([reliability(np.array([True, False]), np.array([0.75, 0.75]))])
    0.25
    """
    count, predicted, flagged = (np.sum([table[part] for table in tables], axis=0) for part in range(3))
    return float(np.sum(np.abs(predicted - flagged)) / np.sum(count))
