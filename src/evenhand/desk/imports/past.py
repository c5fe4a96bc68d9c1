"""Decisions made elsewhere, before this desk was opened: what is known of each, checked, and what can be learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenhand._internal.checks import is_number
from evenhand.desk.candidates import read_candidates
from evenhand.desk.event_records import indices_of, review_of
from evenhand.desk.inputs import as_pairs, check_review_kind
from evenhand.desk.projection.quiet_bandit import QuietBandit
from evenhand.desk.settings import DeskSettings
from evenhand.errors import InvalidInput
from evenhand.ledger.names import check_name
from evenhand.records.contexts import as_contexts
from evenhand.rewards import RewardModel

FIELDS = ("candidates", "probabilities", "rewards", "reviews", "source")
OF_REVIEW = ("kind", "unfair", "fair", "any_unfair", "reviewer")
OF_LEDGER = ("decision", "circumstances", "supersedes")
"""What reviews in an exported ledger have besides; nothing is learned from it."""


def read_past(record: Mapping[str, Any], settings: DeskSettings) -> dict[str, Any]:
    """The body of an "imported" line from a record of a past decision.

    record: {"candidates": [{"id", "context" | "features"}], "probabilities": {id: p} | [p], "rewards": {id: number},
    "reviews": [{"kind", "unfair": [[id, id]], "fair": [[id, id]], "reviewer"}], "source": anything}. Rewards and
    reviews may be left out; reviews need the probabilities that were played. Any other field is refused: it may be
    one of these misspelt, and what it says would be lost.
    """
    if not isinstance(record, Mapping) or not isinstance(record.get("candidates"), list):
        raise InvalidInput('a past decision is {"candidates": [...], "probabilities", "rewards", "reviews"}')
    _refuse_others(record, FIELDS, "a past decision")
    candidates = read_candidates(record["candidates"], settings)
    odds = _read_odds(record.get("probabilities"), candidates.ids)
    rewards = _read_rewards(record.get("rewards") or {}, candidates.ids)
    reviews = [_read_review(said, candidates.ids) for said in record.get("reviews") or ()]
    if reviews and odds is None:
        raise InvalidInput("a past decision has reviews but no probabilities; how unfair odds were, they alone can say")
    contexts = as_contexts(candidates.contexts, settings.n_features)
    body = {"candidates": candidates.ids, "contexts": contexts, "probabilities": odds}
    if candidates.features is not None:
        body["features"] = candidates.features
    return {**body, "rewards": rewards, "reviews": reviews, "source": record.get("source")}


def _refuse_others(given: Mapping[str, Any], allowed: Sequence[str], what: str, besides: Sequence[str] = ()) -> None:
    """InvalidInput if there are other fields than the allowed ones; besides: those that are not spoken of."""
    others = [str(name) for name in given if name not in allowed and name not in besides]
    if others:
        raise InvalidInput(f"{what} has the field {', '.join(others)}; allowed are {', '.join(allowed)}")


def _read_odds(odds: Any, ids: list[str]) -> list[float] | None:
    if odds is None:
        return None
    values = [odds.get(name) for name in ids] if isinstance(odds, Mapping) else odds
    if not isinstance(values, list) or len(values) != len(ids):
        raise InvalidInput(f"probabilities must be one number for each of the {len(ids)} candidates")
    for value in values:
        if not is_number(value) or not 0 <= value <= 1:
            raise InvalidInput(f"a probability is {value!r}; allowed is a number from 0 to 1")
    return [float(value) for value in values]


def _read_rewards(rewards: Any, ids: list[str]) -> dict[str, float]:
    if not isinstance(rewards, Mapping):
        raise InvalidInput(f"rewards is {rewards!r}; allowed is a dict from a candidate's id to a number")
    indices_of(list(rewards), ids)
    for name, value in rewards.items():
        if not is_number(value):
            raise InvalidInput(f"the reward of candidate {name!r} is {value!r}; allowed is a finite number")
    return {str(name): float(value) for name, value in rewards.items()}


def _read_review(said: Any, ids: list[str]) -> dict[str, Any]:
    if not isinstance(said, Mapping):
        raise InvalidInput(f"a review is {said!r}; allowed is a dict with kind, unfair, fair and reviewer")
    _refuse_others(said, OF_REVIEW, "a review", OF_LEDGER)
    body = {
        "kind": said.get("kind", "partial"),
        "unfair": as_pairs(said.get("unfair") or (), "unfair"),
        "fair": as_pairs(said.get("fair") or (), "fair"),
        "any_unfair": said.get("any_unfair"),
        "reviewer": said.get("reviewer"),
    }
    if body["reviewer"] is not None:
        check_name(body["reviewer"], "reviewer")
    check_review_kind(body)
    review_of(body, ids)  # refuses what it must
    return body


def learn_rewards(reward: RewardModel, body: Mapping[str, Any]) -> None:
    """Let a reward model learn from a past decision; it refuses rewards that are too large for it."""
    contexts = np.array(body["contexts"], dtype=np.float64)
    chosen = indices_of(list(body["rewards"]), body["candidates"])
    reward.learn(contexts[chosen], np.array(list(body["rewards"].values()), dtype=np.float64))


def learn_past(bandit: QuietBandit, body: Mapping[str, Any]) -> None:
    """Let a bandit learn from a past decision: outcomes, and each review as the metric learner hears any other."""
    learn_rewards(bandit.reward, body)
    for said in body["reviews"]:
        bandit.learn_past_review(body["contexts"], body["probabilities"], review_of(said, body["candidates"]))
