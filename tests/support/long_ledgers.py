"""Ledgers of many small events, written without a desk."""

from __future__ import annotations

from evenhand.ledger.event import FIRST, Head, Row
from evenhand.ledger.ledger import Ledger


def append_events(ledger: Ledger, desk: str, n: int) -> None:
    """Add n events to a stream of this name, which is created if there is none."""
    if not ledger.heads([desk]):
        ledger.create(desk, Row.make(desk, 1, FIRST, "desk", "opened", {"settings": {}}))
        n -= 1
    with ledger.writing(desk) as view:
        head = view.head
        rows: list[Row] = []
        for seq in range(head.seq + 1, head.seq + n + 1):
            rows.append(Row.make(desk, seq, rows[-1].hash if rows else head.hash, "desk", "outcome", {"n": seq}))
        if rows:
            view.append(rows, Head(rows[-1].seq, rows[-1].hash, head.decisions, head.settings))
