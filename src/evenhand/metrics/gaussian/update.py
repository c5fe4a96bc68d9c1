"""A review taken in at one go: from verdicts to half-spaces to what is believed, without a call for each step."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.metrics.features import MetricSpace, fill_products, has_factor, unflatten
from evenhand.metrics.gaussian.belief import FEW_ROWS, LIMITS, ROW_BY_ROW, Belief
from evenhand.metrics.gaussian.memory import Memory
from evenhand.metrics.gaussian.moment_matching import (
    SURE,
    largest_deviation,
    middle_and_square,
    tell_row,
    tell_what_matters,
)
from evenhand.metrics.half_spaces import HalfSpaces, fill_half_spaces
from evenhand.metrics.verdicts import Verdicts
from evenhand.records.decision import PROBABILITY_TOLERANCE

Floats = NDArray[np.float64]

CONTRADICTION = -5.0
"""A verdict this many standard deviations on the wrong side contradicts what was said before."""

TAUGHT_NOTHING = 3.0
"""A verdict that was surer than this many standard deviations taught nothing, and need not be remembered."""

FEW = 64
"""Of so many rows each is compared with those before it, if it comes to that; more are sorted first."""


class Heard(NamedTuple):
    """What became of a review."""

    belief: Belief
    memory: Memory
    """With the half-spaces of verdicts that were neither sure before nor a contradiction."""
    contradicted: list[int]
    """Which verdicts contradict the belief, and were not heard."""
    is_metric: bool
    """Whether the new mean is known to have no negative direction."""
    square: float
    """The squared norm of the new mean."""


def heard(
    belief: Belief,
    memory: Memory,
    space: MetricSpace,
    verdicts: Verdicts,
    rate: float,
    blur: float,
    surprise: float,
    tolerance: float,
) -> Heard:
    """The belief after all verdicts that do not contradict it, each wrong at this rate; and what is remembered.

    What HalfSpaces.of, Belief.told_all and MetricSpace.is_metric say one after the other, to the bit; in one kernel as
    long as the unknowns are so few that its call would take as long as its work.
    """
    n, m, memory = len(verdicts), space.n_unknowns, memory.copied()
    if m > ROW_BY_ROW or space.structure == "diagonal":
        half_spaces = HalfSpaces.of(space, verdicts)
        told = belief.told_all(half_spaces, np.full(n, rate), blur=blur, surprise=surprise)
        rows = ((told.score > CONTRADICTION) & (told.score < TAUGHT_NOTHING)).nonzero()[0]
        contradicted = (told.score < surprise).nonzero()[0].tolist()
        is_metric = space.is_metric(told.belief.mean, tolerance)
        memory.add(half_spaces.take(rows))
        mean = told.belief.mean
        return Heard(told.belief, memory, contradicted, is_metric, float(mean @ mean))
    mean, cov, normals, scores = np.empty(m), np.empty((m, m)), np.empty((n, m)), np.empty(n)
    said = (verdicts.pairs.differences, verdicts.gaps, verdicts.unfair, PROBABILITY_TOLERANCE)
    how = (rate, blur, surprise, *LIMITS, FEW_ROWS, tolerance, CONTRADICTION, TAUGHT_NOTHING)
    new, room = (mean, cov, normals, scores), memory.room(n)
    is_metric, square, telling, refused = _hear(*said, *how, belief.mean, belief.cov, *new, room, len(memory))
    memory.took(telling)
    contradicted = (scores < surprise).nonzero()[0].tolist() if refused else []
    return Heard(Belief(mean, cov), memory, contradicted, is_metric, square)


@jit
def _hear(
    differences: Floats,
    gaps: Floats,
    unfair: NDArray[np.bool_],
    odds_tolerance: float,
    rate: float,
    blur: float,
    surprise: float,
    most_shrink: float,
    negligible: float,
    known_variance: float,
    few_rows: float,
    tolerance: float,
    least_telling: float,
    most_telling: float,
    old_mean: Floats,
    old_cov: Floats,
    mean: Floats,
    cov: Floats,
    normals: Floats,
    scores: Floats,
    remembered: Floats,
    n_remembered: int,
) -> tuple[bool, float, int, int]:
    """Fill in the new belief; whether its mean is a metric, its squared norm, how many rows are telling and refused.

    normals (n, m) and scores (n,) are filled, and telling rows written to `remembered` after those there are.
    """
    n, m = normals.shape
    mean[:] = old_mean
    cov[:] = old_cov
    thresholds, sides = np.empty(n), np.empty(n)
    fill_half_spaces(gaps, unfair, odds_tolerance, thresholds, sides)
    widest = largest_deviation(cov) if n > few_rows else np.inf
    limits = (most_shrink, negligible, known_variance)
    if n <= FEW:
        how = (rate, blur, surprise, limits, widest)
        _tell_few(differences, thresholds, sides, *how, mean, cov, normals, scores)
    else:
        fill_products(differences, normals)
        rows = (normals, thresholds, sides, np.full(n, rate))
        tell_what_matters(mean, cov, *rows, blur, surprise, limits, widest, scores, np.empty(n))
    telling, refused = 0, 0
    for row in range(n):
        refused += scores[row] < surprise
        if least_telling < scores[row] < most_telling:
            place = remembered[n_remembered + telling]
            place[:m], place[m], place[m + 1] = normals[row], thresholds[row], sides[row]
            telling += 1
    return has_factor(mean, differences.shape[1], tolerance), np.sum(mean * mean), telling, refused


@jit
def _tell_few(
    differences: Floats,
    thresholds: Floats,
    sides: Floats,
    rate: float,
    blur: float,
    surprise: float,
    limits: tuple[float, float, float],
    widest: float,
    mean: Floats,
    cov: Floats,
    normals: Floats,
    scores: Floats,
) -> None:
    """What `tell_what_matters` does, to the bit, without the normals of rows that cannot matter: those are not filled.

    z'Gz and (z'z)^2 say as much of a row as <mean, u> and <u, u>, but for rounding, and of a row that far inside, that
    close to teaching nothing, rounding makes no difference.
    """
    (n, d), m = differences.shape, len(mean)
    reach, G = np.empty(m), np.empty((d, d))
    unflatten(mean, G)
    for row in range(n):
        middle, length = _quadratic(G, differences[row])
        inside, sd = sides[row] * (middle - thresholds[row]), math.sqrt((widest * length) ** 2 + blur * blur)
        if inside > SURE * sd:
            scores[row] = inside / sd
            continue
        fill_products(differences[row : row + 1], normals[row : row + 1])
        middle, squares = middle_and_square(mean, normals[row])
        inside, is_copy = sides[row] * (middle - thresholds[row]), _repeats_one(row, differences, thresholds, sides)
        about = (inside, squares, sides[row], rate, is_copy)
        scores[row], _, shrink = tell_row(mean, cov, normals[row], *about, blur, surprise, limits, reach)
        if shrink < 0.0:
            widest = np.inf
        if shrink != 0.0:
            unflatten(mean, G)


@jit
def _quadratic(G: Floats, z: Floats) -> tuple[float, float]:
    """z'Gz and z'z."""
    d, form, length = len(z), 0.0, 0.0
    for i in range(d):
        along = 0.0
        for j in range(d):
            along += G[i, j] * z[j]
        form += along * z[i]
        length += z[i] * z[i]
    return form, length


@jit
def _repeats_one(row: int, differences: Floats, thresholds: Floats, sides: Floats) -> bool:
    """Whether a row says what an earlier one says: the same of the same difference, whichever way round."""
    for other in range(row):
        if thresholds[other] == thresholds[row] and sides[other] == sides[row]:
            same, opposite = True, True
            for i in range(differences.shape[1]):
                same &= differences[other, i] == differences[row, i]
                opposite &= differences[other, i] == -differences[row, i]
            if same or opposite:
                return True
    return False
