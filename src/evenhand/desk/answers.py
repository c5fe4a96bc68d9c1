"""Answers of reviewers on pairs, as reviews record them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.errors import AlreadyRecorded
from evenhand.ledger.event import Row
from evenhand.records.review_metadata import DECLINED, invalid_field


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """One answer of one reviewer: on a pair, on a whole decision, or in an interview."""

    review: str
    """The id of the event."""
    seq: int
    time: str
    reviewer: str | None
    decision: str
    pair: frozenset[str]
    answer: str
    place: int = 0
    """Which of the pair's planned places it took."""
    repeat_of: str | None = None
    """The answer that it is to be compared with."""
    again_of: str | None = None
    """The withdrawn answer that it replaces."""
    seconds: float | None = None
    """From seeing the pair to answering."""
    whole: str = ""
    """"complete" or "one_bit" of a review of a whole decision, "answer" in an interview; the pair is then empty."""
    item: str | None = None
    """The item that it answers, on the review page."""
    pairs: int = 0
    """Of a complete review: how many pairs the decision has."""
    left: str | None = None
    """The candidate shown on the left, on the review page."""


def metadata_of(row: Row) -> dict[str, Any]:
    """The metadata of a review or an answer; empty if its fields are invalid."""
    metadata: dict[str, Any] = row.event.body["circumstances"] or {}
    return metadata if invalid_field(metadata) is None else {}  # the first ledgers accepted anything


def answers_in(row: Row) -> list[ReviewAnswer]:
    """The answers on single pairs in a review: one from the review page, else all pairs that it names."""
    body, metadata = row.event.body, metadata_of(row)
    common = (row.id, row.seq, row.event.time, body["reviewer"], body["decision"])
    if metadata.get("answer") is not None and metadata.get("pair") is not None:
        answer = ReviewAnswer(
            *common,
            frozenset(metadata["pair"]),
            metadata["answer"],
            int((metadata.get("queue") or {}).get("place", 0)),
            metadata.get("repeat_of"),
            metadata.get("again_of"),
            metadata.get("seconds"),
            item=metadata.get("item"),
            left=(metadata.get("sides") or {}).get("left"),
        )
        return [answer]
    unfair = [ReviewAnswer(*common, frozenset(pair), "unfair") for pair in body["unfair"]]
    return unfair + [ReviewAnswer(*common, frozenset(pair), "acceptable") for pair in body["fair"]]


def refuse_second_answer(body: Mapping[str, Any], standing: Iterable[Row]) -> None:
    """AlreadyRecorded if a review answers on a pair that its reviewer has answered before, in another window perhaps.

    It may supersede the earlier one; what was skipped may be answered. standing: the decision's standing reviews.
    """
    metadata, reviewer = body["circumstances"] or {}, body["reviewer"]
    if metadata.get("answer") is None or reviewer is None:
        return
    pair = frozenset(metadata["pair"])
    for row in standing:
        for answer in answers_in(row) if row.id != body["supersedes"] else ():
            is_answer = answer.repeat_of is None and answer.answer not in DECLINED
            if is_answer and answer.pair == pair and answer.reviewer == reviewer:
                raise AlreadyRecorded(f"this pair was answered before by {reviewer}, see {row.id}")
