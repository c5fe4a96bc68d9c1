"""The set of all metrics that fit the verdicts, as rows with two ends.

A row is <G, vv'> with ||v|| = 1. Its ends: v'Gv >= 0 because G is a metric, v'Gv <= reach because the unfair verdicts
bound G; each verdict moves one of the two. No bound on G is assumed: directions in which no unfair verdict bounds G
are left out, with all verdicts that touch them. Proofs of the diagonal structure need no bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.factorisations import pivoted_qr, singular_values
from evenhand.certificates._sourced_verdicts import SourcedVerdicts
from evenhand.metrics.features import MetricSpace

SHORTEST = 1e-100  # Differences with a squared length below this are ignored: double precision cannot use them.

SAME_SPAN = 1e-6
"""A direction counts as bounded if at least this share of the best bounded one's bound is left in it."""

IN_SPAN = 1e-10  # A difference lies in a span if its rest is no longer than this, relative to its length.

FAR = 1e6
"""The reach in the diagonal structure, in units of the largest threshold: far beyond any bound worth proving."""


class Spread(NamedTuple):
    """A few unfair verdicts whose zz', so weighted, sum to at least the identity on the span of all of them."""

    rows: Indices
    weights: Floats
    reach: float
    """Upper bound on the trace of G on that span."""
    frame: Floats
    """An orthonormal basis of it, (d, r)."""

    @classmethod
    def of(cls, verdicts: SourcedVerdicts) -> Spread:
        """The tightest independent unfair verdicts."""
        d = verdicts.differences.shape[1]
        unfair = np.flatnonzero(verdicts.unfair & (verdicts.squared_lengths > SHORTEST))
        if len(unfair) == 0:
            return cls(unfair, np.zeros(0), np.inf, np.zeros((d, 0)))
        scaled = verdicts.differences[unfair] / np.sqrt(verdicts.thresholds[unfair])[:, None]
        columns, triangle, order = pivoted_qr(scaled.T)
        left = np.abs(np.diag(triangle))
        rank = int(np.sum(left > SAME_SPAN * left[0]))
        frame = np.array(columns[:, :rank], dtype=np.float64)
        inner, rows = scaled[order[:rank]] @ frame, unfair[order[:rank]]
        lowest = float(singular_values(inner)[-1]) ** 2
        return cls(rows, 1.0 / (verdicts.thresholds[rows] * lowest), rank / lowest, frame)


@dataclass(frozen=True, eq=False)
class ConsistentSet:
    """{G : low <= rows @ svec(F'GF) <= high}, with F the frame of the directions in which G is bounded."""

    space: MetricSpace
    verdicts: SourcedVerdicts
    spread: Spread
    frame: Floats | None
    """F, (d, r); None if all directions are in use."""
    inner: MetricSpace
    """The space of F'GF."""
    usable: Indices
    """The verdicts that lie in these directions: the last rows, in this order."""
    rows: Floats
    """(n, inner m): the first m are independent."""
    low: Floats
    high: Floats
    unit: float
    """The size of G according to fair verdicts."""

    @classmethod
    def of(
        cls, space: MetricSpace, verdicts: SourcedVerdicts, directions: Floats, *, without: Indices | None = None
    ) -> ConsistentSet | None:
        """The set given all verdicts but those in `without`, with directions (n, d) known to have v'Gv >= 0.

        None if no direction is bounded, or there are no verdicts.
        """
        spread = Spread.of(verdicts)
        in_use = verdicts.squared_lengths > SHORTEST
        if without is not None:
            in_use[without] = False
        usable = np.flatnonzero(in_use)
        frame, inner = None, space
        if space.structure == "full" and len(spread.rows) < space.n_features:
            if len(spread.rows) == 0:
                return None
            frame, inner = spread.frame, MetricSpace(len(spread.rows))
            usable = usable[in_span(verdicts.differences[usable], frame)]
        if len(usable) == 0:
            return None
        ends, unfair = (verdicts.thresholds / verdicts.squared_lengths)[usable], verdicts.unfair[usable]
        unit = float(np.max(ends[~unfair], initial=np.finfo(np.float64).tiny))
        if space.structure == "diagonal":
            reach = FAR * float(np.max(ends, initial=unit))
        else:
            reach = max(spread.reach, unit)
        start = independent_directions(inner)
        known = directions if frame is None else directions @ frame
        z = verdicts.differences[usable] if frame is None else verdicts.differences[usable] @ frame
        rows = unit_features(inner, np.concatenate([start, known[np.sum(known**2, axis=1) > SHORTEST], z]))
        others = len(rows) - len(usable)
        low = np.concatenate([np.zeros(others), np.where(unfair, 0.0, ends)])
        high = np.concatenate([np.full(others, reach), np.where(unfair, np.minimum(ends, reach), reach)])
        return cls(space, verdicts, spread, frame, inner, usable, rows, low, high, unit)

    def holds(self, differences: Floats) -> Mask:
        """Which differences (n, d) lie in the directions in use, (n,)."""
        return np.ones(len(differences), np.bool_) if self.frame is None else in_span(differences, self.frame)


def in_span(differences: Floats, frame: Floats) -> Mask:
    """Which rows (n, d) lie in the span of an orthonormal basis (d, r)."""
    outside = differences - (differences @ frame) @ frame.T
    return np.asarray(np.sum(outside**2, axis=1) <= IN_SPAN**2 * np.sum(differences**2, axis=1))


def independent_directions(space: MetricSpace) -> Floats:
    """Directions whose vv' are a basis of the matrices of this structure, (m, d)."""
    units = np.eye(space.n_features)
    if space.structure == "diagonal":
        return units
    first, second = np.triu_indices(space.n_features, 1)
    return np.concatenate([units, units[first] + units[second]])


def unit_features(space: MetricSpace, directions: Floats) -> Floats:
    """svec(vv') of directions (n, d) scaled to length one, (n, m)."""
    return np.ascontiguousarray(space.features(directions / np.linalg.norm(directions, axis=1, keepdims=True)))
