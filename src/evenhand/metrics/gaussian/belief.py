"""A Gaussian belief about alpha, and how a verdict changes it: moment matching (assumed density filtering)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.metrics.gaussian.batch_update import tell_in_blocks
from evenhand.metrics.gaussian.moment_matching import largest_deviation, tell_all, tell_what_matters
from evenhand.metrics.gaussian.moments import fill_moments
from evenhand.metrics.half_spaces import HalfSpaces

Floats = NDArray[np.float64]

MOST_SHRINK = 0.999
"""The share of a direction's variance that one verdict may remove: keeps the covariance positive definite."""

NEGLIGIBLE = 1e-9
"""A verdict whose likelihood slope is below this changes nothing that double precision could keep."""

KNOWN_VARIANCE = 1e-20
"""A direction whose variance is less than this share of the largest is known; no verdict moves it."""

LIMITS = (MOST_SHRINK, NEGLIGIBLE, KNOWN_VARIANCE)
"""What the kernels are told of these."""

ROW_BY_ROW = 250
"""Up to so many unknowns a covariance stays in the cache from row to row; beyond, rows are told in blocks."""

FEW_ROWS = 4
"""With so many rows or fewer, to find out which cannot matter takes longer than to tell them."""

SMALLEST_EIGENVALUE = 1e-14
"""Relative floor of a covariance's eigenvalues after a subtraction of moments."""

LARGEST_CHANCE = 0.999
"""That nothing was unfair is never taken for more likely than this: the complement divides by what is left of 1."""


@dataclass(frozen=True, eq=False)
class Belief:
    """alpha ~ N(mean, cov): mean (m,), cov (m, m)."""

    mean: Floats
    cov: Floats

    def moments(self, normals: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of <alpha, u> for each row u of `normals` (n, m), each (n,)."""
        means, sds = np.empty(len(normals)), np.empty(len(normals))
        fill_moments(np.ascontiguousarray(normals), self.mean, self.cov, means, sds)
        return means, sds

    @cached_property
    def widest(self) -> float:
        """No standard deviation along a u with ||u|| = 1 exceeds this. O(m^2), once."""
        return largest_deviation(self.cov)

    def widest_for(self, n: int) -> float:
        """The same if it is worth its time for telling n rows, else infinity."""
        return self.widest if n > FEW_ROWS else math.inf

    def told(self, u: Floats, threshold: float, side: float, *, error_rate: float, blur: float) -> Told:
        """Hear that side * (<alpha, u> - threshold) >= 0. O(m^2).

        The verdict is wrong with probability `error_rate`, its threshold blurred by a Gaussian of scale `blur`.
        """
        one = HalfSpaces(u[None, :], np.array([threshold]), np.array([side]))
        return self.told_all(one, np.array([error_rate]), blur=blur)

    def told_all(self, half_spaces: HalfSpaces, error_rates: Floats, *, blur: float, surprise: float = -np.inf) -> Told:
        """Hear each half-space in turn, wrong with its own probability (n,); none that scores below `surprise`.

        Of rows that say exactly the same one is heard. O(n m^2).
        """
        mean, cov = self.mean.copy(), self.cov.copy(order="C")
        scores, evidences = np.empty(len(half_spaces)), np.empty(len(half_spaces))
        rows = (np.ascontiguousarray(half_spaces.normals), half_spaces.thresholds, half_spaces.sides)
        told = (mean, cov, *rows, error_rates, blur, surprise, LIMITS)
        if len(mean) > ROW_BY_ROW and len(half_spaces) > 1:
            tell_in_blocks(*told, scores, evidences)
        else:
            tell_what_matters(*told, self.widest_for(len(half_spaces)), scores, evidences)
        return Told(Belief(mean, cov), evidences, scores)

    def told_positive(self, direction: Callable[[Floats], Floats | None], *, most: int) -> Belief:
        """Hear for sure that <alpha, u> >= 0, u being what `direction` makes of the mean, again until it makes None.

        At most `most` times. O(m^2) for each.
        """
        mean, cov, score = self.mean.copy(), self.cov.copy(order="C"), np.empty(1)
        for _ in range(most):
            u = direction(mean)
            if u is None:
                break
            row = (u[None, :], np.zeros(1), np.ones(1), np.zeros(1))
            tell_all(mean, cov, *row, 0.0, -math.inf, LIMITS, score, np.empty(1))
        return Belief(mean, cov)

    def told_bit(self, fair: HalfSpaces, any_unfair: bool, *, error_rate: float, blur: float) -> tuple[Belief, float]:
        """Hear whether all of `fair` hold, or not, and nothing more; and how likely that was. O(n m^2 + m^3).

        With F the event that all hold, of chance Z, the bit's likelihood is a + c 1_F: a = eta, c = 1 - 2 eta for "all
        hold", a = 1 - eta, c = 2 eta - 1 for "not all". Moments of a sum of likelihoods are sums of moments; those
        given F are what telling every row for sure gives.
        """
        told = self.told_all(fair, np.zeros(len(fair)), blur=blur)
        chance = min(float(np.prod(told.evidence)), LARGEST_CHANCE)
        a, c = (1.0 - error_rate, 2.0 * error_rate - 1.0) if any_unfair else (error_rate, 1.0 - 2.0 * error_rate)
        likely = a + c * chance
        return self._blended(told.belief, a / likely, c * chance / likely), likely

    def _blended(self, other: Belief, own_weight: float, other_weight: float) -> Belief:
        """The moments of own_weight * self + other_weight * other; weights add up to 1, one may be negative."""
        mean = own_weight * self.mean + other_weight * other.mean
        second = own_weight * (self.cov + np.outer(self.mean, self.mean))
        second += other_weight * (other.cov + np.outer(other.mean, other.mean))
        cov = second - np.outer(mean, mean)
        values, vectors = np.linalg.eigh((cov + cov.T) / 2)
        floor = SMALLEST_EIGENVALUE * max(float(values[-1]), float(np.trace(self.cov)))
        return Belief(mean, np.asarray((vectors * np.maximum(values, floor)) @ vectors.T))

    def surely_exceeds(self, bound: float) -> bool:
        """Whether ||alpha|| exceeds the bound, counting of each principal direction only what is beyond doubt.

        Directions that no two candidates ever show, such as the sum of a category's levels, drift, and are in doubt.

        With a_i the mean along each direction and s_i its deviation, (|a_i| - s_i)+^2 <= a_i^2 - |a_i| min(s_i, |a_i|),
        and |a| min(s, |a|) >= a^2 s / (s + |a|) >= a^2 s^2 / (w (w + r)) for any w >= all s_i and r = ||mean||. So the
        square of what is beyond doubt is at most r^2 - mean' cov mean / (w (w + r)); often no eigenvalues are needed.
        """
        square = float(self.mean @ self.mean)
        if square <= bound**2:
            return False
        doubt = float(self.mean @ (self.cov @ self.mean))
        if square - doubt / (self.widest * (self.widest + math.sqrt(square))) <= bound**2:
            return False
        values, vectors = np.linalg.eigh(self.cov)
        sure = np.maximum(np.abs(vectors.T @ self.mean) - np.sqrt(np.maximum(values, 0.0)), 0.0)
        return float(np.linalg.norm(sure)) > bound

    def widened(self, factor: float, most: float = math.inf) -> Belief:
        """The same mean, the covariance multiplied; in no direction to a variance above `most`, or what it was."""
        if math.isinf(most):
            return Belief(self.mean, self.cov * factor)
        variances, directions = np.linalg.eigh(self.cov)
        variances = np.minimum(factor * variances, np.maximum(variances, most))
        return Belief(self.mean, (directions * variances) @ directions.T)


class Told(NamedTuple):
    """What verdicts did to a belief."""

    belief: Belief
    evidence: Floats
    """How likely each half-space was when its turn came, (n,)."""
    score: Floats
    """How many standard deviations inside each half-space the mean lay when its turn came, (n,)."""
