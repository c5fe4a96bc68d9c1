"""The tree of a ledger: the same roots and proofs as from all events at hand, whoever stored which tiles."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from evenhand.errors import DamagedLedger, InvalidInput, UnknownRecord
from evenhand.ledger.ledger import Ledger, open_ledger
from evenhand.ledger.merkle import (
    consistency_proof,
    inclusion_proof,
    is_consistent,
    is_included,
    leaf_hash,
    nodes_of,
    root,
)
from evenhand.ledger.tree import WIDTH, LedgerTree
from tests.support.long_ledgers import append_events


def leaves_of(ledger: Ledger, desk: str) -> list[bytes]:
    """The leaves of all events."""
    return [leaf_hash(row.previous, row.text) for row in ledger.rows(desk)]


def tiles(ledger: Ledger, desk: str) -> list[tuple[int, int]]:
    """Level and position of all tiles that are stored."""
    statement = "SELECT level, position FROM tree_tiles WHERE desk = ? ORDER BY level, position"
    with ledger.transaction() as connection:
        return [(level, position) for level, position in connection.exec_driver_sql(statement, (desk,)).fetchall()]


def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of four hashes: a few hundred events have as many levels as a billion with tiles of 256."""
    for name, value in (("HEIGHT", 2), ("WIDTH", 4), ("STEP", 16)):
        monkeypatch.setattr(f"evenhand.ledger.tree.{name}", value)


def test_a_tree_has_the_roots_and_proofs_of_its_events(monkeypatch: pytest.MonkeyPatch, ledger: Ledger) -> None:
    """At every size, whether tiles were stored before or are stored now, from one tree object or a new one."""
    narrow(monkeypatch)
    rng, kept = np.random.default_rng(0), LedgerTree(ledger, "loans")
    for _ in range(25):
        append_events(ledger, "loans", int(rng.integers(1, 12)))
        leaves = leaves_of(ledger, "loans")
        node, size = nodes_of(leaves), len(leaves)
        for tree in (kept, LedgerTree(ledger, "loans")):
            assert tree.root(size) == root(size, node)
            for first in {1, size, *rng.integers(1, size + 1, 6).tolist()}:
                assert tree.root(first) == root(first, node)
                assert tree.consistency(first, size) == consistency_proof(first, size, node)
                assert tree.inclusion(first, size) == inclusion_proof(first - 1, size, node)
    full = size // 4
    assert [at for level, at in tiles(ledger, "loans") if level == 0] == list(range(full))
    assert max(level for level, _ in tiles(ledger, "loans")) >= 2


def test_tiles_are_the_same_in_every_database(durable_ledger: Ledger, name: str) -> None:
    """Tiles of 256 leaves are stored by whoever comes first; another process uses them and reads the rest."""
    append_events(durable_ledger, name, 2 * WIDTH + 40)
    leaves = leaves_of(durable_ledger, name)
    first, second = LedgerTree(durable_ledger, name), LedgerTree(durable_ledger, name)
    assert first.root(WIDTH + 3) == root(WIDTH + 3, nodes_of(leaves))
    assert tiles(durable_ledger, name) == [(0, 0)]
    assert second.root(len(leaves)) == first.root(len(leaves)) == root(len(leaves), nodes_of(leaves))
    assert tiles(durable_ledger, name) == [(0, 0), (0, 1)]
    proof = second.inclusion(7, len(leaves))
    assert is_included(leaves[6], 6, len(leaves), proof, first.root(len(leaves)))
    grown = second.consistency(WIDTH + 3, len(leaves))
    assert is_consistent(WIDTH + 3, first.root(WIDTH + 3), len(leaves), second.root(len(leaves)), grown)


def test_proofs_read_few_events(monkeypatch: pytest.MonkeyPatch, ledger: Ledger) -> None:
    """Once tiles are stored, a new process reads what comes after the last full one, not the whole ledger."""
    append_events(ledger, "loans", 5 * WIDTH + 17)
    LedgerTree(ledger, "loans").root(5 * WIDTH + 17)
    read: list[int] = []
    rows = Ledger.rows

    def noticed(self: Ledger, name: str, after: int = 0, until: int = 2**62, kinds: None = None) -> object:
        read.append(until - after)
        return rows(self, name, after, until, kinds)

    monkeypatch.setattr(Ledger, "rows", noticed)
    tree = LedgerTree(ledger, "loans")
    tree.consistency(300, 5 * WIDTH + 17)
    tree.inclusion(2, 5 * WIDTH)
    assert read == [17]


def test_what_is_not_there_is_refused(ledger: Ledger) -> None:
    """No root of more events than there are, nor of a desk that does not exist."""
    append_events(ledger, "loans", 3)
    with pytest.raises(InvalidInput, match="the size must be <= 3, the number of events, got 4"):
        LedgerTree(ledger, "loans").root(4)
    with pytest.raises(UnknownRecord):
        LedgerTree(ledger, "jobs").root(1)


def test_a_missing_tile_is_named(ledger: Ledger) -> None:
    """Somebody removed a tile that others are built on: an error, no wrong root; without any they are made again."""
    append_events(ledger, "loans", 3 * WIDTH)
    expected = LedgerTree(ledger, "loans").root(3 * WIDTH)
    for condition in ("position = 0", "position >= 0"):
        with ledger.transaction(writes=True) as connection:
            connection.exec_driver_sql(f"DELETE FROM tree_tiles WHERE {condition}")
        if condition == "position = 0":
            with pytest.raises(DamagedLedger, match="lacks a tile"):
                LedgerTree(ledger, "loans").root(3 * WIDTH)
    assert LedgerTree(ledger, "loans").root(3 * WIDTH) == expected


@pytest.mark.slow
def test_tiles_of_tiles(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Two levels of tiles and a part of a third: the root of 70,000 events is that of all of them at hand."""
    folder = tmp_path_factory.mktemp("long")
    with closing(open_ledger(f"sqlite:///{folder}/ledger.db")) as ledger:
        append_events(ledger, "loans", 70_000)
        leaves = leaves_of(ledger, "loans")
        assert LedgerTree(ledger, "loans").root(70_000) == root(70_000, nodes_of(leaves))
        assert LedgerTree(ledger, "loans").root(69_999) == root(69_999, nodes_of(leaves))
