"""ReviewMetadata: what a reviewer saw, how and when, under the same names wherever a review comes from.

The review page fills them in by itself; whoever reviews elsewhere says what is known. They stand in the record.

>>> told = joined(None, {"sides": {"left": "a", "right": "b"}, "answer": "unfair"})
>>> told["pair"], told["answer"]
(['a', 'b'], 'unfair')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from evenhand._internal.checks import is_number, is_whole
from evenhand.errors import InvalidInput

JUDGEMENTS = ("unfair", "acceptable")
ANSWERS = (*JUDGEMENTS, "unsure", "skip", "conflict")
DECLINED = ("skip", "conflict")
"""Answers that leave the pair to somebody else."""

LONGEST_TEXT = 2_000


class Sides(TypedDict):
    """Who of the two was shown where."""

    left: str
    right: str


class Queued(TypedDict, total=False):
    """Why a pair was put before the reviewer."""

    reason: str
    detail: str | None
    score: float | None
    place: int


class ReviewMetadata(TypedDict, total=False):
    """What is known of how a review came about; all of it may be left out."""

    pair: Sequence[str]
    """The two candidates that it is about."""
    sides: Sides
    shown: Sequence[str]
    """The attributes that the reviewer saw."""
    hidden: Sequence[str]
    """Those that were kept from her."""
    ids_shown: bool
    probabilities: Mapping[str, float]
    """The probabilities shown, by candidate; 0.1 recorded them as "odds"."""
    queue: Queued
    answer: str
    """What she said of the pair: one of ANSWERS."""
    reason: str | None
    note: str | None
    started: str
    """When she saw it, ISO 8601 with a time zone, by her clock."""
    ended: str
    """When she answered."""
    instruction: str
    """The version of the question and the help that she had."""


NAMES = tuple(ReviewMetadata.__annotations__)


def joined(circumstances: Mapping[str, Any] | None, seen: Mapping[str, Any]) -> dict[str, Any] | None:
    """All that a record says of the circumstances: what was said by name, and whatever else is to be kept."""
    wrong = sorted(set(seen) - set(NAMES))
    if wrong:
        raise InvalidInput(f"a review has no {', '.join(wrong)}; of its circumstances it has {', '.join(NAMES)}")
    if circumstances is not None and not isinstance(circumstances, Mapping):
        raise InvalidInput(f"circumstances is {circumstances!r}; allowed is a dict of what the reviewer saw, or None")
    twice = sorted(set(seen) & set(circumstances or ()))
    if twice:
        raise InvalidInput(f"{', '.join(twice)} is said twice; say it beside circumstances, or in it")
    told = {**(circumstances or {}), **seen}
    check_shapes(seen)
    if "sides" in seen:
        told.setdefault("pair", [seen["sides"]["left"], seen["sides"]["right"]])
    if "started" in seen and "ended" in seen:
        told |= times(seen["started"], seen["ended"])
        if told["seconds"] < 0:
            raise InvalidInput(f"ended is {seen['ended']!r}, before started, {seen['started']!r}")
    return told or (None if circumstances is None else {})


def times(started: str, ended: str) -> dict[str, Any]:
    """When a pair was seen and when it was answered, by the reviewer's clock, and the seconds between.

    >>> times("2026-11-05T10:00:00+01:00", "2026-11-05T09:00:41Z")["seconds"]
    41.0
    """
    begin, end = _moment(started), _moment(ended)
    if begin is None or end is None:
        raise InvalidInput("started and ended must be times as ISO 8601 has them, with a time zone")
    seconds = round((end - begin).total_seconds(), 3)
    return {"started": begin.isoformat(), "ended": end.isoformat(), "seconds": seconds}


def _moment(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return None if found is None or found.utcoffset() is None else found


# Shapes: what each name may hold, whatever the review is about.


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and _is_texts(value) and len(set(value)) == len(value) == 2


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(_is_text(one) for one in value)


def _is_sides(value: object) -> bool:
    return isinstance(value, Mapping) and set(value) == {"left", "right"} and _is_pair(list(value.values()))


def _is_probabilities(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        _is_text(name) and is_number(chance) and 0 <= chance <= 1 for name, chance in value.items()
    )


def _is_queued(value: object) -> bool:
    if not isinstance(value, Mapping) or not set(value) <= set(Queued.__annotations__):
        return False
    texts, score, place = (value.get("reason"), value.get("detail")), value.get("score"), value.get("place", 0)
    return (
        all(text is None or _is_text(text) for text in texts)
        and (score is None or is_number(score))
        and is_whole(place)
        and 0 <= place <= 1_000_000
    )


def _is_yes_or_no(value: object) -> bool:
    return isinstance(value, bool)


SHAPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "pair": (_is_pair, "two different candidates' ids"),
    "sides": (_is_sides, "left and right, two different candidates' ids"),
    "shown": (_is_texts, "a list of attributes' names"),
    "hidden": (_is_texts, "a list of attributes' names"),
    "ids_shown": (_is_yes_or_no, "true or false"),
    "probabilities": (_is_probabilities, "numbers from 0 to 1 by candidate"),
    "queue": (_is_queued, "reason and detail (text), score (a number), place (a whole number from 0)"),
    "answer": (lambda value: value in ANSWERS, f"one of {', '.join(ANSWERS)}"),
    "reason": (_is_text, f"text of up to {LONGEST_TEXT} characters"),
    "note": (_is_text, f"text of up to {LONGEST_TEXT} characters"),
    "started": (lambda value: _moment(value) is not None, "a time as ISO 8601 has it, with a time zone"),
    "ended": (lambda value: _moment(value) is not None, "a time as ISO 8601 has it, with a time zone"),
    "seconds": (is_number, "a number"),
    "instruction": (_is_text, f"text of up to {LONGEST_TEXT} characters"),
    # What the review page notes for itself.
    "item": (_is_text, "text"),
    "repeat": (_is_yes_or_no, "true or false"),
    "repeat_of": (_is_text, "the id of a review"),
    "again_of": (_is_text, "the id of a review"),
    "late": (_is_yes_or_no, "true or false"),
}


def misfit(told: Mapping[str, Any]) -> str | None:
    """The first name that holds what it cannot; whatever else is there may be anything.

    >>> misfit({"shown": "income", "weather": "rain"}), misfit({"seconds": 41, "reason": None})
    ('shown', None)
    """
    return next(
        (name for name, (fits, _) in SHAPES.items() if told.get(name) is not None and not fits(told[name])), None
    )


def check_shapes(told: Mapping[str, Any]) -> None:
    """Refuse circumstances of which a name that is known holds what it cannot."""
    wrong = misfit(told)
    if wrong is not None:
        raise InvalidInput(f"{wrong} is {_shown(told[wrong])}; allowed is {SHAPES[wrong][1]}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def check_circumstances(told: Mapping[str, Any], review: Mapping[str, Any], candidates: Sequence[str]) -> None:
    """Refuse circumstances, of the right shapes, that do not fit a review (kind, unfair, fair) of these candidates."""
    pair, sides = told.get("pair"), told.get("sides")
    for name, ids in (("pair", pair), ("probabilities", told.get("probabilities"))):
        unknown = [one for one in ids or () if one not in candidates]
        if unknown:
            raise InvalidInput(f"{name} speaks of {unknown[0]!r}, who was no candidate of the decision")
    if pair is not None and sides is not None and set(pair) != set(sides.values()):
        raise InvalidInput(f"sides are {dict(sides)}; allowed are the two of pair, {list(pair)}")
    both = sorted(set(told.get("shown") or ()) & set(told.get("hidden") or ()))
    if both:
        raise InvalidInput(f"{both[0]!r} is said to have been both shown and hidden; say one of them")
    if told.get("answer") is not None:
        _check_answer(told["answer"], pair, review)


def _check_answer(answer: str, pair: Sequence[str] | None, review: Mapping[str, Any]) -> None:
    if review["kind"] != "partial" or pair is None:
        raise InvalidInput(f"answer is {answer!r}, which is said of one pair: in a partial review, with pair or sides")
    for name, judgement in (("unfair", "unfair"), ("fair", "acceptable")):
        named = [set(one) for one in review[name]]
        if named != ([set(pair)] if answer == judgement else []):
            raise InvalidInput(
                f"answer is {answer!r} on {list(pair)}, and {name} is {review[name]}; allowed is "
                + ("this pair alone" if answer == judgement else "no pair")
            )
