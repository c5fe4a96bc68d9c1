"""How finely a distance must be known: a fixed epsilon, or one that sharpens as rounds go by."""

from __future__ import annotations

import math

from evenhand._internal.checks import is_number
from evenhand.errors import InvalidInput

COARSEST = 0.125
"""The accuracy at which sharpening starts: a coarser one would take everything for known."""

FINEST = 1e-6
"""The accuracy at which sharpening stops: its square is what double precision can still tell apart safely."""


def check_epsilon(epsilon: float | None) -> float | None:
    """`epsilon` itself if it is None or a number from FINEST to 1."""
    if epsilon is None:
        return None
    if not is_number(epsilon) or not FINEST <= epsilon <= 1:
        raise InvalidInput(f"epsilon is {epsilon!r}; allowed is a number from {FINEST} to 1, or None for any horizon")
    return float(epsilon)


def accuracy(epsilon: float | None, rounds: int) -> float:
    """The distance accuracy in force after `rounds` reviews.

    A fixed epsilon stays. None halves it whenever the number of reviews doubles, so it follows 1 / rounds, the choice
    that makes the loss from wrong distances logarithmic at any horizon; in steps, so that each step is a run
    with a fixed epsilon and the theorems hold for it: after T reviews at most log2(T) such runs have added up.

    >>> [accuracy(None, t) for t in (0, 10, 20, 40, 1000)]
    [0.125, 0.125, 0.0625, 0.03125, 0.001953125]
    >>> accuracy(0.01, 1000)
    0.01
    """
    if epsilon is not None:
        return epsilon
    return min(COARSEST, max(FINEST, math.ldexp(2.0, -(rounds + 1).bit_length())))


def sharpens(rounds: int) -> bool:
    """Whether the accuracy without a fixed epsilon halves with the next review after so many.

    >>> [t for t in range(100) if sharpens(t)]
    [14, 30, 62]
    """
    halves = (rounds + 1) & (rounds + 2) == 0  # one more is a power of two
    return halves and accuracy(None, rounds + 1) < accuracy(None, rounds)
