"""Chances of candidates where a fixed number of places is given away: conditional Poisson sampling."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats, Indices
from evenhand.errors import InvalidInput
from evenhand.history._padded import PaddedRounds

MOST_CELLS = 5_000_000  # Of the table of counts that are computed at once.
SHIFT_STEPS = 30  # Bisections; any shift gives the same chances, a good one keeps numbers from vanishing.


def inclusion_probabilities(scores: ArrayLike, places: int) -> Floats:
    """The chance of each candidate to be among the chosen, (k,), given that exactly so many are chosen.

    scores: log-odds (k,). Sets of `places` candidates have probabilities proportional to the product of their odds:
    independent decisions, given how many were positive (conditional Poisson sampling; Hajek 1964). With one place
    it is the softmax of the scores. Cost: O(k places).

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

    Where more than half are chosen, the same is done for those who are not.
    """
    there = rounds.is_there
    flipped = 2 * places > rounds.sizes
    signed = np.where(there, np.where(flipped[:, None], -scores, scores), -np.inf)
    fewer = np.where(flipped, rounds.sizes - places, places)
    p, logs = np.empty(scores.shape), np.empty(len(scores))
    step = max(1, MOST_CELLS // (scores.shape[1] * (int(fewer.max(initial=0)) + 1)))
    for start in range(0, len(scores), step):
        part = slice(start, start + step)
        p[part], logs[part] = _by_counting(signed[part], fewer[part])
    logs += np.where(flipped, np.sum(np.where(there, scores, 0.0), axis=1), 0.0)
    return np.where(there, np.where(flipped[:, None], 1.0 - p, p), 0.0), logs


def _by_counting(scores: Floats, places: Indices) -> tuple[Floats, Floats]:
    """The same without flipping: the distribution of how many are chosen, candidate by candidate, and its gradient.

    All terms are positive, so nothing cancels; the well-known recursion over the number of places loses all digits with
    hundreds of candidates. Scores are shifted so that as many are expected as there are places, which changes nothing.
    """
    n, k = scores.shape
    shift = _shifts(scores, places)
    moved = scores + shift[:, None]
    p = 1.0 / (1.0 + np.exp(-np.where(np.isfinite(moved), moved, -np.inf)))
    counts = np.zeros((k + 1, n, int(places.max(initial=0)) + 1))
    counts[0, :, 0] = 1.0
    for i in range(k):
        counts[i + 1] = counts[i] * (1.0 - p[:, i, None])
        counts[i + 1, :, 1:] += counts[i, :, :-1] * p[:, i, None]
    found = counts[k, np.arange(n), places]
    back = np.zeros(counts.shape[1:])
    back[np.arange(n), places] = 1.0
    chances = np.empty((n, k))
    for i in reversed(range(k)):
        chances[:, i] = p[:, i] * np.sum(counts[i, :, :-1] * back[:, 1:], axis=1) / found
        longer = back * (1.0 - p[:, i, None])
        longer[:, :-1] += back[:, 1:] * p[:, i, None]
        back = longer
    nobody = np.sum(np.where(np.isfinite(moved), np.logaddexp(0.0, moved), 0.0), axis=1)
    return np.minimum(chances, 1.0), np.log(found) + nobody - places * shift


def _shifts(scores: Floats, places: Indices) -> Floats:
    """What to add to the scores of each round so that about as many are expected as there are places, (n,)."""
    finite = np.where(np.isfinite(scores), scores, 0.0)
    reach = np.max(np.abs(finite), axis=1) + 10.0 + np.log(scores.shape[1])
    low, high = -reach, reach
    for _ in range(SHIFT_STEPS):
        middle = (low + high) / 2.0
        expected = np.sum(np.where(np.isfinite(scores), 1.0 / (1.0 + np.exp(-(finite + middle[:, None]))), 0.0), axis=1)
        low, high = np.where(expected < places, middle, low), np.where(expected < places, high, middle)
    return np.asarray(np.where(places > 0, (low + high) / 2.0, 0.0))
