"""The proved distances between candidates, as far as they matter for the probabilities, within a budget of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.factorisations import eigh
from evenhand.allocation import fair_distribution
from evenhand.allocation.allocation import REPORTED_TOLERANCE
from evenhand.certificates import Evidence, OutOfBudget, ProofSearch, SearchBudget
from evenhand.records.decision import PROBABILITY_TOLERANCE, Pair

WORK = 2e9
"""SearchBudget of one decision, about a second. In work, not in time: a replay must come to the same."""

AT_ONCE = 8  # Pairs that are proved before the probabilities are computed again.

SOLVING = 200.0  # Work for each pair of candidates, whenever the probabilities are computed again.


@dataclass(frozen=True, eq=False)
class ProvedDistances:
    """Distances of which each is proved, or 0."""

    table: Floats
    """(k, k), symmetric."""
    unproved_pairs: int = 0
    """How many pairs of different probability there was no budget left for; their distance here is 0."""


def proved_distances(
    evidence: Evidence,
    contexts: Floats,
    rewards: Floats,
    capacity: float | None,
    scale: float,
    work: float = WORK,
    *,
    lower: Any = None,
    upper: Any = None,
) -> ProvedDistances:
    """Proved distances between the rows of `contexts` (k, d), times `scale`, for these rewards (k,) and this capacity.

    Most pairs need no proof: in the best probabilities many are equal. So probabilities are computed for guesses that
    are too long rather than too short, and pairs whose probabilities differ are proved, those at their limit first;
    and again, until every gap is proved. Each search for a proof also ends at a metric that fits the evidence: no pair
    can be proved to be further apart than there. When the budget is used up, all that is not proved counts as 0.
    lower, upper: floors and ceilings; CollidingBounds if they would need gaps that cannot be proved.
    """
    k = len(contexts)
    if not np.any(~evidence.verdicts.unfair):  # without a fair verdict nothing is proved
        return ProvedDistances(np.zeros((k, k)))
    pairs = np.argwhere(np.triu(np.ones((k, k), np.bool_), 1))
    guesses, is_open = np.full(len(pairs), np.inf), np.ones(len(pairs), np.bool_)
    budget = SearchBudget(work)
    search, unproved = ProofSearch(evidence, budget), np.zeros(0, np.int64)
    try:
        while search.is_consistent:
            budget.spend(SOLVING * len(pairs))
            table = _as_table(k, pairs, guesses)
            p = fair_distribution(rewards, table, capacity, lower=lower, upper=upper).probabilities
            unproved = _unproved(p, pairs, guesses, is_open)
            if len(unproved) == 0:
                break
            for row in unproved[:AT_ONCE].tolist():
                i, j = pairs[row]
                guesses[row], is_open[row] = (
                    scale * np.sqrt(search.proof(contexts[i] - contexts[j]).shaved_bound),
                    False,
                )
                if search.witness is not None:
                    distances = scale * _distances_of(evidence.space.unflatten(search.witness), contexts, pairs)
                    guesses = np.where(is_open, np.minimum(guesses, distances), guesses)
    except OutOfBudget:
        pass
    if not search.is_consistent:
        return ProvedDistances(np.zeros((k, k)))
    return ProvedDistances(_as_table(k, pairs, np.where(is_open, 0.0, guesses)), len(unproved))


def binding_pairs(p: Floats, table: Floats) -> tuple[Pair, ...]:
    """The pairs of different probability that are at their distance.

    All others that are at theirs have distance 0; those may be most of a hundred thousand, and teach nothing.
    """
    gaps = np.triu(np.abs(p[:, None] - p[None, :]))
    found = np.argwhere((gaps > PROBABILITY_TOLERANCE) & (gaps >= table - REPORTED_TOLERANCE))
    return tuple((i, j) for i, j in found.tolist())


def _as_table(k: int, pairs: Indices, distances: Floats) -> Floats:
    table = np.zeros((k, k))
    table[pairs[:, 0], pairs[:, 1]] = table[pairs[:, 1], pairs[:, 0]] = distances
    return table


def _unproved(p: Floats, pairs: Indices, guesses: Floats, is_open: Mask) -> Indices:
    """Which open pairs have different probabilities, those nearest to their limit first."""
    gaps = np.abs(p[pairs[:, 0]] - p[pairs[:, 1]])
    rows = np.flatnonzero(is_open & (gaps > REPORTED_TOLERANCE))
    return np.asarray(rows[np.argsort((guesses - gaps)[rows], kind="stable")])


def _distances_of(matrix: Floats, contexts: Floats, pairs: Indices) -> Floats:
    """The distances of pairs (n, 2) in a matrix made positive semidefinite, (n,)."""
    values, vectors = eigh(matrix)
    points = contexts @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    squares, (first, second) = np.sum(points**2, axis=1), pairs.T
    squared = squares[first] + squares[second] - 2.0 * (points @ points.T)[first, second]
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))
