"""The answer to a fair linear programme."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evenhand.allocation.certificate import Certificate
from evenhand.allocation.closure import LEAST_GAIN
from evenhand.allocation.dual_flow import rope_flow
from evenhand.allocation.program import scaled
from evenhand.allocation.tight_constraints import fill_taut_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.allocation.program import FairProgramme

REPORTED_TOLERANCE = 1e-11
"""A rope is reported as taut when its slack is at most this: above the rounding of both methods."""


@dataclass(frozen=True, eq=False)
class Allocation:
    """The best fair odds, what they are worth, and which ropes hold them.

    >>> from evenhand.allocation import fair_distribution
    >>> best = fair_distribution([1.0, 0.0], [[0, 0.2], [0.2, 0]])
    >>> best.probabilities.round(12).tolist(), best.tight_pairs, best.price, best.rope_prices()
    ([0.6, 0.4], ((0, 1),), 0.5, {(0, 1): 0.5})
    """

    probabilities: NDArray[np.float64]
    """p (k,), read-only."""
    value: float
    """a.p."""
    price: float
    """The reward that one more unit of capacity would buy, 0 when the capacity is not used up."""
    programme: FairProgramme = field(repr=False)
    """What was asked."""
    worst_residual: float = field(repr=False)
    """By how much the odds exceed the bound, rope or capacity that they exceed most, as measured: rounding, or 0."""

    @cached_property
    def tight_pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs (i, j), i < j, whose gap equals their distance, sorted. Cost: O(k^2), once."""
        p, k = self.probabilities, len(self.probabilities)
        pairs = np.empty((k * (k - 1) // 2, 2), np.int64)
        count = fill_taut_pairs(p, self.programme.distances, REPORTED_TOLERANCE, pairs)
        return tuple([(i, j) for i, j in pairs[:count].tolist()])

    def rope_prices(self) -> dict[tuple[int, int], float]:
        """For each pair (i, j), i < j: the reward that one more unit of their distance would buy, where not 0.

        In a degenerate programme several price lists prove the optimum; this is one of them, and no list can
        promise less than an actual lengthening brings (the value is concave in the distances).
        """
        directed = self._certificate.rope_prices
        return dict(sorted(((min(pair), max(pair)), price) for pair, price in directed.items()))

    def certificate(self) -> Certificate:
        """Prices that prove these odds optimal; `verify_certificate` checks them. Cost: one maximum flow, once."""
        return self._certificate

    @cached_property
    def _certificate(self) -> Certificate:
        a, c, p = self.programme.rewards, self.programme.distances, self.probabilities
        _, exponent = scaled(a)
        surplus = np.ldexp(a - self.price, -exponent)
        ends, flow = rope_flow(surplus, p, c, REPORTED_TOLERANCE, LEAST_GAIN)
        rope_prices = _net_prices(ends, np.ldexp(flow, exponent))
        rest = a - self.price
        dual_value = 0.0 if self.price == 0.0 else self.price * self.programme.capacity
        for (i, j), y in rope_prices.items():
            rest[i] -= y
            rest[j] += y
            dual_value += y * c[i, j]
        # Whatever the ropes leave is put on ceiling and floor: the prices balance by construction, and any error
        # of the flow shows up in the gap.
        ceiling, floor = np.maximum(rest, 0.0), np.maximum(-rest, 0.0)
        dual_value = float(dual_value + ceiling.sum())
        return Certificate(self.price, rope_prices, ceiling, floor, dual_value, dual_value - self.value)


def _net_prices(ends: NDArray[np.int64], flow: NDArray[np.float64]) -> dict[tuple[int, int], float]:
    """The flow of each rope in its stronger direction. Only ropes of length zero carry flow both ways."""
    prices: dict[tuple[int, int], float] = {}
    for (i, j), y in zip(ends[flow > 0.0].tolist(), flow[flow > 0.0].tolist(), strict=True):
        net = y - prices.pop((j, i), 0.0)
        if net > 0.0:
            prices[i, j] = net
        elif net < 0.0:
            prices[j, i] = -net
    return prices
