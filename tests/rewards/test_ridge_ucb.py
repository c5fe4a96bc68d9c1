"""RidgeUCB: the estimate is the direct solution, and its intervals hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.rewards import KnownReward, RewardModel, RidgeUCB
from evenhand.rewards.model import TIE_BREAK
from evenhand.rewards.ridge_ucb import REFRESH_EVERY
from evenhand.testing.metric_worlds import random_contexts


def _trained(n: int, *, d: int = 4, seed: int = 0, **settings: object) -> tuple[RidgeUCB, Floats, Floats]:
    rng = np.random.default_rng(seed)
    x, r = random_contexts(rng, n, d), rng.normal(size=n)
    model = RidgeUCB(d, **settings)  # type: ignore[arg-type]
    model.learn(x, r)
    return model, x, r


@settings(max_examples=25, deadline=None)
@given(n=st.integers(0, 40), d=st.integers(1, 8), lam=st.floats(0.01, 10.0), seed=st.integers(0, 1000))
def test_equals_the_direct_solution(n: int, d: int, lam: float, seed: int) -> None:
    """theta-hat, the widths' norm and the determinant equal a fresh solve of V = lambda I + X'X."""
    model, x, r = _trained(n, d=d, seed=seed, regularisation=lam, noise=1.0)
    V = lam * np.eye(d) + x.T @ x
    assert np.allclose(model.theta, np.linalg.solve(V, x.T @ r), rtol=1e-8, atol=1e-10)
    state = model.state()
    assert np.allclose(V @ state["V_inv"], np.eye(d), atol=1e-9)
    assert state["log_det_ratio"] == pytest.approx(np.linalg.slogdet(V / lam)[1], abs=1e-9)


def test_an_untrained_model_has_the_inverse_of_lambda_I() -> None:
    """Before any outcome V^-1 = I / lambda, not lambda I."""
    assert np.array_equal(RidgeUCB(3, regularisation=4.0).state()["V_inv"], np.eye(3) / 4.0)


def test_no_drift_after_many_updates() -> None:
    """After thousands of rank-one updates and refreshes the carried inverse is still exact."""
    model, x, r = _trained(10 * REFRESH_EVERY + 17, d=6)
    V = np.eye(6) + x.T @ x
    assert np.allclose(V @ model.state()["V_inv"], np.eye(6), atol=1e-10)
    assert np.allclose(model.theta, np.linalg.solve(V, x.T @ r), atol=1e-10)


@pytest.mark.parametrize("norm_bound", [1.0, 2.5])
def test_optimistic_rewards_are_no_larger_than_rewards_can_be(norm_bound: float) -> None:
    """The regret theorem needs r-hat <= S ||x||. The cap takes off what the truth cannot be and keeps the order."""
    rng = np.random.default_rng(3)
    theta = norm_bound * np.array([0.6, 0.8, 0.0])
    model, capped = RidgeUCB(3, noise=1.0, norm_bound=norm_bound), 0
    for _ in range(40):
        x = random_contexts(rng, 20, 3)
        size = norm_bound * np.linalg.norm(x, axis=1)
        total, optimistic = model.estimate(x) + model.widths(x), model.optimistic(x)
        is_capped = total > size * (1 - TIE_BREAK)
        assert np.array_equal(optimistic[~is_capped], total[~is_capped])
        assert np.all(optimistic <= size)
        np.testing.assert_allclose(optimistic[is_capped], size[is_capped], rtol=1.01 * TIE_BREAK, atol=0)
        share, excess = (optimistic / size)[is_capped], (total - size)[is_capped]
        assert np.all(np.diff(share[np.argsort(excess)]) >= -1e-15)
        capped += int(np.sum(is_capped))
        model.learn(x[:1], x[:1] @ theta + rng.normal(size=1))
    assert capped > 100


def test_the_papers_width_to_the_letter() -> None:
    """w = min(||x||_{V^-1} (sqrt(2 d log((1 + t/lambda)/delta)) + sqrt(lambda)), 1), t the coming round."""
    model, x, _ = _trained(200, width="paper", confidence=0.1, regularisation=2.0)
    V = 2.0 * np.eye(4) + x.T @ x
    point = np.array([[0.1, 0.0, 0.05, 0.0]])
    beta = np.sqrt(2 * 4 * np.log((1 + 201 / 2.0) / 0.1)) + np.sqrt(2.0)
    norm = np.sqrt(point[0] @ np.linalg.solve(V, point[0]))
    assert norm * beta < 1
    assert model.widths(point) == pytest.approx([norm * beta])
    assert RidgeUCB(4, width="paper").widths(np.eye(4)) == pytest.approx(np.ones(4))


def test_the_self_normalised_width_is_the_tighter_one() -> None:
    """With the same noise scale the self-normalised width is below the paper's wherever that one is not cut off."""
    rng = np.random.default_rng(1)
    x, r = random_contexts(rng, 2000, 5), rng.normal(size=2000)
    tight, paper = RidgeUCB(5, noise=1.0), RidgeUCB(5, width="paper")
    for start in range(0, 2000, 200):
        tight.learn(x[start : start + 200], r[start : start + 200])
        paper.learn(x[start : start + 200], r[start : start + 200])
        points = random_contexts(rng, 20, 5)
        uncut = paper.widths(points) < 1.0
        assert np.all(tight.widths(points)[uncut] < 0.8 * paper.widths(points)[uncut])
    assert np.any(uncut)


@pytest.mark.parametrize(
    ("noise", "scale", "size"), [(0.3, 0.3, 1.0), (1.5, 1.5, 1.0), (1.0, 1.0, 3.0), (None, 0.3, 1.0)]
)
def test_intervals_hold_the_truth(noise: float | None, scale: float, size: float) -> None:
    """In 60 runs of 300 rounds the interval misses the truth, in any round, in at most the promised share of runs."""
    missed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        theta = size * random_contexts(rng, 1, 3)[0]
        model = RidgeUCB(3, noise=noise, confidence=0.1, norm_bound=size)
        bad = False
        for _ in range(300):
            x = random_contexts(rng, 4, 3)
            bad |= bool(np.any(np.abs(model.estimate(x) - x @ theta) > model.widths(x) + 1e-12))
            best = int(np.argmax(model.optimistic(x)))
            model.learn(x[best : best + 1], np.array([x[best] @ theta + scale * rng.normal()]))
        missed += bad
    assert missed <= 6  # 10% of 60


def test_the_noise_scale_is_found() -> None:
    """The estimated scale comes within 15% of the truth after 5,000 outcomes, from above or below."""
    for scale in (0.05, 0.3, 2.0):
        rng = np.random.default_rng(2)
        theta, x = random_contexts(rng, 1, 4)[0], random_contexts(rng, 5000, 4)
        model = RidgeUCB(4)
        model.learn(x, x @ theta + scale * rng.normal(size=5000))
        assert model.noise_scale == pytest.approx(scale, rel=0.15)


def test_restored_models_go_on_to_the_bit() -> None:
    """State out, state in, more outcomes: equal to a model that was never stopped."""
    for model in (_trained(70)[0], KnownReward([0.1, 0.2, 0.3, 0.4])):
        twin = RewardModel.restored(model.saved())
        rng = np.random.default_rng(3)
        x, r = random_contexts(rng, 300, 4), rng.normal(size=300)
        model.learn(x, r)
        twin.learn(x, r)
        assert np.array_equal(model.optimistic(x), twin.optimistic(x))


def test_bad_settings_are_refused() -> None:
    """Settings out of range raise a sentence that quotes them."""
    for settings_, message in (
        ({"noise": -1.0}, r"noise must be a number > 0 or None, got -1.0"),
        ({"regularisation": 0.0}, "regularisation must be a number > 0, got 0.0"),
        ({"norm_bound": float("nan")}, "norm_bound must be a number > 0, got nan"),
        ({"confidence": 1.0}, "confidence must be a number > 0 and < 1, got 1.0"),
        ({"width": "wide"}, "width must be 'self_normalised' or 'paper', got 'wide'"),
    ):
        with pytest.raises(InvalidInput, match=message):
            RidgeUCB(3, **settings_)
    with pytest.raises(InvalidInput, match="theta must be a list of d >= 1 finite numbers, got"):
        KnownReward([[1.0]])


def test_the_self_normalised_width_to_the_letter() -> None:
    """||x||_{V^-1} (R sqrt(2 log(det(V)^(1/2) lambda^(-d/2) / delta)) + sqrt(lambda) S), from a fresh factorisation."""
    model, x, _ = _trained(300, noise=0.4, norm_bound=2.0, regularisation=3.0, confidence=0.02)
    V = 3.0 * np.eye(4) + x.T @ x
    radius = 0.4 * np.sqrt(2 * (0.5 * np.linalg.slogdet(V / 3.0)[1] + np.log(1 / 0.02))) + np.sqrt(3.0) * 2.0
    points = random_contexts(np.random.default_rng(5), 6, 4)
    norms = np.sqrt(np.sum(points * np.linalg.solve(V, points.T).T, axis=1))
    assert model.widths(points) == pytest.approx(norms * radius)


def test_an_untrained_width_reaches_as_far_as_the_truth_can() -> None:
    """Before any outcome the interval is [-S ||x||, S ||x||]."""
    assert RidgeUCB(2, norm_bound=5.0).widths(np.array([[0.6, 0.8], [0.3, 0.4]])) == pytest.approx([5.0, 2.5])


def test_rewards_in_other_units_are_refused_and_change_nothing() -> None:
    """A reward far beyond the bound says so, and outcomes given with it are not learned either."""
    model = RidgeUCB(2)
    before = model.state()
    with pytest.raises(InvalidInput, match=r"rewards must be from -20\.0 to 20\.0, got"):
        model.learn(np.eye(2), np.array([0.5, 4000.0]))
    assert all(np.array_equal(before[name], model.state()[name]) for name in ("V", "b", "n_outcomes"))
    RidgeUCB(2, norm_bound=1000.0).learn(np.eye(2), np.array([0.5, 4000.0]))
