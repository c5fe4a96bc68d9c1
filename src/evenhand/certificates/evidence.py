"""Evidence: the verdicts that proofs are made of, out of all that were heard."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.certificates.consistent_set import ConsistentSet, in_span
from evenhand.certificates.proof import Proof, checked
from evenhand.certificates.pruning import sift
from evenhand.certificates.statements import Statements
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import Verdicts
from evenhand.records.decision import PROBABILITY_TOLERANCE

Floats = NDArray[np.float64]

TELLING = 0.001
"""A fair verdict is news if some witness puts its pair closer together by more than this share of the gap."""

UNSIFTED = 128
"""How many verdicts that may be news are gathered before they are sifted."""

MOST_AT_ONCE = 1024
"""How many verdicts on one decision are taken in: unfair ones first, then tight ones, then those with wide gaps."""

ROWS_PER_UNKNOWN = 32
FEWEST_ROWS = 256
MOST_NUMBERS = 2_000_000
"""Verdicts kept for each unknown; but so many at least; and numbers kept in all."""


class Evidence:
    """What reviewers said, as far as it may prove something; and witnesses, to tell what is news.

    A witness is a metric that fits all that was said before, and brings some pair as close together as it can. A fair
    verdict that no witness violates is as good as proved already, and left out; the others, and all unfair ones, are
    gathered, and sifted when there are many, or one is startling. To leave a verdict out is always sound:
    fewer pairs can be proved, none wrongly. Cost of `hear`: O(n m) when nothing is news; memory is bounded.

    >>> from evenhand.certificates import lower_bounds
    >>> from evenhand.metrics import Pairs, Verdicts
    >>> evidence = Evidence(MetricSpace(2))
    >>> evidence.hear(Verdicts.between([0.5, 0.0], [0.0, 0.0], gap=0.3, unfair=False), "a decision")
    >>> further = Pairs.between([1.0, 0.0], [0.0, 0.0])  # twice as far in the same direction
    >>> round(float(lower_bounds(evidence, further)[0]) ** 0.5, 5)
    0.6
    """

    def __init__(self, space: MetricSpace) -> None:
        self.space = space
        self.statements = Statements.none(space.n_features)
        self.contradiction: Proof | None = None
        """The proof that the evidence contradicts itself: from then on nothing is heard, and nothing proved."""
        self._sifted = 0
        self._witnesses = np.zeros((0, space.n_unknowns))
        self._frame = np.zeros((space.n_features, 0))
        """The directions of which witnesses can tell: those in which G was bounded when they were called."""
        self._directions = np.zeros((0, space.n_features))

    def __len__(self) -> int:
        return len(self.statements)

    @property
    def most_rows(self) -> int:
        """How many verdicts are kept after sifting."""
        m = self.space.n_unknowns
        return min(max(ROWS_PER_UNKNOWN * m, FEWEST_ROWS), max(MOST_NUMBERS // m, 1))

    @cached_property
    def consistent_set(self) -> ConsistentSet | None:
        """All metrics that fit; None as long as nothing bounds them. Made anew whenever verdicts are added."""
        return ConsistentSet.of(self.space, self.statements, self._directions)

    def hear(self, verdicts: Verdicts, source: str) -> None:
        """Take in what was said of the decision with the id `source`."""
        if self.contradiction is not None or len(verdicts) == 0:
            return
        news = np.flatnonzero(self._may_be_news(verdicts))
        if len(news) == 0:
            return
        new = Statements.of(verdicts.take(news), source)
        self._replace(self.statements.joined(new))
        self._look_for_copies(len(new))
        is_crowded = len(self.statements) - self._sifted > UNSIFTED
        if self.contradiction is None and (is_crowded or self._is_startling(new)):
            self._sift()

    def _may_be_news(self, verdicts: Verdicts) -> NDArray[np.bool_]:
        """Which verdicts may add to what is known, (n,)."""
        z, gaps, unfair = verdicts.pairs.differences, verdicts.gaps, verdicts.unfair
        # A flag on exact copies says nothing, and neither does a verdict on equal odds.
        news = (~unfair | np.any(z != 0.0, axis=1)) & (gaps > PROBABILITY_TOLERANCE)
        if len(self._witnesses):
            closest = np.min(self.space.features(z) @ self._witnesses.T, axis=1)
            news &= unfair | (closest < ((1.0 - TELLING) * gaps) ** 2) | ~in_span(z, self._frame)
        if np.sum(news) > MOST_AT_ONCE:
            order = np.lexsort((gaps, verdicts.tight, unfair, news))
            news[order[:-MOST_AT_ONCE]] = False
        for row in np.flatnonzero(news):
            news[row] = not self._was_said(z[row], float(gaps[row]), bool(unfair[row]))
        return np.asarray(news)

    def _was_said(self, z: Floats, gap: float, unfair: bool) -> bool:
        """Whether a verdict on the very same difference says as much."""
        as_much = self.statements.gaps <= gap if unfair else self.statements.gaps >= gap
        same = as_much & (self.statements.unfair == unfair)
        return bool(np.any(np.all(self.statements.differences[same] == z, axis=1)))

    def _is_startling(self, new: Statements) -> bool:
        """Whether no witness, close as they bring people, allows some unfair verdict: it may contradict the others."""
        closest = np.min(self._witnesses @ self.space.features(new.differences).T, axis=0, initial=np.inf)
        return len(self._witnesses) > 0 and bool(np.any(new.unfair & (closest > new.thresholds)))

    def _look_for_copies(self, n_new: int) -> None:
        """Two exact copies are at distance 0: whoever calls different odds for them fair contradicts herself."""
        new = np.arange(len(self.statements) - n_new, len(self.statements))
        copies = new[~self.statements.unfair[new] & np.all(self.statements.differences[new] == 0.0, axis=1)]
        if len(copies):
            self.contradiction = self._contradiction(copies[:1], np.ones(1))

    def _contradiction(self, rows: NDArray[np.int64], weights: Floats) -> Proof | None:
        return checked(self.space, self.statements, np.zeros(self.space.n_features), rows, weights)

    def _sift(self) -> None:
        found = sift(self.space, self.statements, self._directions, self._sifted, TELLING, self.most_rows)
        self._witnesses, self._frame, self._directions = found.witnesses, found.frame, found.directions
        self.contradiction = found.contradiction
        if self.contradiction is None:
            self._replace(self.statements.take(found.kept))
        self._sifted = len(self.statements)

    def _replace(self, statements: Statements) -> None:
        self.statements = statements
        self.__dict__.pop("consistent_set", None)

    # Saving.

    def state(self) -> dict[str, Any]:
        """All that the evidence is, in arrays, numbers, strings and lists of them."""
        why = self.contradiction
        return {
            "n_features": self.space.n_features,
            "structure": self.space.structure,
            "statements": self.statements.state(),
            "sifted": self._sifted,
            "witnesses": self._witnesses,
            "frame": self._frame,
            "directions": self._directions,
            "contradiction": None if why is None else {"rows": why.rows, "weights": why.weights},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The evidence whose `state` this was, to the bit."""
        evidence = cls(MetricSpace(state["n_features"], state["structure"]))
        evidence.statements = Statements.from_state(state["statements"])
        evidence._sifted = int(state["sifted"])
        evidence._witnesses, evidence._frame = state["witnesses"].copy(), state["frame"].copy()
        evidence._directions = state["directions"].copy()
        if state["contradiction"] is not None:
            evidence.contradiction = evidence._contradiction(**state["contradiction"])
        return evidence
