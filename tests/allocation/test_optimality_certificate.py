"""The checker of certificates believes nothing: whatever is wrong with a proof, it says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.allocation_instances import tight

from evenhand.allocation import OptimalityCertificate, fair_distribution, verify_certificate
from evenhand.errors import SolverFailed

REWARDS, DISTANCES = tight(np.random.default_rng(5), 8)


@pytest.fixture
def proof() -> OptimalityCertificate:
    """A certificate that holds."""
    return fair_distribution(REWARDS, DISTANCES).certificate()


def refuse(certificate: OptimalityCertificate, probabilities: object = None) -> None:
    """The checker must raise."""
    if probabilities is None:
        probabilities = fair_distribution(REWARDS, DISTANCES).probabilities
    with pytest.raises(SolverFailed):
        verify_certificate(certificate, probabilities, REWARDS, DISTANCES)  # type: ignore[arg-type]


def test_a_wrong_price_is_refused(proof: OptimalityCertificate) -> None:
    """Prices that do not balance prove nothing."""
    refuse(replace(proof, price=proof.price + 1e-3))


def test_a_missing_constraint_price_is_refused(proof: OptimalityCertificate) -> None:
    """Each constraint price is needed."""
    pair, *_ = proof.constraint_prices
    refuse(replace(proof, constraint_prices={k: v for k, v in proof.constraint_prices.items() if k != pair}))


def test_a_negative_price_is_refused(proof: OptimalityCertificate) -> None:
    """Balanced prices with one below zero prove nothing."""
    shift = np.zeros(len(REWARDS))
    shift[0] = -0.5
    refuse(replace(proof, ceiling_prices=proof.ceiling_prices + shift, floor_prices=proof.floor_prices + shift))


def test_prices_that_leave_a_gap_are_refused(proof: OptimalityCertificate) -> None:
    """Valid prices that bound the value only from afar do not prove optimality."""
    ceiling, floor = np.maximum(REWARDS, 0.0), np.maximum(-REWARDS, 0.0)
    refuse(replace(proof, price=0.0, constraint_prices={}, ceiling_prices=ceiling, floor_prices=floor))


def test_worse_probabilities_are_refused(proof: OptimalityCertificate) -> None:
    """Equal probabilities are fair but not the best; probabilities that are not fair are no answer at all."""
    refuse(proof, np.full(len(REWARDS), 1 / len(REWARDS)))
    refuse(proof, np.eye(len(REWARDS))[np.argmax(REWARDS)])


def test_unfair_probabilities_of_the_same_value_are_refused(proof: OptimalityCertificate) -> None:
    """All the value on one candidate matches the dual value, but breaks the constraints."""
    leader = int(np.argmax(REWARDS))
    probabilities = np.zeros(len(REWARDS))
    probabilities[leader] = proof.dual_value / REWARDS[leader]
    refuse(proof, probabilities)


def test_the_gap_is_reported(proof: OptimalityCertificate) -> None:
    """The certificate carries its own dual value and gap."""
    best = fair_distribution(REWARDS, DISTANCES)
    assert proof.dual_value == pytest.approx(best.value, abs=1e-12)
    assert proof.gap == pytest.approx(0.0, abs=1e-12)
