"""Outcomes of shares: what is assumed of their noise, and what follows."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.errors import InvalidInput
from evenhand.rewards import RidgeUCB

D = 3
THETA = np.array([0.5, -0.3, 0.4])


def outcomes(rng: np.random.Generator, n: int, power: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contexts, outcomes and shares; the noise is 0.1 times the share to this power."""
    contexts = rng.normal(size=(n, D))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    shares = rng.uniform(0.02, 1.0, size=n)
    return contexts, shares * (contexts @ THETA) + 0.1 * shares**power * rng.normal(size=n), shares


def test_the_estimate_is_the_weighted_one() -> None:
    """theta-hat minimises sum s^2 (r / s - <theta, x>)^2 + lambda |theta|^2: rewards per unit, weighted by s^2."""
    contexts, rewards, shares = outcomes(np.random.default_rng(0), 40, power=0.0)
    model = RidgeUCB(D)
    model.learn_shares(contexts, rewards, shares)
    weights = shares**2
    V = np.eye(D) + (contexts * weights[:, None]).T @ contexts
    np.testing.assert_allclose(V @ model.theta, contexts.T @ (weights * (rewards / shares)), rtol=0, atol=1e-10)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_intervals_hold_whatever_the_noise_does_at_small_shares(power: float) -> None:
    """Noise of one scale, or less at smaller shares: in 200 runs of 60 outcomes all intervals hold in 190 at least."""
    x = np.vstack([np.eye(D), outcomes(np.random.default_rng(7), 5, 0.0)[0]])
    held = 0
    for seed in range(200):
        model = RidgeUCB(D, noise=0.1, confidence=0.05)
        model.learn_shares(*outcomes(np.random.default_rng(seed), 60, power))
        held += bool(np.all(np.abs(model.estimate(x) - x @ THETA) <= model.widths(x)))
    assert held >= 190


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5, np.nan])
def test_a_share_out_of_range_changes_nothing(share: float) -> None:
    """Shares are above 0 and at most 1."""
    model = RidgeUCB(D)
    with pytest.raises(InvalidInput, match="a share must be a number"):
        model.learn_shares(np.eye(D), np.ones(D) * 0.5, np.array([0.5, share, 0.5]))
    assert model.n_outcomes == 0
