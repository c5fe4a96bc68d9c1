"""Pruning: which verdicts are needed, because without them some metric would bring a pair too close."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.certificates._consistent_set import ConsistentSet
from evenhand.certificates._descent import Descent
from evenhand.certificates.proof import Proof, refuted
from evenhand.certificates.sourced_verdicts import SourcedVerdicts
from evenhand.metrics.features import MetricSpace

WITNESSES = 32
"""How many witnesses are computed, each for one verdict."""

DIRECTIONS_PER_UNKNOWN = 4
"""How many directions of negative length are kept per unknown."""


class Pruned(NamedTuple):
    """The evidence after pruning."""

    kept: Indices
    """The verdicts to keep."""
    witnesses: Floats
    """Metrics that fit them, (n, m)."""
    frame: Floats
    """An orthonormal basis of the directions in which G is bounded, (d, r)."""
    directions: Floats
    """Directions in which matrices that fit had a negative length, (n, d)."""
    contradiction: Proof | None


def prune(
    space: MetricSpace, verdicts: SourcedVerdicts, directions: Floats, n_old: int, share: float, most: int
) -> Pruned:
    """Of the fair verdicts after the first `n_old`, keep those that a witness violates by more than `share` of the gap.

    Witnesses are computed for new verdicts, or old ones if there are few, one after the other. Whenever one violates
    new verdicts, the most violated is added, and the witness is computed again. At most `most` verdicts are kept: first
    those that bound G or a witness, then unfair ones, then the newest.
    """
    fair = np.flatnonzero(~verdicts.unfair)
    new = fair[fair >= n_old]
    known = ConsistentSet.of(space, verdicts, directions, without=new)
    everything, none = np.arange(len(verdicts)), np.zeros((0, space.n_unknowns))
    if known is None:
        kept = _first_needed(verdicts, everything[:0], everything, most)
        return Pruned(kept, none, np.zeros((space.n_features, 0)), directions, None)
    frame = np.eye(space.n_features) if known.frame is None else known.frame
    undecided = _Undecided(space, verdicts, new[known.holds(verdicts.differences[new])], share)
    descent, witnesses, used = Descent(known), [none], [known.spread.rows]
    old = known.usable[~verdicts.unfair[known.usable]]
    chosen = undecided.spread_out(WITNESSES)
    chosen = np.concatenate([old[max(len(old) - WITNESSES + len(chosen), 0) :], chosen])
    for z in verdicts.differences[chosen]:
        hint = descent.lowest(z, undecided.most_violated)
        if hint is not None and hint.empty:
            contradiction = refuted(known, hint.rows, hint.weights)
            if contradiction is not None:
                return Pruned(everything, none, frame, directions, contradiction)
        elif hint is not None:
            witnesses.append(hint.metric[None, :])
            used.append(hint.rows)
    kept = _first_needed(verdicts, np.concatenate(used), np.setdiff1d(everything, undecided.rows), most)
    directions = np.concatenate([directions, *(direction[None, :] for direction in descent.found)])
    directions = directions[-DIRECTIONS_PER_UNKNOWN * space.n_unknowns :]
    return Pruned(kept, np.concatenate(witnesses), frame, directions, None)


class _Undecided:
    """New verdicts of which it is not yet known whether they are needed."""

    def __init__(self, space: MetricSpace, verdicts: SourcedVerdicts, rows: Indices, share: float) -> None:
        self.rows = rows
        self._features = space.features(verdicts.differences[rows])
        self._least = ((1.0 - share) * verdicts.gaps[rows]) ** 2

    def spread_out(self, n: int) -> Indices:
        """At most n of them, evenly spaced."""
        return self.rows[np.linspace(0, len(self.rows) - 1, num=min(n, len(self.rows))).astype(np.int64)]

    def most_violated(self, metric: Floats) -> int | None:
        """Remove and return the verdict that the metric violates most, relative to its gap; None if there is none."""
        ratios = (self._features @ metric) / self._least
        if len(ratios) == 0 or np.min(ratios) >= 1.0:
            return None
        place = int(np.argmin(ratios))
        row = int(self.rows[place])
        self.rows = np.delete(self.rows, place)
        self._features, self._least = np.delete(self._features, place, axis=0), np.delete(self._least, place)
        return row


def _first_needed(verdicts: SourcedVerdicts, used: Indices, rows: Indices, most: int) -> Indices:
    """At most `most` of the rows, in order."""
    n = len(verdicts)
    ranks = np.arange(n) + n * verdicts.unfair
    ranks[used] += 2 * n
    return np.sort(rows[np.argsort(ranks[rows], kind="stable")[-most:]])
