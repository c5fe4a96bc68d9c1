"""A proof that probabilities are optimal, and a checker that trusts no solver.

Weak duality: for every choice of prices >= 0 with

    a_i - price = sum_j y_ij - sum_j y_ji + ceiling_i - floor_i      for all i,

no feasible p is worth more than price * B + sum y_ij c_ij + sum ceiling_i. A p worth exactly that is optimal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.allocation._program import check_program, verify_probabilities
from evenhand.errors import SolverFailed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PROOF_TOLERANCE = 1e-9
"""Accepted gap between value and dual value, relative to the largest reward times the capacity in use (at least 1)."""


@dataclass(frozen=True, eq=False)
class OptimalityCertificate:
    """Prices that prove an allocation optimal."""

    price: float
    """Of capacity, >= 0; 0 when there is no limit."""
    constraint_prices: dict[tuple[int, int], float]
    """y_ij > 0 for (i, j) with p_i - p_j = c_ij: the direction is from the higher to the lower probability."""
    ceiling_prices: Floats
    """(k,), >= 0: what letting p_i exceed 1 would earn."""
    floor_prices: Floats
    """(k,), >= 0: what letting p_i fall below 0 would earn."""
    dual_value: float
    """No feasible probabilities are worth more than this."""
    gap: float
    """dual_value - value: 0 but for rounding."""


def verify_certificate(
    certificate: OptimalityCertificate,
    probabilities: ArrayLike,
    rewards: ArrayLike,
    distances: ArrayLike,
    capacity: float | None = 1,
) -> None:
    """Raise SolverFailed unless the certificate proves the probabilities optimal for these inputs.

    Everything is computed again from the inputs. Cost: O(k^2).

    >>> from evenhand.allocation import fair_distribution
    >>> best = fair_distribution([1.0, 0.0], [[0, 0.2], [0.2, 0]])
    >>> verify_certificate(best.certificate(), best.probabilities, [1.0, 0.0], [[0, 0.2], [0.2, 0]])
    """
    program = check_program(rewards, distances, capacity)
    p = np.asarray(probabilities, dtype=np.float64)
    verify_probabilities(p, program)
    a, c, limit = program.rewards, program.distances, program.capacity
    scale = proof_scale(a, limit)
    kept = a - certificate.price - certificate.ceiling_prices + certificate.floor_prices
    bound = float(certificate.ceiling_prices.sum())
    for (i, j), y in certificate.constraint_prices.items():
        kept[i] -= y
        kept[j] += y
        bound += y * c[i, j]
    if certificate.price != 0.0:  # without a capacity 0 * inf means 0
        bound += certificate.price * limit
    lowest = min(
        certificate.price,
        certificate.ceiling_prices.min(),
        certificate.floor_prices.min(),
        min(certificate.constraint_prices.values(), default=0.0),
    )
    unbalanced = float(np.max(np.abs(kept)))
    gap = abs(bound - float(a @ p))
    for what, size in (("a price is negative by", -lowest), ("prices are unbalanced by", unbalanced)):
        if not size <= PROOF_TOLERANCE * scale / len(a):
            raise SolverFailed(f"the certificate is not valid: {what} {size:.2e}")
    most = PROOF_TOLERANCE * scale
    if not gap <= most:
        raise SolverFailed(f"the certificate leaves a gap of {gap:.2e} to the value, more than {most:.2e}")


def proof_scale(rewards: Floats, capacity: float) -> float:
    """The largest possible value if every reward were the largest: the scale of a gap."""
    return float(np.max(np.abs(rewards))) * max(1.0, min(capacity, len(rewards))) or math.ulp(0.0)
