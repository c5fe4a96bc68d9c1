"""Elliptical slice sampling."""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.score_model.sampling import elliptical_slice_step


def test_gaussian_posterior_is_found() -> None:
    """With a Gaussian likelihood N(1, 1/4) of one coordinate, its posterior is N(0.8, 0.2), and the other's N(0, 1)."""
    rng = np.random.default_rng(0)

    def logs(points: Floats) -> Floats:
        return np.asarray(-2.0 * (points[0] - 1.0) ** 2)

    points = rng.normal(size=(2, 2000))
    values = logs(points)
    for _ in range(20):
        points, values = elliptical_slice_step(logs, points, values, rng)
    assert np.array_equal(values, logs(points))
    np.testing.assert_allclose(points.mean(axis=1), [0.8, 0.0], atol=0.06)
    np.testing.assert_allclose(points.var(axis=1), [0.2, 1.0], atol=0.08)


def test_flat_likelihood_keeps_the_prior() -> None:
    """Without answers the first point on the ellipse is accepted, and the distribution stays standard normal."""
    rng = np.random.default_rng(1)
    calls = []

    def logs(points: Floats) -> Floats:
        calls.append(points.shape[1])
        return np.zeros(points.shape[1])

    points, _ = elliptical_slice_step(logs, rng.normal(size=(3, 4000)), np.zeros(4000), rng)
    assert calls == [4000]
    np.testing.assert_allclose(np.cov(points), np.eye(3), atol=0.07)


def test_likelihood_that_is_zero_elsewhere_leaves_chains_where_they_are() -> None:
    """A chain that finds no point of its slice stays."""
    start = np.ones((2, 3))

    def logs(points: Floats) -> Floats:
        return np.where(np.all(points == 1.0, axis=0), 0.0, -np.inf)

    points, _ = elliptical_slice_step(logs, start, np.zeros(3), np.random.default_rng(2))
    assert np.array_equal(points, start)
