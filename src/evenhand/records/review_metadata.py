"""Review metadata: what a reviewer saw, how and when, under the same names wherever a review comes from.

The review page fills it in; other clients may. It is recorded with the review, in its field "circumstances".

>>> metadata = joined(None, {"sides": {"left": "a", "right": "b"}, "answer": "unfair"})
>>> metadata["pair"], metadata["answer"]
(['a', 'b'], 'unfair')
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from evenhand._internal.checks import is_number, is_whole, refusal
from evenhand.errors import InvalidInput

JUDGEMENTS = ("unfair", "acceptable")
PASSED = ("unsure", "skip", "conflict")
ANSWERS = (*JUDGEMENTS, *PASSED)
RATED = "rated"
COMPARED = {"alike": "alike", "left": "first", "right": "second"}
"""Answers where a desk asks for ratings or comparisons, on the two as they were shown, left and right; with those of a
comparison as a review names them, for the pair (left, right)."""
DECLINED = ("skip", "conflict")
"""Answers that leave the pair to somebody else."""

LONGEST_TEXT = 2_000
"""Maximum length of reasons and notes, in characters."""

MOST_BYTES = 32_768
"""Maximum length of all metadata of one review, as JSON."""

MOST_PLACES = 1_000_000
"""Maximum number of a pair's place in the queue."""


class Sides(TypedDict):
    """Which of the two candidates was shown where."""

    left: str
    right: str


class Queued(TypedDict, total=False):
    """Why a pair was shown to the reviewer."""

    reason: str
    detail: str | None
    score: float | None
    place: int


class ReviewMetadata(TypedDict, total=False):
    """How a review came about; all of it is optional."""

    pair: Sequence[str]
    """The two candidates that it is about."""
    sides: Sides
    shown: Sequence[str]
    """The attributes that the reviewer saw."""
    hidden: Sequence[str]
    """The attributes that were hidden."""
    ids_shown: bool
    probabilities: Mapping[str, float]
    """The probabilities shown, by candidate; 0.1 recorded them as "odds"."""
    queue: Queued
    answer: str
    """The answer on the pair: one of ANSWERS, RATED or one of COMPARED."""
    reason: str | None
    note: str | None
    started: str
    """When the pair was shown, ISO 8601 with a time zone, by the reviewer's clock."""
    ended: str
    """When it was answered."""
    instruction: str
    """The version of the question and the help text."""


NAMES = tuple(ReviewMetadata.__annotations__)


def joined(circumstances: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Any] | None:
    """The metadata to record: the fields passed by name, and whatever else is in `circumstances`."""
    unknown = sorted(set(named) - set(NAMES))
    if unknown:
        raise InvalidInput(f"unknown review metadata {', '.join(unknown)}; the fields are {', '.join(NAMES)}")
    if circumstances is not None and not isinstance(circumstances, Mapping):
        raise refusal("circumstances", "a dict or None", circumstances)
    twice = sorted(set(named) & set(circumstances or ()))
    if twice:
        raise InvalidInput(f"{', '.join(twice)} must be passed once, by name or in circumstances, got both")
    check_fields(named)
    metadata = {**(circumstances or {}), **named}
    if "sides" in named:
        metadata.setdefault("pair", [named["sides"]["left"], named["sides"]["right"]])
    if "started" in named and "ended" in named:
        metadata |= times(named["started"], named["ended"])
        if metadata["seconds"] < 0:
            raise InvalidInput(f"ended must not be before started, {named['started']!r}, got {named['ended']!r}")
    return metadata or (None if circumstances is None else {})


def times(started: str, ended: str) -> dict[str, Any]:
    """When a pair was shown and answered, by the reviewer's clock, and the seconds between.

    >>> times("2026-11-05T10:00:00+01:00", "2026-11-05T09:00:41Z")["seconds"]
    41.0
    """
    begin, end = _moment(started), _moment(ended)
    if begin is None or end is None:
        raise InvalidInput(f"started and ended must be ISO 8601 times with a time zone, got {started!r} and {ended!r}")
    seconds = round((end - begin).total_seconds(), 3)
    return {"started": begin.isoformat(), "ended": end.isoformat(), "seconds": seconds}


def _moment(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return None if found is None or found.utcoffset() is None else found


# Fields: what each may hold, whatever the review is about.


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_text, value))


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and _is_texts(value) and len(set(value)) == len(value) == 2


def _is_sides(value: object) -> bool:
    return isinstance(value, Mapping) and set(value) == {"left", "right"} and _is_pair(list(value.values()))


def _is_probabilities(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        _is_text(name) and is_number(probability) and 0 <= probability <= 1 for name, probability in value.items()
    )


def _is_queued(value: object) -> bool:
    if not isinstance(value, Mapping) or not set(value) <= set(Queued.__annotations__):
        return False
    texts, score, place = (value.get("reason"), value.get("detail")), value.get("score"), value.get("place", 0)
    return (
        all(text is None or _is_text(text) for text in texts)
        and (score is None or is_number(score))
        and is_whole(place)
        and 0 <= place <= MOST_PLACES
    )


_TEXT = (_is_text, f"text of up to {LONGEST_TEXT} characters")
_NAMES = (_is_texts, "a list of attributes' names")
_REVIEW = (_is_text, "the id of a review")
_TIME = (lambda value: _moment(value) is not None, "an ISO 8601 time with a time zone")
_BOOL = (lambda value: isinstance(value, bool), "true or false")

FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "pair": (_is_pair, "two different candidates' ids"),
    "sides": (_is_sides, "left and right, two different candidates' ids"),
    "shown": _NAMES,
    "hidden": _NAMES,
    "ids_shown": _BOOL,
    "probabilities": (_is_probabilities, "numbers from 0 to 1 by candidate"),
    "queue": (_is_queued, "reason and detail (text), score (a number), place (a whole number from 0)"),
    "answer": (
        lambda value: value in (*ANSWERS, RATED, *COMPARED),
        f"one of {', '.join((*ANSWERS, RATED, *COMPARED))}",
    ),
    "reason": _TEXT,
    "note": _TEXT,
    "started": _TIME,
    "ended": _TIME,
    "seconds": (is_number, "a number"),
    "instruction": _TEXT,
    # Recorded by the review page.
    "item": _TEXT,
    "repeat": _BOOL,
    "repeat_of": _REVIEW,
    "again_of": _REVIEW,
    "late": _BOOL,
}


def invalid_field(metadata: Mapping[str, Any]) -> str | None:
    """The first known field with an invalid value; unknown fields may hold anything.

    >>> invalid_field({"shown": "income", "weather": "rain"}), invalid_field({"seconds": 41, "reason": None})
    ('shown', None)
    """
    return next(
        (name for name, (fits, _) in FIELDS.items() if metadata.get(name) is not None and not fits(metadata[name])),
        None,
    )


def check_fields(metadata: Mapping[str, Any]) -> None:
    """Refuse a known field with an invalid value."""
    name = invalid_field(metadata)
    if name is not None:
        value = repr(metadata[name])
        shown = value if len(value) <= 80 else f"{value[:80]}..."
        raise InvalidInput(f"{name} must be {FIELDS[name][1]}, got {shown}")


def read_metadata(value: Any) -> dict[str, Any] | None:
    """Metadata as a dict with valid fields, or None."""
    if value is None:
        return None
    if not hasattr(value, "items"):
        raise refusal("circumstances", "a dict or None", value)
    metadata = dict(value)
    check_fields(metadata)
    length = len(json.dumps(metadata, ensure_ascii=False, default=str).encode(errors="replace"))
    if length > MOST_BYTES:
        raise InvalidInput(f"circumstances must be at most {MOST_BYTES} bytes of JSON, got {length}")
    return metadata


def check_review_metadata(metadata: Mapping[str, Any], review: Mapping[str, Any], candidates: Sequence[str]) -> None:
    """Refuse metadata with valid fields that does not fit a review (kind, unfair, fair) of these candidates."""
    pair, sides = metadata.get("pair"), metadata.get("sides")
    for name, ids in (("pair", pair), ("probabilities", metadata.get("probabilities"))):
        unknown = [one for one in ids or () if one not in candidates]
        if unknown:
            raise InvalidInput(f"{name} must be about candidates of the decision, got {unknown[0]!r}")
    if pair is not None and sides is not None and set(pair) != set(sides.values()):
        raise InvalidInput(f"sides must be the two candidates of pair, {list(pair)}, got {dict(sides)}")
    both = sorted(set(metadata.get("shown") or ()) & set(metadata.get("hidden") or ()))
    if both:
        raise InvalidInput(f"an attribute must be either shown or hidden, got {both[0]!r} in both")
    if metadata.get("answer") is not None:
        _check_answer(metadata["answer"], pair, sides, review)


def _check_answer(answer: str, pair: Sequence[str] | None, sides: Sides | None, review: Mapping[str, Any]) -> None:
    if answer == RATED or answer in COMPARED:
        _check_rated(answer, pair, sides, review)
        return
    if review["kind"] != "partial" or pair is None:
        raise InvalidInput(f"answer must be in a partial review with pair or sides, got {answer!r} without")
    for name, judgement in (("unfair", "unfair"), ("fair", "acceptable")):
        if [set(one) for one in review[name]] != ([set(pair)] if answer == judgement else []):
            expected = f"{list(pair)} alone" if answer == judgement else "empty"
            raise InvalidInput(f"{name} must be {expected} with answer {answer!r}, got {review[name]}")


def _check_rated(answer: str, pair: Sequence[str] | None, sides: Sides | None, review: Mapping[str, Any]) -> None:
    """Refuse an answer with which the ratings or comparisons of its review do not agree."""
    if answer == RATED:
        if review["kind"] != "ratings" or pair is None or set(review["ratings"]) != set(pair):
            raise InvalidInput(f"answer must be in a review with ratings of the two of pair, got {answer!r} without")
        return
    if review["kind"] != "comparisons" or sides is None:
        raise InvalidInput(f"answer must be in a comparisons review with sides, got {answer!r} without")
    expected = [{"pair": [sides["left"], sides["right"]], "answer": COMPARED[answer]}]
    if review["comparisons"] != expected:
        raise InvalidInput(f"comparisons must be {expected} with answer {answer!r}, got {review['comparisons']}")
