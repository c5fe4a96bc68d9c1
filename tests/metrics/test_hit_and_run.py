"""The walk spreads its points uniformly over bodies whose moments are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.metrics.version_space.hit_and_run import Cloud, grown, rounded, walked

Floats = NDArray[np.float64]
FAR_AWAY = 1e3


def spread_over(A: Floats, b: Floats, radius: float, start: Floats, inner: float, n: int = 4000) -> Cloud:
    """A cloud of n points that has walked well over the body, from a small ball inside it."""
    rng = np.random.default_rng(1)
    cloud = grown(Cloud.in_ball(start, np.eye(len(start)), inner, n, rng), A, b, radius, rng)
    for _ in range(10):
        cloud, _ = walked(cloud, A, b, radius, rng)
    return cloud


def test_a_box_has_its_mean_and_variance() -> None:
    """On [0, 1]^3 the mean is 1/2 and the covariance 1/12 times the identity, to within 3 / sqrt(4000)."""
    A, b = np.concatenate([np.eye(3), -np.eye(3)]), np.array([0.0, 0.0, 0.0, -1.0, -1.0, -1.0])
    cloud = spread_over(A, b, FAR_AWAY, np.full(3, 0.4), 0.1)
    alphas = cloud.alphas()
    np.testing.assert_allclose(alphas.mean(axis=0), 0.5, atol=3 / np.sqrt(12 * 4000))
    np.testing.assert_allclose(12 * np.cov(alphas.T), np.eye(3), atol=3 / np.sqrt(4000))
    # In a box with its own axes every chord's middle is the centre; the cloud's axes may be turned a little.
    np.testing.assert_allclose(cloud.centroid, 0.5, atol=3 / np.sqrt(12 * 4000))


def test_a_simplex_has_its_mean_and_covariance() -> None:
    """On {x >= 0, sum x <= 1} in m dimensions the mean is 1/(m+1), the covariance ((m+1) I - 1) / ((m+1)^2 (m+2))."""
    m = 4
    A, b = np.concatenate([np.eye(m), -np.ones((1, m))]), np.append(np.zeros(m), -1.0)
    cloud = spread_over(A, b, FAR_AWAY, np.full(m, 0.1), 0.02)
    np.testing.assert_allclose(cloud.centroid, 1 / (m + 1), atol=0.01)
    expected = ((m + 1) * np.eye(m) - np.ones((m, m))) / ((m + 1) ** 2 * (m + 2))
    np.testing.assert_allclose(np.cov(cloud.alphas().T), expected, atol=0.1 * expected.max())


def test_half_a_ball_has_its_centroid() -> None:
    """Half the ball of radius 2 has its centroid at 3/8 of the radius, and fills the ball to its rim."""
    cloud = spread_over(np.array([[0.0, 0.0, 1.0]]), np.zeros(1), 2.0, np.array([0.0, 0.0, 0.5]), 0.1)
    np.testing.assert_allclose(cloud.centroid, [0.0, 0.0, 0.75], atol=0.04)
    norms = np.linalg.norm(cloud.alphas(), axis=1)
    assert norms.max() <= 2.0 + 1e-9
    # The share of points within half the radius is 1/8.
    assert abs(np.mean(norms <= 1.0) - 0.125) < 0.02


def test_an_interval_is_a_body_too() -> None:
    """In one dimension the points are uniform on the interval."""
    cloud = spread_over(np.array([[1.0], [-1.0]]), np.array([2.0, -3.0]), FAR_AWAY, np.array([2.1]), 0.05)
    assert abs(cloud.centroid[0] - 2.5) < 1e-9
    np.testing.assert_allclose(np.quantile(cloud.alphas(), [0.25, 0.75]), [2.25, 2.75], atol=0.03)


def test_a_needle_is_found_from_a_small_ball() -> None:
    """A body a million times longer than wide, along no coordinate, is filled from a ball of its width."""
    rng = np.random.default_rng(2)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    half = np.array([1e-6, 1e-6, 1e-3, 1.0, 1.0])
    A = np.concatenate([turn, -turn])
    b = -np.concatenate([half, half])
    cloud = spread_over(A, b, FAR_AWAY, np.zeros(5), 1e-6, n=500)
    deviations = (cloud.alphas() @ turn.T).std(axis=0)
    np.testing.assert_allclose(deviations / (half / np.sqrt(3)), 1.0, atol=0.15)


def test_no_point_ever_leaves_the_body() -> None:
    """After any walk every point satisfies every face to rounding."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((60, 8))
    b = -rng.random(60) - 0.1
    cloud = spread_over(A, b, 1.0, np.zeros(8), 0.01, n=200)
    assert (cloud.values(A) - b).min() > -1e-12
    assert np.linalg.norm(cloud.alphas(), axis=1).max() < 1.0 + 1e-12


def test_rounding_changes_coordinates_and_not_points() -> None:
    """The same alphas before and after, with covariance one in the new coordinates, and the same centroid."""
    rng = np.random.default_rng(4)
    before = Cloud(rng.standard_normal(3), rng.standard_normal((3, 3)), rng.random((50, 3)), np.full(3, 0.4))
    after, _ = rounded(before)
    np.testing.assert_allclose(after.alphas(), before.alphas(), atol=1e-12)
    np.testing.assert_allclose(after.centroid, before.centroid, atol=1e-12)
    np.testing.assert_allclose(after.points.T @ after.points / 50, np.eye(3), atol=1e-10)


def test_dead_points_become_copies_of_living_ones() -> None:
    """As many points as before, all of them living."""
    rng = np.random.default_rng(5)
    cloud = Cloud(np.zeros(2), np.eye(2), rng.random((20, 2)), np.zeros(2))
    alive = cloud.points[:, 0] > 0.5
    renewed = cloud.resampled(alive, rng)
    assert len(renewed.points) == 20
    assert (renewed.points[:, 0] > 0.5).all()
    np.testing.assert_array_equal(renewed.points[alive], cloud.points[alive])


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100])
def test_the_number_of_points_is_free(n: int) -> None:
    """Points walk in blocks; a last block that is not full walks too."""
    rng = np.random.default_rng(6)
    start = Cloud.in_ball(np.zeros(2), np.eye(2), 1e-3, n, rng)
    cloud, _ = walked(start, np.zeros((0, 2)), np.zeros(0), 1.0, rng)
    assert cloud.alphas().shape == (n, 2)
    assert np.linalg.norm(cloud.alphas(), axis=1).min() > 2e-3
