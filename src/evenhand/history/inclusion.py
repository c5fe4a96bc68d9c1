"""Chances of candidates where a fixed number of places is given away: conditional Poisson sampling."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats, Indices
from evenhand.errors import InvalidInput
from evenhand.history._padded import PaddedRounds


def inclusion_probabilities(scores: ArrayLike, places: int) -> Floats:
    """The chance of each candidate to be among the chosen, (k,), given that exactly so many are chosen.

    scores: log-odds (k,). Sets of `places` candidates have probabilities proportional to the product of their odds:
    independent decisions, given how many were positive (conditional Poisson sampling; Hajek 1964, Chen, Dempster and
    Liu 1994). With one place it is the softmax of the scores. Cost: O(k places).

    >>> inclusion_probabilities(np.log([1.0, 2.0, 5.0]), 1).round(3).tolist()
    [0.125, 0.25, 0.625]
    >>> inclusion_probabilities([0.0, 0.0, 3.0], 2).round(3).tolist()
    [0.512, 0.512, 0.976]
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not np.all(np.isfinite(values)):
        raise InvalidInput(f"scores must be k finite numbers, got shape {values.shape}")
    if not 0 <= places <= len(values):
        raise InvalidInput(f"places must be from 0 to the number of candidates, {len(values)}, got {places}")
    rounds = PaddedRounds.of(np.array([0, len(values)]))
    return rounds.flat(included(rounds.table(values), rounds, np.array([places]))[0])


def included(scores: Floats, rounds: PaddedRounds, places: Indices) -> tuple[Floats, Floats]:
    """Chances (n, k) of all rounds, and the log of the sum over sets of the products of their odds, (n,).

    With p^(j) the chances for j places, p_i^(j) is proportional to o_i (1 - p_i^(j-1)) and adds up to j. Where more
    than half are chosen, the same is done for those who are not: 1 - p loses its digits as p approaches 1.
    """
    flipped = 2 * places > rounds.sizes
    there = rounds.is_there
    signed = np.where(there, np.where(flipped[:, None], -scores, scores), -np.inf)
    top = np.max(signed, axis=1, keepdims=True)
    odds = np.exp(signed - top)  # chances do not change with a factor on all odds
    steps = np.where(flipped, rounds.sizes - places, places)
    p, logs = np.zeros(scores.shape), np.zeros(len(scores))
    for j in range(1, int(max(steps, default=0)) + 1):
        on = steps >= j
        mass = odds[on] * (1.0 - p[on])
        total = np.sum(mass, axis=1, keepdims=True)
        p[on] = np.minimum(1.0, j * mass / total)
        logs[on] += np.log(total[:, 0] / j)
    logs += steps * top[:, 0] + np.where(flipped, np.sum(np.where(there, scores, 0.0), axis=1), 0.0)
    return np.where(there, np.where(flipped[:, None], 1.0 - p, p), 0.0), logs
