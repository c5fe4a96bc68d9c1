"""A Gaussian belief about alpha, and how a verdict changes it: moment matching (assumed density filtering)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, ndtr, ndtri_exp

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
        reach = self.cov @ u
        variance = float(u @ reach)
        known = KNOWN_VARIANCE * float(np.max(np.diag(self.cov))) * float(u @ u)
        sd = math.sqrt(max(variance, known, np.finfo(np.float64).tiny) + blur**2)
        z = side * (float(u @ self.mean) - threshold) / sd
        evidence, slope = _likelihood(z, error_rate)
        if slope < NEGLIGIBLE or variance <= known:
            return Told(self, evidence, z)
        shrink = min(slope * (slope + z) / sd**2, MOST_SHRINK / variance)
        mean, cov = self.mean + (side * slope / sd) * reach, self.cov - shrink * np.outer(reach, reach)
        return Told(Belief(mean, cov), evidence, z)

    def without(self, other: Belief, weight: float) -> Belief:
        """The belief given that an event did not happen, `other` being the belief given it did, `weight` its chance.

        By the law of total expectation, for first and second moments.
        """
        rest = 1.0 - weight
        mean = (self.mean - weight * other.mean) / rest
        second = self.cov + np.outer(self.mean, self.mean)
        second_other = other.cov + np.outer(other.mean, other.mean)
        cov = (second - weight * second_other) / rest - np.outer(mean, mean)
        values, vectors = np.linalg.eigh((cov + cov.T) / 2)
        floor = SMALLEST_EIGENVALUE * max(float(values[-1]), float(np.trace(self.cov)))
        return Belief(mean, np.asarray((vectors * np.maximum(values, floor)) @ vectors.T))


class Told(NamedTuple):
    """What a verdict did to a belief."""

    belief: Belief
    evidence: float
    """How likely the verdict was."""
    score: float
    """How many standard deviations inside the verdict's half-space the mean lay before."""


def _likelihood(z: float, error_rate: float) -> tuple[float, float]:
    """Z = eta + (1 - 2 eta) Phi(z) and its logarithmic derivative."""
    if error_rate == 0.0:  # phi/Phi by the scaled error function: exact where both underflow
        return float(ndtr(z)), math.sqrt(2.0 / math.pi) / float(erfcx(-z / math.sqrt(2.0)))
    keep = 1.0 - 2.0 * error_rate
    evidence = error_rate + keep * float(ndtr(z))
    return evidence, keep * math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) / evidence


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
    return -np.expm1(np.minimum(beyond - log_ndtr(np.maximum(mean / scale, -FAR)), 0.0))
