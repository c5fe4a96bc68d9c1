"""Each way to the optimum reaches it alone, without the others taking over."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.allocation_instances import Instance, full_model_value, make_instance

from evenhand.allocation._lazy_rows import lower_to_feasible
from evenhand.allocation._max_flow import (
    LEAST_GAIN,
    TIGHT_TOLERANCE,
    add_arc,
    empty_network,
    find_tight,
    maximum_closure,
    richest_closed_set,
    saturate,
    spread_stuck,
)
from evenhand.allocation._network_simplex import search_price
from evenhand.allocation._program import check_program, worst_excess
from evenhand.allocation._water_filling import fill


def check_water_filling(instance: Instance) -> None:
    """Probabilities and value of water-filling with all the events it wants."""
    a, unit = instance.rewards, float(np.max(np.abs(instance.rewards))) or 1.0
    program = check_program(a, instance.distances, instance.capacity)
    p, _, events = fill(a / unit, program.distances, program.budget, TIGHT_TOLERANCE, LEAST_GAIN, 20 * len(a) ** 2)
    assert events >= 0
    assert worst_excess(p, program.distances, program.capacity)[0] <= 1e-12
    assert abs(a @ p - full_model_value(instance)) <= 1e-9 * instance.scale, instance


def check_price_search(instance: Instance) -> None:
    """Probabilities and value of passing surplus down, at the price that fits the capacity."""
    a, unit = instance.rewards, float(np.max(np.abs(instance.rewards))) or 1.0
    program = check_program(a, instance.distances, instance.capacity)
    p, prices = search_price(a / unit, program.distances, program.budget, LEAST_GAIN, 20 * len(a))
    assert 0 <= prices <= 30
    assert worst_excess(p, program.distances, program.capacity)[0] <= 1e-12
    assert abs(a @ p - full_model_value(instance)) <= 1e-9 * instance.scale, instance


def test_water_filling_alone() -> None:
    """Water-filling finds the optimum of every kind, in far fewer events than there are pairs to tie."""
    for number in range(432):
        check_water_filling(make_instance(number))


def test_price_search_alone() -> None:
    """So does passing surplus down, with few paths and prices."""
    for number in range(432):
        check_price_search(make_instance(number))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10_000, 16_000, 1000))
def test_both_alone_on_thousands(start: int) -> None:
    """The same on thousands of instances with up to 40 candidates."""
    for number in range(start, start + 1000):
        instance = make_instance(number, most=40)
        check_water_filling(instance)
        check_price_search(instance)


def best_mean_by_trying_all(
    a: np.ndarray[tuple[int], np.dtype[np.float64]], tight: set[tuple[int, int]], stuck: set[int]
) -> float:
    """The highest mean reward of a closed set, by looking at every set."""
    best = -np.inf
    for mask in range(1, 2 ** len(a)):
        members = [i for i in range(len(a)) if mask >> i & 1]
        inside = set(members)
        if not inside & stuck and all(j in inside for i, j in tight if i in inside):
            best = max(best, float(np.mean(a[members])))
    return best


@pytest.mark.parametrize("seed", range(40))
def test_the_richest_closed_set_is_the_richest(seed: int) -> None:
    """On eight candidates no closed set has a higher mean than the one found, and the one found is closed."""
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 3, size=8) / 2
    raw = rng.integers(0, 3, size=(8, 8)) / 2 + (rng.random((8, 8)) < 0.6)
    c = np.minimum(raw, raw.T)
    a = rng.normal(size=8)
    constraints = find_tight(p, c, TIGHT_TOLERANCE)
    tight = {(i, int(j)) for i in range(8) for j in constraints.below[i, : constraints.degree[i]]}
    stuck = rng.random(8) < 0.15
    expected = best_mean_by_trying_all(a, tight, set(np.flatnonzero(stuck).tolist()))
    spread_stuck(constraints, stuck)
    mean, members = richest_closed_set(a, constraints, stuck, rng.random(8) < 0.3, LEAST_GAIN)
    assert mean == pytest.approx(expected, abs=1e-12)
    assert all(members[j] for i, j in tight if members[i])
    assert not maximum_closure(a, mean + 1e-9, constraints, stuck, LEAST_GAIN).any()


def test_maximum_flow_by_hand() -> None:
    """A small network whose maximum flow needs an arc to be used backwards."""
    network = empty_network(4, 5)
    position = 0
    for tail, head, room in ((0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0)):
        position = add_arc(network, position, tail, head, room)
    level = saturate(network, 0, 3, 1e-15)
    assert network.room[[1, 3]].sum() == 2.0  # what flows back to the source
    assert level.tolist() == [0, -1, -1, -1]


@pytest.mark.parametrize("seed", range(20))
def test_lowering_gives_the_largest_fair_probabilities_below(seed: int) -> None:
    """Probabilities are lowered until fair, fair ones are left alone, and nothing is lowered without need."""
    rng = np.random.default_rng(seed)
    raw = rng.random((10, 10)) * 0.4
    c = np.minimum(raw, raw.T)
    np.fill_diagonal(c, 0.0)
    probabilities = rng.random(10)
    shortest = c.copy()
    for middle in range(10):
        shortest = np.minimum(shortest, shortest[:, middle, None] + shortest[None, middle])
    lowered = probabilities.copy()
    lower_to_feasible(lowered, c)
    np.testing.assert_allclose(lowered, (probabilities[None] + shortest).min(axis=1), atol=1e-15)
    again = lowered.copy()
    lower_to_feasible(again, c)
    np.testing.assert_array_equal(again, lowered)
