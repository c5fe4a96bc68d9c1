"""Floors and ceilings: the value of HiGHS, with proof; and where nothing fits, pairs that collide and ways out."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.allocation_instances import (
    Instance,
    full_model_value_or_none,
    make_bounded_instance,
    make_instance,
)

from evenhand.allocation import (
    Allocation,
    BoundedDistances,
    Collisions,
    fair_distribution,
    fair_distribution_within,
    verify_certificate,
)
from evenhand.errors import CollidingBounds, InvalidInput, SolverFailed

QUICK = 144
PROOF = 8_000  # Of which more than 5,000 have a value.


def solved(instance: Instance, method: str = "auto") -> Allocation:
    """The best probabilities of an instance."""
    bounds = {"lower": instance.lower, "upper": instance.upper}
    return fair_distribution(instance.rewards, instance.distances, instance.capacity, method=method, **bounds)  # type: ignore[arg-type]


def check(number: int, most: int = 16) -> bool:
    """An instance has the value of HiGHS with proof, by both methods, or an explanation; whether it has a value."""
    instance = make_bounded_instance(number, most)
    value = full_model_value_or_none(instance)
    if value is None:
        with pytest.raises(CollidingBounds) as caught:
            solved(instance)
        check_collisions(instance, caught.value.collisions)
        return False
    found = [solved(instance, method) for method in ("combinatorial", "highs")]
    for best in found:
        assert abs(best.value - value) <= 1e-9 * instance.scale, instance
        assert best.worst_residual <= 1e-11
        inputs = (instance.rewards, instance.distances, instance.capacity)
        bounds = {"lower": instance.lower, "upper": instance.upper}
        verify_certificate(best.certificate(), best.probabilities, *inputs, **bounds)  # type: ignore[arg-type]
        assert set(best.constraint_prices()) <= set(best.tight_pairs)
    assert found[0].price == pytest.approx(found[1].price, abs=1e-9 * instance.scale), instance
    return True


def check_collisions(instance: Instance, found: Collisions) -> None:
    """Every pair named collides, something is named, and every way out is one: it fits, and no less would."""
    assert instance.lower is not None
    assert instance.upper is not None
    c = np.minimum(instance.distances, instance.distances.T)
    assert found.n_pairs or found.exceeds_capacity
    for pair in found.pairs:
        path = (pair.floor_of, *pair.through, pair.ceiling_of)
        length = math.fsum(c[i, j] for i, j in pairwise(path))
        assert pair.distance == pytest.approx(length, abs=1e-12)
        assert instance.lower[pair.floor_of] - instance.upper[pair.ceiling_of] - length == pytest.approx(pair.excess)
        assert pair.excess > 0.0
    assert "floors" in {kind for choice in found.choices for kind in choice.kinds}
    for choice in found.choices:
        changed = Instance("", instance.rewards, c + choice.extra_distance, choice.capacity, choice.lower, choice.upper)
        np.fill_diagonal(changed.distances, 0.0)
        assert abs(solved(changed).value - choice.value) <= 1e-9 * instance.scale
        changes = {
            "floors": bool(np.any(choice.lower < instance.lower)),
            "ceilings": bool(np.any(choice.upper > instance.upper)),
            "capacity": choice.capacity > (instance.capacity or math.inf),
            "distances": choice.extra_distance > 0.0,
        }
        assert {kind for kind, has_changed in changes.items() if has_changed} == set(choice.kinds)
        if "distances" in choice.kinds:
            changed.distances[:] = c + choice.extra_distance - 1e-7
            assert full_model_value_or_none(changed) is None


@pytest.mark.parametrize("start", range(0, QUICK, 36))
def test_value_equals_the_full_model(start: int) -> None:
    """On every kind of instance value, price and certificate are right, or what collides is explained."""
    assert 0 < sum(check(number) for number in range(start, start + 36)) < 36


@pytest.mark.slow
@pytest.mark.parametrize("start", range(QUICK, QUICK + PROOF, 500))
def test_value_equals_the_full_model_on_thousands(start: int) -> None:
    """The same on more than 5,000 instances with a value and 2,500 that collide, the larger with 40 candidates."""
    with_value = sum(check(number, most=40 if number % 5 == 0 else 16) for number in range(start, start + 500))
    assert with_value >= 300


@pytest.mark.parametrize("number", range(72))
def test_bounds_of_zero_and_one_change_nothing(number: int) -> None:
    """Floors of 0 and ceilings of 1 give the value and the price that there are without them."""
    instance = make_instance(number)
    inputs = (instance.rewards, instance.distances, instance.capacity)
    plain, bounded = fair_distribution(*inputs), fair_distribution(*inputs, lower=0.0, upper=1.0)
    assert bounded.value == pytest.approx(plain.value, abs=1e-12 * instance.scale)
    assert bounded.price == pytest.approx(plain.price, abs=1e-12 * instance.scale)
    assert bounded.at_floor == bounded.at_ceiling == ()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 15), st.sampled_from(["lower", "upper"]))
def test_prices_are_what_a_looser_bound_earns(number: int, candidate: int, which: str) -> None:
    """The price of a floor or a ceiling bounds what moving it earns, as prices of concave programs do."""
    instance = make_bounded_instance(number)
    if full_model_value_or_none(instance) is None:
        return
    assert instance.lower is not None
    assert instance.upper is not None
    best, i = solved(instance), candidate % len(instance.rewards)
    prices = best.certificate().floor_prices if which == "lower" else best.certificate().ceiling_prices
    lower, upper = instance.lower.copy(), instance.upper.copy()
    moved = 0.1 * (lower[i] if which == "lower" else 1.0 - upper[i])
    lower[i], upper[i] = (lower[i] - moved, upper[i]) if which == "lower" else (lower[i], upper[i] + moved)
    inputs = (instance.rewards, instance.distances, instance.capacity)
    gain = fair_distribution(*inputs, lower=lower, upper=upper).value - best.value
    assert -1e-9 * instance.scale <= gain <= prices[i] * moved + 1e-9 * instance.scale


def test_who_is_at_a_bound() -> None:
    """Candidates at a floor or a ceiling that was given are named; 0 and 1 count as none."""
    best = fair_distribution([1.0, 0.5, -1.0], np.full((3, 3), np.inf), lower=[0, 0, 0.2], upper=[0.5, 1, 1])
    assert best.probabilities == pytest.approx([0.5, 0.3, 0.2])
    assert (best.at_floor, best.at_ceiling) == ((2,), (0,))
    assert fair_distribution([1.0], [[0.0]]).at_ceiling == ()


def test_a_floor_lifts_those_who_are_similar() -> None:
    """A floor of one candidate holds for another one too, less their distance."""
    best = fair_distribution([1.0, -1.0], [[0, 0.1], [0.1, 0]], lower=[0.4, 0], upper=[0.4, 1])
    assert best.probabilities == pytest.approx([0.4, 0.3])


def test_a_floor_and_a_ceiling_that_collide_are_named() -> None:
    """The error names pair and amounts; each way out costs what it says, compared with no bounds at all."""
    distances = [[0, 0.1, 1], [0.1, 0, 0.2], [1, 0.2, 0]]
    with pytest.raises(CollidingBounds, match=r"floor 0.9 of candidate 1 and the ceiling 0.4 of candidate 0") as caught:
        fair_distribution([0.9, 0.5, -0.2], distances, None, lower=[0, 0.9, 0], upper=[0.4, 1, 1])
    found = caught.value.collisions
    (pair,) = found.pairs
    assert (pair.floor_of, pair.ceiling_of, pair.distance) == (1, 0, 0.1)
    assert pair.excess == pytest.approx(0.4)
    values = {choice.kinds: choice.value for choice in found.choices}
    assert values[("floors",)] == pytest.approx(0.9 * 0.4 + 0.5 * 0.5 - 0.2 * 0.3)
    free = fair_distribution([0.9, 0.5, -0.2], distances, None).value
    assert all(choice.cost == pytest.approx(free - choice.value) for choice in found.choices)
    named = found.named(["Ann", "Bo", "Cy"])
    assert named.to_dict()["pairs"][0]["floor_of"] == "Bo"
    assert "candidate Bo" in str(named.error())
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_floors_beyond_the_capacity_are_explained() -> None:
    """Floors that fit on their own may not once similar candidates are lifted with them."""
    with pytest.raises(CollidingBounds, match=r"need a capacity of 1\.5, with those that they imply") as caught:
        fair_distribution([1.0, 1.0, 1.0], np.zeros((3, 3)), lower=[0.5, 0, 0])
    found = caught.value.collisions
    assert (found.pairs, found.needed, found.exceeds_capacity) == ((), 1.5, True)
    lowered = {choice.kinds: choice.lower for choice in found.choices}[("floors",)]
    assert lowered == pytest.approx([1 / 3, 0, 0])


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"lower": [0.5, -0.1]}, "lower must be from 0 to 1, candidate 1 has -0.1"),
        ({"upper": [0.5, float("nan")]}, "upper must be from 0 to 1, candidate 1 has nan"),
        ({"upper": 1.5}, "upper must be from 0 to 1, candidate 0 has 1.5"),
        ({"lower": [0.5, 0.5], "upper": [0.5, 0.4]}, "lower must be <= upper, candidate 1 has 0.5 and 0.4"),
        ({"lower": [0.5]}, r"lower must be a number, or have shape \(2,\) for 2 candidates, got \(1,\)"),
        ({"lower": ["a", "b"]}, "lower must be real numbers"),
    ],
)
def test_bad_bounds_are_refused(bounds: dict[str, object], message: str) -> None:
    """A bound out of range, of the wrong shape or above the other says which and what."""
    with pytest.raises(InvalidInput, match=message):
        fair_distribution([1.0, 0.5], [[0, 1], [1, 0]], **bounds)  # type: ignore[arg-type]


def test_a_certificate_is_checked_against_the_bounds() -> None:
    """Prices that prove the optimum between bounds prove nothing without them."""
    inputs = ([1.0, 0.5], [[0, 1], [1, 0]])
    best = fair_distribution(*inputs, lower=[0, 0.3])
    verify_certificate(best.certificate(), best.probabilities, *inputs, lower=[0, 0.3])
    with pytest.raises(SolverFailed):
        verify_certificate(best.certificate(), best.probabilities, *inputs)
    with pytest.raises(SolverFailed):
        verify_certificate(best.certificate(), best.probabilities, *inputs, lower=[0, 0.4])


@pytest.mark.parametrize("number", range(96))
def test_lazily_computed_distances_give_the_same(number: int) -> None:
    """With upper bounds on distances, computed where they matter, value and collisions are those of exact ones."""
    instance = make_bounded_instance(number)
    exact = np.minimum(instance.distances, instance.distances.T)
    np.fill_diagonal(exact, 0.0)
    rng = np.random.default_rng(number)
    upper = exact * (1.0 + np.triu(rng.random(exact.shape), 1))
    upper = np.triu(upper) + np.triu(upper, 1).T

    def may_reach(p: np.ndarray, tolerance: float, settled: np.ndarray) -> np.ndarray:
        return np.argwhere(np.triu(~settled & (np.abs(p[:, None] - p[None]) > exact - tolerance), 1))

    lazy = BoundedDistances(upper, may_reach, lambda pairs: exact[pairs[:, 0], pairs[:, 1]])
    bounds = {"lower": instance.lower, "upper": instance.upper}
    if full_model_value_or_none(instance) is None:
        with pytest.raises(CollidingBounds) as eager:
            solved(instance)
        with pytest.raises(CollidingBounds) as caught:
            fair_distribution_within(instance.rewards, lazy, instance.capacity, **bounds)
        assert str(caught.value) == str(eager.value)
        return
    best = fair_distribution_within(instance.rewards, lazy, instance.capacity, **bounds)
    assert abs(best.value - solved(instance).value) <= 1e-9 * instance.scale
