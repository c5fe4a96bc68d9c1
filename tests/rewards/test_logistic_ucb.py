"""LogisticUCB: it learns yes and no, its intervals hold at all times, and it says when its assumptions fail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.bandit import FairBandit
from evenhand.errors import InvalidInput
from evenhand.rewards import LogisticUCB, RidgeUCB
from evenhand.rewards.logistic_ucb import least_curvature
from evenhand.testing.metric_worlds import random_contexts


def chances(contexts: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """The probability of a yes."""
    return np.asarray(1.0 / (1.0 + np.exp(-contexts @ theta)))


def a_theta(rng: np.random.Generator, d: int, norm: float) -> np.ndarray:
    """A random direction of this length."""
    theta = rng.normal(size=d)
    return np.asarray(norm * theta / np.linalg.norm(theta))


@given(z=st.floats(-5, 5), reach=st.floats(5, 10), share=st.floats(-1, 1))
def test_the_quadratic_is_a_lower_bound(z: float, reach: float, share: float) -> None:
    """The loss of every logit within reach is at least the quadratic around z with the least curvature."""
    y = share * reach

    def loss(a: float) -> float:
        return max(a, 0.0) + math.log1p(math.exp(-abs(a)))

    slope = 1.0 / (1.0 + math.exp(-z))
    quadratic = loss(z) + slope * (y - z) + least_curvature(z, reach) * (y - z) ** 2
    assert loss(y) >= quadratic - 1e-12


def test_the_curvature_is_tight_and_continuous() -> None:
    """At one end of the range it is attained; near an end of the range it does not jump."""
    for z, reach in ((0.3, 2.0), (-1.0, 3.0), (2.0, 2.0)):
        k = least_curvature(z, reach)
        slope = 1.0 / (1.0 + math.exp(-z))
        gaps = [
            math.log1p(math.exp(y)) - math.log1p(math.exp(z)) - slope * (y - z) - k * (y - z) ** 2
            for y in np.linspace(-reach, reach, 4001)
        ]
        assert min(gaps) >= -1e-9
        assert min(abs(gaps[0]), abs(gaps[-1])) < 1e-9
    near, at = least_curvature(2.0 - 1.1e-3, 2.0), least_curvature(2.0 - 0.9e-3, 2.0)
    assert abs(near - at) < 1e-3 * near


@pytest.mark.parametrize("reward", [-0.1, 1.1, math.nan])
def test_other_outcomes_are_refused(reward: float) -> None:
    """What is neither yes nor no nor between is refused, and nothing has changed."""
    model = LogisticUCB(2)
    with pytest.raises(InvalidInput, match="from 0"):
        model.learn(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, reward]))
    assert model.n_outcomes == 0


def test_sums_are_what_they_say() -> None:
    """The carried inverses are the inverses of the carried matrices, across refreshes."""
    rng = np.random.default_rng(0)
    contexts = random_contexts(rng, 600, 4)
    model = LogisticUCB(4)
    model.learn(contexts, (rng.random(600) < 0.3).astype(float))
    state = model.state()
    np.testing.assert_allclose(state["H"] @ state["H_inv"], np.eye(4), atol=1e-9)
    np.testing.assert_allclose(state["M"] @ state["M_inv"], np.eye(4), atol=1e-9)


def test_it_says_when_no_theta_fits() -> None:
    """Outcomes far beyond what the bound on theta allows refute it; a larger bound does not."""
    contexts, yes = np.tile([[0.2, 0.0]], (400, 1)), np.ones(400)
    small, large = LogisticUCB(2, norm_bound=0.5), LogisticUCB(2, norm_bound=50.0)
    for model in (small, large):
        model.learn(contexts, yes)
        assert np.all(np.isfinite(model.optimistic(contexts[:1])))
    assert small.is_refuted
    assert not large.is_refuted


def test_capped_candidates_do_not_tie() -> None:
    """Before the first outcome everybody is at the cap; those with more to explore are ahead."""
    model = LogisticUCB(2, norm_bound=1.0)
    model.learn(np.tile([[1.0, 0.0]], (5, 1)), np.ones(5))
    known, unknown = model.optimistic(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert known != unknown


@pytest.mark.statistical
@pytest.mark.parametrize(("d", "norm", "n"), [(3, 3.6, 1500), (10, 2.0, 1500), (46, 3.6, 1500)])
def test_intervals_contain_the_truth_at_all_times(d: int, norm: float, n: int) -> None:
    """In 20 runs of a bandit-like choice (the most promising of five), at most three leave an interval at any time.

    The promise is 95% of runs; with three or more misses expected in 1.6% of sets of 20, more than three refute it.
    """
    missed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        theta, people = a_theta(rng, d, norm), random_contexts(rng, 40, d)
        truth, model, ok = chances(people, theta), LogisticUCB(d), True
        for i in range(n):
            offered = random_contexts(rng, 5, d)
            x = offered[np.argmax(model.optimistic(offered))]
            model.learn(x[None], np.array([float(rng.random() < chances(x, theta))]))
            if i % 25 == 0:
                lower, upper = model.interval(people)
                ok &= bool(np.all((lower <= truth + 1e-9) & (truth <= upper + 1e-9)))
        missed += not ok
    assert missed <= 3


@pytest.mark.statistical
@pytest.mark.parametrize(("d", "norm", "n", "most"), [(3, 3.6, 2000, 1.1), (46, 3.6, 3000, 0.6)])
def test_its_widths_are_no_wider_than_those_of_linear_regression(d: int, norm: float, n: int, most: float) -> None:
    """On the same yes and no outcomes its widths are at most this share of RidgeUCB's, which may not even hold."""
    rng = np.random.default_rng(4)
    theta, people = a_theta(rng, d, norm), random_contexts(rng, 50, d)
    contexts = random_contexts(rng, n, d)
    contexts /= np.linalg.norm(contexts, axis=1)[:, None]
    answers = (rng.random(n) < chances(contexts, theta)).astype(float)
    logistic, ridge = LogisticUCB(d), RidgeUCB(d)
    for model in (logistic, ridge):
        model.learn(contexts, answers)
    assert np.mean(logistic.widths(people)) < most * np.mean(ridge.widths(people))


@pytest.mark.statistical
def test_it_learns_the_probabilities() -> None:
    """After 4,000 outcomes with five features estimates are right to 0.05 on average, and widths have halved twice."""
    rng = np.random.default_rng(1)
    theta, people = a_theta(rng, 5, 3.0), random_contexts(rng, 100, 5)
    model, contexts = LogisticUCB(5), random_contexts(rng, 4000, 5)
    first = model.widths(people)
    model.learn(contexts, (rng.random(4000) < chances(contexts, theta)).astype(float))
    assert np.mean(np.abs(model.estimate(people) - chances(people, theta))) < 0.05
    assert np.mean(model.widths(people)) < 0.5 * np.mean(first)


def test_a_bandit_earns_with_it() -> None:
    """Those who pay back more often get higher probabilities than those who do not."""
    rng = np.random.default_rng(3)
    bandit = FairBandit(2, capacity=1, reward=LogisticUCB(2), seed=3, reviewer_error=0.001)
    contexts = np.array([[0.9, 0.1], [-0.9, 0.1]])
    for _ in range(150):
        decision = bandit.decide(contexts)
        bandit.learn(decision, rewards={i: float(rng.random() < (0.9, 0.1)[i]) for i in decision.chosen})
    good, bad = bandit.reward.estimate(contexts)
    assert good > 0.7 > 0.4 > bad
    assert bandit.decide(contexts).probabilities[0] > bandit.decide(contexts).probabilities[1]
