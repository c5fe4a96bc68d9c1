"""A Gaussian belief about alpha, and how a verdict changes it: moment matching (assumed density filtering)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

from evenhand.metrics.half_spaces import HalfSpaces
from evenhand.metrics.moment_matching import tell_all

Floats = NDArray[np.float64]

MOST_SHRINK = 0.999
"""The share of a direction's variance that one verdict may remove: keeps the covariance positive definite."""

NEGLIGIBLE = 1e-9
"""A verdict whose likelihood slope is below this changes nothing that double precision could keep."""

KNOWN_VARIANCE = 1e-20
"""A direction whose variance is less than this share of the largest is known; no verdict moves it."""

FAR = 1e4
"""Beyond this many standard deviations below zero the Gaussian's tail above zero is taken as exponential."""

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
        variances = np.sum((normals @ self.cov) * normals, axis=1)
        return np.asarray(normals @ self.mean), np.asarray(np.sqrt(np.maximum(variances, 0.0)))

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
        limits = (MOST_SHRINK, NEGLIGIBLE, KNOWN_VARIANCE)
        tell_all(mean, cov, *rows, error_rates, blur, surprise, limits, scores, evidences)
        return Told(Belief(mean, cov), evidences, scores)

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

    def widened(self, factor: float) -> Belief:
        """The same mean, the covariance multiplied."""
        return Belief(self.mean, self.cov * factor)


class Told(NamedTuple):
    """What verdicts did to a belief."""

    belief: Belief
    evidence: Floats
    """How likely each half-space was when its turn came, (n,)."""
    score: Floats
    """How many standard deviations inside each half-space the mean lay when its turn came, (n,)."""


def quantile_above_zero(mean: Floats, sd: Floats, quantile: float) -> Floats:
    """The quantile of N(mean, sd^2) given that it is not negative: itself never negative, elementwise.

    >>> quantile_above_zero(np.array([0.0, 10.0]), np.array([1.0, 1.0]), 0.5).round(3).tolist()
    [0.674, 10.0]
    """
    scale = np.maximum(sd, np.finfo(np.float64).tiny)
    z = np.maximum(mean / scale, -FAR)
    above = mean - scale * ndtri_exp(log_ndtr(z) + math.log1p(-quantile))
    tail = -math.log1p(-quantile) * scale * (scale / np.maximum(-mean, scale))
    return np.maximum(np.where(mean < -FAR * scale, tail, above), 0.0)


def chance_below(mean: Floats, sd: Floats, threshold: Floats) -> Floats:
    """How likely N(mean, sd^2), given that it is not negative, lies below a threshold >= 0, elementwise.

    >>> chance_below(np.array([0.0]), np.array([1.0]), np.array([0.674])).round(2).tolist()
    [0.5]
    """
    scale = np.maximum(sd, np.finfo(np.float64).tiny)
    beyond = log_ndtr(np.maximum((mean - threshold) / scale, -FAR))
    return np.asarray(np.abs(np.expm1(np.minimum(beyond - log_ndtr(np.maximum(mean / scale, -FAR)), 0.0))))
