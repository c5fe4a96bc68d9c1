"""The numbers behind the promise of VersionSpace: each step of the proofs, and the mass left, against exact values."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaincc

from evenhand.errors import InvalidInput
from evenhand.metrics import MetricLearner, Pairs, Verdicts, VersionSpace
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.version_space.constraints import Constraints
from evenhand.metrics.version_space.soft_density import SoftDensity
from evenhand.metrics.version_space.tuning import DensityTuning
from evenhand.testing.metric_worlds import random_A, random_contexts, verdicts_at_the_guess
from evenhand.theory import flagged_rounds, flags_left, share_kept

Array = np.ndarray[Any, Any]


def uniform_metrics(rng: np.random.Generator, n: int) -> Array:
    """Uniform on the 2 x 2 positive semidefinite matrices of norm <= 1, by rejection, as alpha: (about n / 7, 3)."""
    x = rng.uniform([0.0, -1.0, 0.0], 1.0, (n, 3))
    return np.asarray(x[are_metrics(x)])


def are_metrics(x: Array) -> Array:
    """Which alpha (n, 3) are positive semidefinite and of norm <= 1."""
    is_psd = (x[:, 0] >= 0.0) & (x[:, 2] >= 0.0) & (x[:, 0] * x[:, 2] >= 0.5 * x[:, 1] ** 2)
    return np.asarray(is_psd & (np.linalg.norm(x, axis=1) <= 1.0))


# The proof.


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_copy_of_all_metrics_is_never_cut(rank: int) -> None:
    """All metrics shrunk towards the truth by set_back / (4 bound) agree with every right answer, and no more do."""
    rng, d, bound, set_back = np.random.default_rng(rank), 3, 2.0, 1e-3
    A = random_A(rng, d, rank=rank, norm=bound)
    truth, worst = A.T @ A, 0.0
    for _ in range(3000):
        other = random_A(rng, d, rank=int(rng.integers(1, d + 1)), norm=bound)
        copy = truth + set_back / (4.0 * bound) * (other.T @ other - truth)
        x = random_contexts(rng, 1, d)[0]
        eigenvector = np.linalg.eigh(copy - truth)[1][:, -1]
        for z in (2.0 * x, 2.0 * eigenvector, x - random_contexts(rng, 1, d)[0]):
            worst = max(worst, abs(z @ (copy - truth) @ z))
    assert worst <= set_back * (1.0 + 1e-9)
    assert worst > 0.8 * set_back


@pytest.mark.statistical
def test_a_flag_leaves_the_quantile_on_average() -> None:
    """What lies below the distance played, on average over clouds, is the quantile or less: here of all metrics.

    400 clouds of 100 points; the mean share has a standard error of 0.001.
    """
    exact, normal, shares = uniform_metrics(np.random.default_rng(0), 1_000_000), np.array([[1.0, 0.5, 0.2]]), []
    for seed in range(400):
        learner = VersionSpace(2, epsilon=0.01, error_rate=0, n_points=100, seed=seed)
        shares.append(np.mean(exact @ normal[0] <= learner._density.quantiles(normal, 0.05)[0]))
    assert np.mean(shares) < 0.05 + 0.003
    assert np.mean(shares) > 0.04


def test_quantiles_that_hold_on_average_cost_about_one_flag() -> None:
    """Shares as varied as 300 points make them use up the budget later than exact ones; never after the bound, in 95%.

    10,000 runs; the bound allows 2.5% of them to be above.
    """
    rng, budget = np.random.default_rng(1), 15 * math.log(4.0 / 0.25e-4)
    logs = np.cumsum(-np.log(rng.beta(15, 286, size=(10_000, 120))), axis=1)
    flags = np.sum(logs <= budget, axis=1)
    settings: dict[str, Any] = {"bound": 1.0, "set_back": 0.25e-4, "quantile": 0.05}
    exact, sampled = flags_left(15, **settings), flags_left(15, **settings, confidence=0.95)
    assert exact is not None
    assert sampled is not None
    assert exact < sampled <= exact + 2
    assert np.mean(flags > sampled) <= 0.025
    assert np.max(flags) > exact


def test_decisions_waiting_for_review_multiply_the_flags() -> None:
    """Shown five times before anybody answers, a pair is flagged five times; so is the bound five times as high."""
    learner, waiting, flags = VersionSpace(1, epsilon=0.01, error_rate=0, seed=0), 5, 0
    bound = learner.flags_left
    assert bound is not None
    for _ in range(20):
        verdicts = verdicts_at_the_guess(learner, np.array([[1.0], [-1.0]]), np.zeros((1, 1)))
        for _ in range(waiting):
            flags += bool(verdicts.unfair.any())
            learner.learn(verdicts)
    assert bound < flags <= waiting * bound


@pytest.mark.parametrize("shape", [1, 2, 5, 20, 100])
def test_what_lies_behind_a_dropped_face_is_counted(shape: int) -> None:
    """Of a gamma density, log-concave, less lies beyond `near` deviations from the mean than `dropped` says."""
    tuning = DensityTuning()
    assert gammaincc(shape, shape + tuning.near * math.sqrt(shape)) < tuning.dropped


# The mass left.


def log_volume_left(learner: VersionSpace, answers: list[Constraints], rng: np.random.Generator) -> float:
    """The log of the volume of all 2 x 2 metrics that agree with the answers, by rejection from a box around them."""
    points = learner._density.points
    centre = points.mean(axis=0)
    axes = np.linalg.svd(points - centre, full_matrices=False)[2]
    places = (points - centre) @ axes.T
    low, high = places.min(axis=0), places.max(axis=0)
    low, high = 2.0 * low - high, 2.0 * high - low
    x = centre + (low + rng.random((200_000, 3)) * (high - low)) @ axes
    inside = are_metrics(x)
    for answer in answers:
        inside &= np.all(answer.slacks(x) >= 0.0, axis=1)
    return math.log(np.mean(inside)) + float(np.sum(np.log(high - low)))


@pytest.mark.statistical
def test_the_volume_left_is_known_as_well_as_claimed() -> None:
    """After 60 answers about random pairs, true metric zero, e^-32 of the volume is left: 20 seeds.

    Errors have mean zero and the deviation claimed, each to three standard errors of 20 runs.
    """
    prior = math.log(len(uniform_metrics(np.random.default_rng(0), 1_000_000)) / 1e6 * 2.0)
    errors = []
    for seed in range(20):
        rng, answers = np.random.default_rng(seed), []
        learner = VersionSpace(2, epsilon=0.01, error_rate=0, seed=seed + 1000)
        for _ in range(60):
            verdicts = verdicts_at_the_guess(learner, random_contexts(rng, 2, 2), np.zeros((1, 2)))
            if len(verdicts):
                new = learner._constraints(verdicts)
                answers.append(new.take(learner._density.informative(new)))
                learner.learn(verdicts)
        density = learner._density
        error = density.log_mass - (log_volume_left(learner, answers, rng) - prior)
        errors.append(error / math.sqrt(density.variance))
    assert abs(np.mean(errors)) < 3.0 / math.sqrt(20)
    assert 0.5 < np.std(errors) < 1.5


def log_mass_of(answers: Constraints, n_wrong_for_all: int, rate: float, bound: float) -> float:
    """The log of the mass of [0, bound] after soft answers about one unknown: exact, an interval at a time."""
    A, b = answers.A[:, 0], answers.b
    ends = np.unique(np.clip(np.concatenate([[0.0, bound], b / A]), 0.0, bound))
    wrong = np.sum(A * (ends[1:, None] + ends[:-1, None]) / 2.0 < b, axis=1) + n_wrong_for_all
    return math.log(float(np.sum(np.diff(ends) * (rate / (1.0 - rate)) ** wrong)) / bound)


def ask_about_one_unknown(learner: VersionSpace, rng: np.random.Generator, n: int, lies: float) -> Constraints:
    """n answers about pairs of random lengths, some of them wrong; all of them."""
    answers, truth = Constraints.none(1), np.array([[math.sqrt(rng.uniform(0.1, 0.5))]])
    for _ in range(n):
        contexts = np.array([[rng.uniform(0.3, 1.0)], [-rng.uniform(0.0, 0.5)]])
        verdicts = verdicts_at_the_guess(learner, contexts, truth)
        verdicts = replace(verdicts, unfair=verdicts.unfair ^ (rng.random() < lies))
        answers = answers.joined(learner._constraints(verdicts))
        learner.learn(verdicts)
    return answers


@pytest.mark.parametrize("seed", range(8))
def test_right_answers_are_not_counted_as_wrong(seed: int) -> None:
    """120 right answers at error rate 0.001: the mass left is that of the exact density, and hardly any is wrong.

    One point that disagrees does not make an answer wrong for all of them: that cost a factor of 999 each time.
    """
    learner = VersionSpace(1, epsilon=0.01, error_rate=1e-3, seed=seed)
    answers = ask_about_one_unknown(learner, np.random.default_rng(seed), 120, 0.0)
    density = learner._density
    assert isinstance(density, SoftDensity)
    assert np.sum(density.agreed) == 0
    assert density.n_wrong(0.005) <= 2
    error = density.log_mass - log_mass_of(answers, 0, 1e-3, learner.bound)
    assert abs(error) < 4.0 * math.sqrt(density.variance)


class Forgetful(VersionSpace):
    """Keeps eight soft answers at most."""

    tuning = DensityTuning(max_soft=8)


def test_forgotten_answers_leave_no_trace() -> None:
    """Beyond the maximum the mass is that of the answers kept, and reviewers have given no others.

    If an answer were forgotten and the mass it cost were not given back, flags_left would fall for nothing. Over 40
    seeds the error is not below zero by a standard error and a half (it was by three without the mass of one point more
    for each answer forgotten), and in no run by two flags. What is forgotten is not part of the confidence.
    """
    errors, kept = [], []
    for seed in range(40):
        learner, rng = Forgetful(1, epsilon=0.01, error_rate=0.2, seed=seed), np.random.default_rng(seed)
        for square in rng.random(60):
            unfair = (square > 0.4) ^ (rng.random() < 0.2)
            learner.learn_pair([0.5], [-0.5], gap=math.sqrt(square), unfair=unfair)
        density = learner._density
        assert isinstance(density, SoftDensity)
        kept.append(density.n_answers[0])
        exact = log_mass_of(density.answers, int(np.sum(density.agreed)), 0.2, learner.bound)
        errors.append(density.log_mass - exact)
    assert np.median(kept) < 45
    assert np.mean(errors) > -1.5 * np.std(errors) / math.sqrt(len(errors))
    assert np.min(errors) > 2.0 * math.log(share_kept(0.05, 0.2))


# The settings.


@pytest.mark.parametrize("error_rate", [0, 1e-3])
def test_low_quantiles_learn_as_well(error_rate: float) -> None:
    """A pair that is never flagged is played farther and farther apart, however low the quantile."""
    learner, (x, y) = (
        VersionSpace(1, epsilon=0.1, quantile=0.004, error_rate=error_rate, seed=0),
        np.array([[0.5], [-0.5]]),
    )
    for _ in range(600):
        gap = float(np.sqrt(min(learner.guess(Pairs.between(x, y))[0], 1.0)))
        learner.learn_pair(x, y, gap=gap, unfair=False)
    assert learner.guess(Pairs.between(x, y))[0] > 0.5


def test_quantiles_that_rest_on_no_point_are_refused() -> None:
    """So few points below it make no quantile: the share it leaves would be larger than promised."""
    with pytest.raises(InvalidInput, match=r"n_points must be .* 4000.* got 300"):
        VersionSpace(2, quantile=1e-3, n_points=300)
    assert VersionSpace(1, quantile=1e-2, error_rate=0).n_points == 1000


def test_mass_that_no_metric_would_lose_ends_the_promise() -> None:
    """Less mass left than every metric keeps: none fits with so few wrong answers, and nothing is promised."""
    budget = 6 * math.log(4.0 / 0.25e-4)
    hidden = math.log(1.0 / 0.025)  # what sampling may hide
    for log_mass, ends in ((-budget - hidden + 0.01, False), (-budget - hidden - 0.01, True)):
        learner = VersionSpace(3, epsilon=0.01, error_rate=1e-3, seed=3)
        learner._history = replace(learner._history, density=replace(learner._density, log_mass=log_mass))
        assert (learner.flags_left is None) == ends
        assert learner.promise.startswith("The answers leave less" if ends else "At most 0 more decisions")


def test_a_promise_is_worked_out_once_a_review(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every decision asks for the number; it changes with the answers only, and with each of them."""
    learner, computed = VersionSpace(2, epsilon=0.01, error_rate=0, seed=7), list[int]()

    def counted(*arguments: Any, **named: Any) -> int | None:
        left = flags_left(*arguments, **named)
        computed.append(-1 if left is None else left)
        return left

    monkeypatch.setattr("evenhand.metrics.version_space.promise.flags_left", counted)
    before = learner.flags_left
    assert (learner.flags_left, copy.deepcopy(learner).flags_left, len(computed)) == (before, before, 1)
    learner.learn_pair([0.9, 0.0], [0.0, 0.0], gap=0.5, unfair=True)
    assert learner.flags_left == computed[-1] != before
    assert len(computed) == 2


def test_one_bit_reviews_promise_less() -> None:
    """A flag on one of n pairs leaves n times the quantile; nothing is promised where that is all."""
    learner = VersionSpace(2, epsilon=0.01, error_rate=0, seed=7)
    pairs = Pairs(np.array([[0, 1], [0, 2]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    verdicts = Verdicts(pairs, np.array([0.9, 0.9]), np.zeros(2, np.bool_), np.ones(2, np.bool_))
    learner.learn_bit(verdicts, any_unfair=True)
    learner = MetricLearner.restored(learner.saved())  # type: ignore[assignment]
    density, left = learner._density, learner.flags_left
    assert left == flags_left(
        3,
        bound=1.0,
        set_back=0.25e-4,
        quantile=0.1,
        log_mass=density.log_mass,
        variance=density.variance,
        confidence=0.95,
    )
    many = Pairs(np.tile([0, 1], (20, 1)), np.linspace([1.0, 0.0], [0.0, 1.0], 20))
    learner.learn_bit(Verdicts(many, np.full(20, 0.9), np.zeros(20, np.bool_), np.ones(20, np.bool_)), any_unfair=True)
    assert learner.flags_left is None
    assert "which of many pairs" in learner.promise


def test_a_wrong_answer_costs_what_the_second_theorem_says() -> None:
    """The bound grows by the same amount for every wrong answer, and not at all with the number of right ones."""
    settings: dict[str, Any] = {"bound": 1.0, "set_back": 1e-4, "quantile": 0.1, "error_rate": 0.1}
    none, one, two = (flagged_rounds(6, **settings, n_wrong=n) for n in range(3))
    assert two - one == pytest.approx(one - none)
    assert 1.3 < one - none < 1.5
    assert MetricSpace(3).n_unknowns == 6
