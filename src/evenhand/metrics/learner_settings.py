"""Settings that learners share: the accuracy epsilon, fixed or halving with time, the error rate, the bound on G."""

from __future__ import annotations

import math

from evenhand._internal.checks import check_number, check_number_or_none

COARSEST = 0.125  # The accuracy at which sharpening starts: with a coarser one every distance would count as known.
FINEST = 1e-6  # The accuracy at which sharpening stops: probabilities, and so gaps, are exact to 1e-9.

FINEST_SQUARE = 2e-8  # Squared distances finer than this cannot be known, for the same reason.

ASSUMED_ERROR_RATE = 1e-3  # The default where error rates are not learned: a slip now and then.
HIGHEST_ERROR_RATE = 0.5  # Not reached: verdicts that are wrong half of the time say nothing.


def check_epsilon(epsilon: float | None) -> float | None:
    """`epsilon` itself if it is None or a number from FINEST to 1."""
    return check_number_or_none("epsilon", epsilon, least=FINEST, most=1)


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


def default_set_back(epsilon: float, error_rate: float | None = 0.0) -> float:
    """A quarter of epsilon squared, which costs at most half of epsilon in a distance; never below FINEST_SQUARE.

    FINEST_SQUARE where error rates are learned, since no number of flags is proved then. Right and wrong answers about
    the distance played are both within a larger set-back, so they fit that distance better than the true one, and
    distances drifted down: by 0.005 in 6,000 rounds with 10% wrong answers, and not at all with FINEST_SQUARE.
    """
    return FINEST_SQUARE if error_rate is None else max(epsilon**2 / 4.0, FINEST_SQUARE)


def check_error_rate(error_rate: float | None, name: str = "error_rate") -> float | None:
    """`error_rate` itself if it is None or a number from 0 to below a half; `name` is what an error calls it."""
    return check_number_or_none(name, error_rate, least=0, below=HIGHEST_ERROR_RATE)


def check_softness(softness: float | None) -> float | None:
    """`softness` itself if it is None or a number from 0 to 1: distances that matter are gaps, and none is wider."""
    return check_number_or_none("softness", softness, least=0, most=1)


SMALLEST_BOUND = 1e-12  # Bounds below this, or above its inverse, are a matter of units.

WIDEST_KNOWN = 64.0
"""A bound below this times epsilon squared would make every distance known from the start; it is raised to it."""


def first_bound(bound: float, epsilon: float | None) -> float:
    """`bound` itself if it is valid and leaves something to learn at this epsilon; else the smallest that does.

    >>> first_bound(1.0, 0.01), first_bound(1e-9, 0.01)
    (1.0, 0.0064)
    """
    bound = check_number("bound", bound, least=SMALLEST_BOUND, most=1 / SMALLEST_BOUND)
    return max(bound, least_bound(accuracy(epsilon, 0)))


def bound_for(n_features: int, farthest: float = 2.0) -> float:
    """The first bound under which a learner expects the two most different candidates to be at distance 1.

    No gap is wider than 1. farthest: how far apart their contexts are; two of norm 1 at most 2. BayesPoint expects
    G = B / (2 sqrt d) I, so that farthest^2 B / (2 sqrt d) = 1.

    >>> bound_for(4), round(bound_for(46), 2)
    (1.0, 3.39)
    """
    return 2.0 * math.sqrt(n_features) / farthest**2


def least_bound(epsilon: float) -> float:
    """The smallest bound that leaves something to learn at this accuracy."""
    return max(WIDEST_KNOWN * epsilon**2, SMALLEST_BOUND)
