"""Proposals: decisions that were computed but not recorded yet, and the random stream of each decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.desk.candidates import Candidates
from evenhand.desk.projection.projection import Projection
from evenhand.errors import EvenhandError
from evenhand.records.decision import Decision

DRAWS_STREAM = 2
"""Streams spawned from a desk's seed: 0 the bandit's key, 1 the metric learner's, 2 the draws."""


class Draws:
    """Random streams, one for each decision: Philox, keyed by the desk's seed, its counter set by the number.

    `np.random.Philox(key=draws.key, counter=[0, number, 0, 0])` gives the same numbers, in any order of calls.

    >>> first = Draws(7).of(3).random()
    >>> fresh = np.random.Generator(np.random.Philox(key=Draws(7).key, counter=[0, 3, 0, 0]))
    >>> first == fresh.random()
    True
    """

    def __init__(self, seed: int) -> None:
        self.key = np.random.SeedSequence(seed).spawn(DRAWS_STREAM + 1)[DRAWS_STREAM].generate_state(2, np.uint64)
        self._bits = np.random.Philox(key=self.key)
        self._blank = self._bits.state
        self._generator = np.random.Generator(self._bits)

    def of(self, number: int) -> np.random.Generator:
        """The stream of decision `number`; valid until the next call, since one generator is reset for each.

        Resetting takes a microsecond, a new generator seventeen.
        """
        self._blank["state"]["counter"][:] = (0, number, 0, 0)
        self._bits.state = self._blank
        return self._generator

    @staticmethod
    def record(number: int) -> dict[str, Any]:
        """How a decision's event names its stream."""
        return {"generator": "Philox", "counter": [0, number, 0, 0]}


class StaleProposal(Exception):
    """The capacity has changed since a decision was proposed."""


class Proposals:
    """The proposals of one batch, by the place of their command.

    Computing one may take long, and happens outside the database transaction. `freeze` is called when that begins: from
    then on a proposal can only be drawn again, for another number, which takes microseconds.
    """

    def __init__(self, projection: Projection, draws: Draws) -> None:
        self.projection, self.draws = projection, draws
        self._made: dict[int, Decision | EvenhandError] = {}
        self._is_frozen = False

    def freeze(self) -> None:
        """Compute nothing new from now on."""
        self._is_frozen = True

    def of(self, place: int, candidates: Candidates, number: int, capacity: int | None) -> Decision:
        """The decision of a command with this number and capacity; StaleProposal if it would have to be computed."""
        bandit, made = self.projection.bandit, self._made.get(place)
        if bandit.capacity != capacity:
            bandit = bandit.with_capacity(capacity)
        if isinstance(made, EvenhandError):
            raise made
        if made is None or made.capacity != capacity:
            if self._is_frozen:
                raise StaleProposal
            try:
                made = bandit.propose(candidates.contexts, number=number, lots=self.draws.of(number))
            except EvenhandError as error:
                self._made[place] = error
                raise
        elif made.round != number:
            made = bandit.drawn_again(made, number=number, rng=self.draws.of(number))
        self._made[place] = made
        return made
