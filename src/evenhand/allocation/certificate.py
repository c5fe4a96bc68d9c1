"""A proof that odds are optimal, and a checker that needs to trust no solver.

Weak duality: for every choice of prices >= 0 with

    a_i - price = sum_j y_ij - sum_j y_ji + ceiling_i - floor_i      for all i,

no feasible p is worth more than price * B + sum y_ij c_ij + sum ceiling_i. Odds worth exactly that are optimal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.allocation.program import check_programme
from evenhand.allocation.verify import verify_odds
from evenhand.errors import SolverFailed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

PROOF_TOLERANCE = 1e-9
"""How far value and dual value may be apart, relative to the largest reward times the capacity in use (at least 1)."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Prices that prove an allocation optimal."""

    price: float
    """Of capacity, >= 0; 0 when there is no limit."""
    rope_prices: dict[tuple[int, int], float]
    """y_ij > 0 for (i, j) with p_i - p_j = c_ij: the direction is from the higher to the lower odds."""
    ceiling_prices: NDArray[np.float64]
    """(k,), >= 0: what letting p_i exceed 1 would earn."""
    floor_prices: NDArray[np.float64]
    """(k,), >= 0: what letting p_i fall below 0 would earn."""
    dual_value: float
    """No feasible odds are worth more than this."""
    gap: float
    """dual_value - value: 0 but for rounding."""


def verify_certificate(
    certificate: Certificate,
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
    programme = check_programme(rewards, distances, capacity)
    p = np.asarray(probabilities, dtype=np.float64)
    verify_odds(p, programme)
    a, c, limit = programme.rewards, programme.distances, programme.capacity
    scale = proof_scale(a, limit)
    kept = a - certificate.price - certificate.ceiling_prices + certificate.floor_prices
    bound = float(certificate.ceiling_prices.sum())
    for (i, j), y in certificate.rope_prices.items():
        kept[i] -= y
        kept[j] += y
        bound += y * c[i, j]
    if certificate.price != 0.0:  # no limit and no price: 0 * inf is meant as 0
        bound += certificate.price * limit
    lowest = min(
        certificate.price,
        certificate.ceiling_prices.min(),
        certificate.floor_prices.min(),
        min(certificate.rope_prices.values(), default=0.0),
    )
    unbalanced = float(np.max(np.abs(kept)))
    gap = abs(bound - float(a @ p))
    for what, size in (("a price is negative by", -lowest), ("prices are unbalanced by", unbalanced)):
        if not size <= PROOF_TOLERANCE * scale / len(a):
            raise SolverFailed(f"the certificate proves nothing: {what} {size:.2e}")
    allowed = PROOF_TOLERANCE * scale
    if not gap <= allowed:
        raise SolverFailed(f"the certificate leaves a gap of {gap:.2e} to the value; {allowed:.2e} is allowed")


def proof_scale(rewards: NDArray[np.float64], capacity: float) -> float:
    """The most that odds could be worth if every reward were the largest: what a gap is compared with."""
    return float(np.max(np.abs(rewards))) * max(1.0, min(capacity, len(rewards))) or math.ulp(0.0)
