"""Bounds on guesses: what is played of any distance lies between them, whatever is believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand._internal.arrays import Floats
from evenhand.allocation import fair_distribution
from evenhand.bandit import FairBandit
from evenhand.metrics import BayesPoint, Guarded, MetricLearner, Pairs, VersionSpace
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.guess_limits import gaussian_limits, shape_of
from evenhand.metrics.gaussian.truncated_normal import quantile_above_zero
from evenhand.metrics.guess_bounds import GuessBounds
from evenhand.testing.metric_worlds import random_A, random_contexts, verdicts_at_the_guess


def _learner(
    seed: int, d: int, *, reviews: int, caution: float = 0.1, structure: str = "full", softness: float = 0.0
) -> BayesPoint:
    rng = np.random.default_rng(seed)
    of_kind: dict[str, Any] = {"structure": structure, "softness": softness}
    learner = BayesPoint(d, epsilon=0.02, caution=caution, **of_kind)
    A = random_A(rng, d)
    if structure == "diagonal":
        A = np.diag(np.sqrt(np.sum(A**2, axis=0)))
    for _ in range(reviews):
        learner.learn(verdicts_at_the_guess(learner, random_contexts(rng, 5, d), A))
    return learner


def _bounds(learner: BayesPoint, contexts: Floats) -> GuessBounds:
    belief = learner._history.belief
    return GuessBounds(contexts, learner.space, belief.mean, gaussian_limits(belief.widest, learner._caution()))


def _check(learner: MetricLearner, bounds: GuessBounds, contexts: Floats, rng: np.random.Generator) -> None:
    """No distance played exceeds its upper end, and no pair is missed whose gap reaches the distance played."""
    k, played = len(contexts), learner.playable_distances(contexts)
    assert np.all(played <= bounds.upper)
    assert np.array_equal(bounds.upper, bounds.upper.T)
    probabilities = np.where(rng.random(k) < 0.5, 0.0, rng.random(k))
    first, second = Pairs.of(contexts).indices.T
    gaps = np.abs(probabilities[first] - probabilities[second])
    settled = np.zeros((k, k), np.bool_)
    settled[0, 1:3] = settled[1:3, 0] = True
    found = {(int(i), int(j)) for i, j in bounds.may_reach(probabilities, 1e-11, settled)}
    reached = (played[first, second] <= gaps + 1e-11) & ~settled[first, second]
    assert {(int(i), int(j)) for i, j in zip(first[reached], second[reached], strict=True)} <= found
    assert all(i < j and not settled[i, j] for i, j in found)


def _with_copies(rng: np.random.Generator, k: int, d: int) -> Floats:
    """Contexts with somebody who is a copy of another one, and somebody who nearly is."""
    contexts = random_contexts(rng, k, d)
    contexts[rng.integers(k)] = contexts[0]
    contexts[rng.integers(k)] = contexts[0] * (1 - 1e-9)
    return contexts


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 6),
    k=st.integers(2, 90),
    reviews=st.sampled_from([0, 1, 5, 40]),
    caution=st.sampled_from([0.02, 0.1, 0.5, 0.9]),
    structure=st.sampled_from(["full", "diagonal"]),
    softness=st.sampled_from([0.0, 0.01, 0.2]),
)
def test_what_is_played_lies_within(
    seed: int, d: int, k: int, reviews: int, caution: float, structure: str, softness: float
) -> None:
    """Under a Gaussian belief no distance exceeds its upper end, and no pair is missed whose gap reaches it."""
    learner = _learner(seed, d, reviews=reviews, caution=caution, structure=structure, softness=softness)
    rng = np.random.default_rng(seed)
    contexts = _with_copies(rng, k, d)
    _check(learner, _bounds(learner, contexts), contexts, rng)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 4),
    k=st.integers(64, 90),
    reviews=st.sampled_from([0, 1, 5, 20]),
    quantile=st.sampled_from([0.03, 0.1, 0.5, 0.9]),
    structure=st.sampled_from(["full", "diagonal"]),
    error_rate=st.sampled_from([0.0, 0.1, None]),
    rank=st.integers(0, 4),
)
def test_what_a_density_plays_lies_within(
    seed: int, d: int, k: int, reviews: int, quantile: float, structure: Any, error_rate: float | None, rank: int
) -> None:
    """The same for a quantile of what answers leave of all metrics, be the truth of full rank or zero."""
    rng = np.random.default_rng(seed)
    learner = VersionSpace(
        d, structure=structure, epsilon=0.02, quantile=quantile, error_rate=error_rate, n_points=200, seed=seed
    )
    A = np.diag(rng.random(d)) * (np.arange(d) < rank)
    for _ in range(reviews):
        learner.learn(verdicts_at_the_guess(learner, random_contexts(rng, 5, d), A))
    contexts = _with_copies(rng, k, d)
    bounds = learner.playable_bounds(contexts)
    assert bounds is not None
    _check(learner, bounds, contexts, rng)


@pytest.mark.parametrize("error_rate", [0.0, 0.1])
def test_a_large_round_under_a_density_is_worth_as_much(error_rate: float) -> None:
    """With 150 candidates the probabilities found by bounds are fair, and worth what those of the full table are."""
    rng = np.random.default_rng(0)
    learner = VersionSpace(3, error_rate=error_rate, seed=0)
    A = random_A(rng, 3)
    for _ in range(15):
        learner.learn(verdicts_at_the_guess(learner, random_contexts(rng, 5, 3), A))
    contexts = _with_copies(rng, 150, 3)
    decision = FairBandit(3, capacity=3, metric=learner, seed=0).decide(contexts)
    distances = learner.playable_distances(contexts)
    best = fair_distribution(decision.optimistic_rewards, distances, 3)
    p = decision.probabilities
    assert np.all(np.abs(p[:, None] - p) <= distances + 1e-9)
    assert decision.optimistic_rewards @ p == pytest.approx(best.value, rel=1e-9)


@pytest.mark.parametrize("error_rate", [0.0, 0.1])
@pytest.mark.parametrize("softness", [0.0, 0.1])
def test_pairs_are_looked_at_in_blocks(monkeypatch: pytest.MonkeyPatch, error_rate: float, softness: float) -> None:
    """What is said of many pairs does not depend on how many of them are looked at together."""
    softness = softness if error_rate else 0.0
    learner = VersionSpace(2, error_rate=error_rate, softness=softness, seed=0)
    pairs = Pairs.of(random_contexts(np.random.default_rng(0), 12, 2))
    gaps = np.linspace(0.0, 1.0, len(pairs.indices))

    def everything() -> list[Floats]:
        chances = learner.chance_unfair(pairs, gaps), learner.chance_flagged(pairs, gaps)
        return [learner.guess(pairs), learner.estimate(pairs), *learner.moments(pairs), *chances]

    whole = everything()
    monkeypatch.setattr("evenhand.metrics.version_space.density.AT_ONCE", 7)
    for in_blocks, at_once in zip(everything(), whole, strict=True):
        assert np.array_equal(in_blocks, at_once)


def test_soft_thresholds_have_no_bounds() -> None:
    """What a soft threshold adds is no part of the bounds: every distance is computed."""
    learner = VersionSpace(2, error_rate=0.1, softness=0.1, seed=0)
    assert learner.playable_bounds(random_contexts(np.random.default_rng(0), 100, 2)) is None


def test_any_belief_whatever_is_bounded() -> None:
    """Also for beliefs that no review brings about: negative directions, huge and tiny deviations."""
    rng = np.random.default_rng(0)
    learner, contexts = BayesPoint(4, epsilon=0.02), random_contexts(rng, 60, 4)
    for scale in (1e-6, 1e-3, 0.1, 3.0):
        for _ in range(10):
            root = rng.normal(size=(10, rng.integers(1, 11))) * scale
            learner._history.belief = Belief(rng.normal(size=10) * 0.3, root @ root.T)
            assert np.all(learner.playable_distances(contexts) <= _bounds(learner, contexts).upper)


def test_a_diagonal_matrix_needs_no_eigenvalues(monkeypatch: pytest.MonkeyPatch) -> None:
    """At d = 300 the bounds are those of the same matrix as a full one, without its decomposition, O(d^3)."""
    rng = np.random.default_rng(0)
    learner, contexts = BayesPoint(300, epsilon=0.02, structure="diagonal"), random_contexts(rng, 30, 300)
    learner._history.belief = Belief(rng.normal(size=300) * 0.1, np.eye(300) * 1e-4)
    full, alpha = MetricSpace(300, "full"), learner._history.belief.mean
    limits = gaussian_limits(learner._history.belief.widest, learner._caution())
    as_full = GuessBounds(contexts, full, full.flatten(np.diag(alpha)), limits)

    def decompose(matrix: Floats) -> None:
        raise AssertionError(f"eigenvalues of a {matrix.shape} matrix")

    monkeypatch.setattr(np.linalg, "eigh", decompose)
    bounds = learner.playable_bounds(contexts)
    assert bounds is not None
    np.testing.assert_allclose(bounds.upper, as_full.upper, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("quantile", [0.001, 0.1, 0.3, 0.49, 0.5, 0.7, 0.999])
def test_the_shape_of_the_quantile(quantile: float) -> None:
    """g is convex and increasing, crosses the diagonal at e if at all, and g(t)/t is nowhere below its least share."""
    equal, at_zero, least, untruncated = shape_of(1.0 - quantile)
    t = np.linspace(-8, 8, 4001)
    g = quantile_above_zero(t, np.ones_like(t), quantile)
    assert np.all(np.diff(g) > 0)
    assert np.all(np.diff(g, 2) > -1e-12)
    assert g[2000] == pytest.approx(at_zero)
    assert np.all(g[t > 0] >= least * t[t > 0])
    assert np.min(g[t > 0] / t[t > 0]) <= 1.01 * least or quantile > 0.5
    assert np.all(g >= t - untruncated - 1e-12)
    assert np.array_equal(g > t, t < equal) or np.isinf(equal)


def test_few_pairs_are_not_worth_it() -> None:
    """A small round is guessed at; a large one is bounded, by a guarded learner as by the one in play."""
    learner = _learner(0, 5, reviews=3)
    small, large = random_contexts(np.random.default_rng(0), 6, 5), random_contexts(np.random.default_rng(0), 200, 5)
    assert learner.playable_bounds(small) is None
    bounds, guarded = learner.playable_bounds(large), Guarded(learner).playable_bounds(large)
    assert bounds is not None
    assert guarded is not None
    assert np.array_equal(bounds.upper, guarded.upper)


class _Bold(BayesPoint):
    """Plays the mean."""

    def guess(self, pairs: Pairs) -> Floats:
        return self.estimate(pairs)


def test_whoever_guesses_otherwise_plays_what_they_guess() -> None:
    """A learner derived from BayesPoint with guesses of its own plays those, in small rounds and large ones."""
    contexts = random_contexts(np.random.default_rng(0), 200, 5)
    learner = _Bold(5)
    played = np.sqrt(learner.estimate(Pairs.of(contexts[:4])))
    assert np.array_equal(learner.playable_distances(contexts[:4])[np.triu_indices(4, 1)], played)
    assert learner.playable_bounds(contexts) is None
