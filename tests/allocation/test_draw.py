"""The draw keeps the probabilities and never chooses too many."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.allocation import draw
from evenhand.errors import InvalidInput

DRAWS = 20_000


@pytest.mark.parametrize(
    ("probabilities", "capacity"),
    [
        ([0.5, 0.2, 0.0, 0.1], 1),
        ([0.25, 0.25, 0.5], 1),
        ([0.9, 0.1, 1.0, 0.0, 0.4], None),
        ([0.9, 0.8, 0.2, 0.1], 2),
        ([0.7, 0.6, 0.3, 0.6, 0.3], 3),
        ([0.9, 0.9, 0.7], 2.5),
        ([0.1, 0.2], 0.3),
    ],
)
def test_everybody_is_chosen_with_their_probability(probabilities: list[float], capacity: float | None) -> None:
    """Over 20,000 draws each frequency is within five standard deviations; probabilities 0 and 1 are exact."""
    rng = np.random.default_rng(7)
    counts = np.zeros(len(probabilities))
    for _ in range(DRAWS):
        chosen = draw(probabilities, capacity, rng)
        counts[list(chosen)] += 1
    p = np.array(probabilities)
    margin = 5 * np.sqrt(p * (1 - p) / DRAWS)
    assert np.all(np.abs(counts / DRAWS - p) <= margin)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_never_more_than_capacity(weights: list[float], capacity: int, seed: int) -> None:
    """Probabilities scaled to the whole capacity never choose too many, nor anybody at 0."""
    p = np.array(weights)
    if p.sum() > capacity:
        p *= capacity / p.sum()
    chosen = draw(p, capacity, np.random.default_rng(seed))
    assert len(chosen) <= capacity
    assert list(chosen) == sorted(set(chosen))
    assert all(p[i] > 0 for i in chosen)
    if capacity > 1:
        assert len(chosen) in (math.floor(p.sum()), math.ceil(p.sum()), round(p.sum()))


class _Unlucky:
    """A generator whose uniform numbers are as unlucky as they can be."""

    def __init__(self, uniform: float) -> None:
        self.uniform = uniform

    def random(self, size: int | None = None) -> Any:
        return self.uniform if size is None else np.full(size, self.uniform)

    def permutation(self, k: int) -> Any:
        return np.arange(k)


@pytest.mark.parametrize("uniform", [0.0, 1e-16, 1e-10, 1 - 2**-53])
def test_a_sum_above_capacity_by_rounding_chooses_nobody_extra(uniform: float) -> None:
    """Probabilities that sum to a hair more than the capacity still respect it, even at the unluckiest number."""
    p = np.array([0.5, 0.5, 0.5, 0.5 + 4e-10])
    assert len(draw(p, 2, _Unlucky(uniform))) <= 2  # type: ignore[arg-type]


def test_nobody_with_probability_zero_is_chosen_at_the_edge() -> None:
    """A uniform number of exactly zero passes over candidates whose probabilities are zero."""
    for capacity in (1, 2, None):
        assert draw([0.0, 1.0], capacity, _Unlucky(0.0)) == (1,)  # type: ignore[arg-type]


def test_with_capacity_one_a_single_uniform_number_decides() -> None:
    """One uniform number is compared with the running sum, so the same seed determines who is chosen."""
    rng, twin = np.random.default_rng(11), np.random.default_rng(11)
    edges = np.cumsum([0.2, 0.3, 0.1])
    for _ in range(100):
        position = int(np.sum(edges <= twin.random()))
        assert draw([0.2, 0.3, 0.1], 1, rng) == ((position,) if position < 3 else ())


def test_candidates_are_python_integers() -> None:
    """The answer can be written to a record as it is."""
    for capacity in (1, 2, None):
        assert all(type(i) is int for i in draw([1.0, 0.0], capacity, np.random.default_rng(0)))


@pytest.mark.parametrize(
    ("probabilities", "capacity", "sentence"),
    [
        ([0.5, 1.2], None, r"probabilities must be in \[0, 1\], candidate 1 has 1\.2"),
        ([-0.1], 1, r"probabilities must be in \[0, 1\], candidate 0 has -0\.1"),
        ([np.nan], 1, r"probabilities must be in \[0, 1\], candidate 0 has nan"),
        ([[0.5]], 1, r"probabilities must have shape \(k,\), got \(1, 1\)"),
        ([0.9, 0.9], 1, r"probabilities must sum to at most the capacity 1, got 1\.8"),
        ([0.5], 0, "capacity must be a number > 0 or None, got 0"),
    ],
)
def test_bad_probabilities_are_named(probabilities: Any, capacity: Any, sentence: str) -> None:
    """What is no probability is refused with a sentence that quotes it."""
    with pytest.raises(InvalidInput, match=sentence):
        draw(probabilities, capacity, np.random.default_rng(0))
