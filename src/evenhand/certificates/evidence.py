"""Evidence: those verdicts, out of all, that proofs are made of; pruning keeps the ones that are needed."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand.certificates._budget import UNLIMITED, OutOfBudget, SearchBudget
from evenhand.certificates._consistent_set import ConsistentSet, in_span
from evenhand.certificates._descent import Descent
from evenhand.certificates._proof import Proof, checked, refuted
from evenhand.certificates._sourced_verdicts import SourcedVerdicts
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import Verdicts
from evenhand.records.decision import PROBABILITY_TOLERANCE

WITNESSES = 32  # How many witnesses are computed, each for one verdict.
DIRECTIONS_PER_UNKNOWN = 4  # How many directions of negative length are kept per unknown.

PRUNING_WORK, EVIDENCE_WORK = 2e9, 2e10
"""Budgets of one pruning, and of all together: seconds, and half a minute. Then no further witness is computed, and new
verdicts are kept unexamined. Decisions depend on the evidence, so the limits must not depend on the clock."""


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
    space: MetricSpace,
    verdicts: SourcedVerdicts,
    directions: Floats,
    n_old: int,
    share: float,
    most: int,
    own: SearchBudget,
    budget: SearchBudget,
) -> Pruned:
    """Of the fair verdicts after the first `n_old`, keep those that a witness violates by more than `share` of the gap.

    Witnesses are computed for new verdicts, or old ones if there are few, one after the other. Whenever one violates
    new verdicts, the most violated is added, and the witness is computed again. At most `most` verdicts are kept: first
    those that bound G or a witness, then unfair ones, then the newest. When `own` is used up no further witness is
    computed, and all new verdicts may be kept; when `budget` is, OutOfBudget is raised.
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
    descent, witnesses, used = Descent(known, own), [none], [known.spread.rows]
    old = known.usable[~verdicts.unfair[known.usable]]
    chosen = undecided.spread_out(WITNESSES)
    chosen = np.concatenate([old[max(len(old) - WITNESSES + len(chosen), 0) :], chosen])
    rows = everything
    try:
        for z in verdicts.differences[chosen]:
            hint = descent.lowest(z, undecided.most_violated)
            if hint is not None and hint.empty:
                contradiction = refuted(known, hint.rows, hint.weights, own)
                if contradiction is not None:
                    return Pruned(everything, none, frame, directions, contradiction)
            elif hint is not None:
                witnesses.append(hint.metric[None, :])
                used.append(hint.rows)
        rows = np.setdiff1d(everything, undecided.rows)
    except OutOfBudget:
        if budget.is_spent:
            raise
    kept = _first_needed(verdicts, np.concatenate(used), rows, most)
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


INFORMATIVE = 0.001
"""A fair verdict is new information if some witness puts its pair closer by more than this share of the gap."""

UNPRUNED = 128  # How many possibly informative verdicts are collected before they are pruned.

MOST_AT_ONCE = 1024
"""How many verdicts on one decision are used: unfair ones first, then tight ones, then those with wide gaps."""

ROWS_PER_UNKNOWN = 32
FEWEST_ROWS = 256
MOST_NUMBERS = 2_000_000  # Verdicts kept per unknown; the least number of them; and the most numbers kept in all.


class Evidence:
    """The verdicts that may prove something, and witnesses, to recognise new information.

    A witness is a metric that fits all verdicts so far and brings some pair as close together as possible. A fair
    verdict that no witness violates follows from the others for practical purposes, and is left out. The others, and
    all unfair ones, are collected, and pruned when there are many or one is surprising. Leaving a verdict out is always
    sound: fewer pairs can be proved, none wrongly. Cost of `update`: O(n m) without news; memory is bounded.

    >>> from evenhand.certificates import lower_bounds
    >>> from evenhand.metrics import Pairs, Verdicts
    >>> evidence = Evidence(MetricSpace(2))
    >>> evidence.update(Verdicts.between([0.5, 0.0], [0.0, 0.0], gap=0.3, unfair=False), "a decision")
    >>> further = Pairs.between([1.0, 0.0], [0.0, 0.0])  # twice as far in the same direction
    >>> round(float(lower_bounds(evidence, further)[0]) ** 0.5, 5)
    0.6
    """

    def __init__(self, space: MetricSpace) -> None:
        self.space = space
        self.verdicts = SourcedVerdicts.none(space.n_features)
        self.contradiction: Proof | None = None
        """The proof that the verdicts contradict each other; after it nothing is added, and nothing proved."""
        self._pruned = 0
        self._work = 0.0
        """What all prunings together have used of their budget."""
        self._witnesses = np.zeros((0, space.n_unknowns))
        self._frame = np.zeros((space.n_features, 0))
        """The directions in which G was bounded when the witnesses were computed."""
        self._directions = np.zeros((0, space.n_features))

    def __len__(self) -> int:
        return len(self.verdicts)

    @property
    def most_rows(self) -> int:
        """How many verdicts are kept after pruning."""
        m = self.space.n_unknowns
        return min(max(ROWS_PER_UNKNOWN * m, FEWEST_ROWS), max(MOST_NUMBERS // m, 1))

    @cached_property
    def consistent_set(self) -> ConsistentSet | None:
        """All metrics that fit; None while nothing bounds them. Computed again after verdicts are added."""
        return ConsistentSet.of(self.space, self.verdicts, self._directions)

    def update(self, verdicts: Verdicts, source: str, budget: SearchBudget = UNLIMITED) -> None:
        """Add the verdicts on the decision with the id `source`; half of it is done if OutOfBudget is raised."""
        if self.contradiction is not None or len(verdicts) == 0:
            return
        news = np.flatnonzero(self._may_inform(verdicts))
        if len(news) == 0:
            return
        new = SourcedVerdicts.of(verdicts.take(news), source)
        self._replace(self.verdicts.joined(new))
        self._check_copies(len(new))
        is_crowded = len(self.verdicts) - self._pruned > UNPRUNED
        if self.contradiction is None and (is_crowded or self._is_surprising(new)):
            self._prune(budget)

    def _may_inform(self, verdicts: Verdicts) -> Mask:
        """Which verdicts may add information, (n,)."""
        z, gaps, unfair = verdicts.pairs.differences, verdicts.gaps, verdicts.unfair
        # A flag on exact copies carries no information, nor does a verdict on equal probabilities.
        news = (~unfair | np.any(z != 0.0, axis=1)) & (gaps > PROBABILITY_TOLERANCE)
        if len(self._witnesses):
            closest = np.min(self.space.features(z) @ self._witnesses.T, axis=1)
            news &= unfair | (closest < ((1.0 - INFORMATIVE) * gaps) ** 2) | ~in_span(z, self._frame)
        if np.sum(news) > MOST_AT_ONCE:
            order = np.lexsort((gaps, verdicts.tight, unfair, news))
            news[order[:-MOST_AT_ONCE]] = False
        for row in np.flatnonzero(news):
            news[row] = not self._is_known(z[row], float(gaps[row]), bool(unfair[row]))
        return np.asarray(news)

    def _is_known(self, z: Floats, gap: float, unfair: bool) -> bool:
        """Whether a verdict on the same difference implies this one."""
        as_much = self.verdicts.gaps <= gap if unfair else self.verdicts.gaps >= gap
        same = as_much & (self.verdicts.unfair == unfair)
        return bool(np.any(np.all(self.verdicts.differences[same] == z, axis=1)))

    def _is_surprising(self, new: SourcedVerdicts) -> bool:
        """Whether every witness violates some unfair verdict, which may then contradict the others."""
        closest = np.min(self._witnesses @ self.space.features(new.differences).T, axis=0, initial=np.inf)
        return len(self._witnesses) > 0 and bool(np.any(new.unfair & (closest > new.thresholds)))

    def _check_copies(self, n_new: int) -> None:
        """Exact copies are at distance 0: calling different probabilities for them fair is a contradiction."""
        new = np.arange(len(self.verdicts) - n_new, len(self.verdicts))
        copies = new[~self.verdicts.unfair[new] & np.all(self.verdicts.differences[new] == 0.0, axis=1)]
        if len(copies):
            self.contradiction = self._contradiction(copies[:1], np.ones(1))

    def _contradiction(self, rows: Indices, weights: Floats) -> Proof | None:
        return checked(self.space, self.verdicts, np.zeros(self.space.n_features), rows, weights)

    def _prune(self, budget: SearchBudget) -> None:
        own = SearchBudget(min(PRUNING_WORK, EVIDENCE_WORK - self._work), within=budget)
        limits = (INFORMATIVE, self.most_rows, own, budget)
        found = prune(self.space, self.verdicts, self._directions, self._pruned, *limits)
        self._work += own.used
        self._witnesses, self._frame, self._directions = found.witnesses, found.frame, found.directions
        self.contradiction = found.contradiction
        if self.contradiction is None:
            self._replace(self.verdicts.take(found.kept))
        self._pruned = len(self.verdicts)

    def _replace(self, verdicts: SourcedVerdicts) -> None:
        self.verdicts = verdicts
        self.__dict__.pop("consistent_set", None)

    # Saving.

    def state(self) -> dict[str, Any]:
        """Arrays, numbers, strings and lists of them."""
        why = self.contradiction
        return {
            "n_features": self.space.n_features,
            "structure": self.space.structure,
            "statements": self.verdicts.state(),
            "sifted": self._pruned,
            "work": self._work,
            "witnesses": self._witnesses,
            "frame": self._frame,
            "directions": self._directions,
            "contradiction": None if why is None else {"rows": why.rows, "weights": why.weights},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The evidence with this `state`, to the bit."""
        evidence = cls(MetricSpace(state["n_features"], state["structure"]))
        evidence.verdicts = SourcedVerdicts.from_state(state["statements"])
        evidence._pruned, evidence._work = int(state["sifted"]), float(state.get("work", 0.0))
        evidence._witnesses, evidence._frame = state["witnesses"].copy(), state["frame"].copy()
        evidence._directions = state["directions"].copy()
        if state["contradiction"] is not None:
            evidence.contradiction = evidence._contradiction(**state["contradiction"])
        return evidence
