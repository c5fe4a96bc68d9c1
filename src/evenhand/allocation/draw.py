"""The draw: each candidate is chosen with exactly its probability, and never more than the capacity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.jit import frozen, jit
from evenhand.allocation._program import FEASIBILITY_TOLERANCE, capacity_as_float
from evenhand.errors import InvalidInput


def draw(probabilities: ArrayLike, capacity: float | None, rng: np.random.Generator) -> tuple[int, ...]:
    """The chosen candidates, sorted; () means nobody.

    probabilities: p (k,), in [0, 1], summing to at most the capacity. Candidate i is chosen with probability
    exactly p_i. At most `capacity` are chosen, rounded up: with capacity 2.5 three places are sometimes needed to
    keep the probabilities. Capacity 1 compares one uniform number with the running sum. None tosses a coin for each
    candidate. Anything else is systematic sampling in a random order: equally spaced marks, one unit apart, on
    the running sum. Cost: O(k).

    >>> draw([0.0, 1.0, 0.0], 1, np.random.default_rng(0))
    (1,)
    >>> draw([0.0, 0.0], 1, np.random.default_rng(0))
    ()
    """
    return draw_from(*_check_probabilities(probabilities, capacity), rng)


def draw_from(p: Floats, limit: float, rng: np.random.Generator) -> tuple[int, ...]:
    """The same from verified, read-only probabilities; limit: the capacity as a float, inf for None."""
    if limit <= 1.0:
        winner = first_above(p, rng.random())
        return (winner,) if winner < len(p) else ()
    p = np.clip(p, 0.0, 1.0)
    if math.isinf(limit):
        return tuple(np.flatnonzero(rng.random(len(p)) < p).tolist())
    places = math.ceil(limit)
    order = rng.permutation(len(p))
    # The sum may exceed the number of places by a rounding error; in rare cases it would then hit one mark too many.
    edges = np.minimum(np.cumsum(p[order]), places)
    marks = np.ceil(edges - rng.random())
    return tuple(sorted(order[np.diff(marks, prepend=0.0) > 0.0].tolist()))


def _check_probabilities(probabilities: ArrayLike, capacity: float | None) -> tuple[Floats, float]:
    limit = capacity_as_float(capacity)
    p = frozen(np.asarray(probabilities, dtype=np.float64))
    if p.ndim != 1:
        raise InvalidInput(f"probabilities must have shape (k,), got {p.shape}")
    for i in np.flatnonzero(~((p >= -FEASIBILITY_TOLERANCE) & (p <= 1.0 + FEASIBILITY_TOLERANCE))):  # NaN as well
        raise InvalidInput(f"probabilities must be in [0, 1], candidate {i} has {p[i]}")
    total = float(p.sum())
    if total > limit + FEASIBILITY_TOLERANCE:
        raise InvalidInput(f"probabilities must sum to at most the capacity {capacity}, got {total}")
    return p, limit


@jit
def first_above(p: Floats, mark: float) -> int:
    """The first candidate at which the running sum of p (k,) exceeds the mark, k if it never does.

    Values below 0 or above 1, by rounding, count as 0 and 1.
    """
    total = 0.0
    for i in range(len(p)):
        total += min(max(p[i], 0.0), 1.0)
        if total > mark:
            return i
    return len(p)
