"""The solution of a fair linear program, a proof that it is optimal, and a checker of the proof that trusts no solver.

Weak duality: for every choice of prices >= 0 with

    a_i - price = sum_j y_ij - sum_j y_ji + ceiling_i - floor_i      for all i,

no feasible p is worth more than price * B + sum y_ij c_ij + sum ceiling_i u_i - sum floor_i l_i, where p_i lies from
its floor l_i to its ceiling u_i: 0 and 1 unless others are given. A p worth exactly that is optimal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats, Indices
from evenhand.allocation._max_flow import LEAST_GAIN, dual_flow, fill_tight_pairs
from evenhand.allocation._program import FairProgram, check_program, scaled, verify_probabilities
from evenhand.errors import SolverFailed

REPORTED_TOLERANCE = 1e-11
"""A pair is reported as tight when its slack is at most this: above the rounding of both methods."""

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
    """(k,), >= 0: what letting p_i exceed its ceiling, 1 by default, would earn."""
    floor_prices: Floats
    """(k,), >= 0: what letting p_i fall below its floor, 0 by default, would earn."""
    dual_value: float
    """No feasible probabilities are worth more than this."""
    gap: float
    """dual_value - value: 0 but for rounding."""


@dataclass(frozen=True, eq=False)
class Allocation:
    """The best fair probabilities, their value, and the constraints that bind them.

    >>> from evenhand.allocation import fair_distribution
    >>> best = fair_distribution([1.0, 0.0], [[0, 0.2], [0.2, 0]])
    >>> best.probabilities.round(12).tolist(), best.tight_pairs, best.price, best.constraint_prices()
    ([0.6, 0.4], ((0, 1),), 0.5, {(0, 1): 0.5})
    """

    probabilities: Floats
    """p (k,), read-only."""
    value: float
    """a.p."""
    price: float
    """The reward per unit of additional capacity, 0 when the capacity is not used up."""
    program: FairProgram = field(repr=False)
    """The program that was solved."""
    worst_residual: float = field(repr=False)
    """The largest violation of a bound, distance or the capacity, as measured: rounding, or 0."""

    @cached_property
    def tight_pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs (i, j), i < j, whose gap equals their distance, sorted. Cost: O(k^2), once."""
        p, k = self.probabilities, len(self.probabilities)
        pairs = np.empty((k * (k - 1) // 2, 2), np.int64)
        count = fill_tight_pairs(p, self.program.distances, REPORTED_TOLERANCE, pairs)
        return tuple([(i, j) for i, j in pairs[:count].tolist()])

    @property
    def at_floor(self) -> tuple[int, ...]:
        """The candidates whose floor was given, above 0, and who have no more than that."""
        floors = self.program.floors
        return tuple(np.flatnonzero((floors > 0.0) & (self.probabilities <= floors + REPORTED_TOLERANCE)).tolist())

    @property
    def at_ceiling(self) -> tuple[int, ...]:
        """The candidates whose ceiling was given, below 1, and who have all of it."""
        ceilings = self.program.ceilings
        return tuple(np.flatnonzero((ceilings < 1.0) & (self.probabilities >= ceilings - REPORTED_TOLERANCE)).tolist())

    def constraint_prices(self) -> dict[tuple[int, int], float]:
        """For each pair (i, j), i < j: the reward per unit of additional distance, where not 0.

        In a degenerate program several sets of prices prove the optimum; this is one of them. None is below the gain
        from an actual increase (the value is concave in the distances).
        """
        directed = self._certificate.constraint_prices
        return dict(sorted(((min(pair), max(pair)), price) for pair, price in directed.items()))

    def certificate(self) -> OptimalityCertificate:
        """Prices that prove the probabilities optimal; see `verify_certificate`. Cost: one maximum flow, once."""
        return self._certificate

    @cached_property
    def _certificate(self) -> OptimalityCertificate:
        a, c, p = self.program.rewards, self.program.distances, self.probabilities
        _, exponent = scaled(a)
        surplus = np.ldexp(a - self.price, -exponent)
        lower, upper = self.program.floors, self.program.ceilings
        ends, flow = dual_flow(surplus, p, c, lower, upper, REPORTED_TOLERANCE, LEAST_GAIN)
        constraint_prices = _net_prices(ends, np.ldexp(flow, exponent))
        rest = a - self.price
        dual_value = 0.0 if self.price == 0.0 else self.price * self.program.capacity
        for (i, j), y in constraint_prices.items():
            rest[i] -= y
            rest[j] += y
            dual_value += y * c[i, j]
        # What the flow leaves goes to ceiling and floor: the prices balance by construction, and any error of the flow
        # shows up in the gap.
        ceiling, floor = np.maximum(rest, 0.0), np.maximum(-rest, 0.0)
        dual_value = float(dual_value + (ceiling * upper).sum() - (floor * lower).sum())
        return OptimalityCertificate(self.price, constraint_prices, ceiling, floor, dual_value, dual_value - self.value)


def _net_prices(ends: Indices, flow: Floats) -> dict[tuple[int, int], float]:
    """The net flow between each pair. Only pairs at distance zero have flow in both directions."""
    prices: dict[tuple[int, int], float] = {}
    for (i, j), y in zip(ends[flow > 0.0].tolist(), flow[flow > 0.0].tolist(), strict=True):
        net = y - prices.pop((j, i), 0.0)
        if net > 0.0:
            prices[i, j] = net
        elif net < 0.0:
            prices[j, i] = -net
    return prices


def verify_certificate(
    certificate: OptimalityCertificate,
    probabilities: ArrayLike,
    rewards: ArrayLike,
    distances: ArrayLike,
    capacity: float | None = 1,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
) -> None:
    """Raise SolverFailed unless the certificate proves the probabilities optimal for these inputs.

    Everything is computed again from the inputs. Cost: O(k^2).

    >>> from evenhand.allocation import fair_distribution
    >>> best = fair_distribution([1.0, 0.0], [[0, 0.2], [0.2, 0]])
    >>> verify_certificate(best.certificate(), best.probabilities, [1.0, 0.0], [[0, 0.2], [0.2, 0]])
    """
    program = check_program(rewards, distances, capacity, lower, upper)
    p = np.asarray(probabilities, dtype=np.float64)
    verify_probabilities(p, program)
    a, c, limit = program.rewards, program.distances, program.capacity
    # The scale of a gap: the value if every reward were the largest.
    scale = float(np.max(np.abs(a))) * max(1.0, min(limit, len(a))) or math.ulp(0.0)
    kept = a - certificate.price - certificate.ceiling_prices + certificate.floor_prices
    bound = float((certificate.ceiling_prices * program.ceilings).sum())
    bound -= float((certificate.floor_prices * program.floors).sum())
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
