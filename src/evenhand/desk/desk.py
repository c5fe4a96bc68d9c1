"""Desk: a bandit with a ledger. Everything that changes it is a line of the ledger; what it knows is a fold of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, Unpack

from evenhand.bandit.warm_up import warm_up
from evenhand.desk import commands as said
from evenhand.desk.batch import carry_out, read
from evenhand.desk.commands import Command
from evenhand.desk.desk_decision import DeskDecision
from evenhand.desk.draws import Lots
from evenhand.desk.explain.explanation import Explanation, Metric, explain, metric_of
from evenhand.desk.explain.sources import Elsewhere
from evenhand.desk.handlers import Recording
from evenhand.desk.opening import create_desk, first_settings, settings_in
from evenhand.desk.projection.projection import Projection
from evenhand.desk.projection.projector import Projector
from evenhand.desk.projection.projectors import Projectors
from evenhand.desk.queue import LEASE, queue
from evenhand.desk.settings import DeskSettings
from evenhand.errors import EvenhandError, InvalidInput, UnknownRecord
from evenhand.ledger.event import Event
from evenhand.ledger.ledger import Head, Ledger, open_ledger
from evenhand.ledger.names import check_name, is_name
from evenhand.ledger.verify import check_end, check_text
from evenhand.ledger.waiting_pairs import QueuePosition, WaitingPair
from evenhand.records.review_metadata import ReviewMetadata, joined

MOST_EVENTS = 10_000
"""How many events can be asked for at once."""


class Desk:
    """A named stream of decisions: one bandit, one ledger. Make it with `Desk.open`; it is safe to share by threads.

    >>> with Desk.open("memory:", "loans", n_features=2, seed=7) as desk:
    ...     decision = desk.decide([[1.0, 0.0], [0.0, 1.0]])
    ...     outcome = desk.outcome(decision.id, {chosen: 0.5 for chosen in decision.chosen})
    ...     review = desk.review(decision.id, unfair=[("0", "1")], reviewer="Kim")
    ...     [event.kind for event in desk.events()]
    ['opened', 'decision', 'outcome', 'review']
    """

    def __init__(self, ledger: Ledger, name: str, *, owns_ledger: bool = False) -> None:
        self.ledger, self._name, self._owns_ledger = ledger, name, owns_ledger
        self._writing = threading.Lock()
        with ledger.reading(name) as view:
            first = view.after(0, 1)
            self._opened = first_settings(first[0] if first else None)
            self._settings = settings_in(view)
        self._lots = Lots(self._opened.seed)
        self._projector = Projector(ledger, name, self._opened)
        check_end(ledger, name, self._projector.projection.seq)
        self._projectors: Projectors | None = None
        self._own_projectors: Projectors | None = None
        self._elsewhere = Elsewhere(ledger, name)
        self._is_closed = False

    def __repr__(self) -> str:
        settings = self.settings
        return (
            f"Desk({self._name!r}, {settings.n_features} features, capacity {settings.capacity}, "
            f"knows {self.projection.bandit.rounds} decisions in {self.projection.seq} lines)"
        )

    @classmethod
    def open(cls, url: str | Ledger, name: str, **settings: Any) -> Self:
        """The desk of this name; made, with these settings, if it is not there.

        url: "memory:", "sqlite:///path", "postgresql+psycopg://...", or an open Ledger. settings: n_features, or
        features (names), or schema; capacity, epsilon, structure, metric, reviewer_error, target_unfair_share,
        max_unfair_rounds, overlap, pairs_per_decision, seed. Of a desk that is there they must be those it has.
        DamagedLedger if a line was changed that this relies on: one after the newest snapshot, or where that was taken.
        """
        check_name(name, "the name of a desk")
        ledger = url if isinstance(url, Ledger) else open_ledger(url)
        owns = ledger is not url
        try:
            if name not in ledger.names():
                if not settings:
                    raise UnknownRecord(f"there is no desk {name!r}; give n_features, features or schema to make one")
                create_desk(ledger, name, DeskSettings.create(**settings))
            desk = cls(ledger, name, owns_ledger=owns)
            differ = desk._settings[1].differences(settings) if settings else []
            if differ:
                raise InvalidInput(f"desk {name!r} is there with other settings of {', '.join(differ)}; leave them out")
        except BaseException:
            if owns:
                ledger.close()
            raise
        return desk

    # The one way in.

    def execute(self, commands: Sequence[Command]) -> list[Event | EvenhandError]:
        """Carry out commands in one transaction; each gives its event, or its error, and an error changes nothing.

        When this returns, every event is safely on disk. The same idempotency key with the same command gives the same
        event again, within a batch, after a crash, from another process; with another command IdempotencyConflict.
        LedgerUnavailable is raised when the database cannot be written to: then nothing was acknowledged, and
        commands with a key can be sent again.
        """
        self._check_open()
        wishes = [read(command, self._opened) for command in commands]
        warm_up()
        with self._writing:
            with self.ledger.writing(self._name) as view:
                state = self._projector.projection
                if view.head.settings != self._settings[0]:
                    self._settings = settings_in(view)
                recording = Recording((state.seq, state.bandit), self._settings, view.head.decisions, self._lots)
                results = carry_out(self._name, wishes, recording, view)
            self._settings = (recording.settings_seq, recording.settings)  # committed, and still nobody else's turn
        if self._projectors is not None:
            self._projectors.wake(self._name)
        return results

    # The same for notebooks: one command, its event or its error raised.

    def _one(self, command: Command) -> Event:
        (result,) = self.execute([command])
        if isinstance(result, EvenhandError):
            raise result
        if self._projectors is None and result.kind != "decision":
            self.catch_up()
        return result

    def decide(self, candidates: Any, *, actor: str = "desk", idempotency_key: str | None = None) -> DeskDecision:
        """Choose among candidates: a (k, d) array, a data frame, or a list of {"id", "context" | "features"}."""
        return DeskDecision(self._one(said.Decide(candidates, actor=actor, idempotency_key=idempotency_key)))

    def outcome(self, decision: str, rewards: Mapping[str, float], **who: Any) -> Event:
        """What came of chosen candidates, by id. who: actor, idempotency_key."""
        return self._one(said.RecordOutcome(decision, rewards, **who))

    def review(
        self,
        decision: str,
        kind: str = "complete",
        *,
        unfair: said.ChosenPairs = (),
        fair: said.ChosenPairs = (),
        any_unfair: bool | None = None,
        reviewer: str | None = None,
        circumstances: Mapping[str, Any] | None = None,
        supersedes: str | None = None,
        actor: str = "desk",
        idempotency_key: str | None = None,
        **seen: Unpack[ReviewMetadata],
    ) -> Event:
        """What a reviewer says of a decision; see `GiveReview`, and `ReviewMetadata` for what she saw and how.

        circumstances: whatever else of that is to be kept.
        """
        given = (unfair, fair, any_unfair, reviewer, joined(circumstances, seen), supersedes)
        return self._one(said.GiveReview(decision, kind, *given, actor=actor, idempotency_key=idempotency_key))

    def withdraw(self, review_id: str, reason: str | None = None, **who: Any) -> Event:
        """Take a review, an answer or an imported line back; of the last all that it taught, outcomes and reviews."""
        return self._one(said.Withdraw(review_id, reason, **who))

    def override(self, decision: str, chosen: Sequence[str], reason: str | None = None, **who: Any) -> Event:
        """Somebody chose otherwise; outcomes are then taken of these candidates. The last override stands."""
        return self._one(said.Override(decision, chosen, reason, **who))

    def change_settings(self, *, actor: str = "desk", idempotency_key: str | None = None, **changes: Any) -> Event:
        """New values of settings that may change while a desk runs."""
        return self._one(said.ChangeSettings(changes, actor=actor, idempotency_key=idempotency_key))

    def answer(self, x: Sequence[float], y: Sequence[float], *, gap: float, unfair: bool | None, **rest: Any) -> Event:
        """An interview's answer; unfair is None for "unsure", which teaches nothing.

        rest: reviewer, circumstances, actor, idempotency_key.
        """
        return self._one(said.AnswerQuestion(x, y, gap, unfair, **rest))

    # Asking.

    @property
    def name(self) -> str:
        """The desk's name."""
        return self._name

    @property
    def settings(self) -> DeskSettings:
        """The settings in force, as far as this process knows."""
        return self._settings[1]

    @property
    def projection(self) -> Projection:
        """What decisions are made from now: .seq and .bandit."""
        return self._projector.projection

    @property
    def head(self) -> Head:
        """Where the ledger stands: seq, hash, decisions."""
        with self.ledger.reading(self._name) as view:
            return view.head

    def events(self, after: int = 0, limit: int = 1000, kinds: Sequence[str] | None = None) -> list[Event]:
        """Up to `limit` lines of the ledger after line `after`; DamagedLedger if one of them was changed."""
        if not 0 < limit <= MOST_EVENTS:
            raise InvalidInput(f"limit is {limit}; allowed is 1 to {MOST_EVENTS}")
        with self.ledger.reading(self._name) as view:
            return [check_text(row).event for row in view.after(max(0, after), limit, kinds)]

    def event(self, name: str) -> Event:
        """The line with this id; DamagedLedger if it was changed."""
        with self.ledger.reading(self._name) as view:
            found = view.by_id([name]) if is_name(name) else {}
        if name not in found:
            raise UnknownRecord(f"this desk's ledger holds nothing with the id {name!r}")
        return check_text(found[name]).event

    def decision(self, decision_id: str) -> dict[str, Any]:
        """The record of a decision: its line, and the outcomes, reviews, withdrawals and overrides that followed."""
        event = self.event(decision_id)
        if event.kind != "decision":
            raise UnknownRecord(f"this desk made no decision {decision_id!r}")
        with self.ledger.reading(self._name) as view:
            about = view.about([decision_id])
            later = view.about([row.id for row in about if row.kind == "review"])
        lines = sorted({*about, *later}, key=lambda row: row.seq)
        return {**event.to_dict(), "followed_by": [check_text(row).event.to_dict() for row in lines]}

    def explain(self, decision_id: str, *, then: bool = False) -> Explanation:
        """Why these odds: rewards, binding pairs, the price of fairness, and the reviews behind the distances.

        then: what was known of distances when it was decided, folded again, in place of what is known now.
        """
        event = self.event(decision_id)
        if event.kind != "decision":
            raise UnknownRecord(f"this desk made no decision {decision_id!r}")
        state = self._projector.at(event.body["state"]) if then else self.projection
        return explain(event, state, self.ledger, self._elsewhere, self._name)

    def queue(
        self, n: int, *, reviewer: str | None = None, lease: float = LEASE, after: QueuePosition | None = None
    ) -> list[WaitingPair]:
        """The n pairs whose review teaches most, kept for this reviewer for `lease` seconds; see `WaitingPairs`.

        after: without a reviewer, the `listed` of the last pair of the page before.
        """
        return queue(self.ledger, self._name, n, reviewer, lease, after)

    def metric(self) -> Metric:
        """The learned matrix, how sure it is, and what it says in words if there is a schema."""
        return metric_of(self.projection, self.settings)

    # Projecting.

    def catch_up(self, *, wait: bool = False) -> None:
        """Apply all events there are now, in this thread; if another process projects, use what it has published.

        wait: until the projection has all events that are in the ledger now, whoever projects.
        """
        self._check_open()
        self._projector.catch_up(wait=wait, keep_lock=self._projectors is not None)

    def wait_for(self, seq: int, timeout: float | None = None) -> bool:
        """Wait until the projection has reached event `seq`; False after `timeout` seconds."""
        return self._projector.wait_for(seq, timeout)

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

    def project(self) -> float | None:
        """One run for `Projectors`; returns the seconds until the next one is due without a new event, or None."""
        return self._projector.catch_up(wait=False, keep_lock=True)

    @property
    def is_projecting(self) -> bool:
        """Whether this process is the one that applies events."""
        return self._projector.is_holding

    def close(self) -> None:
        """Stop projecting; close the ledger if this desk opened it. Later commands raise InvalidInput."""
        self._is_closed = True
        if self._projectors is not None:
            self._projectors.remove(self)
        if self._own_projectors is not None:
            self._own_projectors.close()
        self._projector.close()
        if self._owns_ledger:
            self.ledger.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise InvalidInput(f"desk {self._name!r} was closed; open it again with Desk.open")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
