"""DSJSON in: what Vowpal Wabbit and its services log, and the probabilities that it predicts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand._internal.checks import is_number
from evenhand.adapters.dsjson_lines import NAMESPACE, DsjsonRound, original_name
from evenhand.errors import InvalidInput

Record = Mapping[str, Any]

LARGEST_COST = 1e30
"""Vowpal Wabbit's mark for a missing cost is the largest float."""


def read_dsjson(source: str | os.PathLike[str] | Iterable[str]) -> Iterator[DsjsonRound]:
    """The rounds in a file of DSJSON, or in its lines: choices, slots (CCB) and slates.

    Features are named "namespace|feature", as Vowpal Wabbit names them in its options; a text becomes a feature
    "name=text" of value 1, true one of value 1, a list of numbers "name[0]", "name[1]"; names that begin with an
    underscore are skipped. Lines of a service that are no decisions (late rewards) are skipped. InvalidInput, with the
    number of the line, for one that cannot be read.

    >>> line = '{"_label_cost": -1, "_label_probability": 0.8, "_label_Action": 2, "_labelIndex": 1, "a": [2, 1],'
    >>> line += '"p": [0.8, 0.2], "EventId": "e", "c": {"_multi": [{"i": {"id": "tea"}}, {"i": {"id": "milk"}}]}}'
    >>> (one,) = read_dsjson([line])
    >>> one.chosen, one.rewards, one.probabilities, one.features[0]
    ((1,), {1: 1.0}, (0.2, 0.8), {'i|id=tea': 1.0})
    """
    return (one for _, one in numbered_rounds(source))


def numbered_rounds(source: str | os.PathLike[str] | Iterable[str]) -> Iterator[tuple[int, DsjsonRound]]:
    """The rounds of `read_dsjson`, with the numbers of their lines, from 1."""
    for number, line in enumerate(_lines(source), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"line {number} must be JSON: {error}") from None
        try:
            if isinstance(record, dict) and "c" not in record and "RewardValue" in record:
                continue
            yield number, _round(record)
        except InvalidInput as error:
            raise InvalidInput(f"line {number}: {error}") from None
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
            raise InvalidInput(f"line {number} must be a decision in DSJSON: {error!r}") from None


def _lines(source: str | os.PathLike[str] | Iterable[str]) -> Iterator[str]:
    if not isinstance(source, str | os.PathLike):
        yield from source
        return
    try:
        with open(source, encoding="utf-8") as file:
            yield from file
    except OSError as error:
        raise InvalidInput(f"{os.fspath(source)} cannot be read: {error.strerror}") from None


def _round(record: Any) -> DsjsonRound:
    inside = record.get("c") if isinstance(record, dict) else None
    multi = inside.get("_multi") if isinstance(inside, dict) else None
    if inside is None or not isinstance(multi, list) or not all(isinstance(action, dict) for action in multi):
        raise InvalidInput('a decision must be {"c": {"_multi": [{...}, ...]}, ...}')
    own = record.get("evenhand", {})
    if "_outcomes" in record and any("_slot_id" in action for action in inside["_multi"]):
        return _slate(record, inside, own)
    features = tuple(_features_of(action, record) for action in inside["_multi"])
    common: dict[str, Any] = {
        "candidates": _ids(inside["_multi"], own),
        "shared": read_features({name: value for name, value in inside.items() if name not in ("_multi", "_slots")}),
        "time": record.get("Timestamp"),
        "extra": own,
    }
    if "_slots" in inside:
        return _slots(record, features, own, common)
    probabilities = [0.0] * len(features)
    actions, drawn = _counted_from_0(record.get("a") or []), record.get("p") or []
    if not isinstance(drawn, list) or len(drawn) != len(actions):
        raise InvalidInput(f"p must be a list with a probability for each of the {len(actions)} actions of a")
    for action, p in zip(actions, drawn, strict=True):
        probabilities[_action(action, len(features))] = _probability(p)
    chosen: tuple[int, ...] = ()
    rewards: dict[int, float] = {}
    if "_label_cost" in record:
        at = _action(record.get("_labelIndex", record.get("_label_Action", 0) - 1), len(features))
        chosen, rewards = (at,), {} if record.get("_skipLearn") else {at: 0.0 - _cost(record["_label_cost"])}
        probabilities[at] = probabilities[at] or _probability(record["_label_probability"])
    elif actions and not record.get("_skipLearn"):
        chosen = (_action(actions[0], len(features)),)
    known = tuple(probabilities) if record.get("p") else None
    return DsjsonRound(_id(record), features, chosen, known, rewards, **common)


def _slots(
    record: Record, features: tuple[Mapping[str, float], ...], own: Record, common: dict[str, Any]
) -> DsjsonRound:
    """A decision with slots, each of which got one of the actions; `_a` counts from 0."""
    outcomes = record.get("_outcomes", ())
    chosen = tuple(_action(outcome["_a"][0], len(features)) for outcome in outcomes)
    rewards: dict[int, float] = {}
    for candidate, outcome in zip(chosen, outcomes, strict=True):
        if not record.get("_skipLearn") and abs(cost := _cost(outcome.get("_label_cost", LARGEST_COST))) < LARGEST_COST:
            rewards[candidate] = 0.0 - cost  # not -0.0
    slots = tuple(_probability(outcome["_p"][0]) for outcome in outcomes)
    places: dict[str, Any] = {"capacity": len(record["c"]["_slots"]), "slot_probabilities": slots}
    return _made(record, features, chosen, rewards, own, {**common, **places})


def _slate(record: Record, inside: Record, own: Record) -> DsjsonRound:
    """A slate: all actions of all slots are candidates, and one of each slot is chosen; there is one reward for all."""
    actions = inside["_multi"]
    of_slot: dict[int, list[int]] = {}
    for at, action in enumerate(actions):
        of_slot.setdefault(action["_slot_id"], []).append(at)
    outcomes = record["_outcomes"]
    total = None if "_label_cost" not in record else 0.0 - _cost(record["_label_cost"])
    time = record.get("Timestamp")
    if "round" in own:  # of evenhand: the first of the two actions of a slot is to choose its candidate
        features = tuple(_features_of(actions[places[0]], record) for places in of_slot.values())
        common = {"candidates": _ids((), own), "time": time, "extra": own, "total_reward": total}
        return _made(record, features, (), {}, own, common)
    chosen = tuple(of_slot[slot][outcome["_a"][0]] for slot, outcome in zip(sorted(of_slot), outcomes, strict=True))
    slots = tuple(_probability(outcome["_p"][0]) for outcome in outcomes)
    probabilities = [0.0] * len(actions)
    for slot, outcome in zip(sorted(of_slot), outcomes, strict=True):
        for action, p in zip(outcome["_a"], outcome["_p"], strict=True):
            probabilities[of_slot[slot][action]] = _probability(p)
    return DsjsonRound(
        _id(record),
        tuple(read_features(action) for action in actions),
        chosen,
        tuple(probabilities),
        capacity=len(of_slot),
        candidates=_ids(actions, own),
        shared=read_features({name: value for name, value in inside.items() if name not in ("_multi", "_slots")}),
        time=time,
        slot_probabilities=slots,
        total_reward=total,
    )


def _made(
    record: Record,
    features: tuple[Mapping[str, float], ...],
    chosen: tuple[int, ...],
    rewards: dict[int, float],
    own: Record,
    common: dict[str, Any],
) -> DsjsonRound:
    """The round; what evenhand added about the whole decision comes before what the slots say."""
    probabilities = None
    if "round" in own:
        whole = own["round"]
        probabilities = tuple(map(_probability, whole["probabilities"]))
        chosen = tuple(_action(i, len(features)) for i in whole["chosen"])
        rewards = {_action(int(i), len(features)): float(reward) for i, reward in whole["rewards"].items()}
        common = {**common, "capacity": whole["capacity"]}
    return DsjsonRound(_id(record), features, chosen, probabilities, rewards, **common)


def _id(record: Record) -> str:
    return str(record.get("EventId", record.get("event_id", "")))


def _counted_from_0(actions: Any) -> list[int]:
    """Actions are counted from 1, but some writers of DSJSON count them from 0."""
    if not isinstance(actions, list) or not all(type(action) is int for action in actions):
        raise InvalidInput("a must be a list of whole numbers, those of the actions")
    if len(set(actions)) < len(actions):
        raise InvalidInput(f"a must name every action once, got {actions[:20]}")
    return list(actions) if 0 in actions else [action - 1 for action in actions]


def _features_of(action: Record, record: Record) -> dict[str, float]:
    """The features of an action; those that evenhand wrote have their own names again."""
    state = record.get("VWState", {})
    if not (isinstance(state, Mapping) and str(state.get("m", "")).startswith("evenhand")):
        return read_features(action)
    return {original_name(name): float(value) for name, value in action.get(NAMESPACE, {}).items()}


def _ids(actions: Iterable[Record], own: Record) -> tuple[str, ...]:
    """Those that evenhand wrote, or the tags of all actions, or none."""
    if "candidates" in own:
        return tuple(map(str, own["candidates"]))
    tags = tuple(str(action.get("_tag", "")) for action in actions)
    return tags if all(tags) and len(set(tags)) == len(tags) else ()


def _action(value: Any, n_actions: int) -> int:
    if not isinstance(value, int) or not 0 <= value < n_actions:
        raise InvalidInput(f"an action must be one of {n_actions}, got number {value!r} from 0")
    return value


def _probability(value: Any) -> float:
    if not is_number(value) or not 0 <= value <= 1.0 + 1e-6:  # written in single precision
        raise InvalidInput(f"a probability must be from 0 to 1, got {value!r}")
    return min(float(value), 1.0)


def _cost(value: Any) -> float:
    if not is_number(value):
        raise InvalidInput(f"a cost must be a finite number, got {value!r}")
    return float(value)


def read_features(value: Any, path: str = "") -> dict[str, float]:
    """The features in a part of a line, by name.

    >>> read_features({"User": {"age": 0.5, "city": "Bern", "_id": 7}, "new": True, "v": [1, 2]})
    {'User|age': 0.5, 'User|city=Bern': 1.0, 'new': 1.0, 'v|[0]': 1.0, 'v|[1]': 2.0}
    """
    found: dict[str, float] = {}
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name == "_text":
                found |= {f"{path}{word}": 1.0 for word in str(item).split()}
            elif not str(name).startswith("_"):
                found |= _feature(f"{path}{name}", item)
    return found


def _feature(name: str, item: Any) -> dict[str, float]:
    if isinstance(item, bool) or item is None:
        return {name: 1.0} if item else {}
    if isinstance(item, str):
        return {f"{name}={item}": 1.0} if item else {}
    if isinstance(item, list):
        found: dict[str, float] = {}
        for at, one in enumerate(item):
            found |= read_features(one, f"{name}|") if isinstance(one, Mapping) else _feature(f"{name}|[{at}]", one)
        return found
    if isinstance(item, Mapping):
        return read_features(item, f"{name}|")
    if not is_number(item):
        raise InvalidInput(f"the feature {name} must be a finite number, got {item!r}")
    return {name: float(item)}


def read_predictions(source: str | os.PathLike[str] | Iterable[str]) -> Iterator[tuple[dict[int, float], ...]]:
    """The probabilities that `vw -p` wrote: for each example a dict from action, from 0, to probability, a slot each.

    With `--cb_explore_adf` there is one slot; with `--ccb_explore_adf` and `--slates` there are several.

    >>> list(read_predictions(["1:0.9,0:0.1", "", "0:1", "", "0:0.5,1:0.5", "1:1", ""]))
    [({1: 0.9, 0: 0.1},), ({0: 1.0},), ({0: 0.5, 1: 0.5}, {1: 1.0})]
    """
    slots: list[dict[int, float]] = []
    for number, line in enumerate(_lines(Path(source) if isinstance(source, str) else source), start=1):
        if not line.strip():
            if slots:
                yield tuple(slots)
            slots = []
            continue
        try:
            entries = [entry.split(":") for entry in line.strip().split(",")]
            slots.append({int(action): float(p) for action, p in entries})
        except ValueError:
            raise InvalidInput(f"line {number} must be ACTION:PROBABILITY,..., got {line.strip()[:60]!r}") from None
    if slots:
        yield tuple(slots)
