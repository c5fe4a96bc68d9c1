"""The cylinder over a thin set: found when it should be, its centroid that of the shadow."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import HalfSpaces
from evenhand.metrics.version_space.cylinder import cylinder_centroid, thinned
from evenhand.metrics.version_space.hit_and_run import Cloud, grown
from evenhand.metrics.version_space.knowledge_set import KnowledgeSet
from evenhand.metrics.version_space.sampled_set import SampledSet

Floats = NDArray[np.float64]


def sampled_body(A: Floats, b: Floats, inner: Floats, radius: float, bound: float = 10.0, n: int = 400) -> SampledSet:
    """A alpha >= b in the diagonal structure, with n points, grown from a small ball inside."""
    rng = np.random.default_rng(0)
    known = KnowledgeSet(MetricSpace(len(inner), "diagonal"), HalfSpaces(A, b, np.ones(len(b))), bound)
    cloud = Cloud.in_ball(inner, np.eye(len(inner)), radius, n, rng)
    return SampledSet(known, grown(cloud, A, b, bound, rng)).walked(rng)


def thin_tetrahedron(height: float) -> SampledSet:
    """x, y, t >= 0 and x + y + t / height <= 1: its shadow along t is a triangle, heavier in its middle."""
    A = np.concatenate([np.eye(3), [[-1.0, -1.0, -1.0 / height]]])
    return sampled_body(A, np.array([0.0, 0.0, 0.0, -1.0]), np.array([0.2, 0.2, 0.1 * height]), 0.05 * height)


def rotation(m: int, seed: int) -> Floats:
    """A random rotation."""
    return np.asarray(np.linalg.qr(np.random.default_rng(seed).standard_normal((m, m)))[0])


def test_thin_directions_are_found_and_wide_ones_are_not() -> None:
    """A tetrahedron of height 0.01 is thin along its height for a thinness of 0.02, and not for 0.005."""
    sampled = thin_tetrahedron(0.01)
    thin = thinned(sampled, np.zeros((3, 0)), 0.02)
    assert thin.shape == (3, 1)
    # The narrowest axis of the cloud is the height, but for the tilt of the slanted face.
    assert abs(thin[2, 0]) > 0.99
    assert thinned(sampled, np.zeros((3, 0)), 0.005).shape == (3, 0)


def test_thin_directions_are_orthonormal_and_kept() -> None:
    """Directions are added to those there are, until none is thin or all are."""
    sampled = thin_tetrahedron(0.01)
    thin = thinned(sampled, np.eye(3)[:, 2:], 3.0)
    assert thin.shape == (3, 3)
    np.testing.assert_array_equal(thin[:, 0], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(thin.T @ thin, np.eye(3), atol=1e-12)


def test_the_centroid_is_that_of_the_shadow() -> None:
    """A tetrahedron's centroid lies at 1/4, its cylinder's at the triangle's 1/3 and half the height."""
    sampled = thin_tetrahedron(0.01)
    np.testing.assert_allclose(sampled.cloud.centroid[:2], 0.25, atol=0.02)
    z = cylinder_centroid(sampled, np.eye(3)[:, 2:], np.random.default_rng(1))
    np.testing.assert_allclose(z[:2], 1 / 3, atol=0.02)
    assert z[2] == pytest.approx(0.005, rel=1e-3)


def test_a_set_thin_everywhere_has_the_middle_of_its_intervals() -> None:
    """With every direction thin the cylinder is a box."""
    sampled = thin_tetrahedron(0.5)
    z = cylinder_centroid(sampled, np.eye(3), np.random.default_rng(1))
    np.testing.assert_allclose(z, [0.5, 0.5, 0.25], atol=1e-4)


def test_a_set_thin_nowhere_has_its_own_centroid() -> None:
    """Without thin directions nothing is projected."""
    sampled = thin_tetrahedron(0.5)
    z = cylinder_centroid(sampled, np.zeros((3, 0)), np.random.default_rng(1))
    np.testing.assert_array_equal(z, sampled.cloud.centroid)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_centroid_is_that_of_brute_force(seed: int) -> None:
    """A random polytope, projected along a random direction, against a fine grid of its shadow."""
    rng = np.random.default_rng(seed)
    turn = rotation(3, seed)
    A = rng.standard_normal((7, 3)) @ np.diag([1.0, 1.0, 3.0]) @ turn.T
    A = np.concatenate([A, np.eye(3), -np.eye(3)])
    inner = np.full(3, 2.0)
    b = A @ inner - np.concatenate([0.3 + rng.random(7), np.ones(6)])
    sampled = sampled_body(A, b, inner, 0.01, n=1000)
    direction, basis = turn[:, 2:], turn[:, :2]
    z = cylinder_centroid(sampled, direction, rng)
    shadow = grid_of_shadow(A, b, inner, basis, direction[:, 0])
    assert len(shadow) > 1000
    # The deviation of the shadow, over the square root of the number of points, three times.
    assert np.all(np.abs(basis.T @ z - shadow.mean(axis=0)) < 3 * shadow.std(axis=0) / np.sqrt(1000))


def grid_of_shadow(A: Floats, b: Floats, inner: Floats, basis: Floats, direction: Floats) -> Floats:
    """The points of a fine grid over which some t * direction fits, in coordinates of the basis: (n, 2)."""
    axis = np.linspace(-2.0, 2.0, 400)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    slack = (grid @ basis.T + direction * (direction @ inner) + basis @ (basis.T @ inner)) @ A.T - b
    rates = A @ direction
    low = np.max(np.where(rates > 0, -slack / rates, -np.inf), axis=1)
    high = np.min(np.where(rates < 0, -slack / rates, np.inf), axis=1)
    return np.asarray(grid[low <= high] + inner @ basis)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_shadow_of_several_thin_directions(seed: int) -> None:
    """Along two of four directions: rejection from a box decides which points have a fibre, by its own programme."""
    rng = np.random.default_rng(seed)
    turn = rotation(4, seed)
    # A cross-polytope stretched along the columns of turn: its shadow is a rhombus, whose centroid is its centre,
    # while a face that takes one tip off pulls the centroid of the body and of the shadow apart.
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1).T
    A = np.concatenate([-signs @ turn.T, [-turn[:, 0] - 0.5 * turn[:, 2]]])
    centre = np.full(4, 2.0)
    b = np.append(np.full(16, -1.0) - signs @ turn.T @ centre, -0.6 - (turn[:, 0] + 0.5 * turn[:, 2]) @ centre)
    sampled = sampled_body(A, b, centre, 0.1, n=1000)
    z = cylinder_centroid(sampled, turn[:, 2:], rng)
    # In turned coordinates: |w0| + |w1| + |t0| + |t1| <= 1 and w0 + t0 / 2 <= 0.6. A fibre is there iff its best
    # t0 = -(1 - |w0| - |w1|) makes the second hold.
    w = rng.uniform(-1.0, 1.0, (200_000, 2))
    room = 1.0 - np.abs(w).sum(axis=1)
    shadow = w[(room >= 0.0) & (w[:, 0] - 0.5 * room <= 0.6)]
    found = (z - centre) @ turn[:, :2]
    assert np.all(np.abs(found - shadow.mean(axis=0)) < 3 * shadow.std(axis=0) / np.sqrt(1000))


def test_the_ball_bounds_the_shadow() -> None:
    """Half a ball cut through its centre: the shadow along an edge of the cut is half a disc, centroid 4/(3 pi)."""
    sampled = sampled_body(np.array([[1.0, 0.0, 0.0]]), np.zeros(1), np.array([0.4, 0.0, 0.0]), 0.1, bound=1.0, n=1000)
    rng = np.random.default_rng(2)
    basis = np.eye(3)[:, 2:]
    z = cylinder_centroid(sampled, basis, rng)
    assert z[0] == pytest.approx(4 / (3 * np.pi), abs=0.03)
    assert abs(z[1]) < 0.06


def test_the_proofs_thinness() -> None:
    """delta = a / (8 m (m+1)^2) at the accuracy a at which K is still cut, epsilon^2 / reach; whatever the bound."""
    for bound in (1.0, 2.0):
        known = KnowledgeSet.initial(MetricSpace(2, "diagonal"), bound)
        assert known.thinness(0.1) == pytest.approx(0.01 / (4 * known.reach * 8 * 2 * 9))
