"""Who is chosen: a lottery with exactly the odds that were promised, and never more winners than places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.allocation.programme import check_capacity
from evenhand.allocation.verify import FEASIBILITY_TOLERANCE
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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
    p, limit = _check_odds(probabilities, capacity)
    if math.isinf(limit):
        return _indices(rng.random(len(p)) < p)
    places = math.ceil(limit)
    if places == 1:
        winner = int(np.searchsorted(np.cumsum(p), rng.random(), side="right"))
        return (winner,) if winner < len(p) else ()
    order = rng.permutation(len(p))
    # The sum may exceed the number of places by a rounding error, and would then rarely meet one mark too many.
    edges = np.minimum(np.cumsum(p[order]), places)
    marks = np.ceil(edges - rng.random())
    return _indices_sorted(order[np.diff(marks, prepend=0.0) > 0.0])


def _check_odds(probabilities: ArrayLike, capacity: float | None) -> tuple[NDArray[np.float64], float]:
    limit = check_capacity(capacity)
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1:
        raise InvalidInput(f"probabilities have shape {p.shape}; they must be one number for each candidate")
    outside = ~((p >= -FEASIBILITY_TOLERANCE) & (p <= 1.0 + FEASIBILITY_TOLERANCE))
    if outside.any():
        worst = int(np.argmax(outside))
        raise InvalidInput(f"the probability of candidate {worst} is {p[worst]}; it must be in [0, 1]")
    if p.sum() > limit + FEASIBILITY_TOLERANCE:
        raise InvalidInput(f"the probabilities sum to {p.sum()}; with capacity {capacity} they may not exceed it")
    return np.clip(p, 0.0, 1.0), limit


def _indices(chosen: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())


def _indices_sorted(chosen: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(sorted(chosen.tolist()))
