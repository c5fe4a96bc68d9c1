"""Who is chosen: a lottery with exactly the odds that were promised, and never more winners than places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import frozen, jit
from evenhand.allocation.program import check_capacity
from evenhand.allocation.verify import FEASIBILITY_TOLERANCE
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def draw(probabilities: ArrayLike, capacity: float | None, rng: np.random.Generator) -> tuple[int, ...]:
    """The candidates who are chosen, sorted; () means nobody.

    probabilities: p (k,), in [0, 1], summing to at most the capacity. Candidate i is chosen with probability
    exactly p_i. At most `capacity` are chosen, rounded up: with capacity 2.5 three places are sometimes needed to
    keep the odds. Capacity 1 compares one uniform number with the running sum. None tosses a coin for each
    candidate. Anything else is systematic sampling in a random order: equally spaced marks, one unit apart, on
    the running sum. Cost: O(k).

    >>> draw([0.0, 1.0, 0.0], 1, np.random.default_rng(0))
    (1,)
    >>> draw([0.0, 0.0], 1, np.random.default_rng(0))
    ()
    """
    return draw_from(*_check_odds(probabilities, capacity), rng)


def draw_from(p: NDArray[np.float64], limit: float, rng: np.random.Generator) -> tuple[int, ...]:
    """The same from odds that were verified, read-only; limit: the capacity as a float, inf for None."""
    if limit <= 1.0:
        winner = first_above(p, rng.random())
        return (winner,) if winner < len(p) else ()
    p = np.clip(p, 0.0, 1.0)
    if math.isinf(limit):
        return _indices(rng.random(len(p)) < p)
    places = math.ceil(limit)
    order = rng.permutation(len(p))
    # The sum may exceed the number of places by a rounding error, and would then rarely meet one mark too many.
    edges = np.minimum(np.cumsum(p[order]), places)
    marks = np.ceil(edges - rng.random())
    return _indices_sorted(order[np.diff(marks, prepend=0.0) > 0.0])


def _check_odds(probabilities: ArrayLike, capacity: float | None) -> tuple[NDArray[np.float64], float]:
    limit = check_capacity(capacity)
    p = frozen(np.asarray(probabilities, dtype=np.float64))
    if p.ndim != 1:
        raise InvalidInput(f"probabilities have shape {p.shape}; they must be one number for each candidate")
    total, outside = examine_odds(p, FEASIBILITY_TOLERANCE)
    if outside >= 0:
        raise InvalidInput(f"the probability of candidate {outside} is {p[outside]}; it must be in [0, 1]")
    if total > limit + FEASIBILITY_TOLERANCE:
        raise InvalidInput(f"the probabilities sum to {total}; with capacity {capacity} they may not exceed it")
    return p, limit


@jit
def examine_odds(p: NDArray[np.float64], tolerance: float) -> tuple[float, int]:
    """The sum of odds (k,), and the first that is outside [0, 1] by more than the tolerance, or -1."""
    total, outside = 0.0, -1
    for i in range(len(p)):
        if outside < 0 and not (p[i] >= -tolerance and p[i] <= 1.0 + tolerance):
            outside = i
        total += p[i]
    return total, outside


@jit
def first_above(p: NDArray[np.float64], mark: float) -> int:
    """The first candidate at whom the running sum of the odds (k,) exceeds the mark, k if it never does.

    Odds below 0 or above 1, by rounding, count as 0 and 1.
    """
    total = 0.0
    for i in range(len(p)):
        total += min(max(p[i], 0.0), 1.0)
        if total > mark:
            return i
    return len(p)


def _indices(chosen: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())


def _indices_sorted(chosen: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(sorted(chosen.tolist()))
