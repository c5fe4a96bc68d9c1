"""Shadow mode: what the system in force really did, beside what the desk would have done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from evenhand._internal.checks import check_number, check_one_of, check_share, refusal
from evenhand.desk.event_records import indices_of
from evenhand.errors import InvalidInput
from evenhand.ledger.event import Row, check_name
from evenhand.ledger.ledger import LedgerView
from evenhand.ledger.waiting_pairs import SUBJECTS, Subject
from evenhand.records.decision import Mode as DecisionMode

Body = dict[str, Any]

Mode = Literal["live", "shadow"]
MODES: tuple[Mode, ...] = get_args(Mode)

FIELDS = ("chosen", "probabilities", "scores")
"""The fields of an action."""


def read_action(
    value: Any, candidates: Sequence[str], left_out: Iterable[str] = (), *, mode: DecisionMode = "lottery"
) -> Body:
    """What was really done, checked: chosen, and probabilities and scores as lists in the candidates' order if known.

    value: {"chosen": [id], "probabilities": {id: p} | [p], "scores": {id: number} | [number]}, the last two optional.
    left_out: people who do not fit the desk's features. The system may have chosen them all the same; they are named in
    "left_out", and nothing is learned about them. With mode "shares" the probabilities are the shares that the system
    gave, and the chosen all who got one.

    >>> read_action({"chosen": ["b"], "scores": {"a": 612, "b": 655}}, ["a", "b"])
    {'chosen': ['b'], 'scores': [612.0, 655.0]}
    """
    if not isinstance(value, Mapping) or "chosen" not in value:
        raise refusal("action", 'a dict with "chosen", and "probabilities" and "scores" if they are known', value)
    unknown = [str(name) for name in value if name not in FIELDS]
    if unknown:
        raise InvalidInput(f"action has the unknown field {', '.join(unknown)}; its fields are {', '.join(FIELDS)}")
    everybody = [*candidates, *(others := set(left_out))]
    named = _read_chosen(value["chosen"], everybody)
    action: Body = {"chosen": [name for name in named if name not in others]}
    probabilities = _read_column("probabilities", value.get("probabilities"), candidates, everybody, check_share)
    if probabilities is None and mode == "shares":
        raise InvalidInput("action must have probabilities, the share that each candidate got, got none")
    if probabilities is not None:
        _refuse_impossible(action["chosen"], dict(zip(candidates, probabilities, strict=True)), mode)
        action["probabilities"] = probabilities
    scores = _read_column("scores", value.get("scores"), candidates, everybody, check_number)
    if scores is not None:
        action["scores"] = scores
    if beyond := [name for name in named if name in others]:
        action["left_out"] = beyond
    return action


def _read_chosen(value: Any, everybody: Sequence[str]) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise refusal("chosen", "a list of candidates' ids", value)
    chosen = [check_name(name, "a chosen candidate") for name in value]
    indices_of(chosen, everybody)
    if len(set(chosen)) < len(chosen):
        raise refusal("chosen", "different candidates", chosen)
    return chosen


def _read_column(
    name: str, value: Any, candidates: Sequence[str], everybody: Sequence[str], check: Callable[[str, Any], float]
) -> list[float] | None:
    """A number for each candidate, from a list or from a dict, which may also name those left out."""
    if value is None:
        return None
    values = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(values, Mapping):
        indices_of([str(one) for one in values], everybody)
        values = [values[one] for one in candidates] if set(candidates) <= set(values) else None
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) != len(candidates):
        raise refusal(name, f"one number for each of the {len(candidates)} candidates", value)
    each = zip(candidates, values, strict=True)
    return [float(check(f"{name} of candidate {one!r}", number)) for one, number in each]


def _refuse_impossible(chosen: Sequence[str], probabilities: Mapping[str, float], mode: DecisionMode) -> None:
    for name, p in probabilities.items():
        if p == 0.0 if name in chosen else p == 1.0 or (mode == "shares" and p > 0.0):
            was = "was chosen" if name in chosen else "was not chosen"
            raise InvalidInput(f"probabilities must be those of what was done: candidate {name!r} {was}, got {p:g}")


def action_fields(action: Mapping[str, Any]) -> Body:
    """The fields of a decision's event: scores stand apart, since they are about people and can be erased."""
    plain = {name: value for name, value in action.items() if name != "scores"}
    return {"action": plain, **({"scores": action["scores"]} if "scores" in action else {})}


def action_of(decision: Mapping[str, Any], about: Iterable[Row]) -> Body | None:
    """What was really done instead of a shadow decision; None while nobody has said.

    decision: the body of its event. about: the events about it.
    """
    if "action" in decision:
        scores = {"scores": decision["scores"]} if "scores" in decision else {}
        return {**decision["action"], **scores}
    for row in about:
        if row.kind == "action":
            return {name: value for name, value in row.event.body.items() if name in (*FIELDS, "left_out")}
    return None


def treatment_of(action: Mapping[str, Any], candidates: Sequence[str]) -> list[float]:
    """How the system in force treated each candidate: its probabilities, or 1 for the chosen and 0 for all others.

    >>> treatment_of({"chosen": ["b"]}, ["a", "b"])
    [0.0, 1.0]
    """
    if "probabilities" in action:
        return list(action["probabilities"])
    return [float(name in action["chosen"]) for name in candidates]


def check_subject(subject: Any, decision: Mapping[str, Any], decision_id: str) -> Subject:
    """Whose decision a review is about; None is the desk's own."""
    check_one_of("subject", subject, (*SUBJECTS, None))
    found: Subject = subject or "desk"
    if found == "system" and not decision.get("shadow"):
        raise InvalidInput(f"subject must be 'desk' or None: decision {decision_id} was made live, by no other system")
    return found


def was_ever_shadow(view: LedgerView) -> bool:
    """Whether a desk has been in shadow mode at any time."""
    first = view.after(0, 1)
    opened = bool(first and first[0].event.body.get("settings", {}).get("shadow"))
    return opened or view.last(("switch",), view.head.seq) is not None
