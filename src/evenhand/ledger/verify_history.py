"""Verify a ledger with its signed heads: signatures, roots, times, and tiles of the tree, in one pass over the events.

A head that somebody kept shows everything up to its size: an event changed, removed, inserted or moved before it gives
another root. What came after it, it cannot show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from evenhand.errors import DamagedLedger
from evenhand.ledger.event import Head, Row
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.merkle import Frontier, leaf_hash
from evenhand.ledger.signed_head import SignedHead
from evenhand.ledger.signed_heads import SignedHeads
from evenhand.ledger.signing_keys import RecordedKey, recorded_keys
from evenhand.ledger.tree import Tile, TileBuilder, has_trees, stored_tile
from evenhand.ledger.verify import verify

CLOCKS = timedelta(minutes=1)
"""How much the clocks of two processes may differ."""


def verify_history(
    ledger: Ledger, desk: str, *, known: tuple[int, str] | None = None, kept: Sequence[SignedHead] = ()
) -> Head:
    """The head of a desk's ledger, after all of it was checked against its signed heads; else DamagedLedger.

    known: the seq and hash of an event as noted before. kept: heads that were kept elsewhere, also of other desks.
    """
    stored = list(SignedHeads(ledger).all(desk)) if has_trees(ledger) else []
    heads = [*stored, *(head for head in kept if head.desk == desk)]
    check_heads(desk, heads, recorded_keys(ledger))
    check = _History(ledger, desk, heads)
    found = verify(ledger, desk, known=known, watch=check.add)
    check.finish()
    return found


def check_heads(desk: str, heads: Iterable[SignedHead], keys: Sequence[RecordedKey]) -> None:
    """DamagedLedger unless every head is signed by a key of its time, and none is older than a shorter one."""
    by_key = {one.key: one for one in keys}
    last: SignedHead | None = None
    for head in sorted(heads, key=lambda one: (one.size, one.time)):
        where = f"the head of desk {desk!r} with {head.size} events"
        if head.desk != desk or not head.is_signed:
            raise DamagedLedger(f"{where} was changed: its signature is wrong")
        key = by_key.get(head.key)
        if key is None:
            raise DamagedLedger(f"{where} is signed with the key {head.key}, which the service has not recorded")
        signed = moment(head.time, where)
        if signed < moment(key.created, where) - CLOCKS or (
            key.retired is not None and signed > moment(key.retired, where) + CLOCKS
        ):
            raise DamagedLedger(f"{where} is signed with the key {head.key}, which was not in use at its time")
        if last is not None and signed < moment(last.time, where) - CLOCKS:
            raise DamagedLedger(f"{where} says {head.time}: before one with {last.size} events; one was backdated")
        if last is not None and head.size == last.size and (head.root, head.hash) != (last.root, last.hash):
            raise DamagedLedger(f"there are two heads of desk {desk!r} with {head.size} events: its history was forked")
        last = head


class _History:
    """The events of a ledger so far, compared with signed heads, with their tree and with each other's times."""

    def __init__(self, ledger: Ledger, desk: str, heads: Iterable[SignedHead]) -> None:
        self._ledger, self._desk = ledger, desk
        self._heads = sorted(heads, key=lambda head: head.size, reverse=True)
        self._frontier = Frontier()
        self._tiles = TileBuilder(self._compare) if has_trees(ledger) else None
        self._latest: datetime | None = None
        """The latest time of an event or head so far."""

    def add(self, row: Row) -> None:
        """Check the next event, whose hash and link were checked."""
        leaf = leaf_hash(row.previous, row.text)
        self._frontier.add(leaf)
        if self._tiles is not None:
            self._tiles.add(leaf)
        where = f"event {row.seq} of desk {self._desk!r}"
        time = moment(row.event.time, where)
        if self._latest is not None and time < self._latest - CLOCKS:
            raise DamagedLedger(
                f"{where} says {row.event.time}, which is before what precedes it: it was backdated, or a clock was "
                "set back"
            )
        self._latest = time if self._latest is None else max(time, self._latest)
        while self._heads and self._heads[-1].size == row.seq:
            self._fit(self._heads.pop(), row)

    def _fit(self, head: SignedHead, row: Row) -> None:
        """Check the head of the events so far."""
        where = f"the first {head.size} events of desk {self._desk!r}"
        if head.root != self._frontier.root.hex() or head.hash != row.hash:
            raise DamagedLedger(f"{where} are not those that were signed at {head.time}: the ledger was rewritten")
        signed = moment(head.time, where)
        if self._latest is not None and signed < self._latest - CLOCKS:
            raise DamagedLedger(f"{where} were signed at {head.time}, before the last of them: one was backdated")
        self._latest = signed if self._latest is None else max(signed, self._latest)

    def _compare(self, tile: Tile) -> None:
        stored = stored_tile(self._ledger, self._desk, tile.level, tile.position)
        if stored not in (None, tile):
            raise DamagedLedger(
                f"the tree of desk {self._desk!r} was changed: a tile of level {tile.level} does not follow from its "
                "events; delete its tiles: they are made again"
            )

    def finish(self) -> None:
        """Check that no head is of more events than there are."""
        if self._heads:
            head = self._heads[0]
            raise DamagedLedger(
                f"the ledger of desk {self._desk!r} ends at event {self._frontier.size}; {head.size} events were "
                f"signed at {head.time}: its end was cut off"
            )


def moment(time: str, where: str) -> datetime:
    """A time that is written in an event or a head."""
    try:
        return datetime.fromisoformat(time)
    except (TypeError, ValueError):
        raise DamagedLedger(f"the time of {where} cannot be read") from None
