"""Curve: an account of a long run in little memory: running totals, kept at rounds evenly spaced on a log axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.auditors import Arrival, Truth
from evenhand.errors import InvalidInput
from evenhand.lab.flagged_rounds import FlaggedRounds
from evenhand.lab.score import score
from evenhand.records.decision import Decision

PER_OCTAVE = 4
"""Checkpoints between a round and its double."""

TOTALS = (
    "regret",
    "reward",
    "unfair_pairs",
    "flagged_pairs",
    "unfair_rounds",
    "last_unfair_round",
    "flagged_rounds_by_reviewer",
)
"""What is added up, in the order of the columns."""


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

    And one bit a round, so that no round counts twice in flagged_rounds_by_reviewer when its reviews come late.
    """

    def __init__(self, epsilon: float, rounds: int) -> None:
        self.epsilon = epsilon
        self._wanted = checkpoints(rounds)
        self._totals = np.zeros(len(TOTALS))
        self._flagged = FlaggedRounds()
        self._round = 0
        self._rows: list[NDArray[np.float64]] = []

    def add(
        self,
        decision: Decision,
        expected_rewards: NDArray[np.float64],
        truth: Truth,
        reviews: Sequence[Arrival] = (),
    ) -> None:
        """Enter one decision, given its candidates' expected rewards (k,), and the reviews that then came in."""
        if len(self._rows) == len(self._wanted):
            raise InvalidInput(f"this curve was made for {self._wanted[-1]} rounds and has them all")
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
        """The totals so far at each checkpoint, column by column."""
        table = np.array(self._rows).reshape(-1, len(TOTALS))
        rounds = [float(t) for t in self._wanted[: len(self._rows)]]
        return {"round": rounds} | {name: table[:, i].tolist() for i, name in enumerate(TOTALS)}
