"""Replay: project a ledger from its first event and make every decision again."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson

from evenhand._internal.rounding import ROUNDING, distance_between
from evenhand.desk._batch import decision_fields
from evenhand.desk.event_records import decision_of
from evenhand.desk.lottery import SeededDraws, recorded_draw
from evenhand.desk.opening import first_settings, settings_in
from evenhand.desk.projection.projection import Projection
from evenhand.desk.projection.reducer import Reducer, Withdrawals, newest_start, reaches
from evenhand.desk.projection.snapshots import checked, from_bytes, has_checksum, to_drop
from evenhand.desk.settings import DeskSettings
from evenhand.errors import DamagedFile, DamagedLedger, Erased, EvenhandError
from evenhand.ledger.event import SETTINGS_KINDS, Row, Stamp, canonical
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.verify import verify

DECISIONS_PER_QUERY = 200
SPACING = 2000
"""Events between two reducers that are kept in memory, to return to after a withdrawal."""


@dataclass
class Replayed:
    """The result of a replay."""

    desk: str
    lines: int = 0
    """Events of the ledger."""
    decisions: int = 0
    differences: list[tuple[int, str]] = field(default_factory=list)
    """The seqs of decisions that come out differently, and what differs."""
    erased: list[int] = field(default_factory=list)
    """The seqs of decisions that cannot be made again: they need contents of people who were erased."""
    snapshots: list[int] = field(default_factory=list)
    """The seqs of snapshots that do not follow from the ledger."""
    rounding: float = 0.0
    """The largest relative difference of a number, of those that count as rounding; 0 if all are the same to the bit.

    Other processors round in other ways."""
    state: str = ""
    """A digest of the bandit after the last event."""

    @property
    def is_same(self) -> bool:
        """Whether every decision and every snapshot came out the same, up to rounding."""
        return not self.differences and not self.snapshots


def replay(ledger: Ledger, desk: str) -> Replayed:
    """Make every decision of a ledger again from its events; snapshots are compared, not used.

    Takes about as long as all the projecting and deciding took at first. Numbers come out the same to the bit with the
    same version of evenhand and numpy on the same processor, and up to ROUNDING on another one; who was chosen, which
    pairs were tight and everything else must be equal. DamagedLedger, before anything is replayed, if an event was
    changed.
    """
    verify(ledger, desk)
    with ledger.reading(desk) as view:
        head, withdrawals = view.head, view.withdrawals()
        settings = {
            row.seq: DeskSettings.from_dict(row.event.body["settings"])
            for row in view.after(0, head.seq, SETTINGS_KINDS)
        }
    walk = Walk(ledger, desk, withdrawals)
    result = Replayed(desk, lines=head.seq)
    draws, foreign = SeededDraws(walk.opened.seed), list[int]()
    for row in _in_order_of_projections(ledger, desk, head.seq):
        result.decisions += 1
        try:
            what, rounding, is_sealed = _difference(row, walk, settings, draws)
            result.rounding = max(result.rounding, rounding)
            foreign += [] if is_sealed else [row.seq]
        except Erased:
            result.erased.append(row.seq)
            continue
        except (EvenhandError, KeyError, TypeError) as error:
            what = f"cannot be replayed: {error}"
        if what is not None:
            result.differences.append((row.seq, what))
    if len(foreign) < result.decisions - len(result.erased):  # otherwise the key is another, as rounding made it
        known = {seq for seq, _ in result.differences}
        result.differences = sorted(result.differences + [(seq, "seal") for seq in foreign if seq not in known])
    walk.to(head.seq)
    result.state = digest_of(walk.reducer.bandit.state())
    result.snapshots, rounding = _wrong_snapshots(ledger, desk, head.seq, withdrawals)
    result.rounding = max(result.rounding, rounding)
    return result


def projected(ledger: Ledger, desk: str) -> tuple[Projection, DeskSettings]:
    """The projection of a whole ledger, from its first event on, and the settings in force; nothing is written."""
    verify(ledger, desk)
    with ledger.reading(desk) as view:
        head, withdrawals, settings = view.head, view.withdrawals(), settings_in(view)
    reducer = Walk(ledger, desk, withdrawals).to(head.seq)
    return Projection(head.seq, reducer.bandit, len(reducer.skipped), reducer.history), settings


def digest_of(state: dict[str, Any]) -> str:
    """A digest of a bandit's state: two that are the same to the bit have the same one."""
    return hashlib.sha256(canonical(_plain(state)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return hex(value)
    return value


class Walk:
    """A reducer that is moved from event to event; back only if a review was withdrawn in between."""

    def __init__(self, ledger: Ledger, desk: str, withdrawals: Withdrawals) -> None:
        self._ledger, self._desk, self._withdrawals = ledger, desk, withdrawals
        with ledger.reading(desk) as view:
            self.opened, self._erasures = first_settings(view), view.erasures()
        self.reducer = Reducer.initial(self.opened)
        self._kept: dict[int, Reducer] = {}

    def to(self, target: int) -> Reducer:
        """The reducer at this event, without what was learned from people who were erased since."""
        if not reaches(self.reducer.stamp, target, self._withdrawals):
            start = newest_start([kept.stamp for kept in self._kept.values()], target, self._withdrawals)
            self.reducer = Reducer.initial(self.opened) if start is None else copy.deepcopy(self._kept[start.seq])
        self.reducer.advance(self._ledger, self._desk, target, self._withdrawals, self._keep)
        self._keep(self.reducer)
        return self.reducer

    def decided_from(self, target: int) -> Reducer:
        """The same; Erased if it had learned from somebody who was erased since."""
        if self.to(target).is_incomplete(target, self._erasures):
            raise Erased(f"what was known at event {target} cannot be computed again: somebody was erased since")
        return self.reducer

    def at(self, stamp: Stamp) -> Reducer:
        """The reducer of a stamp."""
        if stamp.seq == stamp.until:
            return self.to(stamp.seq)
        # Kept on the way to a later event: it leaves out all that was withdrawn by then.
        withdrawals = [(0, review) for by, review in self._withdrawals if by <= stamp.until]
        reducer = Reducer.initial(self.opened)
        reducer.advance(self._ledger, self._desk, stamp.seq, withdrawals)
        return reducer

    def _keep(self, reducer: Reducer) -> None:
        seq, newest = reducer.stamp.seq, max(self._kept, default=0)
        if 0 <= seq - newest < SPACING or (seq in self._kept and self._kept[seq].stamp == reducer.stamp):
            return
        self._kept[seq] = copy.deepcopy(reducer)
        for dropped in to_drop([kept.stamp for kept in self._kept.values()], max(self._kept)):
            del self._kept[dropped]


def _in_order_of_projections(ledger: Ledger, desk: str, until: int) -> Iterator[Row]:
    """All decisions, in the order of the projections they were made from."""
    decisions = ledger.rows(desk, until=until, kinds=("decision",))
    numbers = [number for _, number in sorted((row.event.body["state"], row.number or 0) for row in decisions)]
    for at in range(0, len(numbers), DECISIONS_PER_QUERY):
        some = numbers[at : at + DECISIONS_PER_QUERY]
        with ledger.reading(desk) as view:
            found = view.by_number(some)
        yield from (found[number] for number in some)


def _difference(
    row: Row, walk: Walk, settings: dict[int, DeskSettings], draws: SeededDraws
) -> tuple[str | None, float, bool]:
    """The fields of a decision's body that come out differently, the largest rounding, and whether its seal fits.

    Compared are all fields that follow from the events before it. The seal is one of the recorded numbers, and its key
    depends on the processor.
    """
    body = row.event.body
    if body["state"] >= row.seq or body["settings"] not in settings or body["settings"] >= row.seq:
        raise DamagedLedger("it refers to events that came later")
    if "erased" in body:
        raise Erased("one of its candidates was erased")
    number, in_force = body["number"], settings[body["settings"]]
    bandit = walk.decided_from(body["state"]).bandit.with_capacity(in_force.capacity)
    draw = recorded_draw(body, draws)
    bounds = {"lower": body.get("lower"), "upper": body.get("upper")}
    decision = bandit.propose(body["contexts"], number=number, rng=draw.rng, **bounds)
    fields = decision_fields(decision, bandit, body["candidates"], in_force) | draw.record
    del fields["seal"]
    replayed = orjson.loads(canonical(fields))
    if "worst_residual" not in body:  # the first ledgers have none
        del replayed["worst_residual"]
    apart = {name: distance_between(body[name], value) for name, value in replayed.items()}
    different = [name for name, distance in apart.items() if distance > ROUNDING]
    rounding = max((distance for distance in apart.values() if distance <= ROUNDING), default=0.0)
    what = f"{', '.join(different)} (made by evenhand {body['code']})" if different else None
    return what, rounding, bandit.own(decision_of(body)).id == body["seal"]


def _wrong_snapshots(ledger: Ledger, desk: str, until: int, withdrawals: Withdrawals) -> tuple[list[int], float]:
    """The seqs of snapshots that do not follow from the events, and the largest rounding of the others.

    Those that are not used are left out.
    """
    walk, wrong, rounding = Walk(ledger, desk, withdrawals), list[int](), 0.0
    for stamp in ledger.snapshots(desk):
        blob = ledger.snapshot(desk, stamp.seq) if stamp.until <= until else None
        if blob is None or not has_checksum(blob):
            continue
        try:
            checked(blob)
        except DamagedFile:
            wrong.append(stamp.seq)
            continue
        kept = from_bytes(blob)  # None if another version wrote it
        if kept is None:
            continue
        distance = distance_between(_content(kept), _content(walk.at(stamp)))
        if distance > ROUNDING:
            wrong.append(stamp.seq)
        else:
            rounding = max(rounding, distance)
    return wrong, rounding


def _content(reducer: Reducer) -> dict[str, Any]:
    """All that a snapshot holds, to be compared."""
    return {"bandit": reducer.bandit.state(), "skipped": reducer.skipped, "history": reducer.history.state()}
