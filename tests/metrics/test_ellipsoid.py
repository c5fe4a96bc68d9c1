"""Ellipsoid: the geometry of cuts, and what recycling them buys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import theory
from evenhand.metrics import Ellipsoid, Learned, Pairs
from evenhand.metrics.ellipsoid import Shape
from evenhand.testing.metric_worlds import random_A, random_contexts, true_squares, verdicts_at_the_guess


@settings(max_examples=60, deadline=None)
@given(m=st.integers(1, 8), depth=st.floats(-0.9, 0.95), seed=st.integers(0, 10**6))
def test_a_cut_keeps_all_that_it_should(m: int, depth: float, seed: int) -> None:
    """Every point of the old ellipsoid on the right side of the cut lies in the new one, and it is smaller."""
    if depth <= -1 / m:
        return
    rng = np.random.default_rng(seed)
    shape = Shape(rng.normal(size=m), rng.normal(size=(m, m)) + 2 * np.eye(m))
    u, side = rng.normal(size=m), float(rng.choice([-1, 1]))
    threshold = float(u @ shape.centre) + side * depth * float(np.linalg.norm(u @ shape.root))
    assert shape.depth(u, threshold, side) == pytest.approx(depth, abs=1e-9)
    smaller = shape.cut(u, side, depth)
    directions = rng.normal(size=(500, m))
    inside = shape.centre + (directions / np.linalg.norm(directions, axis=1, keepdims=True)) @ shape.root.T
    kept = inside[side * (inside @ u - threshold) >= 0]
    reach = np.linalg.norm(np.linalg.solve(smaller.root, (kept - smaller.centre).T), axis=0)
    assert np.all(reach <= 1 + 1e-7)
    assert abs(np.linalg.det(smaller.root)) < abs(np.linalg.det(shape.root)) * (1 + 1e-8)


def test_the_first_guess_is_not_zero() -> None:
    """Before any verdict every two different candidates have a positive guess: there is something to flag."""
    pairs = Pairs.of(random_contexts(np.random.default_rng(0), 6, 4))
    assert np.all(Ellipsoid(4).guess(pairs) > 0)


def test_mistakes_stay_below_the_bound_of_the_theory() -> None:
    """Guesses wrong by more than epsilon number fewer than the theorem allows, by far."""
    rng = np.random.default_rng(1)
    A, epsilon, mistakes = random_A(rng, 3), 0.05, 0
    learner = Ellipsoid(3, epsilon=epsilon)
    for _ in range(800):
        contexts = random_contexts(rng, 2, 3)
        pairs = Pairs.of(contexts)
        mistakes += bool(abs(np.sqrt(learner.guess(pairs)[0]) - np.sqrt(true_squares(pairs, A)[0])) > epsilon)
        learner.learn(verdicts_at_the_guess(learner, contexts, A))
    assert 0 < mistakes <= theory.ellipsoid_mistakes(6, epsilon**2, 1.0)


@pytest.mark.parametrize("rank", [1, 3])
def test_the_centre_satisfies_past_verdicts(rank: int) -> None:
    """Recycled cuts pull the centre into every remembered verdict that is not yet known to within epsilon."""
    rng = np.random.default_rng(2)
    A = random_A(rng, 3, rank=rank)
    learner = Ellipsoid(3, epsilon=0.02)
    for _ in range(60):
        learner.learn(verdicts_at_the_guess(learner, random_contexts(rng, 4, 3), A))
    memory, shape = learner._memory, learner._shape
    undecided = shape.half_widths(memory.normals) > 0.02**2
    assert np.all(memory.slacks(shape.centre)[undecided] >= -1e-9)


def test_a_deep_but_consistent_verdict_is_no_conflict() -> None:
    """A verdict that leaves a twentieth of the width is taken in, not refused."""
    learner = Ellipsoid(1, epsilon=0.01)
    x, y = np.array([0.5]), np.array([-0.5])
    middle, width = learner._shape.centre[0], abs(learner._shape.root[0, 0])
    gap = float(np.sqrt(middle + 0.95 * width))
    assert learner.learn_pair(x, y, gap=gap, unfair=False) == Learned(1)
    assert learner.distances([x, y]).lower[0, 1] == pytest.approx(gap, abs=1e-6)


def test_a_verdict_beyond_the_bound_makes_it_grow() -> None:
    """A verdict that nothing within the bound fits, but a larger metric does, doubles the bound until it fits."""
    learner = Ellipsoid(1, bound=0.1, epsilon=0.01)
    x, y = np.array([0.5]), np.array([-0.5])
    assert learner.learn_pair(x, y, gap=0.9, unfair=False).conflicts == ()
    assert learner.bound > 0.1
    for _ in range(5):
        learner.learn_pair(x, y, gap=0.9, unfair=False)
    assert learner.distances([x, y]).upper[0, 1] >= 0.9


def test_known_pairs_are_played_at_their_lower_end() -> None:
    """A pair known to within epsilon is played where it cannot be flagged; play_known_low=False plays the centre."""
    rng = np.random.default_rng(4)
    A = random_A(rng, 2)
    for low in (True, False):
        learner = Ellipsoid(2, epsilon=0.05, play_known_low=low)
        for _ in range(200):
            learner.learn(verdicts_at_the_guess(learner, random_contexts(rng, 3, 2), A))
        pairs = Pairs.of(random_contexts(rng, 5, 2))
        played = learner.ends(pairs)[0] if low else learner.estimate(pairs)
        assert np.array_equal(learner.guess(pairs), played)
