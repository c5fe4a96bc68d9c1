"""The queue: pairs of recent decisions that wait for a reviewer, the most telling first, no pair for two at once."""

from __future__ import annotations

import hashlib
import math
import time

from evenhand._internal.checks import is_number, is_whole
from evenhand.bandit.pairs_to_review import PairToReview
from evenhand.desk.event_records import decision_of, review_of
from evenhand.desk.projection.projection import Projection
from evenhand.desk.review_book import answers_in
from evenhand.desk.settings import DeskSettings
from evenhand.errors import InvalidInput
from evenhand.ledger.ledger import Ledger, Row
from evenhand.ledger.names import check_name
from evenhand.ledger.waiting_pairs import Answered, QueuePosition, WaitingPair
from evenhand.records.decision import Decision
from evenhand.records.review_metadata import DECLINED

LEASE = 900.0
"""Seconds for which a pair is kept for a reviewer who asked for it."""

MOST_WAITING = 100_000
"""More pairs than this do not wait: the least telling are dropped."""

MOST_DECISIONS = 32
"""Of so many decisions, the newest, pairs are put into the queue at a time: there are always more than reviewers."""

FEED_PAUSE = 1.0
"""Seconds between two times."""

MOST_ASKED = 10_000


def queue(
    ledger: Ledger, desk: str, n: int, reviewer: str | None, lease: float, after: QueuePosition | None
) -> list[WaitingPair]:
    """The n most telling pairs that nobody else has on lease."""
    if not is_whole(n) or not 1 <= n <= MOST_ASKED:
        raise InvalidInput(f"n is {n!r}; allowed is a whole number of pairs from 1 to {MOST_ASKED}")
    if not is_number(lease) or lease <= 0:
        raise InvalidInput(f"lease is {lease!r}; allowed is a number of seconds > 0")
    moment = time.time()
    if reviewer is None:
        return ledger.pairs.page(desk, n, moment, after)
    check_name(reviewer, "reviewer")
    if after is not None:
        raise InvalidInput("after goes without a reviewer: what is kept for somebody is one page, and comes again")
    return ledger.pairs.lease(desk, n, reviewer, moment, moment + lease)


class QueueFeeder:
    """Puts pairs of new decisions into the queue, and takes out those that were answered."""

    def __init__(self, ledger: Ledger, desk: str) -> None:
        self._ledger, self._desk = ledger, desk
        self._fed_at, self._fed = -math.inf, 0

    def feed(self, state: Projection, *, patiently: bool) -> float | None:
        """Put in pairs of decisions not looked at before; returns the seconds to wait if it is too early.

        patiently: not more often than every FEED_PAUSE seconds, since it takes as long as deciding does.
        """
        until, wait = state.bandit.rounds, self._fed_at + FEED_PAUSE - time.monotonic()
        if until <= self._fed or (patiently and wait > 0):
            return None if until <= self._fed else wait
        self._fed_at = time.monotonic()
        with self._ledger.reading(self._desk) as view:
            decisions = view.by_number(range(max(self._fed, until - MOST_DECISIONS), until))
            last = view.last(("opened", "settings"), state.seq)
            about = view.about([row.id for row in decisions.values()])
            reviewed = {row.target for row in about if row.kind == "review"}
        self._fed = until
        settings = None if last is None else DeskSettings.from_dict(last.event.body["settings"])
        if settings is not None and settings.pairs_per_decision > 0:
            rows = [row for row in decisions.values() if row.id not in reviewed]
            pairs = [pair for row in rows for pair in _pairs(row, state, settings)]
            self._ledger.pairs.put(self._desk, pairs, MOST_WAITING)
        return None

    def settle(self, after: int, state: Projection) -> None:
        """Take out the pairs that were answered after event `after`."""
        until = state.seq
        with self._ledger.reading(self._desk) as view:
            reviews = [row for row in view.after(after, max(0, until - after), ("review",)) if row.seq <= until]
            gone = {review for _, review in view.withdrawals()} if reviews else set()
            reviews = [row for row in reviews if row.seq not in gone]  # of those taken back the pair may wait again
            decisions = view.by_id({row.target for row in reviews if row.target is not None})
        self._ledger.pairs.settle(self._desk, [_answered(row, decisions[row.target or ""]) for row in reviews])
        for row in reviews:
            self._leave_to_others(row)

    def _leave_to_others(self, row: Row) -> None:
        """A pair that somebody declined waits on without them; the review page has seen to its own pairs."""
        for given in answers_in(row):
            if given.answer in DECLINED and given.item is None and given.reviewer is not None:
                self._ledger.pairs.decline(self._desk, given.decision, given.pair, given.reviewer)


def _answered(row: Row, decision: Row) -> Answered:
    """Which pairs a review was about; whoever is unsure of a pair has been asked, and names none."""
    candidates = decision.event.body["candidates"]
    review = review_of(row.event.body, candidates)
    said = frozenset(frozenset((candidates[i], candidates[j])) for i, j in (*review.unfair, *review.fair))
    said |= {given.pair for given in answers_in(row) if given.answer == "unsure"}
    return Answered(decision.id, said if review.kind == "partial" else None, review.reviewer)


def _pairs(row: Row, state: Projection, settings: DeskSettings) -> list[WaitingPair]:
    body = row.event.body
    decision, candidates = decision_of(body), body["candidates"]
    if decision.n_candidates < 2:
        return []
    found = []
    for pair in state.bandit.pairs_to_review(decision, settings.pairs_per_decision):
        for copy in range(_places(row.id, pair, settings.overlap)):
            i, j = pair.pair
            known = (pair.reason, pair.gap, pair.distance, pair.uncertainty, pair.chance_unfair)
            found.append(WaitingPair(row.id, candidates[i], candidates[j], *known, _priority(pair, decision), copy))
    return found


def _places(decision: str, pair: PairToReview, overlap: float) -> int:
    """2 for the planned share of pairs, chosen by a digest so that every process chooses alike; else 1."""
    digest = hashlib.blake2b(f"{decision} {pair.pair}".encode(), digest_size=8).digest()
    return 2 if int.from_bytes(digest) < overlap * 2**64 else 1


def _priority(pair: PairToReview, decision: Decision) -> float:
    """Pairs that bound the odds first, by doubt; then the others, by how little the answer is foreseen, in bits."""
    if pair.pair in decision.tight_pairs:
        return 1.0 + pair.uncertainty / (1.0 + pair.uncertainty)
    p = min(max(pair.chance_unfair, 1e-12), 1.0 - 1e-12)
    return -(p * math.log2(p) + (1.0 - p) * math.log2(1.0 - p)) * (1.0 - 1e-9)
