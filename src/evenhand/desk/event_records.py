"""From the body of an event back to the records of the bandit: Decision and Review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import ContradictoryReview, UnknownPair
from evenhand.records.decision import Decision, Pair, Review


def decision_of(body: Mapping[str, Any]) -> Decision:
    """The decision of an event of kind "decision", to the bit."""
    place = {name: i for i, name in enumerate(body["candidates"])}
    return Decision(
        id=body["seal"],
        round=body["number"],
        contexts=_read_only(body["contexts"]),
        probabilities=_read_only(body["probabilities"]),
        chosen=tuple(place[name] for name in body["chosen"]),
        capacity=body["capacity"],
        optimistic_rewards=_read_only(body["optimistic_rewards"]),
        tight_pairs=tuple((i, j) for i, j in body["tight_pairs"]),
        worst_residual=body.get("worst_residual"),  # the first ledgers have none
    )


def _read_only(values: Any) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


def review_of(body: Mapping[str, Any], candidates: Sequence[str]) -> Review:
    """The review of an event of kind "review", with indices in place of ids."""
    unfair, fair = _pairs(body["unfair"], candidates), _pairs(body["fair"], candidates)
    both = {frozenset(pair) for pair in unfair} & {frozenset(pair) for pair in fair}
    if both:
        names = [candidates[i] for i in sorted(min(both, key=sorted))]
        raise ContradictoryReview(f"a pair must be either fair or unfair, got {names} in both")
    return Review(body["kind"], unfair=unfair, fair=fair, any_unfair=body["any_unfair"], reviewer=body["reviewer"])


def _pairs(pairs: Sequence[Sequence[str]], candidates: Sequence[str]) -> tuple[Pair, ...]:
    return tuple((i, j) for i, j in (indices_of(pair, candidates) for pair in pairs))


def indices_of(names: Sequence[str], candidates: Sequence[str]) -> list[int]:
    """The index of each of these candidates; UnknownPair for one who is not a candidate."""
    for name in names:
        if name not in candidates:
            raise UnknownPair(f"unknown candidate {name!r}; the candidates of this decision are {list(candidates)}")
    return [candidates.index(name) for name in names]
