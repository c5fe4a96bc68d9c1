"""Kernel beliefs: equal to the covariance of all unknowns while their supports fit, and sound when they do not."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import eigvalsh
from evenhand.metrics import BayesPoint, MetricLearner, Pairs
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian._lanczos import lowest_directions
from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.covariance_form import CovarianceForm
from evenhand.metrics.gaussian.forms import LEAST_LEARNED
from evenhand.metrics.gaussian.kernel_belief import KernelBelief
from evenhand.metrics.gaussian.kernel_form import KernelForm
from evenhand.metrics.gaussian.prior_shape import PriorShape
from evenhand.metrics.gaussian.tuning import DEFAULT, BayesPointTuning
from evenhand.metrics.verdicts import HalfSpaces
from evenhand.testing import MetricLearnerContract
from evenhand.testing.metric_worlds import random_contexts, verdicts_at_the_guess

BLUR, RATE = 1e-4, np.array([0.05])
labels = st.sampled_from([None, "abcde", "aabbc", "aaaaa", "abacb"])
cases: dict[str, Any] = {"ratio": st.sampled_from([0.03, 0.3, 1.0]), "blocks": labels, "seed": st.integers(0, 1000)}


class _Both:
    """A belief in both forms about metrics of five features, told the same."""

    def __init__(self, ratio: float, blocks: str | None, seed: int, tuning: BayesPointTuning = DEFAULT) -> None:
        self.rng, self.space = np.random.default_rng(seed), MetricSpace(5)
        shape = PriorShape.of(5, ratio, blocks)
        self.forms = CovarianceForm(self.space, shape, tuning), KernelForm(self.space, shape, tuning)
        self.full: Belief = self.forms[0].prior(1.0)
        self.kernel: KernelBelief = self.forms[1].prior(1.0)
        A = self.rng.normal(size=(2, 5))
        self.G = A.T @ A / np.linalg.norm(A.T @ A)

    def answers(self, n: int) -> tuple[HalfSpaces, HalfSpaces]:
        """Half-spaces that hold the truth, as the two forms read them."""
        z = self.forms[1].rows(self.rng.normal(size=(n, 5)) * 0.5)
        squared = np.einsum("ij,jk,ik->i", z, self.G, z)
        thresholds = squared * self.rng.uniform(0.3, 1.7, size=n)
        sides = np.where(squared >= thresholds, 1.0, -1.0)
        return HalfSpaces(self.space.features(z), thresholds, sides), HalfSpaces(z, thresholds, sides)

    def learn(self, n: int, times: int = 1, *, is_exact: bool = True, rate: Floats = RATE) -> None:
        for _ in range(times):
            full, kernel = self.answers(n)
            first, second = self.full.update(full, rate, blur=BLUR), self.kernel.update(kernel, rate, blur=BLUR)
            assert not is_exact or np.allclose(first.evidence, second.evidence, atol=1e-8)
            self.full, self.kernel = first.belief, second.belief

    def check(self, atol: float = 1e-8) -> None:
        z = self.rng.normal(size=(90, 5))
        for ours, theirs in zip(self.kernel.moments(z), self.full.moments(self.space.features(z)), strict=True):
            assert np.allclose(ours, theirs, rtol=0, atol=atol)
        joint = self.kernel.covariances(z)
        assert np.allclose(joint, self.full.covariances(self.space.features(z)), rtol=0, atol=atol)
        assert np.allclose(np.diag(joint), self.kernel.moments(z)[1] ** 2, rtol=0, atol=atol)
        assert np.allclose(self.forms[1].matrix(self.kernel), self.forms[0].matrix(self.full), atol=atol)
        assert np.allclose(self.forms[1].means(self.kernel, z), self.forms[0].means(self.full, z), atol=atol)


@given(**cases)
@settings(max_examples=25, deadline=None)
def test_equal_to_the_full_covariance(ratio: float, blocks: str | None, seed: int) -> None:
    """Moments, means, evidence and the bound are those of the covariance of all unknowns, to 1e-8."""
    both = _Both(ratio, blocks, seed)
    both.check()
    both.learn(3, times=8)
    both.learn(80)
    both.check()
    for bound in (0.2, 0.4, 0.6, 0.8):
        assert both.kernel.outgrows(bound) == both.full.outgrows(bound)


@given(**cases)
@settings(max_examples=15, deadline=None)
def test_other_changes_are_equal_too(ratio: float, blocks: str | None, seed: int) -> None:
    """One bit, a widened belief and another prior change both forms alike; and learning goes on from there.

    A bit to 1e-6: its moments are subtracted from the belief's, which leaves fewer digits (one of 3,000 cases differed
    by 6e-7, the others by less than 1e-8). With another prior to the precision of LEAST_LEARNED: what was learned of a
    direction just there may count in one form and not in the other.
    """
    both = _Both(ratio, blocks, seed)
    both.learn(4, times=3)
    full, kernel = (replace(half_spaces, sides=np.ones(4)) for half_spaces in both.answers(4))
    both.full, chance = both.full.update_bit(full, True, error_rate=0.05, blur=BLUR)
    both.kernel, other = both.kernel.update_bit(kernel, True, error_rate=0.05, blur=BLUR)
    assert other == pytest.approx(chance, abs=1e-9)
    both.check(LEAST_LEARNED)
    variance = both.forms[0].prior_variance(1.0)
    both.full, both.kernel = both.full.widened(4.0, variance), both.kernel.widened(4.0, variance)
    both.check(LEAST_LEARNED)
    both.learn(4, times=2, is_exact=False)
    both.full = both.full.with_prior(*(both.forms[0].prior(bound) for bound in (1.0, 2.0)))
    both.kernel = both.kernel.with_prior(*(both.forms[1].prior(bound) for bound in (1.0, 2.0)))
    both.check(10 * LEAST_LEARNED)
    both.learn(4, is_exact=False)
    both.check(10 * LEAST_LEARNED)


@given(**cases)
@settings(max_examples=15, deadline=None)
def test_entries_and_draws_are_equal(ratio: float, blocks: str | None, seed: int) -> None:
    """The same moments of entries of G, the same covariances with a pair; draws are positive semidefinite."""
    both = _Both(ratio, blocks, seed)
    both.learn(4, times=4)
    i, j = np.array([[0, 1, 3], [2, 4, 1]])
    for ours, theirs in zip(
        both.forms[1].entries(both.kernel, i, j), both.forms[0].entries(both.full, i, j), strict=True
    ):
        assert np.allclose(ours, theirs, atol=1e-9)
    z = both.rng.normal(size=5)
    matrix, variance = both.kernel.reach(z)
    u = both.space.features(z[None, :])[0]
    assert np.allclose(both.space.flatten(matrix), both.full.cov @ u, atol=1e-9)
    assert variance == pytest.approx(float(u @ both.full.cov @ u), abs=1e-9)
    drawn = both.forms[1].draw(both.kernel, 1.0, np.random.default_rng(0))
    assert np.min(eigvalsh(drawn)) >= -1e-9


def test_draws_have_the_moments_of_the_belief() -> None:
    """Draws before the truncation: their mean and spread along pairs are those of the belief."""
    both = _Both(0.3, "aabbc", 1)
    both.learn(4, times=4)
    rng, z = np.random.default_rng(2), both.rng.normal(size=(6, 5))
    draws = np.array([np.einsum("ij,jk,ik->i", z, both.kernel.drawn(rng), z) for _ in range(4000)])
    mean, sd = both.kernel.moments(z)
    assert np.allclose(draws.mean(axis=0), mean, atol=0.08 * np.max(sd))
    assert np.allclose(draws.std(axis=0), sd, rtol=0.06)


def test_rows_are_looked_at_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The moments of many rows do not depend, but for rounding, on how many of them are looked at together."""
    both = _Both(0.3, "aabbc", 1)
    both.learn(4, times=4)
    z = both.rng.normal(size=(50, 5))
    whole = both.kernel.moments(z)
    monkeypatch.setattr("evenhand.metrics.gaussian.kernel_belief.AT_ONCE", 7)
    for in_blocks, at_once in zip(both.kernel.moments(z), whole, strict=True):
        assert np.allclose(in_blocks, at_once, rtol=1e-12, atol=0)


def test_nothing_is_lost_if_the_supports_span_everything() -> None:
    """Supports beyond the number of unknowns can be dropped without any loss."""
    both = _Both(0.3, None, 0, replace(DEFAULT, max_supports=20, supports_to_drop=10))
    both.learn(1, times=100, is_exact=False, rate=np.zeros(1))
    assert both.kernel.n_supports <= 30
    z = both.rng.normal(size=(50, 5))
    for ours, theirs in zip(both.kernel.moments(z), both.full.moments(both.space.features(z)), strict=True):
        assert np.allclose(ours, theirs, atol=1e-5)


def test_a_small_budget_is_less_certain_and_not_more() -> None:
    """With half as many supports as unknowns the belief knows less, says so, and is still a belief."""
    both = _Both(1.0, None, 3, replace(DEFAULT, max_supports=8, supports_to_drop=4))
    both.learn(3, times=30, is_exact=False)
    assert both.kernel.n_supports <= 12
    z = both.rng.normal(size=(200, 5))
    (mean, sd), (_, exact) = both.kernel.moments(z), both.full.moments(both.space.features(z))
    _, first = both.forms[1].prior(1.0).moments(z)
    assert np.mean(sd) > np.mean(exact)
    assert np.all(sd <= first * (1.0 + 1e-9))
    assert np.mean(sd) < 0.8 * np.mean(first)
    assert np.all(np.isfinite(mean))


def test_a_bit_about_many_pairs_is_learned_from_those_that_may_be_unfair() -> None:
    """Pairs that are surely fair do not crowd out the one that is not, wherever it stands among them."""
    both, n = _Both(0.3, None, 7), 3 * DEFAULT.max_bit_rows
    z = both.forms[1].rows(both.rng.normal(size=(n, 5)) * 0.5)
    mean, sd = both.kernel.moments(z)
    thresholds = mean - 50.0 * sd  # surely below the squared distances
    thresholds[-1] = mean[-1]
    bit = HalfSpaces(z, thresholds, np.ones(n))
    kernel, chance = both.kernel.update_bit(bit, True, error_rate=0.05, blur=BLUR)
    full, exact = both.full.update_bit(replace(bit, normals=both.space.features(z)), True, error_rate=0.05, blur=BLUR)
    assert chance == pytest.approx(exact, rel=0.1)
    last = kernel.moments(z[-1:])[0][0]
    assert last == pytest.approx(full.moments(both.space.features(z[-1:]))[0][0], rel=0.1)
    assert last < mean[-1] - 0.5 * sd[-1]


def test_a_bit_that_is_no_news_changes_nothing() -> None:
    """A first bit about pairs that are surely fair leaves the prior as it is."""
    kernel = _Both(0.3, None, 7).kernel
    z = np.eye(5)
    mean, sd = kernel.moments(z)
    after, _ = kernel.update_bit(HalfSpaces(z, mean - 50.0 * sd, np.ones(5)), False, error_rate=0.05, blur=BLUR)
    assert after.n_supports == 0
    assert np.array_equal(after.moments(z), (mean, sd))


def test_a_widening_verdict_is_no_trouble() -> None:
    """Verdicts that widen the belief, and then too many supports: no variance is negative or beyond the prior's."""
    both = _Both(0.3, None, 5, replace(DEFAULT, max_supports=12, supports_to_drop=4))
    for _ in range(20):
        _, kernel = both.answers(3)
        lies = replace(kernel, sides=-kernel.sides)
        both.kernel = both.kernel.update(lies, np.array([0.3]), blur=BLUR).belief
    z = both.rng.normal(size=(200, 5))
    _, sd = both.kernel.moments(z)
    assert np.all(sd > 0.0)
    assert np.all(sd <= 1.5 * both.forms[1].prior(1.0).moments(z)[1])


def test_what_is_known_exactly_survives_another_prior() -> None:
    """Directions without any variance left, one of them with a mean far from the prior's, stay finite and known."""
    both = _Both(1.0, None, 3)
    rows = both.forms[1].rows(both.rng.normal(size=(3, 5)))
    known = both.forms[1].prior(1.0).update(HalfSpaces(rows, np.zeros(3), np.ones(3)), RATE, blur=BLUR).belief
    K = known.supports.covariances(known.prior, known.supports.rows)
    weights = np.linalg.solve(K, np.array([40.0, 0.1, 0.2]))
    kernel = replace(known, supports=known.supports.rebuilt(weights, known.supports.whitened(known.prior), np.ones(3)))
    u = both.space.features(rows)
    cov = both.full.cov - both.full.cov @ u.T @ np.linalg.solve(K, u @ both.full.cov)
    full = replace(both.full, mean=both.full.mean + both.full.cov @ u.T @ weights, cov=cov)
    both.full, both.kernel = full, kernel
    both.check()
    before = kernel.moments(rows)[0]
    both.full = full.with_prior(*(both.forms[0].prior(bound) for bound in (1.0, 2.0)))
    both.kernel = kernel.with_prior(*(both.forms[1].prior(bound) for bound in (1.0, 2.0)))
    both.check(10 * LEAST_LEARNED)
    means, deviations = both.kernel.moments(rows)
    assert np.allclose(means, before, atol=1e-6)
    assert np.max(deviations) < 1e-6


def test_pairs_of_all_sizes_leave_no_variance_below_zero() -> None:
    """Supports that nearly depend on one another, many widenings and drops: a sound covariance of any pairs remains."""
    both = _Both(0.3, None, 7, replace(DEFAULT, max_supports=40, supports_to_drop=8))
    for _ in range(40):
        _, kernel = both.answers(3)
        sizes = 10.0 ** both.rng.uniform(-2.7, 0.0, size=3)
        rows, thresholds = kernel.normals * sizes[:, None], kernel.thresholds * sizes**2
        half_spaces = replace(kernel, normals=rows, thresholds=thresholds)
        both.kernel = both.kernel.update(half_spaces, RATE, blur=1e-12).belief.widened(1.2)
    z = both.rng.normal(size=(60, 5))
    first = both.forms[1].prior(1.0).moments(z)[1]
    covariances = both.kernel.covariances(z) / np.outer(first, first)
    assert np.min(np.diag(covariances)) > 0.0
    assert eigvalsh(covariances)[0] > -1e-9


def test_z_and_minus_z_are_one_pair() -> None:
    """A pair the other way round is a repetition, not news."""
    both = _Both(0.3, None, 0)
    rows = both.forms[1].rows(np.array([[0.0, -0.5, 0.2, 0.0, 0.1], [0.0, 0.5, -0.2, 0.0, -0.1]]))
    update = both.kernel.update(HalfSpaces(rows, np.full(2, 0.1), -np.ones(2)), RATE, blur=BLUR)
    assert update.belief.n_supports == 1


@pytest.mark.parametrize("blocks", [None, "aabbc"])
def test_lanczos_finds_the_lowest_directions(blocks: str | None) -> None:
    """With as many steps as features: the lowest eigenvalues of the mean, with their vectors."""
    both = _Both(0.3, blocks, 2)
    both.learn(4, times=4)
    values, directions = lowest_directions(both.kernel, 5, 2)
    G = both.kernel.matrix()
    assert np.allclose(values, eigvalsh(G)[:2], atol=1e-9)
    assert np.allclose(np.einsum("ij,jk,ik->i", directions, G, directions), values, atol=1e-9)


@pytest.mark.parametrize("exact_features", [128, 1])
def test_negative_directions_become_less_negative(exact_features: int) -> None:
    """Projection lifts the mean where it was negative, by eigenvectors or by Lanczos."""
    both = _Both(1.0, None, 4, replace(DEFAULT, exact_features=exact_features))
    z = both.forms[1].rows(np.array([[0.6, 0.5, 0.4, 0.1, 0.3], [0.1, 0.6, -0.5, 0.2, 0.2]]))
    belief = both.kernel
    for _ in range(4):
        belief = belief.update(HalfSpaces(z, np.zeros(2), -np.ones(2)), RATE, blur=BLUR).belief
        z = z * 0.9
    lowest = eigvalsh(belief.matrix())[0]
    assert lowest < -1e-3
    assert eigvalsh(both.forms[1].project(belief, 1.0).matrix())[0] > 0.5 * lowest


class _SmallKernel(BayesPoint):
    """A kernel belief already at a few features."""

    tuning = replace(DEFAULT, max_kernel_free=0)


class _TinyBudget(BayesPoint):
    """The same with few supports."""

    tuning = replace(DEFAULT, max_kernel_free=0, max_supports=40, supports_to_drop=10)


def _with_auto(settings: dict[str, Any]) -> dict[str, Any]:
    structure = settings.get("structure", "full")
    return {**settings, "structure": "auto" if structure in ("full", "diagonal") else structure}


class TestKernelLearner(MetricLearnerContract):
    """All that is asked of a learner."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return _SmallKernel(n_features, **_with_auto(settings))


class TestKernelLearnerWithFewSupports(MetricLearnerContract):
    """The same when supports must go."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return _TinyBudget(n_features, **_with_auto(settings))


def _play(learner: MetricLearner, A: Floats, *, n: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(n):
        learner.learn(verdicts_at_the_guess(learner, random_contexts(rng, 4, A.shape[1]), A))


@pytest.mark.parametrize("learned", [{}, {"error_rate": None}, {"error_rate": None, "softness": None}])
@pytest.mark.parametrize("kind", [_SmallKernel, _TinyBudget])
def test_a_saved_kernel_learner_goes_on_to_the_bit(kind: type[BayesPoint], learned: dict[str, Any]) -> None:
    """State and back, then the same answers: the same guesses."""
    A = np.diag([0.5, 0.2, 0.4, 0.1])
    learner = kind(4, structure="auto", epsilon=None, **learned)
    _play(learner, A, n=20)
    twin = kind.from_state(copy.deepcopy(learner.state()))
    for each in (learner, twin):
        _play(each, A, n=10, seed=1)
    pairs = Pairs.of(random_contexts(np.random.default_rng(5), 5, 4))
    assert np.array_equal(learner.guess(pairs), twin.guess(pairs))


def test_many_features_take_little_memory() -> None:
    """300 features, 45,150 unknowns: a bandit decides, proposes, learns and is saved; the state is a few megabytes."""
    rng, d = np.random.default_rng(0), 300
    bandit = eh.FairBandit(d, metric=BayesPoint(d, structure="auto", epsilon=0.01), seed=0)
    for _ in range(4):
        decision = bandit.decide(random_contexts(rng, 6, d))
        pairs = [each.pair for each in bandit.pairs_to_review(decision, 3)]
        bandit.learn(decision, review=eh.Review.partial(unfair=pairs[:1], fair=pairs[1:]))
    assert _numbers(bandit.metric.state()) < 200_000
    assert isinstance(bandit.metric, BayesPoint)
    assert all(isinstance(each.sentence, str) for each in bandit.metric.interactions(["a"] * 150 + ["b"] * 150))


def _numbers(state: Any) -> int:
    if isinstance(state, dict):
        return sum(_numbers(each) for each in state.values())
    if isinstance(state, list):
        return sum(_numbers(each) for each in state)
    return state.size if isinstance(state, np.ndarray) else 1
