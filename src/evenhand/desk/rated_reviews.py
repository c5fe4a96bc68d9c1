"""Ratings and comparisons in reviews of a desk, by candidates' ids: from commands to events, and back to a Review.

An event has the answers as they were given, and beside them, under "unfair", "fair" and "reversed", what they imply for
the decision's probabilities: so whoever counts flags need not know how the reviewer was asked. The bandit learns from
the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._internal.checks import check_one_of, refusal
from evenhand.desk.review_rules import ReviewRules
from evenhand.errors import InvalidInput, UnknownPair
from evenhand.records.decision import Review
from evenhand.records.ratings import PREFERENCES, check_scale, check_score, check_tolerance

RATED_KINDS = ("ratings", "comparisons")
ANSWER_FIELDS = ("ratings", "scale", "comparisons", "tolerance")
"""Fields that only these kinds have."""
FIELDS_OF = {"ratings": ("ratings", "scale", "tolerance"), "comparisons": ("comparisons", "tolerance")}

Body = dict[str, Any]


def read_answers(kind: Any, given: Mapping[str, Any], rules: ReviewRules) -> Body:
    """The fields of ANSWER_FIELDS for an event; what was not given is as the desk asks.

    given: the fields of ANSWER_FIELDS that are not None.
    """
    fields = FIELDS_OF.get(kind, ())
    others = [name for name in given if name not in fields]
    if others:
        raise InvalidInput(f"{others[0]} must be None in a {kind} review, got {given[others[0]]!r}")
    if not fields:
        return {}
    tolerance = check_tolerance(given.get("tolerance", rules.tolerance))
    if kind == "ratings":
        scale = check_scale(given.get("scale", rules.scale))
        return {"ratings": _read_ratings(given.get("ratings"), scale), "scale": list(scale), "tolerance": tolerance}
    return {"comparisons": _read_comparisons(given.get("comparisons")), "tolerance": tolerance}


def _read_ratings(value: Any, scale: tuple[float, float]) -> dict[str, float]:
    if not isinstance(value, Mapping) or not value or not all(isinstance(name, str) for name in value):
        raise refusal("ratings", "a dict from candidates' ids to scores", value)
    return {name: check_score(score, scale, f"the rating of candidate {name!r}") for name, score in value.items()}


def _read_comparisons(value: Any) -> list[Body]:
    """From a dict by pair, or from a list as in events."""
    expected = 'a dict from pairs of candidates\' ids to "alike", "first" or "second", or a list of {"pair", "answer"}'
    if isinstance(value, Mapping):
        entries = [{"pair": pair, "answer": answer} for pair, answer in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        entries = list(value)
    else:
        entries = []
    if not entries:
        raise refusal("comparisons", expected, value)
    found = []
    for entry in entries:
        pair = entry.get("pair") if isinstance(entry, Mapping) and set(entry) == {"pair", "answer"} else None
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise refusal("comparisons", expected, entry)
        if not all(isinstance(name, str) for name in pair) or pair[0] == pair[1]:
            raise InvalidInput(f"comparisons must be of two different candidates' ids, got {list(pair)!r} in it")
        check_one_of(f"the comparison of {pair[0]!r} and {pair[1]!r}", entry["answer"], PREFERENCES)
        found.append({"pair": list(pair), "answer": entry["answer"]})
    return found


def rated_review_of(body: Mapping[str, Any], candidates: Sequence[str]) -> Review:
    """The review of an event with ratings or comparisons, with indices in place of ids."""
    place = {name: i for i, name in enumerate(candidates)}
    named = (
        body["ratings"] if body["kind"] == "ratings" else [name for one in body["comparisons"] for name in one["pair"]]
    )
    for name in named:
        if name not in place:
            raise UnknownPair(f"unknown candidate {name!r}; the candidates of this decision are {list(candidates)}")
    common = {"tolerance": body["tolerance"], "reviewer": body["reviewer"]}
    if body["kind"] == "ratings":
        scores = {place[name]: score for name, score in body["ratings"].items()}
        return Review.ratings(scores, scale=(body["scale"][0], body["scale"][1]), **common)
    triples = [(*(place[name] for name in one["pair"]), one["answer"]) for one in body["comparisons"]]
    return Review("comparisons", compared=tuple(triples), **common)


def implied_fields(review: Review, candidates: Sequence[str], probabilities: Sequence[float]) -> Body:
    """What ratings or comparisons imply, for the event: unfair, fair and reversed, as pairs of ids."""
    verdicts = review.as_verdicts(probabilities)
    pairs = {"unfair": verdicts.unfair, "fair": verdicts.fair, "reversed": review.reversed_pairs(probabilities)}
    return {name: [[candidates[i], candidates[j]] for i, j in found] for name, found in pairs.items()}
