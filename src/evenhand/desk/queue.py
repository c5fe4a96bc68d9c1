"""The review queue: pairs of recent decisions, those first whose review would teach most."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.bandit.pairs_to_review import PairToReview
from evenhand.desk.event_records import ReviewAnswer, answers_in, decision_of, subject_of
from evenhand.desk.obvious import are_far_apart, is_certain
from evenhand.desk.projection.projection import Projection
from evenhand.desk.remaining import erased_in
from evenhand.desk.settings import DeskSettings
from evenhand.desk.shadow import action_of, treatment_of
from evenhand.ledger.event import SETTINGS_KINDS, Row
from evenhand.ledger.ledger import Ledger, LedgerView
from evenhand.ledger.waiting_pairs import FIRST_PLACE, SUBJECTS, Answered, Subject, WaitingPair
from evenhand.records.decision import Decision
from evenhand.records.review_metadata import DECLINED

MOST_WAITING = 100_000
"""Maximum number of pairs in a desk's queue: those with the lowest priority are dropped."""

DECISIONS_PER_FEED = 32
"""Pairs of this many decisions, the newest, are queued at a time: there are always more than reviewers."""

MORE = 8
"""So many times as many pairs of a decision are looked at where some of the best are obvious."""

ACTIONS_WITHIN = 1000
"""Of actions told after their decisions were queued, those among this many events, the newest, are looked at."""

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
            settings = _settings(view, projection)
            about = view.about([row.id for row in decisions.values()])
        self._fed = until
        self._put(list(decisions.values()), about, projection, settings, ("desk", "system"))
        return None

    def _put(
        self,
        decisions: Sequence[Row],
        about: Sequence[Row],
        projection: Projection,
        settings: DeskSettings | None,
        subjects: Sequence[Subject],
    ) -> None:
        """Queue pairs of decisions that nobody has reviewed; about: the events about them."""
        if settings is None or settings.pairs_per_decision == 0:
            return
        reviewed = {(row.target, subject_of(row.event.body)) for row in about if row.kind == "review"}
        pairs = list[WaitingPair]()
        for row in decisions:
            found = {subject: _pairs(row, about, projection, settings, subject) for subject in SUBJECTS}
            found["system"] = _ranked_like(found["system"], found["desk"])
            pairs += [pair for one in subjects if (row.id, one) not in reviewed for pair in found[one]]
        self._ledger.pairs.put(self._desk, pairs, MOST_WAITING)

    def settle(self, before: Projection, projection: Projection) -> None:
        """Remove the pairs that were answered between two projections; leave declined ones to other reviewers.

        Queue pairs of what the system in force did, where the desk was told so later than it decided.
        """
        if before.history.kinds.get("action") != projection.history.kinds.get("action"):
            self._feed_actions(before, projection)
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
                whose = (None if is_whole else pairs, body["reviewer"], subject_of(body))
                answered.append(Answered(body["decision"], *whose))
                # The review page has declined its own pairs itself.
                declined += [answer for answer in answers if answer.answer in DECLINED and answer.item is None]
        self._ledger.pairs.settle(self._desk, answered)
        for answer in declined:
            if answer.reviewer is not None:
                self._ledger.pairs.decline(self._desk, answer.decision, answer.pair, answer.reviewer, answer.subject)

    def _feed_actions(self, before: Projection, projection: Projection) -> None:
        with self._ledger.reading(self._desk) as view:
            since = max(before.seq, projection.seq - ACTIONS_WITHIN)
            actions = view.after(since, projection.seq - since, ("action",))[-DECISIONS_PER_FEED:]
            decisions = view.by_id([row.target for row in actions if row.target is not None])
            about, settings = view.about(decisions), _settings(view, projection)
        self._put(list(decisions.values()), about, projection, settings, ("system",))


def _settings(view: LedgerView, projection: Projection) -> DeskSettings | None:
    last = view.last(SETTINGS_KINDS, projection.seq)
    return None if last is None else DeskSettings.from_dict(last.event.body["settings"])


def _treated(row: Row, about: Sequence[Row], projection: Projection, subject: Subject) -> Decision | None:
    """The decision whose gaps are in question, as the bandit's own; None if nobody has said what the system did."""
    body, decision = row.event.body, decision_of(row.event.body)
    if subject == "system":
        action = action_of(body, [one for one in about if one.target == row.id]) if body.get("shadow") else None
        if action is None:
            return None
        treatment = np.array(treatment_of(action, body["candidates"]))
        decision = replace(decision, probabilities=treatment, tight_pairs=())
    return projection.bandit.own(decision)


def _pairs(
    row: Row, about: Sequence[Row], projection: Projection, settings: DeskSettings, subject: Subject
) -> list[WaitingPair]:
    body = row.event.body
    erased, candidates = erased_in(body), body["candidates"]
    decision = _treated(row, about, projection, subject)
    if decision is None:
        return []
    if decision.n_candidates < 2 or erased.issuperset(candidates):
        return []
    found = []
    for pair in _open_pairs(body, decision, projection, settings, subject):
        name, first = row.id if subject == "desk" else f"{row.id} {subject}", FIRST_PLACE[subject]
        for copy in range(first, first + _places(name, pair, settings.overlap)):
            i, j = pair.pair
            estimates = (pair.reason, pair.gap, pair.distance, pair.uncertainty, pair.chance_unfair)
            found.append(WaitingPair(row.id, candidates[i], candidates[j], *estimates, _priority(pair, decision), copy))
    return found


def _open_pairs(
    body: Mapping[str, Any], decision: Decision, projection: Projection, settings: DeskSettings, subject: Subject
) -> list[PairToReview]:
    """The most telling pairs whose answer is not obvious, without people who were erased.

    However predictable the answer is, reviewers are asked about pairs that limit the probabilities, or a desk that is
    too cautious would never learn so; and about what the system in force did: flags on it are what is wanted.
    """
    erased, wanted, tight = erased_in(body), settings.pairs_per_decision, set(decision.tight_pairs)

    def is_open(pair: PairToReview) -> bool:
        is_whole = erased.isdisjoint(body["candidates"][place] for place in pair.pair)
        known = subject == "desk" and pair.pair not in tight and is_certain(pair, settings.reviewing.certain)
        return is_whole and not known and not are_far_apart(body, *pair.pair, settings)

    some = list(filter(is_open, projection.bandit.pairs_to_review(decision, wanted)))
    if len(some) < wanted:
        some = list(filter(is_open, projection.bandit.pairs_to_review(decision, MORE * wanted)))
    return some[:wanted]


def _ranked_like(pairs: Sequence[WaitingPair], own: Sequence[WaitingPair]) -> list[WaitingPair]:
    """The pairs of the system in force with the priorities of the desk's own.

    By what they teach they would come last, as a rule that chooses or does not has no tight pairs: nobody would be
    asked about the system.
    """
    priorities = [pair.priority for pair in own]
    ranked = [replace(pair, priority=priorities[min(i, len(own) - 1)]) for i, pair in enumerate(pairs) if own]
    return ranked or list(pairs)


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
