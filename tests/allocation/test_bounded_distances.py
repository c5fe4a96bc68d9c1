"""fair_distribution_within: bounds and a few distances give what all distances give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import evenhand as eh
from evenhand.allocation import BoundedDistances, fair_distribution, fair_distribution_within
from evenhand.errors import InvalidInput

Floats = NDArray[np.float64]


class _Dear:
    """Distances that are counted when they are found out, with random bounds."""

    def __init__(self, rng: np.random.Generator, distances: Floats, looseness: float) -> None:
        k = len(distances)
        loose = np.triu(rng.uniform(0, looseness, (k, k)), 1)
        self.distances, self.computed = distances, 0
        self.lower = distances * (1 - np.minimum(loose + loose.T, 1.0))
        self.upper = distances * (1 + loose + loose.T)

    def bounded(self) -> BoundedDistances:
        return BoundedDistances(self.upper.copy(), self._may_reach, self._exact)

    def _may_reach(self, probabilities: Floats, tolerance: float, settled: NDArray[np.bool_]) -> NDArray[np.int64]:
        reached = (np.abs(probabilities[:, None] - probabilities) + tolerance >= self.lower) & ~settled
        return np.stack(np.nonzero(np.triu(reached, 1)), axis=1)

    def _exact(self, pairs: NDArray[np.int64]) -> Floats:
        self.computed += len(pairs)
        return np.asarray(self.distances[pairs[:, 0], pairs[:, 1]])


def _instance(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    x = rng.normal(size=(k, 3))
    distances = np.linalg.norm(x[:, None] - x, axis=2) * rng.choice([0.02, 0.1, 0.5])
    if k > 3:
        distances[0, 1] = distances[1, 0] = 0.0
    return rng.normal(size=k), distances


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    k=st.integers(1, 40),
    capacity=st.sampled_from([1, 2.5, 5, None]),
    looseness=st.sampled_from([0.0, 0.1, 1.0, 5.0]),
)
def test_equals_the_eager_answer(seed: int, k: int, capacity: float | None, looseness: float) -> None:
    """The value, the fairness of every pair and the tight pairs are those of all distances known."""
    rng = np.random.default_rng(seed)
    rewards, distances = _instance(rng, k)
    eager = fair_distribution(rewards, distances, capacity)
    best = fair_distribution_within(rewards, _Dear(rng, distances, looseness).bounded(), capacity)
    assert abs(best.value - eager.value) <= 1e-9
    gaps = np.abs(best.probabilities[:, None] - best.probabilities)
    assert np.all(gaps <= distances + 1e-9)
    is_tight = np.triu(gaps >= distances - 1e-11, 1)
    assert set(best.tight_pairs) == {(int(i), int(j)) for i, j in zip(*np.nonzero(is_tight), strict=True)}
    if np.allclose(best.probabilities, eager.probabilities, atol=1e-12):
        assert len(best.tight_pairs) == len(eager.tight_pairs)


def test_only_what_matters_is_found_out() -> None:
    """Of a thousand candidates' half a million distances a few hundred are asked for, none of them twice."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 20))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    distances = np.linalg.norm(x[:, None] - x, axis=2) * 0.3
    dear = _Dear(rng, distances, 0.5)
    best = fair_distribution_within(rng.normal(size=1000), dear.bounded())
    assert best.value > 0
    assert dear.computed <= 2000


def test_bad_rewards_are_refused() -> None:
    """A reward that is no number is refused as it is with plain distances."""
    rng = np.random.default_rng(2)
    rewards, distances = _instance(rng, 6)
    rewards[3] = np.nan
    with pytest.raises(InvalidInput, match="rewards must be finite, candidate 3 has nan"):
        fair_distribution_within(rewards, _Dear(rng, distances, 0.5).bounded())


def test_a_line_of_strangers_takes_few_steps() -> None:
    """600 people on a line of whom nothing is known: the allocation is asked a few times, not once for each of them."""
    line, steps = np.linspace(0.0, 0.7, 600), 0
    contexts, bandit = np.column_stack([line, line]), eh.FairBandit(2, seed=0, reviewer_error=1e-3)
    distances = bandit.safeguards.distances_that_matter(bandit.metric, contexts)
    assert isinstance(distances, BoundedDistances)

    def may_reach(probabilities: Floats, tolerance: float, settled: NDArray[np.bool_]) -> NDArray[np.int64]:
        nonlocal steps
        steps += 1
        return distances.may_reach(probabilities, tolerance, settled)

    counted = BoundedDistances(distances.upper, may_reach, distances.exact)
    best = fair_distribution_within(bandit.reward.optimistic(contexts), counted)
    assert steps <= 20
    assert best.probabilities.sum() == pytest.approx(1.0)
