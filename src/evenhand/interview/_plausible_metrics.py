"""Metrics that a reviewer may plausibly have, before any answer, or moved until they explain the answers.

A belief at the start is only a prior, and reviewers need not have been drawn from it. So a forecast asks several kinds
of metrics what would come. Each is a quadratic form in standard normal numbers. Given answers, every draw is moved to
the nearest one that explains them (randomised maximum a posteriori); how far it has to be moved says how well its kind
explains them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from evenhand._internal.arrays import Floats, Mask

TYPICAL_DISTANCE, TYPICAL_FACTOR = 0.35, 1.8
"""The root mean square distance of two people is log-normal: two in three are within this factor of this median. At
0.35, a gap of 35 points would be unfair to about half of all pairs."""

MOST_ANSWERS = 400  # The newest answers; more take long, and by then beliefs are narrow.
MOST_RANK = 4
INTERACTIONS = 4  # Directions of two features each.
STIFFNESS = 50.0  # An answer that is not explained costs this times its squared excess, relative to the squared gap.
MOST_STEPS = 200
SAMPLED = 100  # Differences between people, from which the scale is computed.
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Kind:
    """A family of metrics G = A'A: the entries of A are those of a mask (r, d) times standard normal numbers."""

    name: str
    draw_masks: Callable[[int, np.random.Generator], Floats]


def _diagonal(d: int, rng: np.random.Generator) -> Floats:
    """Features count separately. Two rows to a feature: half the sum of two squared normals is exponential."""
    return np.concatenate([np.eye(d), np.eye(d)])


def _interactions(d: int, rng: np.random.Generator) -> Floats:
    """The same, and a few directions in which two features count together."""
    masks = np.zeros((INTERACTIONS, d))
    for row in masks:
        row[rng.choice(d, min(2, d), replace=False)] = 1.5
    return np.concatenate([_diagonal(d, rng), masks])


def _low_rank(d: int, rng: np.random.Generator) -> Floats:
    """A few dense directions."""
    return np.ones((int(rng.integers(1, MOST_RANK + 1)), d))


KINDS = (Kind("diagonal", _diagonal), Kind("interactions", _interactions), Kind("low rank", _low_rank))


@dataclass(frozen=True, eq=False)
class AnswersToExplain:
    """Answers that plausible metrics should explain."""

    differences: Floats
    gaps: Floats
    unfair: Mask


@dataclass(frozen=True, eq=False)
class PlausibleMetric:
    """G (d, d), and how far the draw was from explaining the answers: half its squared move, and what is left over."""

    G: Floats
    misfit: float


def plausible_metric(
    kind: Kind, typical: Floats, answered: AnswersToExplain, rng: np.random.Generator
) -> PlausibleMetric:
    """A draw of one kind, moved to where it explains the answers; typical: differences between people, (n, d)."""
    d = typical.shape[1]
    masks = kind.draw_masks(d, rng)
    first = rng.normal(size=1 + int(np.count_nonzero(masks)))
    rows, columns = np.nonzero(masks)

    def factor(z: Floats) -> Floats:
        A = np.zeros(masks.shape)
        A[rows, columns] = masks[rows, columns] * z[1:]
        return A

    mean_square = float(np.mean(np.sum((masks**2) @ (typical.T**2), axis=0)))  # expected, so that it is constant
    unit = TYPICAL_DISTANCE / np.sqrt(max(mean_square, TINY))
    squared_gaps, side = np.maximum(answered.gaps**2, TINY), np.where(answered.unfair, -1.0, 1.0)

    def cost(z: Floats) -> tuple[float, Floats]:
        scale = (unit * TYPICAL_FACTOR ** z[0]) ** 2
        images = factor(z) @ answered.differences.T
        squares = scale * np.sum(images**2, axis=0)
        short = np.maximum(-side * (squares / squared_gaps - 1.0), 0.0)
        slope = -2.0 * STIFFNESS * short * side / squared_gaps  # by squares
        gradient = z - first
        gradient[0] += 2.0 * np.log(TYPICAL_FACTOR) * float(slope @ squares)
        by_factor = 2.0 * scale * (images * slope) @ answered.differences
        gradient[1:] += by_factor[rows, columns] * masks[rows, columns]
        return 0.5 * float((z - first) @ (z - first)) + STIFFNESS * float(short @ short), gradient

    z, misfit = first, 0.0
    if len(answered.gaps):
        found = minimize(cost, first, jac=True, method="L-BFGS-B", options={"maxiter": MOST_STEPS})
        z, misfit = np.asarray(found.x), float(found.fun)
    A = factor(z) * unit * TYPICAL_FACTOR ** z[0]
    return PlausibleMetric(np.asarray(A.T @ A), misfit)
