"""IntervalChaining: chains are connected components, and nobody is favoured over a better candidate."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.baselines import IntervalChaining
from evenhand.baselines.interval_chaining import chained_probabilities, chains
from evenhand.records.decision import Review
from evenhand.rewards import KnownReward, RidgeUCB
from tests.support.simulation import simulate
from tests.support.small_world import NOISE, SmallWorld

# Whole numbers, so that ties, touching ends and points among the intervals are common.
INTERVALS = st.lists(st.tuples(st.integers(-8, 8), st.integers(0, 4)), min_size=1, max_size=12)


def _ends(intervals: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    lower = np.array([float(low) for low, _ in intervals])
    return lower, lower + np.array([float(length) for _, length in intervals])


def _component(start: int, lower: np.ndarray, upper: np.ndarray) -> set[int]:
    """All that a search through overlapping intervals reaches from `start`."""
    found, todo = {start}, [start]
    while todo:
        i = todo.pop()
        for j in range(len(lower)):
            if j not in found and lower[i] <= upper[j] and lower[j] <= upper[i]:
                found.add(j)
                todo.append(j)
    return found


@settings(max_examples=300, deadline=None)
@given(INTERVALS)
def test_chains_are_the_connected_components(intervals: list[tuple[int, int]]) -> None:
    """Each chain is what a graph search finds from any of its members; they are disjoint and fall from the top."""
    lower, upper = _ends(intervals)
    found = chains(lower, upper)
    assert sorted(i for chain in found for i in chain.tolist()) == list(range(len(lower)))
    for chain in found:
        for member in chain.tolist():
            assert set(chain.tolist()) == _component(member, lower, upper)
    for above, below in itertools.pairwise(found):
        assert np.min(lower[above]) > np.max(upper[below])
    assert int(np.argmax(upper)) in found[0]


@settings(max_examples=300, deadline=None)
@given(INTERVALS, st.sampled_from([1, 2, 3, None]), st.integers(0, 10_000))
def test_nobody_is_favoured_over_a_better_candidate(
    intervals: list[tuple[int, int]], capacity: int | None, seed: int
) -> None:
    """Wherever in their intervals the true rewards lie, a candidate at least as good has at least the probabilities."""
    lower, upper = _ends(intervals)
    truth = np.random.default_rng(seed).uniform(lower, upper)
    p = chained_probabilities(lower, upper, capacity)
    better = truth[:, None] >= truth[None, :]
    assert np.all((p[:, None] >= p[None, :]) | ~better)
    assert np.all((p >= 0) & (p <= 1))
    assert capacity is None or p.sum() <= capacity + 1e-12


@settings(max_examples=200, deadline=None)
@given(INTERVALS)
def test_one_place_is_drawn_uniformly_from_the_top_chain(intervals: list[tuple[int, int]]) -> None:
    """With capacity 1 the component of the highest upper end shares the place; if it lies below 0 nobody has it."""
    lower, upper = _ends(intervals)
    top = sorted(_component(int(np.argmax(upper)), lower, upper))
    expected = np.zeros(len(lower))
    if np.max(upper) >= 0:
        expected[top] = 1.0 / len(top)
    assert np.array_equal(chained_probabilities(lower, upper, 1), expected)


@pytest.mark.parametrize(
    ("lower", "upper", "capacity", "expected"),
    [
        ([0.5, 0.2], [0.7, 0.5], 1, [0.5, 0.5]),  # touching intervals are linked
        ([0.5, 0.2], [0.7, 0.49], 1, [1.0, 0.0]),  # parted ones are not
        ([0.3, 0.3], [0.3, 0.3], 1, [0.5, 0.5]),  # equal and certain
        ([0.6, 0.3, 0.0], [0.9, 0.65, 0.35], 1, [1 / 3] * 3),  # linked through the one in the middle
        ([0.0, 0.1, 0.8], [1.0, 0.2, 0.9], 1, [1 / 3] * 3),  # a wide interval swallows the others
        ([0.4], [0.5], 1, [1.0]),  # alone
        ([-0.5], [-0.1], 1, [0.0]),  # alone, and surely worth less than nobody
        ([0.8, 0.1, 0.2, 0.15], [0.9, 0.3, 0.4, 0.25], 2, [1.0, 1 / 3, 1 / 3, 1 / 3]),
        ([0.8, 0.1, -0.5], [0.9, 0.3, -0.2], 5, [1.0, 1.0, 0.0]),
        ([0.8, -0.1, -0.5], [0.9, 0.3, -0.05], None, [1.0, 1.0, 1.0]),  # linked to one who may be worth choosing
        ([0.8, 0.1, -0.5], [0.9, 0.3, -0.2], None, [1.0, 1.0, 0.0]),
    ],
)
def test_cases_by_hand(lower: list[float], upper: list[float], capacity: int | None, expected: list[float]) -> None:
    """Touching, equal, swallowed, lonely and worthless intervals, with one place, some, and one for everybody."""
    assert chained_probabilities(np.array(lower), np.array(upper), capacity) == pytest.approx(expected)


def test_probabilities_come_from_the_models_intervals() -> None:
    """Played are the chains of estimate -+ width of the policy's own reward model, in every round."""
    policy = IntervalChaining(3, reward=RidgeUCB(3, noise=NOISE), seed=0)
    sizes = set()
    for decision in SmallWorld(3, 6, seed=4).play(policy, 400):
        middle, width = policy.reward.estimate(decision.contexts), policy.reward.widths(decision.contexts)
        upper = middle + width
        top = _component(int(np.argmax(upper)), middle - width, upper) if np.max(upper) >= 0 else set()
        assert set(np.flatnonzero(decision.probabilities).tolist()) == top
        sizes.add(len(top))
    assert {0, 1, 6} <= sizes


def test_with_intervals_that_hold_no_round_is_unjust() -> None:
    """In a long run no candidate ever had lower probabilities than one with a lower expected reward."""
    policy = IntervalChaining(4, reward=RidgeUCB(4, noise=NOISE), seed=2)
    world = SmallWorld(4, 5, seed=8)
    unequal = 0
    for decision in world.play(policy, 600):
        p = decision.probabilities[np.argsort(decision.contexts @ world.theta)]
        assert np.all(np.diff(p) >= 0)
        unequal += int(p[-1] > p[0])
    assert unequal > 300


def test_the_probabilities_concentrate_on_the_best_arm_once_gaps_show() -> None:
    """Fixed arms with gaps: equal probabilities at first, the best arm alone in the end."""
    theta, arms = np.array([0.8, 0.0]), np.array([[1.0, 0.0], [0.3, 0.9], [-0.5, 0.5]])
    rng = np.random.default_rng(0)
    policy = IntervalChaining(2, reward=RidgeUCB(2, noise=0.1), seed=1)
    assert policy.decide(arms).probabilities == pytest.approx([1 / 3] * 3)
    for _ in range(600):
        decision = policy.decide(arms)
        policy.learn(decision, rewards={i: float(arms[i] @ theta + 0.1 * rng.normal()) for i in decision.chosen})
    assert policy.decide(arms).probabilities.tolist() == [1.0, 0.0, 0.0]


def test_known_rewards_leave_only_ties() -> None:
    """With certain rewards equals share and the better one wins."""
    policy = IntervalChaining(2, reward=KnownReward([1.0, 0.0]), seed=0)
    assert policy.decide([[0.5, 0.1], [0.5, 0.8], [0.4, 0.0]]).probabilities.tolist() == [0.5, 0.5, 0.0]


def test_it_has_no_idea_of_who_is_alike() -> None:
    """Flags change nothing, and it is unfair under a metric to the last."""
    account = simulate(IntervalChaining(3, seed=0), d=3, k=4, rounds=800, seed=1)
    assert np.sum(account.unfair_pairs[700:]) > 50
    one, two = IntervalChaining(2, seed=0), IntervalChaining(2, seed=0)
    first = one.decide(np.eye(2))
    one.learn(first, review=Review.one_bit(any_unfair=True))
    two.decide(np.eye(2))
    assert np.array_equal(one.decide(np.eye(2)).probabilities, two.decide(np.eye(2)).probabilities)
