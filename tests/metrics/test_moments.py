"""moments: means and deviations of many rows at once, against plain products."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.metrics.gaussian.belief import Belief


def _belief(rng: np.random.Generator, m: int) -> Belief:
    root = rng.normal(size=(m, m))
    return Belief(rng.normal(size=m), root @ root.T)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9), m=st.integers(1, 40), n=st.integers(0, 150))
def test_equals_plain_products(seed: int, m: int, n: int) -> None:
    """For any number of rows and unknowns, means are u.mu and variances u'Cu."""
    rng = np.random.default_rng(seed)
    belief, normals = _belief(rng, m), rng.normal(size=(n, m))
    mean, sd = belief.moments(normals)
    assert np.allclose(mean, normals @ belief.mean, rtol=1e-12, atol=1e-12)
    assert np.allclose(sd**2, np.sum((normals @ belief.cov) * normals, axis=1), rtol=1e-11, atol=1e-12)


def test_a_row_does_not_depend_on_its_company() -> None:
    """Computed alone or among others, in any place, a row has the same moments to the bit."""
    rng = np.random.default_rng(0)
    belief, normals = _belief(rng, 21), rng.normal(size=(200, 21))
    mean, sd = belief.moments(normals)
    for rows in (slice(0, 1), slice(63, 66), slice(150, 200), rng.permutation(200)[:77]):
        some_mean, some_sd = belief.moments(normals[rows])
        assert np.array_equal(some_mean, mean[rows])
        assert np.array_equal(some_sd, sd[rows])


def test_the_widest_direction_is_bounded() -> None:
    """No standard deviation along a unit vector exceeds `widest`, which is exact when all directions are alike."""
    rng = np.random.default_rng(1)
    for m in (1, 2, 9, 40):
        for _ in range(20):
            belief = _belief(rng, m)
            exact = float(np.sqrt(np.linalg.eigvalsh(belief.cov)[-1]))
            assert exact <= belief.widest <= exact * np.sqrt(m) * (1 + 1e-8)
        assert np.isclose(Belief(np.zeros(m), 0.25 * np.eye(m)).widest, 0.5)
