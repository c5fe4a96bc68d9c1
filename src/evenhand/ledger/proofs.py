"""Proofs as plain data, for JSON: that an event is in a tree, and that one tree continues another."""

from __future__ import annotations

from typing import Any

from evenhand.errors import UnknownRecord
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.merkle import leaf_hash
from evenhand.ledger.tree import LedgerTree


def inclusion(ledger: Ledger, tree: LedgerTree, desk: str, event: str, size: int) -> dict[str, Any]:
    """The proof that an event is among the first `size`; UnknownRecord if there is no event with this id."""
    with ledger.reading(desk) as view:
        found = view.by_id([event]).get(event)
    if found is None:
        raise UnknownRecord(f"this desk's ledger has no event {event!r}")
    proof = [one.hex() for one in tree.inclusion(found.seq, size)]
    leaf = leaf_hash(found.previous, found.text).hex()
    named = {"desk": desk, "event": event, "seq": found.seq, "leaf": leaf}
    return {**named, "size": size, "root": tree.root(size).hex(), "proof": proof}


def consistency(tree: LedgerTree, desk: str, first: int, second: int) -> dict[str, Any]:
    """The proof that the first `second` events begin with the first `first`."""
    proof = [one.hex() for one in tree.consistency(first, second)]
    roots = {"first_root": tree.root(first).hex(), "second_root": tree.root(second).hex()}
    return {"desk": desk, "first": first, "second": second, **roots, "proof": proof}
