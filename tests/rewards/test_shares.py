"""Outcomes of shares: what is assumed of their noise, and what follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import Lars, Ridge, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.rewards import LogisticUCB, Predictor, RidgeUCB

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
    for model in (RidgeUCB(D), LogisticUCB(D), Predictor(Ridge(), D)):
        with pytest.raises(InvalidInput, match="a share must be a number"):
            model.learn_shares(np.eye(D), np.ones(D) * 0.5, np.array([0.5, share, 0.5]))
        assert model.n_outcomes == 0


def yes_and_no(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contexts, yes or no, and shares."""
    rng = np.random.default_rng(1)
    contexts, _, shares = outcomes(rng, n, 0.0)
    return contexts, (rng.random(n) < 0.5 + 0.4 * contexts[:, 0]).astype(np.float64), shares


@pytest.mark.parametrize(
    "make", [lambda: LogisticUCB(D), lambda: Predictor(GradientBoostingClassifier(n_estimators=5), D, refit_every=50)]
)
def test_a_yes_at_a_share_is_a_yes(make: Any) -> None:
    """A model of yes and no learns from r = s times yes or no what it learns from whole outcomes; no other r fits."""
    contexts, said, shares = yes_and_no(120)
    whole, shared = make(), make()
    whole.learn(contexts, said)
    shared.learn_shares(contexts, said * shares, shares)
    np.testing.assert_allclose(shared.optimistic(contexts), whole.optimistic(contexts), rtol=0, atol=1e-12)
    before = shared.estimate(contexts)
    with pytest.raises(InvalidInput, match=r"rewards must be .* got 0\.5"):
        shared.check_outcomes(contexts[:1], np.array([0.5]), np.array([0.4]))
    with pytest.raises(InvalidInput, match=r"rewards must be .* got 0\.5"):
        shared.learn_shares(contexts[:1], np.array([0.5]), np.array([0.4]))
    np.testing.assert_array_equal(shared.estimate(contexts), before)


@pytest.mark.parametrize("model", [Ridge(alpha=1.0), make_pipeline(StandardScaler(with_std=False), Ridge(alpha=1.0))])
def test_a_regressor_weighs_outcomes_by_their_shares(model: Any) -> None:
    """Rewards per unit with the weight s^2: tiny shares with huge rewards per unit change next to nothing."""
    contexts, rewards, shares = outcomes(np.random.default_rng(0), 60, power=0.0)
    shares[:20] = 1e-4  # so that r / s is of the order of 1000
    played = Predictor(model, D, refit_every=60, width=0.1)
    played.learn_shares(contexts, rewards, shares)
    by_hand = Ridge(alpha=1.0).fit(contexts, rewards / shares, sample_weight=shares**2)
    assert played.in_use.problem is None
    assert np.max(np.abs(rewards / shares)) > 100
    np.testing.assert_allclose(played.estimate(np.eye(D)), by_hand.predict(np.eye(D)), rtol=0, atol=1e-4)
    stochastic = Predictor(SGDRegressor(), D, refit_every=20)
    stochastic.learn_shares(contexts, rewards, shares)
    assert stochastic.in_use.problem is None
    assert np.max(np.abs(stochastic.estimate(np.eye(D)))) < 2


def test_a_model_without_weights_learns_from_no_shares() -> None:
    """A regressor that cannot weigh outcomes is refused by a bandit in shares; the others play."""
    for reward in (LogisticUCB(D), Predictor(Ridge(), D), Predictor(SGDRegressor(), D)):
        assert eh.FairBandit(D, mode="shares", capacity=1.5, reward=reward).decide(np.eye(D)).mode == "shares"
    unable = Predictor(Lars(), D)
    with pytest.raises(InvalidInput, match="learns from shares for mode 'shares'"):
        eh.FairBandit(D, mode="shares", reward=unable)
    with pytest.raises(InvalidInput, match="Predictor cannot learn from shares"):
        unable.learn_shares(np.eye(D), np.ones(D), np.ones(D))
