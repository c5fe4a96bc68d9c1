"""Rounds as lines of DSJSON, the format of Vowpal Wabbit: one choice, several slots, or a slate."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from evenhand._internal.checks import check_one_of
from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision

Form = Literal["cb", "ccb", "slates"]
FORMS: tuple[Form, ...] = get_args(Form)

Line = dict[str, Any]
Features = Mapping[str, float]

PREFIX = "feature "
"""Before names that Vowpal Wabbit would skip."""

NAMESPACE = "x"
"""The namespace of the features of candidates that evenhand writes."""


@dataclass(frozen=True)
class DsjsonRound:
    """One decision as DSJSON knows it; candidates are numbered from 0.

    >>> round = DsjsonRound("r1", ({"age": 0.2}, {"age": 0.5}), (1,), (0.3, 0.7), {1: 0.9})
    >>> line = next(lines_of(round))
    >>> line["_label_cost"], line["_label_probability"], line["a"], line["c"]["_multi"][1]
    (-0.9, 0.7, [2, 1], {'x': {'age': 0.5}})
    """

    id: str
    features: tuple[Features, ...]
    """Of each candidate, by name."""
    chosen: tuple[int, ...]
    probabilities: tuple[float, ...] | None
    """With which each candidate is chosen, (k,); None if the line has no more than those of slots."""
    rewards: Mapping[int, float] = field(default_factory=dict)
    """Observed rewards of chosen candidates: costs, turned round."""
    capacity: int | None = 1
    """How many can be chosen at most; None for everybody."""
    candidates: tuple[str, ...] = ()
    """Ids, or () for numbers."""
    shared: Features = field(default_factory=dict)
    """Features of the round, not of a candidate."""
    time: str | None = None
    is_known: bool = True
    """Whether those chosen are all who were chosen, with these probabilities: if not, no slate is made of it."""
    slot_probabilities: tuple[float, ...] = ()
    """With which each chosen candidate was put into its slot, given those before it; of lines with slots."""
    total_reward: float | None = None
    """The reward of a whole slate, which has none for each candidate."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What evenhand adds under its own name; Vowpal Wabbit skips it."""
    observed: Mapping[int, Sequence[tuple[str, float]]] = field(default_factory=dict)
    """The events that rewards came with, for the field "o"."""

    @classmethod
    def of(
        cls, decision: Decision, rewards: Mapping[int, float] | None = None, *, names: Sequence[str] | None = None
    ) -> DsjsonRound:
        """A decision of a bandit, with outcomes; names: of the features, their numbers by default."""
        _, values = decision.check_rewards(rewards or {})
        columns = list(map(str, range(decision.contexts.shape[1]))) if names is None else list(names)
        if len(columns) != decision.contexts.shape[1]:
            raise InvalidInput(f"names must be {decision.contexts.shape[1]}, one for each feature, got {len(columns)}")
        safe = checked_names(columns)
        features = tuple(dict(zip(safe, row, strict=True)) for row in decision.contexts.tolist())
        observed = dict(zip(rewards or {}, values.tolist(), strict=True))
        probabilities = tuple(decision.probabilities.tolist())
        if decision.mode == "shares":
            raise InvalidInput("a decision must be of a lottery, got one in shares: it draws nobody")
        capacity = None if decision.capacity is None else int(decision.capacity)
        return cls(decision.id, features, decision.chosen, probabilities, observed, capacity)

    def to_past(self, names: Sequence[str] | None = None, *, norm: float = 1.0) -> dict[str, Any]:
        """A record of a past decision, as `evenhand ledger import` reads it.

        names: the features that make a context, in order; by default all that the candidates have. One that a candidate
        does not have is 0, as in Vowpal Wabbit. norm: contexts are divided by it.

        >>> DsjsonRound("r1", ({"age": 0.2}, {}), (1,), (0.3, 0.7), {1: 0.9}).to_past()["candidates"]
        [{'id': '0', 'context': [0.2]}, {'id': '1', 'context': [0.0]}]
        """
        columns = feature_names([self]) if names is None else list(names)
        ids = self.candidates or tuple(map(str, range(len(self.features))))
        contexts = [[features.get(name, 0.0) / norm for name in columns] for features in self.features]
        return {
            "candidates": [{"id": i, "context": context} for i, context in zip(ids, contexts, strict=True)],
            "rewards": {ids[i]: reward for i, reward in self.rewards.items()},
            "source": {"dsjson": self.id},
            **({} if self.probabilities is None else {"probabilities": list(self.probabilities)}),
        }


def feature_names(rounds: Sequence[DsjsonRound]) -> list[str]:
    """The names of all features of candidates, in the order in which they first come."""
    return list(dict.fromkeys(name for one in rounds for features in one.features for name in features))


def lines_of(one: DsjsonRound, form: Form = "cb") -> Iterator[Line]:
    """The lines of a round, as dicts.

    "cb": a line for each chosen candidate, for `vw --cb_explore_adf`; a round that chose nobody is marked to be
    skipped. "ccb": one line with a slot for each chosen candidate, for `--ccb_explore_adf`. "slates": one line with a
    slot for each candidate, who gets it or not, for `--slates`; only without a capacity, since slots are independent.
    """
    check_one_of("form", form, FORMS)
    if form == "cb":
        yield from _cb_lines(one)
    elif form == "ccb":
        yield _ccb_line(one)
    else:
        yield _slates_line(one)


def checked_names(names: Sequence[str]) -> list[str]:
    """Names of features as Vowpal Wabbit uses them: it skips those that begin with an underscore.

    >>> checked_names(["income", "_debt"])
    ['income', 'feature _debt']
    """
    return [f"{PREFIX}{name}" if name.startswith("_") else name for name in names]


def original_name(name: str) -> str:
    """The name that `checked_names` changed.

    >>> original_name("feature _debt"), original_name("feature")
    ('_debt', 'feature')
    """
    return name.removeprefix(PREFIX) if name.startswith(f"{PREFIX}_") else name


def _common(one: DsjsonRound) -> Line:
    time = {} if one.time is None else {"Timestamp": one.time}
    extra = {"evenhand": dict(one.extra)} if one.extra else {}
    shared = {"shared": dict(one.shared)} if one.shared else {}
    multi = [{NAMESPACE: dict(features)} for features in one.features]
    return {**time, "Version": "1", "c": {**shared, "_multi": multi}, "VWState": {"m": "evenhand"}, **extra}


def _known_probabilities(one: DsjsonRound) -> tuple[float, ...]:
    if one.probabilities is None:
        raise InvalidInput(f"probabilities must be known to write a round, got none in {one.id!r}")
    return one.probabilities


def _events(one: DsjsonRound, candidate: int) -> list[Line]:
    observed = one.observed.get(candidate, [(one.id, one.rewards[candidate])])
    return [{"EventId": event, "v": reward} for event, reward in observed]


def _cb_lines(one: DsjsonRound) -> Iterator[Line]:
    probabilities, common = _known_probabilities(one), _common(one)
    for candidate in one.chosen:
        order = [candidate, *(i for i in range(len(probabilities)) if i != candidate)]
        label: Line = {}
        if candidate in one.rewards:
            label = {
                "_label_cost": -one.rewards[candidate],
                "_label_probability": probabilities[candidate],
                "_label_Action": candidate + 1,
                "_labelIndex": candidate,
                "o": _events(one, candidate),
            }
        drawn = {"a": [i + 1 for i in order], "p": [probabilities[i] for i in order]}
        event_id = f"{one.id}/{candidate}" if len(one.chosen) > 1 else one.id
        yield {**label, "EventId": event_id, **drawn, **common}
    if not one.chosen:
        actions = [i + 1 for i in range(len(probabilities))]
        yield {"_skipLearn": True, "EventId": one.id, "a": actions, "p": list(probabilities), **common}


def _ccb_line(one: DsjsonRound) -> Line:
    """A slot for each chosen candidate whose reward is known.

    The candidates are put into the places in random order, so the probability that a place has candidate i is p_i
    over the number of places. A slot without a reward would be a slot of infinite cost to Vowpal Wabbit, so it is left
    out; the slots are alike, and none depends on another.
    """
    probabilities = _known_probabilities(one)
    places = len(probabilities) if one.capacity is None else max(math.ceil(one.capacity), len(one.chosen))
    rewarded = [i for i in _in_random_order(one) if i in one.rewards]
    outcomes = []
    for at, candidate in enumerate(rewarded):
        others = [i for i in range(len(probabilities)) if i != candidate and i not in rewarded[:at]]
        order = [candidate, *others]
        outcomes.append(
            {
                "_label_cost": -one.rewards[candidate],
                "_a": order,
                "_p": [probabilities[i] / places for i in order],
                "_o": _events(one, candidate),
            }
        )
    common = _common(one)
    slots: list[Line] = [{"_id": f"{one.id}/{at}"} for at in range(len(outcomes) or 1)]
    labelled: Line = {"_outcomes": outcomes} if outcomes else {"_skipLearn": True}
    extra = {**common.get("evenhand", {}), "round": _whole(one)}
    inside = {**common["c"], "_slots": slots}
    return {"EventId": one.id, **common, "c": inside, **labelled, "evenhand": extra}  # outcomes must come after slots


def _slates_line(one: DsjsonRound) -> Line:
    """A slot for each candidate, whose two actions are to choose them, with their features, or not, with none."""
    probabilities = _known_probabilities(one)
    if one.capacity is not None:
        raise InvalidInput(f"slates need independent choices, so capacity must be None, got {one.capacity}: use ccb")
    multi: list[Line] = []
    outcomes: list[Line] = []
    for at, (features, p) in enumerate(zip(one.features, probabilities, strict=True)):
        multi += [{"_slot_id": at, NAMESPACE: dict(features)}, {"_slot_id": at, "none": {"none": 1}}]
        is_chosen = at in one.chosen
        outcomes.append({"_a": [0, 1] if is_chosen else [1, 0], "_p": [p, 1.0 - p] if is_chosen else [1.0 - p, p]})
    common = _common(one)
    slots = [{"_id": str(at)} for at in range(len(multi) // 2)]
    is_complete = one.is_known and all(i in one.rewards for i in one.chosen)
    label: Line = {"_label_cost": -math.fsum(one.rewards.values())} if is_complete else {"_skipLearn": True}
    extra = {**common.get("evenhand", {}), "round": _whole(one)}
    inside = {**common["c"], "_multi": multi, "_slots": slots}
    return {**label, "EventId": one.id, **common, "c": inside, "_outcomes": outcomes, "evenhand": extra}


def _whole(one: DsjsonRound) -> Line:
    """What lines with slots do not say: all probabilities, who was chosen, and each reward."""
    return {
        "probabilities": list(_known_probabilities(one)),
        "chosen": list(one.chosen),
        "rewards": {str(i): reward for i, reward in one.rewards.items()},
        "capacity": one.capacity,
    }


def _in_random_order(one: DsjsonRound) -> list[int]:
    """The chosen candidates in an order that depends on the id alone."""
    seed = int.from_bytes(hashlib.blake2b(one.id.encode(), digest_size=8).digest(), "big")
    order = np.random.default_rng(seed).permutation(len(one.chosen)).tolist()
    return [one.chosen[i] for i in order]
