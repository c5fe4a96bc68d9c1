"""Bounds on guesses: what is played of any distance lies between them, whatever is believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand._internal.arrays import Floats
from evenhand.metrics import BayesPoint, Guarded, Pairs
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.guess_bounds import GuessBounds, shape_of
from evenhand.metrics.gaussian.truncated_normal import quantile_above_zero
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
    return GuessBounds(
        contexts, learner.space, learner._history.belief.mean, learner._history.belief.widest, learner._caution()
    )


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
    """No distance played exceeds its upper end; and no pair is missed whose gap reaches the distance played."""
    learner = _learner(seed, d, reviews=reviews, caution=caution, structure=structure, softness=softness)
    rng = np.random.default_rng(seed)
    contexts = random_contexts(rng, k, d)
    contexts[rng.integers(k)] = contexts[0]  # a copy
    contexts[rng.integers(k)] = contexts[0] * (1 - 1e-9)  # nearly one
    bounds, played = _bounds(learner, contexts), learner.playable_distances(contexts)
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
    as_full = GuessBounds(
        contexts, full, full.flatten(np.diag(alpha)), learner._history.belief.widest, learner._caution()
    )

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
