"""Quantiles of a Gaussian that is not negative, against scipy's logarithms of chances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtri

from evenhand.metrics.gaussian.truncated_normal import chance_below, quantile_above_zero, score_exceeded

QUANTILES = (1e-6, 0.001, 0.02, 0.1, 0.5, 0.9, 0.999)


@pytest.mark.parametrize("quantile", QUANTILES)
def test_what_is_kept_lies_above(quantile: float) -> None:
    """The share 1 - quantile lies above it, from 30 standard deviations below zero to as many above."""
    mean = np.concatenate([np.linspace(-30.0, 30.0, 2001), [-5.0, 0.0, 9.0]])
    found = quantile_above_zero(mean, np.ones_like(mean), quantile)
    assert np.allclose(log_ndtr(mean - found) - log_ndtr(mean), np.log1p(-quantile), rtol=1e-8, atol=1e-12)
    assert np.all(np.diff(found[:2001]) > 0)


@pytest.mark.parametrize("quantile", QUANTILES)
def test_scales_with_the_deviation(quantile: float) -> None:
    """Twice the mean and twice the deviation give twice the quantile; no deviation at all leaves the mean."""
    rng = np.random.default_rng(0)
    mean, sd = rng.normal(size=200) * 3, rng.uniform(0.01, 2, 200)
    once, twice = quantile_above_zero(mean, sd, quantile), quantile_above_zero(2 * mean, 2 * sd, quantile)
    assert np.allclose(twice, 2 * once, rtol=1e-13, atol=0)
    none = quantile_above_zero(mean, np.zeros(200), quantile)
    assert np.array_equal(none, np.maximum(mean, 0.0))


def test_far_below_zero_it_is_exponential() -> None:
    """Where nearly all mass is cut off, what is left falls off exponentially, by one over the distance to zero."""
    for mean in (-1e3, -1e4, -1.0001e4, -1e6, -1e100):
        found = float(quantile_above_zero(np.array([mean]), np.ones(1), 0.1)[0])
        assert found == pytest.approx(-np.log(0.9) / -mean, rel=2e-6)


def test_scores() -> None:
    """The score of a chance is the inverse of Phi."""
    for chance in (1e-300, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-9):
        assert score_exceeded(chance) == pytest.approx(float(ndtri(chance)), rel=1e-12, abs=1e-15)


def test_the_chance_below_a_quantile_is_the_quantile() -> None:
    """chance_below undoes quantile_above_zero."""
    mean, sd = np.linspace(-4, 4, 41), np.full(41, 0.7)
    for quantile in (0.02, 0.1, 0.5, 0.9):
        below = chance_below(mean, sd, quantile_above_zero(mean, sd, quantile))
        assert np.allclose(below, quantile, rtol=1e-9)
