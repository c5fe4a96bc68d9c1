"""A review taken in at one go: from verdicts to half-spaces to what is believed, without a call for each step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.compiled import compiled
from evenhand.decision import ODDS_TOLERANCE
from evenhand.metrics.belief import LIMITS, ROW_BY_ROW, Belief
from evenhand.metrics.features import MetricSpace, fill_products, has_factor
from evenhand.metrics.half_spaces import HalfSpaces, fill_half_spaces
from evenhand.metrics.moment_matching import tell_what_matters
from evenhand.metrics.verdicts import Verdicts

Floats = NDArray[np.float64]


class Heard(NamedTuple):
    """What became of a review."""

    half_spaces: HalfSpaces
    belief: Belief
    scores: Floats
    """How many standard deviations inside each half-space the mean lay when its turn came, (n,)."""
    is_metric: bool
    """Whether the new mean is known to have no negative direction."""


def heard(
    belief: Belief,
    space: MetricSpace,
    verdicts: Verdicts,
    *,
    rate: float,
    blur: float,
    surprise: float,
    tolerance: float,
) -> Heard:
    """The belief after all verdicts that do not contradict it, each wrong at this rate.

    What HalfSpaces.of, Belief.told_all and MetricSpace.is_metric say one after the other, to the bit; in one kernel as
    long as the unknowns are so few that its call would take as long as its work.
    """
    n, m = len(verdicts), space.n_unknowns
    if m > ROW_BY_ROW or space.structure == "diagonal":
        half_spaces = HalfSpaces.of(space, verdicts)
        told = belief.told_all(half_spaces, np.full(n, rate), blur=blur, surprise=surprise)
        return Heard(half_spaces, told.belief, told.score, space.is_metric(told.belief.mean, tolerance))
    mean, cov = belief.mean.copy(), belief.cov.copy()
    normals, thresholds, sides, scores = np.empty((n, m)), np.empty(n), np.empty(n), np.empty(n)
    said = (verdicts.pairs.differences, verdicts.gaps, verdicts.unfair, ODDS_TOLERANCE)
    how = (rate, blur, surprise, *LIMITS, belief.widest_for(n), tolerance)
    is_metric = _hear(*said, *how, mean, cov, normals, thresholds, sides, scores)
    return Heard(HalfSpaces(normals, thresholds, sides), Belief(mean, cov), scores, is_metric)


@compiled
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
    widest: float,
    tolerance: float,
    mean: Floats,
    cov: Floats,
    normals: Floats,
    thresholds: Floats,
    sides: Floats,
    scores: Floats,
) -> bool:
    n = len(gaps)
    fill_products(differences, normals)
    fill_half_spaces(gaps, unfair, odds_tolerance, thresholds, sides)
    rates = np.full(n, rate)
    limits = (most_shrink, negligible, known_variance)
    rows = (normals, thresholds, sides, rates)
    tell_what_matters(mean, cov, *rows, blur, surprise, limits, widest, scores, np.empty(n))
    return has_factor(mean, differences.shape[1], tolerance)
