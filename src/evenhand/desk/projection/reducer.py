"""Reducer: applies the events of a ledger to a bandit, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import orjson

from evenhand.desk.event_records import decision_of, indices_of, is_repeat, review_of, subject_of
from evenhand.desk.imports.past import learn_past
from evenhand.desk.projection.projection import QuietBandit, RoundHistory
from evenhand.desk.remaining import erased_in, people_named, remaining_past, remaining_review
from evenhand.desk.settings import DeskSettings
from evenhand.errors import DamagedLedger, EvenhandError
from evenhand.ledger.contents import opened_body
from evenhand.ledger.event import Erasure, EventToApply, Stamp
from evenhand.ledger.ledger import Ledger, LedgerView

CHUNK = 2000
"""Events per query."""

Withdrawals = Sequence[tuple[int, int]]
"""All withdrawn or superseded reviews: the seq of the event that did it, and of the review.

Where it matters only what was learned from which event on, also erasures, with the first event of that person.
"""

Body = dict[str, Any]

LEARNING = ("outcome", "review", "answer", "settings", "imported")
"""Kinds of events that change the bandit."""


class Decided(NamedTuple):
    """A decision: its event's seq and body."""

    seq: int
    body: Body


@dataclass
class Reducer:
    """A bandit with the events of `stamp` applied."""

    bandit: QuietBandit
    stamp: Stamp
    skipped: list[int] = field(default_factory=list)
    """Events that the bandit could not learn from: a review too coarse for the metric learner, for instance."""
    has_learned_metric: bool = True
    """Whether anything but decisions and outcomes was applied since this was last set to False."""
    history: RoundHistory = field(default_factory=RoundHistory)
    lost: set[tuple[int, str]] = field(default_factory=set)
    """Whose contents were missing where something was to be learned from them, and the events that had had them."""

    @classmethod
    def initial(cls, settings: DeskSettings) -> Reducer:
        """Before the first event."""
        return cls(settings.first_bandit(), Stamp(0, 0))

    def advance(
        self,
        ledger: Ledger,
        name: str,
        target: int,
        withdrawals: Withdrawals,
        after_chunk: Callable[[Reducer], None] | None = None,
    ) -> None:
        """Apply all events up to `target`, without the reviews that were withdrawn by then."""
        withdrawn = {review for by, review in withdrawals if by <= target}
        while self.stamp.seq < target:
            with ledger.reading(name) as view:
                events = view.to_apply(self.stamp.seq, target, CHUNK)
                decisions = _decisions(view, events)
            if not events:
                raise DamagedLedger(f"the ledger of desk {name!r} ends at event {self.stamp.seq}, before {target}")
            for event in events:
                self._apply(event, decisions, withdrawn)
                self.stamp = Stamp(event.seq, target)  # after an error it goes on from here
            if after_chunk is not None:
                after_chunk(self)
        self.stamp = Stamp(target, target)

    def is_incomplete(self, target: int, erasures: Sequence[Erasure]) -> bool:
        """Whether the projection at `target` had learned from somebody who was erased after it."""
        return any(_erased_by(erasures, *lost) > target for lost in self.lost)

    def _apply(self, event: EventToApply, decisions: dict[str, Decided], withdrawn: set[int]) -> None:
        body, made = _body(event), decisions.get(event.target or "")
        decision = None if made is None else made.body
        if decision is None and event.kind in ("outcome", "review"):
            raise DamagedLedger(f"event {event.seq} is about decision {event.target}, which is not in the ledger")
        self.history.count(event.seq, event.kind)
        safeguards = self.bandit.safeguards
        if event.kind == "decision":
            self.history.decided(self.bandit.rounds, safeguards.margin.target)
            self.bandit.count_decisions()
        elif event.kind in ("opened", "switch"):
            self.history.switched(self.bandit.rounds, shadow=bool(body.get("settings", {}).get("shadow")))
        elif event.seq not in withdrawn and event.kind in LEARNING:
            self.has_learned_metric = self.has_learned_metric or event.kind != "outcome"
            flagged, promised = len(safeguards.flagged_rounds), safeguards.limits_flags
            left = self._remaining(event, body, made or Decided(event.seq, body))
            try:
                if left is not None:
                    _learn(self.bandit, event.kind, left, decision or {})
                    self.history.taught += teaches(event.kind, left)
            except (EvenhandError, np.linalg.LinAlgError):
                self.skipped.append(event.seq)
            if decision is not None and event.kind == "outcome":
                number = None if decision.get("shadow") else decision["number"]
                self.history.outcome(number, body["rewards"])
            elif decision is not None and len(self.bandit.safeguards.flagged_rounds) > flagged:
                self.history.flag(self.bandit.rounds, promised=promised)

    def _remaining(self, event: EventToApply, body: Body, made: Decided) -> Body | None:
        """What can still be learned of an event; None if nothing can. What cannot is noted as lost.

        made: the decision that it is about, or the event itself if it is about none.
        """
        gone = erased_in(made.body)
        if not gone:
            return body
        named, left = gone, None  # of an answer
        if event.kind == "outcome":
            named, rewards = gone & set(body["rewards"]), body["rewards"].items()
            left = {**body, "rewards": {name: reward for name, reward in rewards if name not in gone}}
            left = left if left["rewards"] else None
        elif event.kind == "review":
            is_whole = body["kind"] in ("complete", "one_bit")
            named = frozenset() if is_repeat(body) else gone if is_whole else gone & set(people_named(body))
            left = remaining_review(body, made.body["candidates"], gone)
        elif event.kind == "imported":
            left = remaining_past(body)
        self.lost |= {(made.seq, name) for name in named}
        return left


def _erased_by(erasures: Sequence[Erasure], seq: int, person: str) -> int:
    """The event that erased what event `seq` had of a person."""
    return min((one.seq for one in erasures if one.candidate == person and one.seq > seq), default=0)


def _body(event: EventToApply) -> Body:
    """The body of an event; empty for a decision, which only counts."""
    if event.text is None:
        return {}
    try:
        body: Body = orjson.loads(event.text)["body"]
        return opened_body(body, event.contents) if "sealed" in body else body
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        raise DamagedLedger(f"event {event.seq} of the ledger cannot be read; verify it") from None


def reaches(stamp: Stamp, target: int, withdrawals: Withdrawals) -> bool:
    """Whether applying the events after a stamp gives the projection at `target`: no applied review was withdrawn.

    >>> reaches(Stamp(5, 5), 9, [(8, 3)]), reaches(Stamp(5, 5), 9, [(8, 6)]), reaches(Stamp(5, 9), 9, [(8, 3)])
    (False, True, True)
    """
    between = sorted((stamp.until, target))
    return stamp.seq <= target and not any(
        between[0] < by <= between[1] and review <= stamp.seq for by, review in withdrawals
    )


def newest_start(stamps: Iterable[Stamp], target: int, withdrawals: Withdrawals) -> Stamp | None:
    """The stamp from which the fewest events lead to `target`."""
    return max((stamp for stamp in stamps if reaches(stamp, target, withdrawals)), default=None)


def _decisions(view: LedgerView, events: Sequence[EventToApply]) -> dict[str, Decided]:
    """The decisions that outcomes and reviews among these events are about."""
    wanted = {event.target for event in events if event.target is not None and event.kind in ("outcome", "review")}
    return {name: Decided(row.seq, row.event.body) for name, row in view.by_id(wanted).items()}


def teaches(kind: str, body: Body) -> bool:
    """Whether a review or an answer says anything about a pair: "unsure" does not, nor is a repeat learned from.

    Nor is it learned that something which the system in force did was unfair, without saying what: it says little about
    any one of many pairs, and the number of flags that is promised would have to allow for all of them.

    >>> teaches("answer", {"unfair": None}), teaches("review", {"kind": "one_bit", "circumstances": None})
    (False, True)
    """
    if kind == "answer":
        return body["unfair"] is not None
    if kind != "review" or is_repeat(body):
        return False
    if subject_of(body) == "system" and body["any_unfair"]:
        return False
    return body["kind"] != "partial" or bool(body["unfair"] or body["fair"])


def _learn(bandit: QuietBandit, kind: str, body: Body, decision: Body) -> None:
    """Change a bandit by an event of one of the kinds LEARNING; decision: the one that it is about, if any."""
    if kind == "outcome":
        places = indices_of(list(body["rewards"]), decision["candidates"])
        made = bandit.own(decision_of(decision))
        given = body.get("treatment")  # the shares that the system in force gave
        shares = None if given is None else [given[place] for place in places]
        bandit.learn_outcomes(made, dict(zip(places, body["rewards"].values(), strict=True)), shares)
    elif kind == "review" and not is_repeat(body):
        made, review = bandit.own(decision_of(decision)), review_of(body, decision["candidates"])
        if subject_of(body) == "desk":
            bandit.learn(made, review=review)
        elif teaches(kind, body):  # evidence about distances; no decision of this bandit is flagged
            bandit.learn_past_review(made.contexts, body["treatment"], review)
    elif kind == "answer" and body["unfair"] is not None:  # None: unsure
        bandit.learn_pair(body["x"], body["y"], gap=body["gap"], unfair=body["unfair"], reviewer=body["reviewer"])
    elif kind == "settings":
        DeskSettings.from_dict(body["settings"]).apply_to(bandit)
    elif kind == "imported":
        learn_past(bandit, body)
