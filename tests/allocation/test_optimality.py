"""The probabilities are optimal: the same value as HiGHS with every row, and a certificate that proves it."""

from __future__ import annotations

import logging
from typing import Literal

import numpy as np
import pytest
from tests.support.allocation_instances import KINDS, Instance, full_model_value, make_instance, mixed_scales

from evenhand.allocation import fair_distribution, verify_certificate

METHODS: tuple[Literal["combinatorial", "highs", "auto"], ...] = ("combinatorial", "highs", "auto")
QUICK = 432
PROOF = 20_736


def check(instance: Instance, method: str) -> None:
    """Value, constraints, price and certificate of one instance."""
    best = fair_distribution(instance.rewards, instance.distances, instance.capacity, method=method)  # type: ignore[arg-type]
    assert abs(best.value - full_model_value(instance)) <= 1e-9 * instance.scale, instance
    assert abs(best.value - instance.rewards @ best.probabilities) <= 1e-12 * instance.scale
    certificate = best.certificate()
    verify_certificate(certificate, best.probabilities, instance.rewards, instance.distances, instance.capacity)
    assert best.price == certificate.price >= 0.0
    assert set(best.constraint_prices()) <= set(best.tight_pairs)


@pytest.mark.parametrize("method", ["combinatorial", "highs"])
@pytest.mark.parametrize("start", range(0, QUICK, 72))
def test_value_equals_the_full_model(start: int, method: str, caplog: pytest.LogCaptureFixture) -> None:
    """On every kind of instance and capacity the value is HiGHS's, with proof, and no method needs the other."""
    with caplog.at_level(logging.WARNING):
        for number in range(start, start + 72):
            check(make_instance(number), method)
    assert caplog.records == []


@pytest.mark.slow
@pytest.mark.parametrize("method", ["combinatorial", "highs"])
@pytest.mark.parametrize("start", range(QUICK, QUICK + PROOF, 864))
def test_value_equals_the_full_model_on_thousands(start: int, method: str, caplog: pytest.LogCaptureFixture) -> None:
    """The same on thousands of instances, the larger ones with 40 candidates."""
    with caplog.at_level(logging.WARNING):
        for number in range(start, start + 864):
            check(make_instance(number, most=40 if number % 5 == 0 else 16), method)
    assert caplog.records == []


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 360, 60))
def test_all_methods_prove_large_answers(start: int) -> None:
    """With 50 to 200 candidates the methods agree on value and price, and each proves its answer."""
    for number in range(start, start + 60):
        rng = np.random.default_rng([7, number])
        k = int(rng.integers(50, 200))
        rewards, distances = KINDS[number % len(KINDS)](rng, k)
        instance = Instance("large", rewards, distances, (1, 2.5, 10, k / 4, None)[number // len(KINDS) % 5])
        found = [fair_distribution(rewards, distances, instance.capacity, method=method) for method in METHODS]
        for best in found:
            verify_certificate(best.certificate(), best.probabilities, rewards, distances, instance.capacity)
            assert best.value == pytest.approx(found[0].value, abs=1e-9 * instance.scale)
            assert best.price == pytest.approx(found[0].price, abs=1e-9 * instance.scale)


@pytest.mark.parametrize("number", range(144))
def test_both_methods_agree_on_the_price(number: int) -> None:
    """The price of capacity is what the next unit buys, whichever method found the probabilities."""
    instance = make_instance(number)
    constraints, highs = (
        fair_distribution(instance.rewards, instance.distances, instance.capacity, method=method).price
        for method in ("combinatorial", "highs")
    )
    assert constraints == pytest.approx(highs, abs=1e-9 * instance.scale)


@pytest.mark.parametrize("number", range(72))
def test_order_of_candidates_does_not_matter(number: int) -> None:
    """Shuffling the candidates leaves value and price as they were."""
    instance = make_instance(number)
    order = np.random.default_rng(number).permutation(len(instance.rewards))
    best = fair_distribution(instance.rewards, instance.distances, instance.capacity)
    shuffled = fair_distribution(instance.rewards[order], instance.distances[np.ix_(order, order)], instance.capacity)
    assert shuffled.value == pytest.approx(best.value, abs=1e-9 * instance.scale)
    assert shuffled.price == pytest.approx(best.price, abs=1e-9 * instance.scale)


@pytest.mark.parametrize("number", range(36))
def test_value_is_concave_and_rising_in_capacity(number: int) -> None:
    """More capacity never hurts, each further unit buys less, and the price lies between the slopes."""
    instance = make_instance(number)
    capacities = np.linspace(0.2, len(instance.rewards) + 0.5, 15)
    found = [fair_distribution(instance.rewards, instance.distances, capacity) for capacity in capacities]
    values = np.array([best.value for best in found])
    prices = np.array([best.price for best in found])
    slopes = np.diff(values) / np.diff(capacities)
    margin = 1e-8 * instance.scale
    assert np.all(slopes >= -margin)
    assert np.all(np.diff(slopes) <= margin)
    assert np.all(prices[:-1] >= slopes - margin)
    assert np.all(prices[1:] <= slopes + margin)
    unlimited = fair_distribution(instance.rewards, instance.distances, None)
    assert unlimited.value == pytest.approx(values[-1], abs=margin)
    assert unlimited.price == prices[-1] == 0.0


def test_highs_solves_finely_enough() -> None:
    """Here HiGHS's tolerance in units of 1 blurred which constraints are tight: price and proof were wrong."""
    rng = np.random.default_rng(54_646)
    rewards, distances = mixed_scales(rng, int(rng.integers(50, 200)))
    constraints, highs = (fair_distribution(rewards, distances, 2.5, method=method) for method in METHODS[:2])
    verify_certificate(highs.certificate(), highs.probabilities, rewards, distances, 2.5)
    assert highs.price == pytest.approx(constraints.price, rel=1e-9)
