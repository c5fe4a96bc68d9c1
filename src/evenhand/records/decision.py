"""The two records everything passes through: a Decision that was made, a Review of it.

Both are frozen. A Decision carries all that is needed to learn from it later, so outcomes and reviews may come
late, in any order, in another process (`to_dict`, `from_dict`), or never.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import ContradictoryReview, InvalidInput, UnknownPair
from evenhand.records.contexts import as_contexts

Pair = tuple[int, int]

PROBABILITY_TOLERANCE = 1e-9
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
    worst_residual: float | None = None
    """By how much the odds exceed the limit that they exceed most - 0 to 1, the capacity, a distance played - as
    measured: rounding, or 0. None where odds were not worked out under limits, or it was not noted."""

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
            "worst_residual": self.worst_residual,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Decision:
        """The decision that `to_dict` wrote down; a changed one is refused when a bandit learns from it."""
        try:
            decision = cls(
                id=str(record["id"]),
                round=int(record["round"]),
                contexts=as_contexts(record["contexts"]),
                probabilities=_read_only(record["probabilities"]),
                chosen=tuple(int(i) for i in record["chosen"]),
                capacity=record["capacity"],
                optimistic_rewards=_read_only(record["optimistic_rewards"]),
                tight_pairs=tuple((int(i), int(j)) for i, j in record["tight_pairs"]),
                worst_residual=_number_or_none(record.get("worst_residual")),
            )
            if not len(decision.contexts) == len(decision.probabilities) == len(decision.optimistic_rewards):
                raise ValueError("its parts speak of different numbers of candidates")
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(
                f"this is not the record of a decision ({error}); allowed is what to_dict wrote"
            ) from None
        return decision


def _number_or_none(value: Any) -> float | None:
    return None if value is None else float(value)


def _read_only(values: Any) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


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

    def __post_init__(self) -> None:
        if self.kind not in ("complete", "partial", "one_bit"):
            raise InvalidInput(f"kind is {self.kind!r}; allowed are 'complete', 'partial' and 'one_bit'")
        check_reviewer(self.reviewer)
        object.__setattr__(self, "unfair", _as_pairs(self.unfair))
        object.__setattr__(self, "fair", _as_pairs(self.fair))
        both = sorted(set(self.unfair) & set(self.fair))
        if both:
            raise ContradictoryReview(f"pair {both[0]} is said to be both fair and unfair; say one of them")
        if self.kind == "one_bit":
            if not isinstance(self.any_unfair, (bool, np.bool_)):
                raise InvalidInput(f"any_unfair is {self.any_unfair!r}; allowed are True and False")
            object.__setattr__(self, "any_unfair", bool(self.any_unfair))
        if (self.kind == "one_bit") != (self.any_unfair is not None) or (self.kind != "partial" and self.fair):
            raise InvalidInput(f"a {self.kind} review cannot say that; make it with Review.{self.kind}(...)")
        if self.kind == "one_bit" and self.unfair:
            raise InvalidInput("a one-bit review names no pairs; make it with Review.one_bit(...)")

    @classmethod
    def complete(cls, unfair: Iterable[Pair] = (), *, reviewer: str | None = None) -> Review:
        """Every pair was looked at: these were unfair, every other one was fine."""
        return cls("complete", unfair=_as_pairs(unfair), reviewer=reviewer)

    @classmethod
    def partial(cls, unfair: Iterable[Pair] = (), fair: Iterable[Pair] = (), *, reviewer: str | None = None) -> Review:
        """Only these pairs were looked at; of any other nothing is said."""
        return cls("partial", unfair=_as_pairs(unfair), fair=_as_pairs(fair), reviewer=reviewer)

    @classmethod
    def one_bit(cls, any_unfair: bool, *, reviewer: str | None = None) -> Review:
        """Only whether anything at all was unfair."""
        return cls("one_bit", any_unfair=any_unfair, reviewer=reviewer)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, for JSON."""
        pairs = {name: [list(pair) for pair in getattr(self, name)] for name in ("unfair", "fair")}
        return {"kind": self.kind, **pairs, "any_unfair": self.any_unfair, "reviewer": self.reviewer}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Review:
        """The review that `to_dict` wrote down."""
        try:
            return cls(**record)
        except TypeError as error:
            raise InvalidInput(f"this is not the record of a review ({error}); allowed is what to_dict wrote") from None

    def check_fits(self, n_candidates: int) -> None:
        """Raise UnknownPair if the review names a candidate beyond the `n_candidates` of its decision."""
        for pair in self.unfair + self.fair:
            if max(pair) >= n_candidates:
                raise UnknownPair(f"pair {pair} is unknown; the decision has candidates 0 to {n_candidates - 1}")


def check_reviewer(name: object) -> None:
    """Refuse what is no name: a missing one in a table is NaN, and two of those are never the same reviewer."""
    if name is not None and not isinstance(name, str):
        raise InvalidInput(f"reviewer is {name!r}; allowed is a name, or None")


def _as_pairs(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Pairs with the smaller index first, each once, in order."""
    result: set[Pair] = set()
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise InvalidInput(f"{pairs!r} is not a list of pairs; allowed is a list of two candidates' indices each")
    for pair in pairs:
        try:
            i, j = pair
            whole = i == int(i) and j == int(j)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(f"{pair!r} is not a pair; allowed are two candidates' indices, as in (0, 3)") from None
        if isinstance(i, (bool, np.bool_)) or isinstance(j, (bool, np.bool_)) or not whole:
            raise InvalidInput(f"{pair!r} is not a pair of indices; allowed are two whole numbers, as in (0, 3)")
        if min(i, j) < 0 or i == j:
            raise UnknownPair(f"pair {(int(i), int(j))} is unknown; a pair is two different candidates, from 0 up")
        result.add((min(int(i), int(j)), max(int(i), int(j))))
    return tuple(sorted(result))
