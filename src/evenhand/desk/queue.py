"""The review queue: pairs of recent decisions, those first whose review would teach most."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from typing import Any

from evenhand.bandit.pairs_to_review import PairToReview
from evenhand.desk.event_records import ReviewAnswer, answers_in, decision_of
from evenhand.desk.obvious import are_far_apart, is_certain
from evenhand.desk.projection.projection import Projection
from evenhand.desk.remaining import erased_in
from evenhand.desk.settings import DeskSettings
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.waiting_pairs import Answered, WaitingPair
from evenhand.records.decision import Decision
from evenhand.records.review_metadata import DECLINED

MOST_WAITING = 100_000
"""Maximum number of pairs in a desk's queue: those with the lowest priority are dropped."""

DECISIONS_PER_FEED = 32
"""Pairs of this many decisions, the newest, are queued at a time: there are always more than reviewers."""

MORE = 8
"""So many times as many pairs of a decision are looked at where some of the best are obvious."""

FEED_SECONDS = 1.0
"""Minimum seconds between two feeds."""


class QueueFeeder:
    """Queues pairs of new decisions, and removes those that were answered."""

    def __init__(self, ledger: Ledger, desk: str) -> None:
        self._ledger, self._desk = ledger, desk
        self._fed_at, self._fed = -math.inf, 0

    def feed(self, projection: Projection, *, patiently: bool) -> float | None:
        """Queue pairs of decisions not looked at before; returns the seconds to wait if it is too early.

        patiently: not more often than every FEED_SECONDS, since it takes as long as deciding does.
        """
        until, wait = projection.bandit.rounds, self._fed_at + FEED_SECONDS - time.monotonic()
        if until <= self._fed or (patiently and wait > 0):
            return None if until <= self._fed else wait
        self._fed_at = time.monotonic()
        with self._ledger.reading(self._desk) as view:
            decisions = view.by_number(range(max(self._fed, until - DECISIONS_PER_FEED), until))
            last = view.last(("opened", "settings"), projection.seq)
            about = view.about([row.id for row in decisions.values()])
            reviewed = {row.target for row in about if row.kind == "review"}
        self._fed = until
        settings = None if last is None else DeskSettings.from_dict(last.event.body["settings"])
        if settings is not None and settings.pairs_per_decision > 0:
            rows = [row for row in decisions.values() if row.id not in reviewed]
            pairs = [pair for row in rows for pair in _pairs(row, projection, settings)]
            self._ledger.pairs.put(self._desk, pairs, MOST_WAITING)
        return None

    def settle(self, before: Projection, projection: Projection) -> None:
        """Remove the pairs that were answered between two projections; leave declined ones to other reviewers."""
        if before.history.kinds.get("review") == projection.history.kinds.get("review"):
            return
        with self._ledger.reading(self._desk) as view:
            reviews = view.after(before.seq, max(0, projection.seq - before.seq), ("review",))
            withdrawn = {review for _, review in view.withdrawals()}
        answered, declined = list[Answered](), list[ReviewAnswer]()
        for row in reviews:
            if row.seq <= projection.seq and row.seq not in withdrawn:  # else the pairs may wait again
                body, answers = row.event.body, answers_in(row)
                pairs = frozenset(map(frozenset, (*body["unfair"], *body["fair"], *body.get("reversed", ()))))
                pairs |= {answer.pair for answer in answers if answer.answer == "unsure"}  # not named in the review
                is_whole = body["kind"] in ("complete", "one_bit")
                answered.append(Answered(body["decision"], None if is_whole else pairs, body["reviewer"]))
                # The review page has declined its own pairs itself.
                declined += [answer for answer in answers if answer.answer in DECLINED and answer.item is None]
        self._ledger.pairs.settle(self._desk, answered)
        for answer in declined:
            if answer.reviewer is not None:
                self._ledger.pairs.decline(self._desk, answer.decision, answer.pair, answer.reviewer)


def _pairs(row: Row, projection: Projection, settings: DeskSettings) -> list[WaitingPair]:
    body = row.event.body
    erased, candidates = erased_in(body), body["candidates"]
    decision = projection.bandit.own(decision_of(body), is_whole=not erased)
    if decision.n_candidates < 2 or erased.issuperset(candidates):
        return []
    found = []
    for pair in _open_pairs(body, decision, projection, settings):
        for copy in range(_places(row.id, pair, settings.overlap)):
            i, j = pair.pair
            estimates = (pair.reason, pair.gap, pair.distance, pair.uncertainty, pair.chance_unfair)
            found.append(WaitingPair(row.id, candidates[i], candidates[j], *estimates, _priority(pair, decision), copy))
    return found


def _open_pairs(
    body: Mapping[str, Any], decision: Decision, projection: Projection, settings: DeskSettings
) -> list[PairToReview]:
    """The most telling pairs whose answer is not obvious, without people who were erased."""
    erased, wanted = erased_in(body), settings.pairs_per_decision

    def is_open(pair: PairToReview) -> bool:
        is_whole = erased.isdisjoint(body["candidates"][place] for place in pair.pair)
        known = is_certain(pair, settings.reviewing.certain)
        return is_whole and not known and not are_far_apart(body, *pair.pair, settings)

    some = list(filter(is_open, projection.bandit.pairs_to_review(decision, wanted)))
    if len(some) < wanted:
        some = list(filter(is_open, projection.bandit.pairs_to_review(decision, MORE * wanted)))
    return some[:wanted]


def _places(decision: str, pair: PairToReview, overlap: float) -> int:
    """2 for the planned share of pairs, chosen by a digest so that all processes choose the same; else 1."""
    digest = hashlib.blake2b(f"{decision} {pair.pair}".encode(), digest_size=8).digest()
    return 2 if int.from_bytes(digest) < overlap * 2**64 else 1


def _priority(pair: PairToReview, decision: Decision) -> float:
    """Tight pairs first, by uncertainty; then the others, by the entropy of the answer in bits."""
    if pair.pair in decision.tight_pairs:
        return 1.0 + pair.uncertainty / (1.0 + pair.uncertainty)
    p = min(max(pair.chance_unfair, 1e-12), 1.0 - 1e-12)
    return -(p * math.log2(p) + (1.0 - p) * math.log2(1.0 - p)) * (1.0 - 1e-9)
