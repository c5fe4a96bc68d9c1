"""Decisions made before this desk was opened, elsewhere: checked, and learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number, check_one_of, check_share, refusal
from evenhand.desk.candidates import read_candidates
from evenhand.desk.commands import ANSWER_FIELDS, RATED_FIELDS
from evenhand.desk.event_records import indices_of, review_of
from evenhand.desk.parsing import read_review
from evenhand.desk.projection.projection import QuietBandit
from evenhand.desk.review_rules import ReviewRules
from evenhand.desk.settings import DeskSettings
from evenhand.errors import InvalidInput
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import Mode

FIELDS = ("candidates", "probabilities", "rewards", "reviews", "source", "mode")
REVIEW_FIELDS = ("kind", "unfair", "fair", "any_unfair", "reviewer", *ANSWER_FIELDS)
LEDGER_FIELDS = ("decision", "circumstances", "supersedes", "reversed", "subject", "treatment")
"""Further fields of reviews in an exported ledger; nothing is learned from them."""


def read_past(record: Mapping[str, Any], settings: DeskSettings) -> dict[str, Any]:
    """The body of an "imported" event from a record of a past decision.

    record: {"candidates": [{"id", "context" | "features"}], "probabilities": {id: p} | [p], "rewards": {id: number},
    "reviews": [{"kind", "unfair": [[id, id]], "fair": [[id, id]], "reviewer"}], "source": anything}. Rewards and
    reviews are optional; reviews need the probabilities of the decision. Reviews with ratings or comparisons are as in
    an event. "mode": "shares" if the probabilities are shares of what was asked, and the rewards those of the shares.
    Any other field is refused: it may be one of these misspelt.
    """
    if not isinstance(record, Mapping) or not isinstance(record.get("candidates"), list):
        raise InvalidInput('a past decision must be {"candidates": [...], "probabilities", "rewards", "reviews"}')
    _refuse_others("a past decision", record, FIELDS)
    candidates = read_candidates(record["candidates"], settings)
    probabilities = _read_probabilities(record.get("probabilities"), candidates.ids)
    rewards = _read_rewards(record.get("rewards") or {}, candidates.ids)
    if record.get("reviews") and probabilities is None:
        raise InvalidInput("a past decision with reviews must have probabilities, got none")
    known = (candidates.ids, probabilities or [], settings.reviewing)
    reviews = [_read_review(review, *known) for review in record.get("reviews") or ()]
    contexts = as_contexts(candidates.contexts, settings.n_features)
    body = {"candidates": candidates.ids, "contexts": contexts, "probabilities": probabilities}
    if candidates.features is not None:
        body["features"] = candidates.features
    body |= {"rewards": rewards, "reviews": reviews, "source": record.get("source")}
    return {**body, "mode": "shares"} if _in_shares(record.get("mode"), rewards, probabilities) else body


def _in_shares(mode: Any, rewards: Mapping[str, float], probabilities: list[float] | None) -> bool:
    """Whether a past decision was one in shares; InvalidInput if its rewards then lack them."""
    check_one_of("mode", "lottery" if mode is None else mode, get_args(Mode))
    if mode == "shares" and rewards and probabilities is None:
        raise InvalidInput("a past decision in shares with rewards must have probabilities, the shares, got none")
    return bool(mode == "shares")


def _refuse_others(what: str, record: Mapping[str, Any], fields: Sequence[str], ignored: Sequence[str] = ()) -> None:
    """InvalidInput for unknown fields."""
    others = [str(name) for name in record if name not in fields and name not in ignored]
    if others:
        raise InvalidInput(f"{what} has the unknown field {', '.join(others)}; its fields are {', '.join(fields)}")


def _read_probabilities(value: Any, ids: list[str]) -> list[float] | None:
    if value is None:
        return None
    values = [value.get(name) for name in ids] if isinstance(value, Mapping) else value
    if not isinstance(values, list) or len(values) != len(ids):
        raise refusal("probabilities", f"one number for each of the {len(ids)} candidates", value)
    return [check_share("a probability", p) for p in values]


def _read_rewards(value: Any, ids: list[str]) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise refusal("rewards", "a dict from candidates' ids to numbers", value)
    indices_of(list(value), ids)
    return {str(name): check_number(f"the reward of candidate {name!r}", reward) for name, reward in value.items()}


def _read_review(value: Any, ids: list[str], probabilities: list[float], rules: ReviewRules) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise refusal("a review", "a dict with kind, unfair, fair and reviewer", value)
    _refuse_others("a review", value, REVIEW_FIELDS, LEDGER_FIELDS)
    kind = value.get("kind", "partial")
    is_rated = kind in RATED_FIELDS  # whose pairs are implied ones
    values = {name: () if is_rated else value.get(name) or () for name in ("unfair", "fair")}
    values |= {"kind": kind, "any_unfair": value.get("any_unfair"), "reviewer": value.get("reviewer")}
    values |= {name: value[name] for name in ANSWER_FIELDS if value.get(name) is not None}
    return read_review(values, ids, probabilities, rules)[1]


def past_outcomes(body: Mapping[str, Any]) -> tuple[Floats, Floats, Floats | None]:
    """The contexts (n, d) and rewards (n,) of those with an outcome in a past decision, and the shares they got (n,).

    None where nobody got a share.
    """
    contexts = np.array(body["contexts"], dtype=np.float64)
    chosen = indices_of(list(body["rewards"]), body["candidates"])
    outcomes = np.array(list(body["rewards"].values()), dtype=np.float64)
    shares = np.array(body["probabilities"], dtype=np.float64)[chosen] if body.get("mode") == "shares" else None
    return contexts[chosen], outcomes, shares


def learn_past(bandit: QuietBandit, body: Mapping[str, Any]) -> None:
    """Let a bandit learn from a past decision: its outcomes, and each of its reviews."""
    bandit.reward.learn_outcomes(*past_outcomes(body))
    for review in body["reviews"]:
        bandit.learn_past_review(body["contexts"], body["probabilities"], review_of(review, body["candidates"]))
