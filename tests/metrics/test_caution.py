"""Which squared distance is played: a low quantile, or the lower end once the distance is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.metrics.gaussian.caution import Caution, cautious_squares
from evenhand.metrics.gaussian.truncated_normal import quantile_above_zero

CAUTION = Caution.at(0.1, 0.1, 3.0, 0.5, 0.1)
"""At epsilon 0.1: a distance is known to within 0.05, and played 0.01 below its estimate."""


def played(mean: float, sd: float) -> float:
    """The squared distance that is played."""
    return float(cautious_squares(np.array([mean]), np.array([sd]), CAUTION)[0])


@pytest.mark.parametrize("mean", [-0.005, 0.0, 0.002])
def test_a_wide_belief_near_zero_is_no_knowledge(mean: float) -> None:
    """Estimate and lower end are both near zero, but the distance may be large: its low quantile is played."""
    expected = float(quantile_above_zero(np.array([mean]), np.array([0.02]), 0.1)[0])
    assert played(mean, 0.02) == pytest.approx(expected, rel=1e-6)
    assert expected > 0


@pytest.mark.parametrize("mean", [-1e-5, 0.0, 1e-5])
def test_a_narrow_belief_near_zero_is_known(mean: float) -> None:
    """What cannot be far from zero is played as zero."""
    assert played(mean, 1e-4) == 0.0


@given(st.floats(1e-6, 1.0), st.floats(1e-6, 0.33))
def test_the_lower_end_alone_decides_away_from_zero(mean: float, share: float) -> None:
    """A distance whose lower end is above zero is known if and only if that end is near its estimate."""
    sd = share * mean
    middle, lower = np.sqrt(mean), np.sqrt(mean - 3.0 * sd)
    quantile = float(quantile_above_zero(np.array([mean]), np.array([sd]), 0.1)[0])
    expected = max(min(lower, middle - 0.01), 0.0) ** 2 if middle - lower <= 0.05 else quantile
    assert played(mean, sd) == pytest.approx(expected, rel=1e-6)


def test_ratings_of_many_columns_do_not_end_in_equal_probabilities() -> None:
    """After a few ratings among candidates of 46 columns there are still gaps, and pairs to review."""
    rng, (n_features, k) = np.random.default_rng(0), (46, 50)
    bandit = eh.FairBandit(n_features, seed=0)
    tastes, theta = rng.normal(size=(2, n_features)) / np.sqrt(n_features)
    for _ in range(8):
        contexts = rng.normal(size=(k, n_features))
        contexts *= rng.uniform(0.6, 1.0, size=(k, 1)) / np.linalg.norm(contexts, axis=1, keepdims=True)
        scores = np.clip(np.round(3 + contexts @ tastes * n_features**0.5 + rng.normal(size=k) * 0.6), 1, 5)
        decision = bandit.decide(contexts)
        proposed = bandit.pairs_to_review(decision, 3)
        assert proposed
        assert np.ptp(decision.probabilities) > 0.01
        review = eh.Review.ratings({i: float(scores[i]) for each in proposed for i in each.pair})
        bandit.learn(decision, review=review, rewards={i: float(contexts[i] @ theta) for i in decision.chosen})
