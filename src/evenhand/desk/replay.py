"""Replay: fold a ledger from its first line and make every decision again; the odds must come out to the bit."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from evenhand.desk.draws import Lots
from evenhand.desk.projection.reducer import Reducer, Undone, newest_start
from evenhand.desk.projection.snapshot_checksum import is_sealed, unsealed
from evenhand.desk.projection.snapshots import from_bytes, to_drop
from evenhand.desk.settings import DeskSettings
from evenhand.errors import DamagedFile, DamagedLedger, EvenhandError
from evenhand.ledger.event import canonical
from evenhand.ledger.ledger import Ledger, Row, Stamp
from evenhand.ledger.verify import lines_of, verify
from evenhand.rewards import RidgeUCB

AT_ONCE = 200
SPACING = 2000
"""Lines between two states that are remembered, to go back to when a review was taken back."""


@dataclass(frozen=True)
class Difference:
    """A decision that comes out otherwise."""

    seq: int
    what: str


@dataclass
class Replayed:
    """What came of a replay."""

    desk: str
    lines: int = 0
    decisions: int = 0
    differences: list[Difference] = field(default_factory=list)
    snapshots: list[int] = field(default_factory=list)
    """The lines of snapshots that do not follow from the ledger."""
    state: str = ""
    """A digest of all that is known after the last line."""

    @property
    def is_same(self) -> bool:
        """Whether every decision came out as it is in the ledger, and every snapshot as it was kept."""
        return not self.differences and not self.snapshots


def replay(ledger: Ledger, desk: str) -> Replayed:
    """Make every decision of a ledger again, from nothing but its lines; snapshots are compared, not used.

    Takes about as long as all the folding and deciding took at first. Bit for bit the same is promised for the same
    version of evenhand, numpy and processor. DamagedLedger, before anything is made again, if a line was changed.
    """
    verify(ledger, desk)
    with ledger.reading(desk) as view:
        head, undone = view.head, view.withdrawals()
    walk = Walk(ledger, desk, undone)
    told = Replayed(desk, lines=head.seq)
    settings = dict(_settings(ledger, desk, head.seq))
    lots = Lots(walk.opened.seed)
    for rows in _by_state(ledger, desk, head.seq):
        for row in rows:
            told.decisions += 1
            try:
                what = _differs(row, walk, settings, lots)
            except (EvenhandError, KeyError, TypeError) as error:
                what = f"cannot be made again: {error}"
            if what is not None:
                told.differences.append(Difference(row.seq, what))
    walk.to(head.seq)
    told.state = digest_of(walk.fold)
    told.snapshots = _snapshots_that_differ(ledger, desk, head.seq, undone)
    return told


def digest_of(fold: Reducer) -> str:
    """A digest of all that a bandit is: two that are the same to the bit have the same one."""
    import hashlib

    return hashlib.sha256(canonical(_plain(fold.bandit.state())).encode()).hexdigest()


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
    """A fold that is moved to one line after another; back, only when a review was taken back in between."""

    def __init__(self, ledger: Ledger, desk: str, undone: Undone) -> None:
        self._ledger, self._desk, self._undone = ledger, desk, undone
        with ledger.reading(desk) as view:
            self.opened = DeskSettings.from_dict(view.after(0, 1)[0].event.body["settings"])
        self.fold = Reducer.initial(self.opened)
        self._kept: dict[int, Reducer] = {}

    def to(self, target: int) -> Reducer:
        """The fold at this line."""
        if not self.fold.reaches(target, self._undone):
            start = newest_start([fold.stamp for fold in self._kept.values()], target, self._undone)
            self.fold = Reducer.initial(self.opened) if start is None else copy.deepcopy(self._kept[start.seq])
        self.fold.advance(self._ledger, self._desk, target, self._undone, self._keep)
        self._keep(self.fold)
        return self.fold

    def afresh(self, target: int, undone: Undone) -> Reducer:
        """A fold from the first line to this one, whatever was taken back being what is given here."""
        fold = Reducer.initial(self.opened)
        fold.advance(self._ledger, self._desk, target, undone)
        return fold

    def _keep(self, fold: Reducer) -> None:
        if fold.stamp.seq - max(self._kept, default=0) >= SPACING or fold.stamp.seq < max(self._kept, default=0):
            if fold.stamp.seq in self._kept and self._kept[fold.stamp.seq].stamp == fold.stamp:
                return
            self._kept[fold.stamp.seq] = copy.deepcopy(fold)
            for seq in to_drop([kept.stamp for kept in self._kept.values()], max(self._kept)):
                del self._kept[seq]


def _by_state(ledger: Ledger, desk: str, until: int) -> Iterator[list[Row]]:
    """All decisions, in the order of the states they were made from."""
    order = [
        (row.event.body["state"], row.number or 0) for row in lines_of(ledger, desk, until) if row.kind == "decision"
    ]
    order.sort()
    for at in range(0, len(order), AT_ONCE):
        numbers = [number for _, number in order[at : at + AT_ONCE]]
        with ledger.reading(desk) as view:
            found = view.by_number(numbers)
        yield [found[number] for number in numbers]


def _settings(ledger: Ledger, desk: str, until: int) -> Iterator[tuple[int, DeskSettings]]:
    with ledger.reading(desk) as view:
        rows = view.after(0, until, ("opened", "settings"))
    for row in rows:
        yield row.seq, DeskSettings.from_dict(row.event.body["settings"])


def _differs(row: Row, walk: Walk, settings: dict[int, DeskSettings], lots: Lots) -> str | None:
    """What is not as the ledger says of a decision: all of its record that follows from the lines before it."""
    body = row.event.body
    if body["state"] >= row.seq or body["settings"] not in settings or body["settings"] >= row.seq:
        raise DamagedLedger("it says that it was made from lines that came later")
    number, schema = body["number"], settings[body["settings"]].schema
    bandit = walk.to(body["state"]).bandit.with_capacity(settings[body["settings"]].capacity)
    made = bandit.propose(body["contexts"], number=number, rng=lots.of(number))
    told = {
        "contexts": made.contexts.tolist(),
        "schema": None if schema is None else schema.digest,
        "lots": lots.record(number),
        "estimated_rewards": (made.contexts @ cast("RidgeUCB", bandit.reward).theta).tolist(),
        "probabilities": made.probabilities.tolist(),
        "optimistic_rewards": made.optimistic_rewards.tolist(),
        "tight_pairs": [list(pair) for pair in made.tight_pairs],
        "chosen": [body["candidates"][i] for i in made.chosen],
        "capacity": made.capacity,
        "seal": made.id,
    }
    if "worst_residual" in body:  # the first ledgers noted a limit to it
        told["worst_residual"] = made.worst_residual
    wrong = [name for name, value in told.items() if body[name] != value]
    return None if not wrong else f"{', '.join(wrong)} (made by evenhand {body['code']})"


def _snapshots_that_differ(ledger: Ledger, desk: str, until: int, undone: Undone) -> list[int]:
    """The lines of snapshots that are not what the lines up to theirs come to; those that nobody uses are left out."""
    walk, differ = Walk(ledger, desk, undone), []
    for stamp in ledger.snapshots(desk):
        blob = ledger.snapshot(desk, stamp.seq) if stamp.until <= until else None
        if blob is None or not is_sealed(blob):
            continue
        try:
            unsealed(blob)
        except DamagedFile:
            differ.append(stamp.seq)
            continue
        kept = from_bytes(blob)  # None if another version wrote it
        if kept is not None and _all_of(kept) != _all_of(_again(walk, stamp, undone)):
            differ.append(stamp.seq)
    return differ


def _again(walk: Walk, stamp: Stamp, undone: Undone) -> Reducer:
    """The fold at a snapshot's stamp, from the first line."""
    if stamp.seq == stamp.until:
        return walk.to(stamp.seq)
    # Kept on the way to a later line: it leaves out all that was taken back by then.
    return walk.afresh(stamp.seq, [(0, review) for by, review in undone if by <= stamp.until])


def _all_of(fold: Reducer) -> list[Any]:
    """All that a snapshot has, to be compared."""
    return [digest_of(fold), fold.skipped, _plain(fold.history.state())]
