"""Curve: an account of a long run in little memory: running totals at rounds evenly spaced on a log axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.auditors import Arrival, Truth
from evenhand.errors import InvalidInput
from evenhand.lab.account import FlaggedRounds, score
from evenhand.records.decision import Decision

PER_OCTAVE = 4
"""Checkpoints per doubling of the round."""

TOTALS = (
    "regret",
    "reward",
    "unfair_pairs",
    "flagged_pairs",
    "unfair_rounds",
    "last_unfair_round",
    "flagged_rounds_by_reviewer",
)
"""The columns, in order."""


def checkpoints(rounds: int) -> list[int]:
    """The rounds at which totals are kept: 1, about PER_OCTAVE in each doubling, and the last.

    >>> checkpoints(10)
    [1, 2, 3, 4, 5, 6, 7, 8, 10]
    """
    steps = math.ceil(PER_OCTAVE * math.log2(max(rounds, 1))) + 1
    found = {min(rounds, round(2.0 ** (step / PER_OCTAVE))) for step in range(steps)}
    return sorted(found | {rounds})


class Curve:
    """Running totals of regret, reward and unfairness at checkpoints; O(log T) memory for T rounds.

    Plus one bit a round, so that no round counts twice in flagged_rounds_by_reviewer when its reviews are late.
    """

    def __init__(self, epsilon: float, rounds: int) -> None:
        self.epsilon = epsilon
        self._wanted = checkpoints(rounds)
        self._totals = np.zeros(len(TOTALS))
        self._flagged = FlaggedRounds()
        self._round = 0
        self._rows: list[Floats] = []

    def add(self, decision: Decision, expected_rewards: Floats, truth: Truth, reviews: Sequence[Arrival] = ()) -> None:
        """Add a decision, its candidates' expected rewards (k,), and the reviews that arrived after it."""
        if len(self._rows) == len(self._wanted):
            raise InvalidInput(f"a curve of {self._wanted[-1]} rounds is complete; no round can be added")
        entry = score(decision, expected_rewards, truth, self.epsilon)
        self._round += 1
        self._totals[:5] += (*entry, entry.unfair > 0)
        if entry.unfair > 0:
            self._totals[5] = self._round
        self._flagged.add(reviews)
        self._totals[6] = self._flagged.count
        if self._round == self._wanted[len(self._rows)]:
            self._rows.append(self._totals.copy())

    def columns(self) -> dict[str, list[float]]:
        """The totals so far at each checkpoint, by column."""
        table = np.array(self._rows).reshape(-1, len(TOTALS))
        rounds = [float(t) for t in self._wanted[: len(self._rows)]]
        return {"round": rounds} | {name: table[:, i].tolist() for i, name in enumerate(TOTALS)}
