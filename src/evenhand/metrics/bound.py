"""The bound on ||G||_F that nobody needs to know: how it starts, and whether it is what does not fit."""

from __future__ import annotations

import numpy as np

from evenhand._internal.checks import is_number
from evenhand._internal.linear_program import LinearProgram
from evenhand.errors import InvalidInput, SolverFailed
from evenhand.metrics.accuracy import accuracy
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.half_spaces import HalfSpaces

SMALLEST_BOUND = 1e-12
"""Bounds below this, or above its inverse, are not a matter of metrics but of units."""

WIDEST_KNOWN = 64.0
"""A bound below this times epsilon squared would make every distance known from the start; it is raised to it."""


def first_bound(bound: float, epsilon: float | None) -> float:
    """`bound` itself if it is a sound number, and large enough for there to be something to learn at this epsilon.

    >>> first_bound(1.0, 0.01), first_bound(1e-9, 0.01)
    (1.0, 0.0064)
    """
    if not is_number(bound) or not SMALLEST_BOUND <= bound <= 1 / SMALLEST_BOUND:
        raise InvalidInput(
            f"bound is {bound!r}; allowed is a first guess of the matrix's norm, a number > 0, "
            f"from {SMALLEST_BOUND} to {1 / SMALLEST_BOUND:g}"
        )
    return max(float(bound), WIDEST_KNOWN * accuracy(epsilon, 0) ** 2)


def fits(space: MetricSpace, half_spaces: HalfSpaces, bound: float) -> bool:
    """Whether some alpha in the box |alpha_i| <= bound, with no negative diagonal, lies in all half-spaces: one LP.

    When a version space is empty, this tells a bound that is too small from a reviewer who contradicts herself. The
    bound may be infinite. What the solver cannot decide counts as not fitting: the verdict is then left out and
    reported, which is always safe.
    """
    box = np.full(space.n_unknowns, bound)
    programme = LinearProgram(-box, box)
    diagonal = space.features(np.eye(space.n_features))
    programme.add_rows(diagonal, np.zeros(len(diagonal)), np.full(len(diagonal), np.inf))
    above = half_spaces.sides > 0
    programme.add_rows(
        half_spaces.normals,
        np.where(above, half_spaces.thresholds, -np.inf),
        np.where(above, np.inf, half_spaces.thresholds),
    )
    try:
        return programme.maximise(-space.flatten(np.eye(space.n_features))) is not None
    except SolverFailed:
        return False
