"""The bound on ||G||_F that nobody needs to know: how it starts, and what is kept to go on from when it grows."""

from __future__ import annotations

import math

import numpy as np

from evenhand.errors import InvalidInput
from evenhand.linear_programme import LinearProgramme
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.half_spaces import HalfSpaces

LARGEST_GROWTH = 2.0**40
"""A bound is never doubled beyond this times its present size: no metric that large would ever bind."""

REMEMBERED_PER_UNKNOWN = 8
"""Verdicts kept for each unknown: enough to find the way back after the bound was doubled, and no more with time."""


def check_bound(bound: float) -> float:
    """`bound` itself if it is a finite number above zero."""
    if isinstance(bound, bool) or not isinstance(bound, (int, float)) or not (math.isfinite(bound) and bound > 0):
        raise InvalidInput(f"bound is {bound!r}; allowed is a first guess of the matrix's norm, a number > 0")
    return float(bound)


def remembered(memory: HalfSpaces, new: HalfSpaces) -> HalfSpaces:
    """The newest of what was told, at most REMEMBERED_PER_UNKNOWN for each unknown."""
    most = REMEMBERED_PER_UNKNOWN * memory.normals.shape[1]
    return memory.joined(new).take(slice(-most, None))


def fits(space: MetricSpace, half_spaces: HalfSpaces, bound: float) -> bool:
    """Whether some alpha with |alpha_i| <= bound and no negative diagonal lies in all half-spaces: one LP.

    When a version space is empty, this tells a bound that is too small from a reviewer who contradicts herself.
    """
    box = np.full(space.n_unknowns, bound)
    programme = LinearProgramme(-box, box)
    diagonal = space.features(np.eye(space.n_features))
    programme.add_rows(diagonal, np.zeros(len(diagonal)), np.full(len(diagonal), np.inf))
    above = half_spaces.sides > 0
    programme.add_rows(
        half_spaces.normals,
        np.where(above, half_spaces.thresholds, -np.inf),
        np.where(above, np.inf, half_spaces.thresholds),
    )
    return programme.maximise(-space.flatten(np.eye(space.n_features))) is not None
