"""Half-spaces, the memory of them, and whether any metric fits them."""

from __future__ import annotations

import math

import numpy as np

from evenhand.metrics.ellipsoid import fits
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import HalfSpaces, Memory, MemoryTuning, Pairs, Verdicts
from evenhand.records.decision import PROBABILITY_TOLERANCE


def _one(gap: float, *, unfair: bool) -> HalfSpaces:
    pairs = Pairs(np.array([[0, 1]]), np.array([[1.0]]))
    return HalfSpaces.of(MetricSpace(1), Verdicts(pairs, np.array([gap]), np.array([unfair]), np.array([True])))


def test_a_truth_at_the_gap_fits_both_verdicts() -> None:
    """Probabilities are exact to PROBABILITY_TOLERANCE: neither verdict cuts off a distance within it of the gap."""
    for distance in (0.3 - PROBABILITY_TOLERANCE / 2, 0.3, 0.3 + PROBABILITY_TOLERANCE / 2):
        for unfair in (False, True):
            assert _one(0.3, unfair=unfair).slacks(np.array([distance**2]))[0] >= 0
    assert _one(0.3, unfair=True).slacks(np.array([(0.3 + 3e-9) ** 2]))[0] < 0
    assert _one(0.3, unfair=False).slacks(np.array([(0.3 - 3e-9) ** 2]))[0] < 0


def test_the_newest_are_remembered() -> None:
    """Beyond the limit the oldest half-spaces can be split off; many unknowns are remembered less often each."""
    tuning = MemoryTuning()
    most = tuning.max_rows(2)
    memory = Memory.empty(2, most)
    for value in range(most + 40):
        new = HalfSpaces(np.ones((2, 2)), np.full(2, float(value)), np.ones(2))
        memory = memory.extended(new, np.zeros(2))
    assert memory.is_full
    oldest, newest = memory.split()
    assert most == 2 * tuning.remembered_per_unknown
    assert len(newest.all()) == 7 * most // 8
    assert not newest.is_full
    assert newest.all().thresholds[-1] == most + 39
    assert np.array_equal(oldest.joined(newest.all()).thresholds, memory.all().thresholds)
    assert 2000 * tuning.max_rows(2000) <= tuning.max_remembered_numbers


def test_only_scores_in_between_are_remembered() -> None:
    """Rows are remembered whose score lies strictly between the limits, and the original does not change."""
    empty = Memory.empty(1, 10)
    rows = HalfSpaces(np.array([[1.0], [2.0], [3.0]]), np.array([4.0, 5.0, 6.0]), np.array([1.0, -1.0, 1.0]))
    memory = empty.extended(rows, np.array([-5.0, 0.0, 3.0]), -5.0, 3.0)
    assert [part.tolist() for part in memory.all().state().values()] == [[[2.0]], [5.0], [-1.0]]
    assert len(empty) == 0


def test_what_fits() -> None:
    """A half-space beyond the box does not fit within it but fits without; a negative diagonal never does."""
    space = MetricSpace(1)
    far = HalfSpaces(np.ones((1, 1)), np.array([3.0]), np.ones(1))
    assert not fits(space, far, 1.0)
    assert fits(space, far, 4.0)
    assert fits(space, far, math.inf)
    negative = HalfSpaces(np.ones((1, 1)), np.array([-0.5]), -np.ones(1))
    assert not fits(space, negative, math.inf)
    assert not fits(space, far.joined(_one(0.5, unfair=True)), math.inf)
