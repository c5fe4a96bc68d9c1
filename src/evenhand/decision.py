"""The two records everything passes through: a Decision that was made, a Review of it.

Both are frozen. A Decision carries all that is needed to learn from it later, so outcomes and reviews may come
late, in any order, in another process (`to_dict`, `from_dict`), or never.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.contexts import as_contexts
from evenhand.errors import ContradictoryReview, InvalidInput, UnknownPair

Pair = tuple[int, int]

ODDS_TOLERANCE = 1e-9
"""Odds are exact to this: two odds closer than it are equal, and a gap is too wide only beyond it."""


@dataclass(frozen=True, eq=False)
class Decision:
    """What was played in one round, who was chosen, and why: the paper's pi^t and i^t with their reasons."""

    id: str
    """Names the decision and seals it: a bandit recognises its own decisions by it and learns from no other."""
    round: int
    contexts: NDArray[np.float64]
    """(k, d), as they were shown."""
    probabilities: NDArray[np.float64]
    """(k,), the real sampling probabilities; what is missing to 1 means "nobody" when the capacity is 1."""
    chosen: tuple[int, ...]
    """The candidates drawn, in order; () means nobody."""
    capacity: int | None
    optimistic_rewards: NDArray[np.float64]
    """(k,), the rewards the odds were chosen for."""
    tight_pairs: tuple[Pair, ...] = field(default=())
    """The pairs whose gap was as wide as the distance played allowed: they bound the odds."""

    @property
    def n_candidates(self) -> int:
        """How many candidates there were: k."""
        return len(self.probabilities)

    def gap(self, i: int, j: int) -> float:
        """How differently i and j were treated: |p_i - p_j|."""
        return float(abs(self.probabilities[i] - self.probabilities[j]))

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, exact to the bit through JSON."""
        return {
            "id": self.id,
            "round": self.round,
            "contexts": self.contexts.tolist(),
            "probabilities": self.probabilities.tolist(),
            "chosen": list(self.chosen),
            "capacity": self.capacity,
            "optimistic_rewards": self.optimistic_rewards.tolist(),
            "tight_pairs": [list(pair) for pair in self.tight_pairs],
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Decision:
        """The decision that `to_dict` wrote down; a changed one is refused when a bandit learns from it."""
        try:
            return cls(
                id=str(record["id"]),
                round=int(record["round"]),
                contexts=as_contexts(record["contexts"]),
                probabilities=np.array(record["probabilities"], dtype=np.float64),
                chosen=tuple(int(i) for i in record["chosen"]),
                capacity=record["capacity"],
                optimistic_rewards=np.array(record["optimistic_rewards"], dtype=np.float64),
                tight_pairs=tuple((int(i), int(j)) for i, j in record["tight_pairs"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(
                f"this is not the record of a decision ({error!r}); allowed is what to_dict wrote"
            ) from None


@dataclass(frozen=True)
class Review:
    """One reviewer's answer on one decision: complete, partial, or one bit. Make it with the three constructors.

    >>> Review.complete(unfair=[(3, 0)])
    Review(kind='complete', unfair=((0, 3),), fair=(), any_unfair=None, reviewer=None)
    >>> Review.partial(unfair=[(0, 3)], fair=[(3, 0)])
    Traceback (most recent call last):
    ...
    evenhand.errors.ContradictoryReview: pair (0, 3) is said to be both fair and unfair; say one of them
    """

    kind: Literal["complete", "partial", "one_bit"]
    unfair: tuple[Pair, ...] = ()
    fair: tuple[Pair, ...] = ()
    any_unfair: bool | None = None
    reviewer: str | None = None

    @classmethod
    def complete(cls, unfair: Iterable[Pair] = (), *, reviewer: str | None = None) -> Review:
        """Every pair was looked at: these were unfair, every other one was fine."""
        return cls("complete", unfair=_as_pairs(unfair), reviewer=reviewer)

    @classmethod
    def partial(cls, unfair: Iterable[Pair] = (), fair: Iterable[Pair] = (), *, reviewer: str | None = None) -> Review:
        """Only these pairs were looked at; of any other nothing is said."""
        unfair_pairs, fair_pairs = _as_pairs(unfair), _as_pairs(fair)
        both = sorted(set(unfair_pairs) & set(fair_pairs))
        if both:
            raise ContradictoryReview(f"pair {both[0]} is said to be both fair and unfair; say one of them")
        return cls("partial", unfair=unfair_pairs, fair=fair_pairs, reviewer=reviewer)

    @classmethod
    def one_bit(cls, any_unfair: bool, *, reviewer: str | None = None) -> Review:
        """Only whether anything at all was unfair."""
        if not isinstance(any_unfair, (bool, np.bool_)):
            raise InvalidInput(f"any_unfair is {any_unfair!r}; allowed are True and False")
        return cls("one_bit", any_unfair=bool(any_unfair), reviewer=reviewer)

    def check_fits(self, n_candidates: int) -> None:
        """Raise UnknownPair if the review names a candidate beyond the `n_candidates` of its decision."""
        for pair in self.unfair + self.fair:
            if pair[1] >= n_candidates:
                raise UnknownPair(f"pair {pair} is unknown; the decision has candidates 0 to {n_candidates - 1}")


def _as_pairs(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Pairs with the smaller index first, each once, in order."""
    result: set[Pair] = set()
    for pair in pairs:
        try:
            i, j = pair
            whole = i == int(i) and j == int(j)
        except (TypeError, ValueError):
            raise InvalidInput(f"{pair!r} is not a pair; allowed are two candidates' indices, as in (0, 3)") from None
        if isinstance(i, (bool, np.bool_)) or isinstance(j, (bool, np.bool_)) or not whole:
            raise InvalidInput(f"{pair!r} is not a pair of indices; allowed are two whole numbers, as in (0, 3)")
        if min(i, j) < 0 or i == j:
            raise UnknownPair(f"pair {(int(i), int(j))} is unknown; a pair is two different candidates, from 0 up")
        result.add((min(int(i), int(j)), max(int(i), int(j))))
    return tuple(sorted(result))
