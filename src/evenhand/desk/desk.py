"""Desk: a bandit with a ledger. Commands become events of the ledger; the projection is what events amount to."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self, Unpack

from evenhand._internal.checks import check_number, check_whole, refusal
from evenhand._internal.counted import counted
from evenhand.desk import commands as cmd
from evenhand.desk._batch import BatchWriter
from evenhand.desk.commands import Command, CommandFields
from evenhand.desk.differences import DIFFERENCES, Differences, differences
from evenhand.desk.event_records import DeskDecision
from evenhand.desk.explain.evidence import VerdictSources
from evenhand.desk.explain.explanation import Explanation, Metric, explain
from evenhand.desk.explain.latest_metric import LatestMetric
from evenhand.desk.opening import create_desk, first_settings
from evenhand.desk.projection.projection import Projection
from evenhand.desk.projection.projector import Projector, Projectors
from evenhand.desk.review_rules import ReviewRules
from evenhand.desk.settings import MOST_EVENTS, MOST_QUEUED, DeskSettings
from evenhand.desk.shadow import Mode
from evenhand.errors import EvenhandError, InvalidInput, UnknownRecord
from evenhand.ledger.backup import finish_erasures
from evenhand.ledger.event import Event, Head, check_name, is_name
from evenhand.ledger.ledger import Ledger, open_ledger
from evenhand.ledger.verify import check_end, check_text
from evenhand.ledger.waiting_pairs import QueuePosition, WaitingPair
from evenhand.records.review_metadata import ReviewMetadata, joined
from evenhand.schema.encoded_rows import OnInvalid


class Desk:
    """A named stream of decisions: one bandit, one ledger. Make it with `Desk.open`; threads may share it.

    >>> with Desk.open("memory:", "loans", n_features=2, seed=7) as desk:
    ...     decision = desk.decide([[1.0, 0.0], [0.0, 1.0]])
    ...     outcome = desk.outcome(decision.id, {chosen: 0.5 for chosen in decision.chosen})
    ...     review = desk.review(decision.id, unfair=[("0", "1")], reviewer="Kim")
    ...     [event.kind for event in desk.events()]
    ['opened', 'decision', 'outcome', 'review']
    """

    def __init__(self, ledger: Ledger, name: str, *, owns_ledger: bool = False) -> None:
        self.ledger, self.name, self._owns_ledger = ledger, name, owns_ledger
        with ledger.reading(name) as view:
            opened = first_settings(view)
        self.projector = Projector(ledger, name, opened)
        with ledger.reading(name) as view:
            self._writer = BatchWriter(ledger, name, opened, view, self.projector)
        check_end(ledger, name, self.projector.projection.seq)
        self._projectors: Projectors | None = None
        self._own_projectors: Projectors | None = None
        self._sources, self._metric = VerdictSources(ledger, name), LatestMetric()
        self._is_closed = False

    def __repr__(self) -> str:
        settings, projection = self.settings, self.projection
        return (
            f"Desk({self.name!r}, {counted(settings.n_features, 'feature')}, capacity {settings.capacity}, "
            f"{counted(projection.bandit.rounds, 'decision')} in {counted(projection.seq, 'event')})"
        )

    @classmethod
    def open(cls, url: str | Ledger, name: str, **settings: Any) -> Self:
        """Open the desk of this name; create it with these settings if there is none.

        url: "memory:", "sqlite:///path", "postgresql+psycopg://...", or an open Ledger. settings: see `DeskSettings`;
        of an existing desk they must be those it has. DamagedLedger if an event was changed that opening relies on: one
        after the newest snapshot, or where that was taken.
        """
        check_name(name, "desk name")
        ledger = url if isinstance(url, Ledger) else open_ledger(url)
        try:
            if name not in ledger.names():
                if not settings:
                    raise UnknownRecord(f"there is no desk {name!r}; pass n_features, features or schema to create it")
                create_desk(ledger, name, DeskSettings.create(**settings))
            desk = cls(ledger, name, owns_ledger=ledger is not url)
            differ = desk.settings.differences(settings) if settings else []
            if differ:
                raise InvalidInput(f"desk {name!r} has other values of {', '.join(differ)}; leave them out")
            with ledger.reading(name) as view:  # a process may have been killed before it had finished one
                erasures = [row.event for row in view.after(0, view.head.seq, ("erasure",))]
            desk.finish_erasure(*erasures)
        except BaseException:
            if ledger is not url:
                ledger.close()
            raise
        return desk

    # Commands.

    def execute(self, commands: Sequence[Command]) -> list[Event | EvenhandError]:
        """Execute commands in one transaction; each gives its event, or its error, and an error changes nothing.

        When this returns, every event is on disk. The same idempotency key with the same command gives the same event
        again, within a batch, after a crash, from another process; with another command IdempotencyConflict. Decisions
        are computed before the transaction begins. LedgerUnavailable if the database cannot be written to: then nothing
        was acknowledged, and commands with a key can be sent again.
        """
        self._check_open()
        events = self._writer.write(commands)
        if self._projectors is not None:
            self._projectors.wake(self.name)
        return events

    # The same for notebooks: one command, its event or its error raised.

    def _execute_one(self, command: Command) -> Event:
        (result,) = self.execute([command])
        if isinstance(result, EvenhandError):
            raise result
        if self._projectors is None and result.kind != "decision":
            self.catch_up()
        return result

    def decide(
        self,
        candidates: Any,
        *,
        on_invalid: OnInvalid = "refuse",
        lower: cmd.Bounds = None,
        upper: cmd.Bounds = None,
        action: Mapping[str, Any] | None = None,
        actor: str = "desk",
        idempotency_key: str | None = None,
    ) -> DeskDecision:
        """Choose among candidates: a (k, d) array, a data frame, or a list of {"id", "context" | "features"}.

        on_invalid: "refuse", "skip" or "clip" those who do not fit; see `Decide`. lower, upper: floors and ceilings on
        probabilities, by id, in order, or one for all; CollidingBounds if no fair probabilities keep to them. action:
        of a desk in shadow mode, {"chosen", "probabilities", "scores"}: what the system in force did, if it is known
        yet; see `RecordAction`.
        """
        mode = None if on_invalid == "refuse" else on_invalid
        later: dict[str, Any] = {"lower": lower, "upper": upper, "action": action}
        command = cmd.Decide(candidates, mode, **later, actor=actor, idempotency_key=idempotency_key)
        return DeskDecision(self._execute_one(command))

    def outcome(self, decision: str, rewards: Mapping[str, float], **rest: Unpack[CommandFields]) -> Event:
        """Record the rewards of chosen candidates, by id."""
        return self._execute_one(cmd.RecordOutcome(decision, rewards, **rest))

    def review(
        self,
        decision: str,
        kind: str = "complete",
        *,
        unfair: cmd.ChosenPairs = (),
        fair: cmd.ChosenPairs = (),
        any_unfair: bool | None = None,
        reviewer: str | None = None,
        circumstances: Mapping[str, Any] | None = None,
        supersedes: str | None = None,
        ratings: Mapping[str, float] | None = None,
        scale: Sequence[float] | None = None,
        comparisons: Mapping[tuple[str, str], str] | Sequence[Mapping[str, Any]] | None = None,
        tolerance: float | None = None,
        subject: str | None = None,
        actor: str = "desk",
        idempotency_key: str | None = None,
        **metadata: Unpack[ReviewMetadata],
    ) -> Event:
        """Record a review; see `GiveReview`, and `ReviewMetadata` for what the reviewer saw.

        circumstances: any other metadata to record. subject: of a decision in shadow mode, whose treatment of the
        candidates is reviewed: the "desk"'s own, or what the "system" in force did.
        """
        fields = (unfair, fair, any_unfair, reviewer, joined(circumstances, metadata), supersedes)
        answers = (ratings, scale, comparisons, tolerance)
        named: dict[str, Any] = {"subject": subject, "actor": actor, "idempotency_key": idempotency_key}
        command = cmd.GiveReview(decision, kind, *fields, *answers, **named)
        return self._execute_one(command)

    def withdraw(self, review_id: str, reason: str | None = None, **rest: Unpack[CommandFields]) -> Event:
        """Withdraw a review, an interview answer or an imported record, with all that was learned from it."""
        return self._execute_one(cmd.Withdraw(review_id, reason, **rest))

    def override(
        self, decision: str, chosen: Sequence[str], reason: str | None = None, **rest: Unpack[CommandFields]
    ) -> Event:
        """Record that other candidates were chosen; from then on outcomes are theirs. The last override counts."""
        return self._execute_one(cmd.Override(decision, chosen, reason, **rest))

    def action(self, decision: str, chosen: Sequence[str], **rest: Any) -> Event:
        """Record what was really done instead of a decision in shadow mode; from then on outcomes are of these.

        rest: probabilities, scores, actor, idempotency_key; see `RecordAction`.
        """
        return self._execute_one(cmd.RecordAction(decision, chosen, **rest))

    def switch(self, to: Mode, reason: str | None = None, **rest: Unpack[CommandFields]) -> Event:
        """Make the desk "live", or put it into "shadow" mode, from the next decision on; see `docs/shadow.md`."""
        return self._execute_one(cmd.Switch(to, reason, **rest))

    def erase(self, candidate: str, reason: str | None = None, **rest: Unpack[CommandFields]) -> Event:
        """Erase what the ledger says about a candidate: features, contexts, estimates and free text.

        reason: stays in the ledger. The desk learns as if it had never learned from them; snapshots are made again.
        """
        event = self._execute_one(cmd.Erase(candidate, reason, **rest))
        self.finish_erasure(event)
        return event

    def finish_erasure(self, *events: Event) -> None:
        """Leave nothing of what was erased in the database's files, and note the erasure beside them."""
        finish_erasures(self.ledger.engine, events)

    def change_settings(self, *, actor: str = "desk", idempotency_key: str | None = None, **changes: Any) -> Event:
        """Change settings that may change while a desk runs."""
        return self._execute_one(cmd.ChangeSettings(changes, actor=actor, idempotency_key=idempotency_key))

    def answer(self, x: Sequence[float], y: Sequence[float], *, gap: float, unfair: bool | None, **rest: Any) -> Event:
        """Record an interview answer; unfair is None for "unsure", which is not learned from.

        rest: reviewer, circumstances, actor, idempotency_key.
        """
        return self._execute_one(cmd.AnswerQuestion(x, y, gap, unfair, **rest))

    # Queries.

    @property
    def settings(self) -> DeskSettings:
        """The settings in force, as far as this process knows."""
        return self._writer.settings

    @property
    def projection(self) -> Projection:
        """What decisions are made from now: .seq and .bandit."""
        return self.projector.projection

    @property
    def head(self) -> Head:
        """Where the ledger ends: seq, hash, decisions."""
        return self.ledger.head(self.name)

    def events(self, after: int = 0, limit: int = 1000, kinds: Sequence[str] | None = None) -> list[Event]:
        """Up to `limit` events after event `after`; DamagedLedger if one of them was changed."""
        check_whole("limit", limit, least=1, most=MOST_EVENTS)
        with self.ledger.reading(self.name) as view:
            return [check_text(row).event for row in view.after(max(0, after), limit, kinds)]

    def event(self, event_id: str) -> Event:
        """The event with this id; DamagedLedger if it was changed."""
        if not isinstance(event_id, str):
            raise refusal("event_id", "the id of an event, such as decision.id", event_id)
        with self.ledger.reading(self.name) as view:
            found = view.by_id([event_id]) if is_name(event_id) else {}
        if event_id not in found:
            raise UnknownRecord(f"this desk's ledger has no event {event_id!r}")
        return check_text(found[event_id]).event

    def decision_event(self, decision_id: str) -> Event:
        """The event with this id; UnknownRecord if it is not a decision."""
        event = self.event(decision_id)
        if event.kind != "decision":
            raise UnknownRecord(f"this desk made no decision {decision_id!r}")
        return event

    def decision(self, decision_id: str) -> dict[str, Any]:
        """The record of a decision: its event, and the outcomes, reviews, withdrawals and overrides that followed."""
        event = self.decision_event(decision_id)
        with self.ledger.reading(self.name) as view:
            rows = view.following([decision_id])
        return {**event.to_dict(), "followed_by": [check_text(row).event.to_dict() for row in rows]}

    def explain(self, decision_id: str, *, then: bool = False) -> Explanation:
        """Why these probabilities: rewards, binding pairs, the price of fairness, and the reviews behind the distances.

        then: with the distances as they were known when it was decided, projected again, instead of now.
        """
        event = self.decision_event(decision_id)
        projection = self.projector.at(event.body["state"]) if then else self.projection
        return explain(event, projection, self.ledger, self._sources, self.name)

    def queue(
        self,
        n: int,
        *,
        reviewer: str | None = None,
        lease: float = ReviewRules.lease,
        after: QueuePosition | None = None,
    ) -> list[WaitingPair]:
        """The n pairs with the highest priority, leased to this reviewer for `lease` seconds; see `WaitingPairs`.

        after: without a reviewer, the `position` of the last pair of the page before.
        """
        check_whole("n", n, least=1, most=MOST_QUEUED)
        check_number("lease", lease, above=0)
        moment = time.time()
        if reviewer is None:
            return self.ledger.pairs.page(self.name, n, moment, after)
        check_name(reviewer, "reviewer")
        if after is not None:
            raise InvalidInput("after must be None with a reviewer: what is leased is one page")
        return self.ledger.pairs.lease(self.name, n, reviewer, moment, moment + lease)

    def differences(self, last: int = DIFFERENCES) -> Differences:
        """Where the desk and the system in force differed in the newest `last` decisions made in shadow mode."""
        return differences(self.ledger, self.name, self.projection, last)

    def metric(self) -> Metric:
        """The learned matrix, its confidence, and sentences about it."""
        return self._metric.of(self.projection, self.settings)

    # Projecting.

    def catch_up(self, *, wait: bool = False) -> None:
        """Apply all events there are now, in this thread; if another process projects, use what it has published.

        wait: until the projection has all events that are in the ledger now, whoever projects.
        """
        self._check_open()
        self.projector.catch_up(wait=wait, keep_lock=self._projectors is not None)
        if self._projectors is not None:  # for the snapshot and the queue, which may be due later
            self._projectors.wake(self.name)

    def wait_for(self, seq: int, timeout: float | None = None) -> bool:
        """Wait until the projection has reached event `seq`; False after `timeout` seconds."""
        return self.projector.wait_for(seq, timeout)

    def project_in_background(self) -> None:
        """Keep the projection up to date in the background until the desk is closed.

        A process with many desks shares one `Projectors` among them instead.
        """
        self._check_open()
        if self._projectors is None:
            self._own_projectors = Projectors(self.ledger)
            self._own_projectors.add(self)

    def projected_by(self, projectors: Projectors | None) -> None:
        """Called by `Projectors` when it takes this desk, and when it lets go of it."""
        self._projectors = projectors

    @property
    def is_projecting(self) -> bool:
        """Whether this process is the one that applies events."""
        return self.projector.is_holding

    def close(self) -> None:
        """Stop projecting; close the ledger if this desk opened it. Later commands raise InvalidInput."""
        self._is_closed = True
        if self._projectors is not None:
            self._projectors.remove(self)
        if self._own_projectors is not None:
            self._own_projectors.close()
            self._own_projectors = None
        self.projector.close()
        if self._owns_ledger:
            self.ledger.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise InvalidInput(f"desk {self.name!r} was closed; open it again with Desk.open")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
