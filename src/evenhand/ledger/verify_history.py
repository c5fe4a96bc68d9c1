"""Verify a ledger with its signed heads: signatures, roots, times, and tiles of the tree, in one pass over the events.

A head that somebody kept shows everything up to its size: an event changed, removed, inserted or moved before it gives
another root. What came after it, it cannot show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from evenhand.errors import DamagedLedger
from evenhand.ledger.event import Event, Head, Row
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.merkle import Frontier, leaf_hash
from evenhand.ledger.signed_head import CLOCKS, SignedHead
from evenhand.ledger.signed_heads import SignedHeads
from evenhand.ledger.signing_keys import RecordedKey, recorded_keys
from evenhand.ledger.tree import Tile, TileBuilder, has_trees, stored_tile
from evenhand.ledger.verify import verified_chain


class VerifiedHistory(NamedTuple):
    """What was found right."""

    head: Head
    heads: int
    """How many signed heads fit."""
    erased: int
    """How many contents are gone because their people were erased."""


def verify_history(
    ledger: Ledger,
    desk: str,
    *,
    known: tuple[int, str] | None = None,
    kept: Sequence[SignedHead] = (),
    reader: Callable[[Row], None] = lambda row: None,
) -> VerifiedHistory:
    """The head of a desk's ledger, and how many signed heads fit, after all was checked; else DamagedLedger.

    known: the seq and hash of an event as noted before. kept: heads that were kept elsewhere, also of other desks.
    reader: gets every event that was found right, so that the ledger need not be read twice.
    """
    is_new = has_trees(ledger)
    stored = SignedHeads(ledger).all(desk) if is_new else ()  # before the events: a running service adds to both
    heads = {*stored, *(head for head in kept if head.desk == desk)}
    check_heads(desk, heads, recorded_keys(ledger))
    fit = HeadsFit(desk, heads)
    tiles = TileBuilder(lambda tile: _compare(ledger, desk, tile)) if is_new else None

    def watch(row: Row) -> None:
        fit.add(row.event)
        if tiles is not None:
            tiles.add(leaf_hash(row.previous, row.text))
        reader(row)

    chain, found = verified_chain(ledger, desk, known=known, watch=watch)
    fit.finish()
    return VerifiedHistory(found, len(heads), chain.erased)


def check_heads(desk: str, heads: Iterable[SignedHead], keys: Sequence[RecordedKey] | None) -> None:
    """DamagedLedger unless every head is signed by a key of its time, and none is older than a shorter one.

    keys: those that the service has recorded; None if they are not at hand.
    """
    by_key = {one.key: one for one in keys or ()}
    last: SignedHead | None = None
    for head in sorted(heads, key=lambda one: (one.size, one.time)):
        where = f"the head of desk {desk!r} with {head.size} events"
        if head.desk != desk or not head.is_signed:
            raise DamagedLedger(f"{where} was changed: its signature is wrong")
        if keys is not None:
            _check_key(head, by_key.get(head.key), where)
        if last is not None and head.moment < last.moment - CLOCKS:
            raise DamagedLedger(f"{where} says {head.time}: before one with {last.size} events; one was backdated")
        if last is not None and head.size == last.size and (head.root, head.hash) != (last.root, last.hash):
            raise DamagedLedger(f"there are two heads of desk {desk!r} with {head.size} events: its history was forked")
        last = head


def _check_key(head: SignedHead, key: RecordedKey | None, where: str) -> None:
    if key is None:
        raise DamagedLedger(f"{where} is signed with the key {head.key}, which the service has not recorded")
    signed = head.moment
    is_early = signed < _moment(key.created, where) - CLOCKS
    is_late = key.retired is not None and signed > _moment(key.retired, where) + CLOCKS
    if is_early or is_late:
        raise DamagedLedger(f"{where} is signed with the key {head.key}, which was not in use at {head.time}")


class HeadsFit:
    """The events of a ledger so far, in order, compared with signed heads and with each other's times."""

    def __init__(self, desk: str, heads: Iterable[SignedHead]) -> None:
        self._desk = desk
        self._heads = sorted(heads, key=lambda head: head.size, reverse=True)
        """Those that are still to come, the next one last."""
        self._frontier = Frontier()
        self._latest = datetime.fromisoformat("0001-01-02T00:00:00+00:00")
        """The latest time of an event or head so far."""

    def add(self, event: Event) -> None:
        """Check the next event, whose hash and link were checked."""
        self._frontier.add(leaf_hash(event.previous, event.text))
        size = self._frontier.size
        where = f"event {size} of desk {self._desk!r}"
        time = _moment(event.content.get("time"), where)
        if time < self._latest - CLOCKS:
            raise DamagedLedger(
                f"{where} says {event.time}, before what precedes it: it was backdated, or a clock was set back"
            )
        self._latest = max(time, self._latest)
        while self._heads and self._heads[-1].size == size:
            self._fit(self._heads.pop(), event)

    def _fit(self, head: SignedHead, last: Event) -> None:
        """Check the head of the events so far."""
        where = f"the first {head.size} events of desk {self._desk!r}"
        if head.root != self._frontier.root.hex() or head.hash != last.hash:
            raise DamagedLedger(f"{where} are not those that were signed at {head.time}: the ledger was rewritten")
        signed = head.moment
        if signed < self._latest - CLOCKS:
            raise DamagedLedger(f"{where} were signed at {head.time}, before the last of them: one was backdated")
        self._latest = max(signed, self._latest)

    def finish(self) -> None:
        """Check that no head is of more events than there are."""
        if self._heads:
            head = self._heads[0]
            raise DamagedLedger(
                f"the ledger of desk {self._desk!r} ends at event {self._frontier.size}; {head.size} events were "
                f"signed at {head.time}: its end was cut off"
            )


class LinesFit:
    """The same for an exported ledger, whose first event names the desk; keys are those of the heads."""

    def __init__(self, kept: Sequence[SignedHead]) -> None:
        self._kept, self._fit, self.fitted = kept, HeadsFit("", ()), 0

    def add(self, event: Event) -> None:
        """Check the next event."""
        if event.seq == 1:
            heads = {head for head in self._kept if head.desk == event.desk}
            check_heads(event.desk, heads, None)
            self._fit, self.fitted = HeadsFit(event.desk, heads), len(heads)
        self._fit.add(event)

    def finish(self) -> None:
        """Check that no head is of more events than there are."""
        self._fit.finish()


def _compare(ledger: Ledger, desk: str, tile: Tile) -> None:
    if stored_tile(ledger, desk, tile.level, tile.position) not in (None, tile):
        raise DamagedLedger(
            f"the tree of desk {desk!r} was changed: a tile of level {tile.level} does not follow from its events; "
            "delete its tiles: they are made again"
        )


def _moment(time: str | None, where: str) -> datetime:
    """A time that is written in an event or a head."""
    try:
        return datetime.fromisoformat(str(time)).astimezone(UTC)
    except ValueError:
        raise DamagedLedger(f"the time of {where} cannot be read") from None
