"""Reducer: applies the events of a ledger to a bandit, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson

from evenhand.desk.event_records import decision_of, indices_of, is_repeat, review_of
from evenhand.desk.imports.past import learn_past
from evenhand.desk.projection.projection import QuietBandit, RoundHistory
from evenhand.desk.settings import DeskSettings
from evenhand.errors import DamagedLedger, EvenhandError
from evenhand.ledger.event import EventToApply, Stamp
from evenhand.ledger.ledger import Ledger, LedgerView

CHUNK = 2000
"""Events per query."""

Withdrawals = Sequence[tuple[int, int]]
"""All withdrawn or superseded reviews: the seq of the event that did it, and of the review."""

Body = dict[str, Any]

LEARNING = ("outcome", "review", "answer", "settings", "imported")
"""Kinds of events that change the bandit."""


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

    def _apply(self, event: EventToApply, decisions: dict[str, Body], withdrawn: set[int]) -> None:
        body, decision = _body(event), decisions.get(event.target or "")
        if decision is None and event.kind in ("outcome", "review"):
            raise DamagedLedger(f"event {event.seq} is about decision {event.target}, which is not in the ledger")
        self.history.count(event.seq, event.kind)
        safeguards = self.bandit.safeguards
        if event.kind == "decision":
            self.history.decided(self.bandit.rounds, safeguards.margin.target)
            self.bandit.count_decisions()
        elif event.seq not in withdrawn and event.kind in LEARNING:
            self.has_learned_metric = self.has_learned_metric or event.kind != "outcome"
            flagged, promised = len(safeguards.flagged_rounds), safeguards.limits_flags
            try:
                _learn(self.bandit, event.kind, body, decision or {})
                self.history.taught += teaches(event.kind, body)
            except (EvenhandError, np.linalg.LinAlgError):
                self.skipped.append(event.seq)
            if decision is not None and event.kind == "outcome":
                self.history.outcome(decision["number"], body["rewards"])
            elif decision is not None and len(self.bandit.safeguards.flagged_rounds) > flagged:
                self.history.flag(self.bandit.rounds, promised=promised)


def _body(event: EventToApply) -> Body:
    """The body of an event; empty for a decision, which only counts."""
    if event.text is None:
        return {}
    try:
        body: Body = orjson.loads(event.text)["body"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise DamagedLedger(f"event {event.seq} of the ledger cannot be read; verify it") from None
    return body


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


def _decisions(view: LedgerView, events: Sequence[EventToApply]) -> dict[str, Body]:
    """The decisions that outcomes and reviews among these events are about."""
    wanted = {event.target for event in events if event.target is not None and event.kind in ("outcome", "review")}
    return {name: row.event.body for name, row in view.by_id(wanted).items()}


def teaches(kind: str, body: Body) -> bool:
    """Whether a review or an answer says anything about a pair: "unsure" does not, nor is a repeat learned from.

    >>> teaches("answer", {"unfair": None}), teaches("review", {"kind": "one_bit", "circumstances": None})
    (False, True)
    """
    if kind == "answer":
        return body["unfair"] is not None
    if kind != "review" or is_repeat(body):
        return False
    return body["kind"] != "partial" or bool(body["unfair"] or body["fair"])


def _learn(bandit: QuietBandit, kind: str, body: Body, decision: Body) -> None:
    """Change a bandit by an event of one of the kinds LEARNING; decision: the one that it is about, if any."""
    if kind == "outcome":
        places = indices_of(list(body["rewards"]), decision["candidates"])
        bandit.learn_outcomes(decision_of(decision), dict(zip(places, body["rewards"].values(), strict=True)))
    elif kind == "review" and not is_repeat(body):
        bandit.learn(decision_of(decision), review=review_of(body, decision["candidates"]))
    elif kind == "answer" and body["unfair"] is not None:  # None: unsure
        bandit.learn_pair(body["x"], body["y"], gap=body["gap"], unfair=body["unfair"], reviewer=body["reviewer"])
    elif kind == "settings":
        DeskSettings.from_dict(body["settings"]).apply_to(bandit)
    elif kind == "imported":
        learn_past(bandit, body)
