"""Decision and Review, the two records that everything passes through.

A Decision carries all that is needed to learn from it later, so outcomes and reviews may come late, in any order, in
another process (`to_dict`, `from_dict`), or never.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, cast, get_args

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.checks import check_bool, check_one_of, is_number, refusal
from evenhand._internal.jit import frozen
from evenhand._internal.text_table import probability_table
from evenhand.errors import ContradictoryReview, InvalidInput, NotChosen, UnknownPair
from evenhand.records.contexts import as_contexts
from evenhand.records.ratings import (
    EQUAL,
    SCALE,
    TOLERANCE,
    Compared,
    ImpliedVerdicts,
    Pair,
    Preference,
    Scale,
    Scores,
    as_compared,
    as_scores,
    check_scale,
    check_tolerance,
    implied_by_comparisons,
    implied_by_scores,
)
from evenhand.records.signatures import Mode, sign

__all__ = ["PROBABILITY_TOLERANCE", "Decision", "Mode", "Pair", "Review", "check_reviewer"]

PROBABILITY_TOLERANCE = EQUAL
"""Probabilities closer than this are equal, and a gap is too wide only if it exceeds its distance by more."""


ARRAYS = ("contexts", "probabilities", "optimistic_rewards")
BOUNDS = ("lower", "upper")


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """The probabilities played in one round, the candidates chosen, and why: the paper's pi^t and i^t.

    `print(decision)` shows a line and a small table; `to_rows()` goes into any data frame.
    """

    id: str
    """The signature of the decision: a bandit learns from decisions with its own signature only."""
    round: int
    contexts: Floats
    """(k, d)."""
    probabilities: Floats
    """(k,), the real sampling probabilities; what is left to 1 means "nobody" when the capacity is 1. With mode
    "shares": the share of what was asked that each candidate gets."""
    chosen: tuple[int, ...]
    """The candidates drawn, in order; () means nobody. With mode "shares": all who get a share."""
    capacity: float | None
    optimistic_rewards: Floats
    """(k,), the rewards that the probabilities maximise."""
    tight_pairs: tuple[Pair, ...] = field(default=())
    """The pairs whose gap equals the distance played: the binding constraints."""
    worst_residual: float | None = None
    """The largest violation of a constraint - 0 to 1, the capacity, a distance played - as measured: rounding, or 0.
    None if the probabilities were not computed under constraints, or it was not recorded."""
    unproved_pairs: int = 0
    """Under `max_unfair_rounds`: how many pairs were left without a proof because the search for proofs is limited.
    They got equal probabilities, which are always fair; with more proofs the decision might have paid off more."""
    lower: Floats | None = None
    """(k,), the floors that were given; None if neither floors nor ceilings were."""
    upper: Floats | None = None
    """(k,), the ceilings that were given; None if neither floors nor ceilings were."""
    mode: Mode = "lottery"

    def __post_init__(self) -> None:
        for name in ARRAYS:  # read-only, as kernels expect them
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if self.lower is not None and self.upper is not None:
            object.__setattr__(self, "lower", frozen(self.lower))
            object.__setattr__(self, "upper", frozen(self.upper))

    def __repr__(self) -> str:
        capacity = f"capacity {self.capacity}"
        return f"Decision(round {self.round}, {self.n_candidates} candidates, {capacity}, chosen {self.chosen})"

    def __str__(self) -> str:
        names, is_draw = [str(i) for i in range(self.n_candidates)], self.mode == "lottery"
        rows = probability_table(names, self.probabilities.tolist(), self.chosen if is_draw else None)
        did = "chosen" if is_draw else "got a share"
        return "\n".join([f"{len(self.chosen)} of {self.n_candidates} candidates {did} in round {self.round}", *rows])

    def to_rows(self) -> list[dict[str, Any]]:
        """A dict for each candidate, as in `pandas.DataFrame(decision.to_rows())`."""
        columns = zip(self.probabilities.tolist(), self.optimistic_rewards.tolist(), strict=True)
        bounds = [name for name in BOUNDS if getattr(self, name) is not None]
        return [
            {"candidate": i, "probability": p, "chosen": i in self.chosen, "optimistic_reward": reward}
            | {name: float(getattr(self, name)[i]) for name in bounds}
            for i, (p, reward) in enumerate(columns)
        ]

    @property
    def n_candidates(self) -> int:
        """k, the number of candidates."""
        return len(self.probabilities)

    def gap(self, i: int, j: int) -> float:
        """|p_i - p_j|."""
        return float(abs(self.probabilities[i] - self.probabilities[j]))

    def check_rewards(self, rewards: Mapping[int, float]) -> tuple[Indices, Floats]:
        """The chosen candidates with an outcome, and their rewards, (n,)."""
        if type(rewards) is not dict and not isinstance(rewards, Mapping):  # the check against the ABC is slow
            raise refusal("rewards", "a dict from a chosen candidate's index to a number", rewards)
        for candidate, reward in rewards.items():
            if isinstance(candidate, (bool, np.bool_)) or candidate not in self.chosen:
                raise NotChosen(f"rewards must be of chosen candidates {self.chosen}, got one of {candidate!r}")
            if not is_number(reward):
                raise refusal(f"the reward of candidate {candidate}", "a finite number", reward)
        return np.array(list(rewards), dtype=np.int64), np.array(list(rewards.values()), dtype=np.float64)

    def signed(self, key: bytes) -> Decision:
        """The decision with its signature under `key` as id: a bandit recognises its own without storing them."""
        return replace(self, id=self._signature(key))

    def is_signed(self, key: bytes) -> bool:
        """Whether the decision was signed with `key` and not changed since."""
        try:
            return hmac.compare_digest(self.id, self._signature(key))
        except (TypeError, OverflowError):  # the id is not ASCII text, or candidates are not whole numbers
            return False

    def _signature(self, key: bytes) -> str:
        bounds = None if self.lower is None or self.upper is None else (self.lower, self.upper)
        played = (self.contexts, self.probabilities, self.chosen, self.tight_pairs)
        return sign(key, self.round, *played, self.mode, bounds)

    def to_dict(self) -> dict[str, Any]:
        """Lists and numbers, exact through JSON."""
        lists = {"chosen": list(self.chosen), "tight_pairs": [list(pair) for pair in self.tight_pairs]}
        given = [name for name in (*ARRAYS, *BOUNDS) if getattr(self, name) is not None]
        arrays = {name: getattr(self, name).tolist() for name in given}
        return {field.name: getattr(self, field.name) for field in fields(self)} | arrays | lists

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Decision:
        """The decision that `to_dict` wrote; a bandit refuses to learn from a changed one."""
        try:
            decision = cls(
                id=str(record["id"]),
                round=int(record["round"]),
                contexts=as_contexts(record["contexts"]),
                probabilities=np.array(record["probabilities"], dtype=np.float64),
                chosen=tuple(int(i) for i in record["chosen"]),
                capacity=record["capacity"],
                optimistic_rewards=np.array(record["optimistic_rewards"], dtype=np.float64),
                tight_pairs=tuple((int(i), int(j)) for i, j in record["tight_pairs"]),
                worst_residual=None if (worst := record.get("worst_residual")) is None else float(worst),
                unproved_pairs=int(record.get("unproved_pairs", 0)),
                mode=record.get("mode", "lottery"),
                **{name: _bound(record.get(name)) for name in BOUNDS},
            )
            given = [getattr(decision, name) for name in (*ARRAYS, *BOUNDS) if getattr(decision, name) is not None]
            if len({len(values) for values in given}) > 1 or (decision.lower is None) != (decision.upper is None):
                raise ValueError("its parts have different lengths")
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"a decision's record must be what to_dict wrote: {error!r}") from None
        return decision


def _bound(values: Any) -> Floats | None:
    return None if values is None else np.array(values, dtype=np.float64)


ReviewKind = Literal["complete", "partial", "one_bit", "ratings", "comparisons"]
KINDS: tuple[ReviewKind, ...] = get_args(ReviewKind)
ANSWERS = ("scores", "scale", "compared", "tolerance")
"""Fields that only reviews with ratings or comparisons have."""


@dataclass(frozen=True, repr=False)
class Review:
    """One reviewer's answer on one decision: made with `complete`, `partial`, `one_bit`, `ratings` or `comparisons`.

    >>> Review.complete(unfair=[(3, 0)])
    Review(kind='complete', unfair=((0, 3),), fair=(), any_unfair=None, reviewer=None)
    >>> Review.partial(unfair=[(0, 3)], fair=[(3, 0)])
    Traceback (most recent call last):
    ...
    evenhand.errors.ContradictoryReview: pair (0, 3) must be fair or unfair, got both
    """

    kind: ReviewKind
    unfair: tuple[Pair, ...] = ()
    fair: tuple[Pair, ...] = ()
    any_unfair: bool | None = None
    reviewer: str | None = None
    scores: Scores = ()
    """Of ratings: the candidates with their scores."""
    scale: Scale | None = None
    """Of ratings: the lowest and the highest score there is."""
    compared: Compared = ()
    """Of comparisons: pairs, the smaller index first, each with "alike", "first" or "second"."""
    tolerance: float | None = None
    """Of ratings and comparisons: the gap that is acceptable between two who are rated the same or alike."""

    def __post_init__(self) -> None:
        check_one_of("kind", self.kind, KINDS)
        check_reviewer(self.reviewer)
        self._set("unfair", _as_pairs(self.unfair))
        self._set("fair", _as_pairs(self.fair))
        both = sorted(set(self.unfair) & set(self.fair))
        if both:
            raise ContradictoryReview(f"pair {both[0]} must be fair or unfair, got both")
        if self.kind == "one_bit":
            self._set("any_unfair", check_bool("any_unfair", self.any_unfair))
        elif self.any_unfair is not None:
            raise refusal(f"any_unfair of a {self.kind} review", "None", self.any_unfair)
        others = [name for name in ANSWERS if name not in self._answer_fields and getattr(self, name) not in ((), None)]
        if others or (self.kind != "partial" and self.fair) or (self.unfair and self.kind not in KINDS[:2]):
            raise InvalidInput(f"a {self.kind} review must be made with Review.{self.kind}(...), got other arguments")
        if self._answer_fields:
            self._set("tolerance", check_tolerance(TOLERANCE if self.tolerance is None else self.tolerance))
        if self.kind == "ratings":
            scale = check_scale(SCALE if self.scale is None else self.scale)
            self._set("scale", scale)
            self._set("scores", as_scores(self.scores, scale))
        elif self.kind == "comparisons":
            self._set("compared", as_compared(self.compared))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def _answer_fields(self) -> tuple[str, ...]:
        """The fields of ANSWERS that a review of this kind has."""
        return {"ratings": ("scores", "scale", "tolerance"), "comparisons": ("compared", "tolerance")}.get(
            self.kind, ()
        )

    def __repr__(self) -> str:
        names = [field.name for field in fields(self) if field.name not in ANSWERS or field.name in self._answer_fields]
        return f"Review({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    @classmethod
    def complete(cls, unfair: Iterable[Pair] = (), *, reviewer: str | None = None) -> Review:
        """All pairs were reviewed: these are unfair, every other one is fair."""
        return cls("complete", unfair=_as_pairs(unfair), reviewer=reviewer)

    @classmethod
    def partial(cls, unfair: Iterable[Pair] = (), fair: Iterable[Pair] = (), *, reviewer: str | None = None) -> Review:
        """Only these pairs were reviewed; there is no verdict on any other."""
        return cls("partial", unfair=_as_pairs(unfair), fair=_as_pairs(fair), reviewer=reviewer)

    @classmethod
    def one_bit(cls, any_unfair: bool, *, reviewer: str | None = None) -> Review:
        """Whether any pair was unfair, without naming it."""
        return cls("one_bit", any_unfair=any_unfair, reviewer=reviewer)

    @classmethod
    def ratings(
        cls,
        scores: Mapping[int, float],
        *,
        scale: Scale = SCALE,
        tolerance: float = TOLERANCE,
        reviewer: str | None = None,
    ) -> Review:
        """Candidates were rated, each on its own, from scale[0] to scale[1]; there is no verdict on any other.

        Two whose ratings differ by the share s of the scale may be treated differently by s + tolerance.

        >>> Review.ratings({0: 4, 2: 4, 3: 1}).as_verdicts([0.7, 0.2, 0.1, 0.0])
        Review(kind='partial', unfair=((0, 2),), fair=((0, 3), (2, 3)), any_unfair=None, reviewer=None)
        """
        return cls(
            "ratings", scores=as_scores(scores, check_scale(scale)), scale=scale, tolerance=tolerance, reviewer=reviewer
        )

    @classmethod
    def comparisons(
        cls, answers: Mapping[Pair, Preference], *, tolerance: float = TOLERANCE, reviewer: str | None = None
    ) -> Review:
        """Pairs were compared, in either order: "alike", "first" (the first one comes first) or "second".

        A gap above the tolerance is unfair to two who should be treated alike. One who comes first may have the higher
        probability by any gap; if it is the lower one, the pair is no verdict (`reversed_pairs`).

        >>> Review.comparisons({(0, 1): "alike", (3, 0): "second"}).as_verdicts([0.7, 0.2, 0.1, 0.0])
        Review(kind='partial', unfair=((0, 1),), fair=((0, 3),), any_unfair=None, reviewer=None)
        """
        return cls("comparisons", compared=as_compared(answers), tolerance=tolerance, reviewer=reviewer)

    def as_verdicts(self, probabilities: Sequence[float] | Floats) -> Review:
        """The partial review that ratings or comparisons imply for a decision with these probabilities; else itself."""
        if not self._answer_fields:
            return self
        implied = self._implied(probabilities)
        return Review("partial", unfair=implied.unfair, fair=implied.fair, reviewer=self.reviewer)

    def reversed_pairs(self, probabilities: Sequence[float] | Floats) -> tuple[Pair, ...]:
        """Pairs whose comparison says that the one with the lower probability comes first, that one named first."""
        return self._implied(probabilities).reversed if self.kind == "comparisons" else ()

    def _implied(self, probabilities: Sequence[float] | Floats) -> ImpliedVerdicts:
        values, tolerance = np.asarray(probabilities, dtype=np.float64).tolist(), cast("float", self.tolerance)
        self.check_fits(len(values))
        if self.kind == "ratings":
            return implied_by_scores(self.scores, cast("Scale", self.scale), tolerance, values)
        return implied_by_comparisons(self.compared, tolerance, values)

    def to_dict(self) -> dict[str, Any]:
        """Lists and strings, for JSON."""
        pairs = {name: [list(pair) for pair in getattr(self, name)] for name in ("unfair", "fair")}
        answers = {name: _plain(getattr(self, name)) for name in self._answer_fields}
        return {"kind": self.kind, **pairs, "any_unfair": self.any_unfair, "reviewer": self.reviewer, **answers}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Review:
        """The review that `to_dict` wrote."""
        try:
            return cls(**record)
        except TypeError as error:
            raise InvalidInput(f"a review's record must be what to_dict wrote: {error}") from None

    def check_fits(self, n_candidates: int) -> None:
        """Raise UnknownPair if the review names a candidate beyond the `n_candidates` of its decision."""
        for pair in (*self.unfair, *self.fair, *((i, j) for i, j, _ in self.compared)):
            if max(pair) >= n_candidates:
                raise UnknownPair(f"a pair must be of candidates 0 to {n_candidates - 1}, got {pair}")
        for candidate, _ in self.scores:
            if candidate >= n_candidates:
                raise UnknownPair(f"a rated candidate must be one of 0 to {n_candidates - 1}, got {candidate}")


def _plain(value: Any) -> Any:
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def check_reviewer(name: object) -> None:
    """Refuse a reviewer that is no name: a missing one in a data frame is NaN, which never equals itself."""
    if name is not None and not isinstance(name, str):
        raise refusal("reviewer", "a name or None", name)


def _as_pairs(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Pairs with the smaller index first, sorted, without repetitions."""
    result: set[Pair] = set()
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise refusal("pairs", "a list of pairs of candidates' indices", pairs)
    for pair in pairs:
        try:
            i, j = pair
            whole = i == int(i) and j == int(j)
        except (TypeError, ValueError, OverflowError):
            whole = False
        if not whole or isinstance(i, (bool, np.bool_)) or isinstance(j, (bool, np.bool_)):
            raise refusal("a pair", "two whole numbers, as in (0, 3)", pair)
        if min(i, j) < 0 or i == j:
            raise UnknownPair(f"a pair must be of two different candidates >= 0, got {(int(i), int(j))}")
        result.add((min(int(i), int(j)), max(int(i), int(j))))
    return tuple(sorted(result))
