"""VersionSpace: the contract of metric learners, and the promise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evenhand.errors import InvalidInput
from evenhand.metrics import MetricLearner, Pairs, Verdicts, VersionSpace
from evenhand.testing import CertainMetricLearnerContract, MetricLearnerContract
from evenhand.testing.metric_worlds import random_A, random_contexts, verdicts_at_the_guess
from evenhand.theory import flagged_rounds


class TestVersionSpace(CertainMetricLearnerContract):
    """The contract with answers that are never wrong."""

    patience = 3  # a low quantile learns slowly that it plays too low

    def make(self, n_features: int, **settings: Any) -> MetricLearner:
        """Hard cuts."""
        return VersionSpace(n_features, error_rate=0, seed=0, **settings)


class TestWeighedVersionSpace(MetricLearnerContract):
    """The contract with answers that are seldom wrong."""

    patience = 3

    def make(self, n_features: int, **settings: Any) -> MetricLearner:
        """The default."""
        return VersionSpace(n_features, seed=0, **settings)


class TestVersionSpaceWithLearnedRates(MetricLearnerContract):
    """The contract with error rates that are learned."""

    patience = 3
    expects_errors = True

    def make(self, n_features: int, **settings: Any) -> MetricLearner:
        """One rate for each reviewer."""
        return VersionSpace(n_features, error_rate=None, seed=0, **settings)


def attack(learner: VersionSpace, rng: np.random.Generator, tries: int = 40) -> np.ndarray[Any, Any]:
    """Two contexts with the largest distance played among many: what an attacker shows who sees the whole cloud."""
    d = learner.n_features
    sets = rng.normal(size=(tries, 2, d))
    sets /= np.linalg.norm(sets, axis=2, keepdims=True)
    sets[: tries // 2, 1] = -sets[: tries // 2, 0]  # as far apart as contexts can be
    guesses = learner.guess(Pairs(np.tile([0, 1], (tries, 1)), sets[:, 0] - sets[:, 1]))
    return np.asarray(sets[np.argmax(guesses)])


@pytest.mark.parametrize(("d", "rank"), [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 3)])
@pytest.mark.parametrize("error_rate", [0, 1e-3])
def test_flags_never_exceed_the_promise(d: int, rank: int, error_rate: float) -> None:
    """Whoever sees the cloud and always shows the pair played boldest gets no more flags than promised, at any time.

    Fixed seed; the promise is one of 95% confidence, far from tight but for the zero metric.
    """
    rng = np.random.default_rng(100 * d + rank)
    A, learner = random_A(rng, d, rank=rank), VersionSpace(d, epsilon=0.01, error_rate=error_rate, seed=rank)
    flags, promised = 0, [math.inf]
    for _ in range(250):
        verdicts = verdicts_at_the_guess(learner, attack(learner, rng), A)
        left = learner.flags_left
        assert left is not None
        promised.append(flags + left)
        learner.learn(verdicts)
        flags += bool(verdicts.unfair.any())
        assert flags <= min(promised)
    assert flags > 0
    assert flags <= flagged_rounds(
        learner.space.n_unknowns, bound=1.0, set_back=0.25e-4, quantile=0.05, error_rate=error_rate
    )


def test_the_mass_left_is_the_volume_left() -> None:
    """With one unknown the density is an interval, and its mass the interval's length, to sampling error."""
    learner = VersionSpace(1, epsilon=0.01, error_rate=0, n_points=1000, seed=3)
    lower, upper = 0.0, 1.0
    for square, unfair in ((0.3, False), (0.8, True), (0.45, True), (0.4, False)):
        learner.learn_pair([0.5], [-0.5], gap=math.sqrt(square), unfair=unfair)
        lower, upper = (lower, min(upper, square)) if unfair else (max(lower, square), upper)
        error = abs(learner._density.log_mass - math.log(upper - lower + 0.5e-4))
        assert error < 4.0 * math.sqrt(learner._density.variance) + 0.01
    assert learner._density.points.min() >= 0.4 - 1e-4
    assert learner._density.points.max() <= 0.45 + 1e-4


@pytest.mark.parametrize("d", [2, 3])
def test_all_metrics_alike_at_the_start(d: int) -> None:
    """The first points are uniform on the positive semidefinite matrices of norm <= 1: as rejection sampling says."""
    learner, rng = VersionSpace(d, epsilon=0.01, error_rate=0, n_points=2000, seed=1), np.random.default_rng(2)
    m = learner.space.n_unknowns
    raw = rng.normal(size=(400_000, m))
    raw *= (rng.random(len(raw)) ** (1 / m) / np.linalg.norm(raw, axis=1))[:, None]
    matrices = np.array([learner.space.unflatten(alpha) for alpha in raw[:60_000]])
    exact = raw[:60_000][np.linalg.eigvalsh(matrices)[:, 0] >= 0.0]
    points = learner._density.points
    scale = 4.0 * np.std(exact, axis=0) * (1 / math.sqrt(len(exact)) + 1 / math.sqrt(len(points) / 4))
    assert np.all(np.abs(exact.mean(axis=0) - points.mean(axis=0)) < scale)
    assert np.std(points, axis=0) == pytest.approx(np.std(exact, axis=0), rel=0.15)


def test_an_answer_that_no_metric_explains_ends_the_promise() -> None:
    """With hard answers it is a conflict, changes nothing, and flags_left says None; the sentence says why."""
    learner = VersionSpace(2, epsilon=0.05, error_rate=0, seed=0)
    x, y = [0.5, 0.0], [-0.5, 0.0]
    learner.learn_pair(x, y, gap=0.3, unfair=True)
    assert learner.flags_left is not None
    assert f"At most {learner.flags_left} more" in learner.promise
    points = learner._density.points
    assert learner.learn_pair(x, y, gap=0.9, unfair=False).conflicts == ((0, 1),)
    assert learner._density.points is points
    assert learner.flags_left is None
    assert "No metric fits" in learner.promise


def test_error_rates_are_learned_by_name() -> None:
    """A careful reviewer and a careless one are told apart, and what the careful one says counts for more."""
    rng = np.random.default_rng(5)
    A, learner = random_A(rng, 2), VersionSpace(2, epsilon=0.02, error_rate=None, seed=5)
    for t in range(160):
        verdicts = verdicts_at_the_guess(learner, random_contexts(rng, 4, 2), A)
        careless = t % 2 == 0
        wrong = rng.random(len(verdicts)) < (0.3 if careless else 0.0)
        learner.learn(replace(verdicts, unfair=verdicts.unfair ^ wrong, reviewer="Ben" if careless else "Ada"))
    report = learner.reviewers()
    assert report["Ada"].upper < 0.1
    assert report["Ben"].lower < 0.3 < report["Ben"].upper
    assert report["Ben"].answers > 200
    assert learner.flags_left is None
    assert "learned" in learner.promise


@pytest.mark.parametrize("error_rate", [0, 0.01, None])
def test_a_bit_about_many_pairs_teaches_that_one_of_them_is_unfair(error_rate: float | None) -> None:
    """At least one of two large gaps is too large: metrics for which neither is are dropped."""
    learner = VersionSpace(2, epsilon=0.01, error_rate=error_rate, n_points=600, seed=7)
    pairs = Pairs(np.array([[0, 1], [0, 2]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    verdicts = Verdicts(pairs, np.array([0.4, 0.4]), np.zeros(2, np.bool_), np.ones(2, np.bool_))
    learner.learn_bit(verdicts, any_unfair=True)
    density = learner._density
    squares = density.points @ learner.space.features(pairs.differences).T
    one_is_small = float(density.weights @ np.any(squares <= 0.16 + 1e-4, axis=1))
    both = float(density.weights @ np.all(squares <= 0.16 + 1e-4, axis=1))
    assert one_is_small > (0.85 if error_rate is None else 0.9)
    assert both < 0.6
    assert MetricLearner.restored(learner.saved()).learn_bit(verdicts, any_unfair=True).used == 2


def test_copies_of_people_count_once() -> None:
    """The same pair said twice in one review weighs no more than once."""
    once, twice = (VersionSpace(2, error_rate=0.1, seed=4) for _ in range(2))
    pairs = Pairs(np.array([[0, 1], [0, 2]]), np.array([[0.5, 0.1], [0.5, 0.1]]))
    verdicts = Verdicts(pairs, np.array([0.3, 0.3]), np.array([True, True]), np.ones(2, np.bool_))
    once.learn(verdicts.take(np.array([0])))
    twice.learn(verdicts)
    assert np.array_equal(once._density.weights, twice._density.weights)


def test_learning_again_from_the_start_of_a_larger_bound_forgets_nothing() -> None:
    """When the bound doubles, the earliest answer still holds."""
    learner = VersionSpace(2, epsilon=0.02, error_rate=0, bound=1.0, seed=8)
    learner.learn_pair([0.0, 0.5], [0.0, -0.5], gap=0.2, unfair=True)
    first = learner.bound
    rng, A = np.random.default_rng(9), np.array([[2.0, 0.0]])
    for _ in range(150):
        x = 0.5 * random_contexts(rng, 1, 2)[0]
        contexts = np.array([x, x * [0.3, 1.0]])
        learner.learn(verdicts_at_the_guess(learner, contexts, A))
    assert learner.bound > first
    assert np.max(learner._density.points @ learner.space.features(np.array([[0.0, 1.0]]))[0]) <= 0.04 + 1e-3


def test_settings_out_of_range_are_refused() -> None:
    """By a sentence that names the setting and quotes the value."""
    for bad in ({"quantile": 0.0}, {"quantile": 1.0}, {"set_back": 1e-9}, {"error_rate": 0.5}, {"n_points": 5}):
        ((name, value),) = bad.items()
        with pytest.raises(InvalidInput, match=f"{name} must be .* got {value}"):
            VersionSpace(2, **bad)
