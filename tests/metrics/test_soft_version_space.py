"""VersionSpace with soft thresholds: told apart from errors, played with care, and calibrated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.metrics import MetricLearner, Pairs, Verdicts, VersionSpace
from evenhand.metrics.version_space.soft_threshold import STEPS, chance_exceeded, ladder, threshold_quantiles
from evenhand.testing import MetricLearnerContract
from evenhand.testing.metric_worlds import random_A, random_contexts


class TestSoftVersionSpace(MetricLearnerContract):
    """Error rates and softness learned."""

    expects_errors = True

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return VersionSpace(n_features, error_rate=None, softness=None, seed=5, **settings)


def answers_of(
    learner: VersionSpace, *, softness: float, lapses: float, rounds: int, seed: int
) -> tuple[VersionSpace, Floats, Floats]:
    """The learner after rounds of play with such a reviewer, what it foretold of each answer, and the answers."""
    rng, d = np.random.default_rng(seed), learner.n_features
    A, foretold, flagged = random_A(rng, d, norm=0.7), [], []
    for _ in range(rounds):
        pairs = Pairs.of(random_contexts(rng, 5, d))
        gaps = np.minimum(np.sqrt(learner.guess(pairs)) * rng.uniform(0.5, 1.5, len(pairs)) + 1e-3, 1.0)
        thresholds = np.linalg.norm(pairs.differences @ A.T, axis=1) + softness * rng.standard_normal(len(pairs))
        unfair = (gaps > thresholds) ^ (rng.random(len(pairs)) < lapses)
        foretold.append(learner.chance_flagged(pairs, gaps))
        flagged.append(unfair)
        learner.learn(Verdicts(pairs, gaps, unfair, np.ones(len(pairs), np.bool_)))
    return learner, np.concatenate(foretold), np.concatenate(flagged).astype(float)


@given(softness=st.floats(0.001, 0.5), rate=st.floats(0.001, 0.4))
def test_a_ladder_rises_and_scales(softness: float, rate: float) -> None:
    """Steps lie one behind the other, and twice as far apart for twice the softness."""
    steps = ladder(softness, rate)
    assert len(steps) == STEPS
    assert np.all(np.diff(steps) > 0)
    np.testing.assert_allclose(ladder(2.0 * softness, rate), 2.0 * steps)


def test_sharp_thresholds_are_a_special_case() -> None:
    """At softness zero chances and quantiles are those of the density itself."""
    learner, rng = VersionSpace(2, error_rate=0.1, seed=0), np.random.default_rng(1)
    normals, gaps = learner.space.features(rng.normal(size=(20, 2)) / 3), rng.random(20)
    below = learner._density.points @ normals.T < gaps**2
    np.testing.assert_allclose(chance_exceeded(learner._density, normals, gaps, 0.0), below.mean(axis=0))
    np.testing.assert_allclose(chance_exceeded(learner._density, normals, gaps, 1e-9), below.mean(axis=0))
    sharp = threshold_quantiles(learner._density, normals, 0.1, 0.0)
    np.testing.assert_array_equal(sharp, learner._density.quantiles(normals, 0.1))


def test_what_is_played_is_flagged_as_often_as_the_quantile_says() -> None:
    """The chance of a flag at the distance played is the quantile, to what 300 points can tell, or the gap is zero."""
    learner, rng = VersionSpace(2, error_rate=0.1, softness=0.1, quantile=0.1, seed=0), np.random.default_rng(2)
    normals = learner.space.features(rng.normal(size=(50, 2)) / 2)
    played = np.sqrt(threshold_quantiles(learner._density, normals, 0.1, 0.1))
    chances = chance_exceeded(learner._density, normals, played, 0.1)
    assert np.max(np.abs(chances[played > 0] - 0.1)) < 0.03
    assert np.all(chances[played == 0] > 0.05)


@pytest.mark.statistical
@pytest.mark.parametrize(("softness", "lapses"), [(0.1, 0.0), (0.0, 0.1), (0.0, 0.0), (0.1, 0.1)])
def test_softness_and_errors_are_told_apart(softness: float, lapses: float) -> None:
    """After 1,200 answers softness is found within a factor of two, errors within 3 points; neither is the other.

    Means of three seeds.
    """
    found = []
    for seed in range(3):
        learner = VersionSpace(2, epsilon=0.02, error_rate=None, softness=None, seed=seed)
        learner, _, _ = answers_of(learner, softness=softness, lapses=lapses, rounds=120, seed=seed)
        report = learner.reviewers()[None]
        assert report.answers == 1200
        found.append((report.softness, report.error_rate))
    soft, wrong = np.mean(found, axis=0)
    assert 0.05 <= soft <= 0.2 if softness else soft < 0.02
    assert abs(wrong - lapses) < 0.03


@pytest.mark.statistical
def test_predictions_are_calibrated() -> None:
    """Of answers foretold as flags with a chance in each fifth, the share flagged is within 0.07 of the mean chance.

    Eight seeds, the later half of 1,600 answers of a reviewer who lapses in 5% and has a threshold of softness 0.1;
    fifths with 200 answers. Flags are foretold too often by 0.005 to 0.055.
    """
    chances, flags = [], []
    for seed in range(8):
        learner = VersionSpace(2, epsilon=0.02, error_rate=None, softness=None, seed=seed)
        _, foretold, flagged = answers_of(learner, softness=0.1, lapses=0.05, rounds=160, seed=seed)
        chances.append(foretold[800:])
        flags.append(flagged[800:])
    chance, flag = np.concatenate(chances), np.concatenate(flags)
    fifths = np.minimum((chance * 5).astype(int), 4)
    for fifth in range(5):
        here = fifths == fifth
        if np.sum(here) >= 200:
            assert abs(np.mean(flag[here]) - np.mean(chance[here])) < 0.07


def test_no_number_is_promised_of_soft_thresholds() -> None:
    """The theorems are about answers that fit a metric; the words say so."""
    learner = VersionSpace(2, error_rate=0.01, softness=0.05, seed=0)
    assert learner.flags_left is None
    assert learner.promise == "With thresholds that may be soft, no number of flags is proved."


def test_a_threshold_of_answers_that_are_never_wrong_is_sharp() -> None:
    """Hard cuts and soft thresholds exclude each other."""
    with pytest.raises(InvalidInput, match="softness must be 0 with error_rate 0"):
        VersionSpace(2, error_rate=0, softness=0.1)
    with pytest.raises(InvalidInput, match="softness"):
        VersionSpace(2, softness=-0.1)


def test_one_bit_counts_as_one_answer() -> None:
    """A one-bit review weighs as much as one answer, however many steps an answer has."""
    pairs = Pairs(np.array([[0, 1], [0, 2]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    verdicts = Verdicts(pairs, np.array([0.3, 0.3]), np.zeros(2, np.bool_), np.ones(2, np.bool_))
    sharp, soft = (VersionSpace(2, error_rate=0.1, softness=softness, seed=1) for softness in (0.0, 0.1))
    for learner in (sharp, soft):
        learner.learn_bit(verdicts, any_unfair=True)
    assert abs(sharp._density.log_mass - soft._density.log_mass) < 1e-9
