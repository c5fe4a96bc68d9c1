"""Which of the verdicts gathered are needed: those without which some metric would come too close."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.certificates.consistent_set import ConsistentSet
from evenhand.certificates.descent import Descent
from evenhand.certificates.proof import Proof, refuted
from evenhand.certificates.statements import Statements
from evenhand.metrics.features import MetricSpace

Floats = NDArray[np.float64]

WITNESSES = 32
"""How many witnesses are called, each for one verdict."""

DIRECTIONS_PER_UNKNOWN = 4
"""How many directions of negative length are remembered, for each unknown."""


class Sifted(NamedTuple):
    """What is left of the evidence."""

    kept: NDArray[np.int64]
    """The verdicts to keep."""
    witnesses: Floats
    """Metrics that fit them, (n, m)."""
    frame: Floats
    """An orthonormal basis of the directions of which they can tell, (d, r)."""
    directions: Floats
    """Directions in which matrices that fit had a negative length, (n, d)."""
    contradiction: Proof | None


def sift(space: MetricSpace, statements: Statements, directions: Floats, n_old: int, share: float, most: int) -> Sifted:
    """Of the fair verdicts after the first `n_old` keep those that a witness violates by more than `share` of the gap.

    Witnesses are called for new verdicts, or old ones if there are few, one after the other. Whenever one violates a
    new verdict, the most violated is kept, and she must look again. In the end at most `most` verdicts are kept: those
    that bound G and those that hold a witness back first, then unfair ones, then the newest.
    """
    fair = np.flatnonzero(~statements.unfair)
    new = fair[fair >= n_old]
    known = ConsistentSet.of(space, statements, directions, without=new)
    everything, nobody = np.arange(len(statements)), np.zeros((0, space.n_unknowns))
    if known is None:
        kept = _foremost(statements, everything[:0], everything, most)
        return Sifted(kept, nobody, np.zeros((space.n_features, 0)), directions, None)
    frame = np.eye(space.n_features) if known.frame is None else known.frame
    questions = _Questions(space, statements, new[known.holds(statements.differences[new])], share)
    descent, witnesses, used = Descent(known), [nobody], [known.spread.rows]
    old = known.usable[~statements.unfair[known.usable]]
    called = questions.spread_out(WITNESSES)
    called = np.concatenate([old[max(len(old) - WITNESSES + len(called), 0) :], called])
    for z in statements.differences[called]:
        hint = descent.lowest(z, questions.answered)
        if hint is not None and hint.empty:
            contradiction = refuted(known, hint.rows, hint.weights)
            if contradiction is not None:
                return Sifted(everything, nobody, frame, directions, contradiction)
        elif hint is not None:
            witnesses.append(hint.metric[None, :])
            used.append(hint.rows)
    kept = _foremost(statements, np.concatenate(used), np.setdiff1d(everything, questions.open), most)
    directions = np.concatenate([directions, *(direction[None, :] for direction in descent.found)])
    directions = directions[-DIRECTIONS_PER_UNKNOWN * space.n_unknowns :]
    return Sifted(kept, np.concatenate(witnesses), frame, directions, None)


class _Questions:
    """New verdicts of which it is open whether they are needed."""

    def __init__(self, space: MetricSpace, statements: Statements, rows: NDArray[np.int64], share: float) -> None:
        self.open = rows
        self._features = space.features(statements.differences[rows])
        self._least = ((1.0 - share) * statements.gaps[rows]) ** 2

    def spread_out(self, n: int) -> NDArray[np.int64]:
        """At most n of them, from first to last."""
        return self.open[np.linspace(0, len(self.open) - 1, num=min(n, len(self.open))).astype(np.int64)]

    def answered(self, metric: Floats) -> int | None:
        """The verdict that the metric violates most, for its gap, no longer open; None if it violates none."""
        ratios = (self._features @ metric) / self._least
        if len(ratios) == 0 or np.min(ratios) >= 1.0:
            return None
        place = int(np.argmin(ratios))
        row = int(self.open[place])
        self.open = np.delete(self.open, place)
        self._features, self._least = np.delete(self._features, place, axis=0), np.delete(self._least, place)
        return row


def _foremost(statements: Statements, used: NDArray[np.int64], rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of the rows, in order."""
    n = len(statements)
    ranks = np.arange(n) + n * statements.unfair
    ranks[used] += 2 * n
    return np.sort(rows[np.argsort(ranks[rows], kind="stable")[-most:]])
