"""What the metric learners hear: pairs of a round, and what was said of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evenhand.decision import ODDS_TOLERANCE, Decision, Pair, Review

Floats = NDArray[np.float64]
Rows = NDArray[np.int64] | NDArray[np.bool_] | slice


@lru_cache(maxsize=8)
def all_pairs(k: int) -> NDArray[np.int64]:
    """The pairs of k candidates, (k(k-1)/2, 2), read-only, first index smaller."""
    indices = np.stack(np.triu_indices(k, 1), axis=1)
    indices.flags.writeable = False
    return indices


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of candidates: who they are (n, 2), first index smaller, and how they differ (n, d)."""

    indices: NDArray[np.int64]
    differences: Floats

    @classmethod
    def of(cls, contexts: Floats) -> Pairs:
        """All k(k-1)/2 pairs of a round's contexts (k, d)."""
        indices = all_pairs(len(contexts))
        return cls(indices, contexts[indices[:, 0]] - contexts[indices[:, 1]])

    @classmethod
    def between(cls, x: Floats, y: Floats) -> Pairs:
        """The one pair of two contexts."""
        return cls(np.array([[0, 1]]), (np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64))[None, :])

    def __len__(self) -> int:
        return len(self.indices)

    def take(self, rows: Rows) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.indices[rows], self.differences[rows])

    def names(self) -> list[Pair]:
        """The pairs as tuples of indices."""
        return [(int(i), int(j)) for i, j in self.indices]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Pairs that a reviewer looked at, with their gaps and what was said: each a half-space for G.

    unfair: d^2 < gap^2. Not unfair: d^2 >= gap^2. Pairs with equal odds say nothing and are left out: d >= 0 anyway,
    and a flag on them is no flag.
    """

    pairs: Pairs
    gaps: Floats
    unfair: NDArray[np.bool_]
    tight: NDArray[np.bool_]
    """Whether the pair's gap was as wide as the distance that was played."""
    reviewer: str | None = None
    """Who said it, if a name was given: each reviewer errs at a rate of their own."""

    @classmethod
    def of(cls, decision: Decision, review: Review) -> Verdicts:
        """The verdicts in a complete or partial review, and in a one-bit review that found nothing unfair."""
        everything = Pairs.of(decision.contexts)
        k, (first, second) = decision.n_candidates, everything.indices.T
        gaps = np.abs(decision.probabilities[first] - decision.probabilities[second])
        flagged = _marked(k, review.unfair)[first, second]
        tight = _marked(k, decision.tight_pairs)[first, second]
        seen = flagged | _marked(k, review.fair)[first, second] | (review.kind != "partial")
        verdicts = cls(everything, gaps, flagged, tight, review.reviewer)
        return verdicts.take(seen & (gaps > ODDS_TOLERANCE))

    @classmethod
    def between(cls, x: Floats, y: Floats, *, gap: float, unfair: bool, reviewer: str | None = None) -> Verdicts:
        """The verdict on two contexts treated with the given gap; equal odds say nothing."""
        verdict = cls(Pairs.between(x, y), np.array([float(gap)]), np.array([unfair]), np.array([True]), reviewer)
        return verdict.take(verdict.gaps > ODDS_TOLERANCE)

    def __len__(self) -> int:
        return len(self.gaps)

    def take(self, rows: Rows) -> Verdicts:
        """Some of the verdicts."""
        return Verdicts(self.pairs.take(rows), self.gaps[rows], self.unfair[rows], self.tight[rows], self.reviewer)


def _marked(k: int, pairs: tuple[Pair, ...]) -> NDArray[np.bool_]:
    """A (k, k) table, True at each of the pairs."""
    table = np.zeros((k, k), dtype=np.bool_)
    if pairs:
        table[tuple(np.array(pairs).T)] = True
    return table
