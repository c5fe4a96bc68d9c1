"""The price of a constraint is the gain per unit of additional distance."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.allocation_instances import make_instance, tight

from evenhand.allocation import fair_distribution


@pytest.mark.parametrize("number", range(60))
def test_a_looser_constraint_never_gains_more_than_its_price(number: int) -> None:
    """The value is concave in the distances: a distance longer by h earns at most price * h."""
    instance = make_instance(number)
    best = fair_distribution(instance.rewards, instance.distances, instance.capacity)
    prices = best.constraint_prices()
    length = np.minimum(instance.distances, instance.distances.T)
    for i in range(len(length)):
        for j in range(i + 1, len(length)):
            longer = length.copy()
            longer[i, j] = longer[j, i] = length[i, j] + 0.01
            gain = fair_distribution(instance.rewards, longer, instance.capacity).value - best.value
            assert gain <= prices.get((i, j), 0.0) * 0.01 + 1e-9 * instance.scale


@pytest.mark.parametrize("capacity", [1, 3, None])
@pytest.mark.parametrize("seed", range(8))
def test_a_slightly_looser_constraint_gains_its_price(seed: int, capacity: float | None) -> None:
    """In a program without ties the first tiny bit of distance earns exactly its price."""
    a, c = tight(np.random.default_rng(seed), 10)
    best = fair_distribution(a, c, capacity)
    prices = best.constraint_prices()
    assert prices
    h = 1e-7
    for pair, price in prices.items():
        longer = c.copy()
        longer[pair] = longer[pair[::-1]] = c[pair] + h
        gain = fair_distribution(a, longer, capacity).value - best.value
        assert gain / h == pytest.approx(price, abs=1e-6)


def test_two_candidates_by_hand() -> None:
    """Two candidates 0.2 apart: probabilities 0.6 and 0.4, and each unit of distance or capacity is worth a half."""
    best = fair_distribution([1.0, 0.0], [[0.0, 0.2], [0.2, 0.0]])
    np.testing.assert_allclose(best.probabilities, [0.6, 0.4], atol=1e-12)
    assert best.tight_pairs == ((0, 1),)
    assert best.price == pytest.approx(0.5)
    assert best.constraint_prices() == {(0, 1): pytest.approx(0.5)}


def test_the_direction_of_a_constraint_price_is_from_high_to_low() -> None:
    """In the certificate the first of a pair has the higher probabilities."""
    best = fair_distribution([0.0, 1.0], [[0.0, 0.2], [0.2, 0.0]])
    assert list(best.certificate().constraint_prices) == [(1, 0)]
    assert list(best.constraint_prices()) == [(0, 1)]
