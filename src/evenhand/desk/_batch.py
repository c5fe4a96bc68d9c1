"""Batch: commands become events; each command on its own, all of them in one transaction."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.bandit.warm_up import warm_up
from evenhand.desk._handlers import Draft, Handlers
from evenhand.desk.candidates import Candidates
from evenhand.desk.commands import Command, Decide
from evenhand.desk.lottery import DeskLottery, Draw
from evenhand.desk.opening import settings_in
from evenhand.desk.parsing import UNREADABLE, ParsedCommand, parse, unreadable
from evenhand.desk.projection.projection import Projection, QuietBandit
from evenhand.desk.projection.projector import Projector
from evenhand.desk.sealing import sealed
from evenhand.desk.settings import DeskSettings
from evenhand.desk.shadow import action_fields, read_action
from evenhand.errors import (
    CollidingBounds,
    Erased,
    EvenhandError,
    IdempotencyConflict,
    InvalidInput,
    LedgerUnavailable,
)
from evenhand.ledger.event import SETTINGS_KINDS, Event, Head, Row, new_id
from evenhand.ledger.ledger import Ledger, LedgerView
from evenhand.records.decision import Decision
from evenhand.rewards import RidgeUCB
from evenhand.version import __version__

ATTEMPTS = 5
"""How often a batch is decided again because another process changed the capacity meanwhile."""


class StaleProposal(Exception):
    """The capacity has changed since a decision was proposed."""


class BatchWriter:
    """Writes batches of commands to the ledger of one desk.

    Decisions are computed outside the database transaction, on the last head this process knows. If another process
    wrote meanwhile, the events are built again within the transaction, where decisions are only drawn again.
    """

    def __init__(self, ledger: Ledger, name: str, opened: DeskSettings, view: LedgerView, projector: Projector) -> None:
        self._ledger, self._name, self._opened, self._projector = ledger, name, opened, projector
        self._head = view.head
        self.settings = settings_in(view)
        """The settings in force, as far as this process knows."""
        self._lottery = DeskLottery(ledger, name, opened.seed)
        self._lottery.read(view)
        self._turn = threading.Lock()
        self._is_warm = False

    def write(self, commands: Sequence[Command]) -> list[Event | EvenhandError]:
        """The event or the error of each command, in order."""
        parsed = [parse(command, self._opened) for command in commands]
        if not self._is_warm:
            warm_up()
            self._is_warm = True
        with self._turn:
            if any(isinstance(each, ParsedCommand) and each.candidates is not None for each in parsed):
                self._lottery.prepare()
            for _ in range(ATTEMPTS):
                batch = Batch(self._name, parsed, self._projector.projection, self._lottery)
                if batch.refers_to_events:
                    with self._ledger.reading(self._name) as view:
                        self._read(batch, view)
                batch.build(self._head, self.settings)
                if not batch.rows:
                    return batch.events()
                try:
                    with self._ledger.writing(self._name) as view:
                        if view.head != self._head:  # another process wrote: other numbers, other events to refer to
                            self._read(batch, view)
                            batch.build(self._head, self.settings, is_late=True)
                        if batch.rows:
                            view.append(batch.rows, batch.head)
                except StaleProposal:
                    continue
                self._head, self.settings = batch.head, batch.settings
                if batch.is_committed:
                    self._lottery.begin(batch.head.decisions)
                return batch.events()
        raise LedgerUnavailable(
            f"the settings of desk {self._name!r} keep changing; nothing was written, send it again"
        )

    def _read(self, batch: Batch, view: LedgerView) -> None:
        if view.head.settings != self._head.settings:
            self.settings = settings_in(view)
        self._head = view.head
        self._lottery.read(view)
        if batch.refers_to_events:
            batch.read(view)


class Batch:
    """The events of a batch of commands, chained to the head they were built on and to each other.

    `read` takes from the ledger what the commands refer to, `build` makes the events without it. Built again on another
    head, the decisions that were proposed before are used again.
    """

    def __init__(
        self,
        desk: str,
        commands: Sequence[ParsedCommand | EvenhandError],
        projection: Projection,
        lottery: DeskLottery,
    ) -> None:
        self._desk, self._commands, self._projection, self._lottery = desk, commands, projection, lottery
        self._proposed: dict[int, Decision | EvenhandError] = {}
        """Decisions that were computed, by the place of their command."""
        self._by_key: dict[tuple[str, str], Row] = {}
        """The newest event of each actor and idempotency key."""
        parsed = [each for each in commands if isinstance(each, ParsedCommand)]
        self._keys = [each.command.idempotency_key for each in parsed if each.command.idempotency_key]
        self._others = [each.command for each in parsed if each.candidates is None]
        self._handlers: Handlers | None = None
        self.refers_to_events = bool(self._keys or self._others)
        """Whether the ledger must be read: not for new decisions."""

    def read(self, view: LedgerView) -> None:
        """Read the events that the commands refer to."""
        found = view.with_keys(self._keys) if self._keys else []
        self._by_key = {(row.event.actor, str(row.key)): row for row in found}
        self._handlers = Handlers(self._projection.bandit, self._others, view) if self._others else None

    def build(self, head: Head, settings: DeskSettings, *, is_late: bool = False) -> None:
        """Handle the commands in order; later ones see the events of earlier ones.

        is_late: within the transaction, where a decision may be drawn again, which takes microseconds, but not
        computed: StaleProposal if it would have to be.
        """
        self.head, self.settings, self._is_late = head, settings, is_late
        self.is_committed = self._lottery.is_committed
        self.rows: list[Row] = []
        self._results = [
            each if isinstance(each, EvenhandError) else self._handle(place, each)
            for place, each in enumerate(self._commands)
        ]

    def events(self) -> list[Event | EvenhandError]:
        """For each command, in order, its event, or the one it had before, or its error."""
        return [result if isinstance(result, EvenhandError) else result.event for result in self._results]

    def _handle(self, place: int, parsed: ParsedCommand) -> Row | EvenhandError:
        key = parsed.command.idempotency_key
        earlier = None if key is None else self._by_key.get((parsed.command.actor, key))
        if earlier is not None and not _has_expired(earlier, parsed.command.key_lifetime):
            is_same = earlier.has_fingerprint(parsed.fingerprint)
            if is_same:
                return earlier
            if is_same is None:
                return Erased(f"idempotency key {key!r} was used for an event whose contents were erased since")
            return IdempotencyConflict(f"idempotency key {key!r} was used for another command; choose a new one")
        try:
            if parsed.candidates is not None:
                return self._append(parsed, self._decide(place, parsed.candidates, cast("Decide", parsed.command)))
            assert self._handlers is not None
            return self._append(parsed, self._handlers.handle(parsed.command, self.settings))
        except EvenhandError as error:
            return error
        except UNREADABLE as error:
            return unreadable(error)

    def _append(self, parsed: ParsedCommand, draft: Draft) -> Row:
        command, head, (kind, body, columns) = parsed.command, self.head, draft
        about, name = columns.pop("about", ()), new_id(kind)
        columns |= {"key": command.idempotency_key, "fingerprint": parsed.fingerprint, "name": name}
        plain, columns["sealed"] = sealed(kind, body, about, name)
        row = Row.make(self._desk, head.seq + 1, head.hash, command.actor, kind, plain, **columns)
        self.rows.append(row)
        self.is_committed = self.is_committed or kind == "decision"
        if row.key is not None:
            self._by_key[command.actor, row.key] = row
        if self._handlers is not None:
            self._handlers.appended(row)
        settings_seq = head.settings
        if kind in SETTINGS_KINDS:
            settings_seq, self.settings = row.seq, DeskSettings.from_dict(body["settings"])
        self.head = Head(row.seq, row.hash, head.decisions + (kind == "decision"), settings_seq)
        return row

    def _decide(self, place: int, candidates: Candidates, command: Decide) -> Draft:
        if command.action is not None and not self.settings.shadow:
            raise InvalidInput("action must be None: this desk is live, and decides itself")
        number, bandit = self.head.decisions, self._projection.bandit
        if bandit.capacity != self.settings.capacity:
            bandit = bandit.with_capacity(self.settings.capacity)
        draw = self._lottery.of(number, is_committed=self.is_committed)
        decision = self._proposed.get(place)
        if isinstance(decision, EvenhandError):
            raise decision
        if decision is None or decision.capacity != bandit.capacity:
            if self._is_late:
                raise StaleProposal
            try:
                decision = _propose(bandit, candidates, number, draw)
            except EvenhandError as error:
                self._proposed[place] = error
                raise
        elif decision.round != number:
            decision = bandit.drawn_again(decision, number=number, rng=draw.rng)
        self._proposed[place] = decision
        body = decision_fields(decision, bandit, candidates.ids, self.settings) | draw.record
        body |= {"state": self._projection.seq, "settings": self.head.settings, "code": __version__}
        body["candidates"] = candidates.ids
        if candidates.features is not None:
            body["features"] = candidates.features
        body |= candidates.beside
        if command.action is not None:
            left_out = [one["id"] for one in body.get("left_out", ())]
            body |= action_fields(read_action(command.action, candidates.ids, left_out, mode=decision.mode))
        return "decision", body, {"number": number}


def _propose(bandit: QuietBandit, candidates: Candidates, number: int, draw: Draw) -> Decision:
    """The decision of round `number`; an error about colliding bounds names candidates by their ids."""
    bounds = {"lower": candidates.lower, "upper": candidates.upper}
    try:
        return bandit.propose(candidates.contexts, number=number, rng=draw.rng, **bounds)
    except CollidingBounds as error:
        raise error.collisions.named(candidates.ids).error() from None


def _has_expired(row: Row, lifetime: float | None) -> bool:
    """Whether the idempotency key of an event may be used for another."""
    if lifetime is None:
        return False
    return datetime.now(UTC) - datetime.fromisoformat(row.event.time) > timedelta(seconds=lifetime)


def decision_fields(
    decision: Decision, bandit: QuietBandit, candidates: Sequence[str], settings: DeskSettings
) -> dict[str, Any]:
    """The fields of a decision's event that follow from the events before it; a replay compares them."""
    left, drawn = bandit.flags_left, [candidates[i] for i in decision.chosen]
    return {
        "number": decision.round,
        "schema": None if settings.schema is None else settings.schema.digest,
        "contexts": decision.contexts,
        "estimated_rewards": _estimated_rewards(decision, bandit),
        "optimistic_rewards": decision.optimistic_rewards,
        "probabilities": decision.probabilities,
        "capacity": decision.capacity,
        "tight_pairs": decision.tight_pairs,
        # In shadow mode the desk chooses nobody: whoever reads `chosen` alone acts on nothing.
        "chosen": [] if settings.shadow else drawn,
        **({"shadow": True, "would_choose": drawn} if settings.shadow else {}),
        "worst_residual": decision.worst_residual,
        "seal": decision.id,
        **({} if left is None else {"flags_left": left}),
        **({} if decision.unproved_pairs == 0 else {"unproved_pairs": decision.unproved_pairs}),
        **({} if decision.lower is None else {"lower": decision.lower, "upper": decision.upper}),
        **({} if decision.mode == "lottery" else {"mode": decision.mode}),
    }


def _estimated_rewards(decision: Decision, bandit: QuietBandit) -> Floats:
    """What the reward model expects of each candidate, (k,)."""
    if isinstance(bandit.reward, RidgeUCB):  # as in all ledgers so far; `estimate` may differ in the last bit
        return np.asarray(decision.contexts @ bandit.reward.theta)
    return bandit.reward.estimate(decision.contexts)
