"""LedgerTree: the Merkle tree over the events of a desk, kept in tiles of 256 hashes that are only ever added.

A tile of level 0 has the leaves of 256 events, one of level n the roots of 256 tiles of the level below. A tile is
stored when it is full, so it never changes, and processes that store the same one do not disturb each other. What
comes after the last full tile is read from the events themselves: at most 255. Appending events stores nothing here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import inspect

from evenhand.errors import DamagedLedger, InvalidInput
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.merkle import consistency_proof, inclusion_proof, leaf_hash, nodes_of, root

HEIGHT = 8
WIDTH = 1 << HEIGHT
"""Hashes of a full tile."""
HASH = 32
"""Bytes of a hash."""

STEP = 64 * WIDTH
"""Events read before tiles are stored."""

TILES_KEPT = 64
"""Tiles in memory while proofs are made: a path through 10^9 events touches eight."""

SELECT = "SELECT hashes, root FROM tree_tiles WHERE desk = ? AND level = ? AND position = ?"
SELECT_ROOTS = (
    "SELECT root FROM tree_tiles WHERE desk = ? AND level = ? AND position >= ? AND position < ? ORDER BY position"
)
INSERT = (
    "INSERT INTO tree_tiles (desk, level, position, hashes, root) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (desk, level, position) DO NOTHING"
)


class Tile(NamedTuple):
    """256 hashes side by side, and the root over them."""

    level: int
    position: int
    hashes: bytes
    root: bytes


class TileBuilder:
    """Makes tiles of leaves that come in order; `store` gets each when it is full."""

    def __init__(self, store: Callable[[Tile], None]) -> None:
        self._store = store
        self._levels: list[tuple[int, list[bytes]]] = []
        """Of each level: how many tiles are full, and the hashes after them."""

    def resume(self, full: int, hashes: list[bytes]) -> None:
        """Say where the next level begins: how many tiles are full, and the hashes after them."""
        self._levels.append((full, hashes))

    def add(self, leaf: bytes) -> None:
        """The next leaf."""
        found, level = leaf, 0
        while True:
            if level == len(self._levels):
                self._levels.append((0, []))
            full, hashes = self._levels[level]
            hashes.append(found)
            if len(hashes) < WIDTH:
                return
            tile = Tile(level, full, b"".join(hashes), nodes_of(hashes)(HEIGHT, 0))
            self._store(tile)
            self._levels[level] = (full + 1, [])
            found, level = tile.root, level + 1


class LedgerTree:
    """Roots and proofs of one desk's ledger; stores the tiles that are missing. Threads may share it."""

    def __init__(self, ledger: Ledger, desk: str) -> None:
        self._ledger, self._desk = ledger, desk
        self._full = 0
        """How many leaves are in full tiles, as far as is known here."""
        self._rest: list[bytes] = []
        """The leaves after them."""
        self._full_tile = lru_cache(TILES_KEPT)(self._read_tile)
        self._turn = threading.RLock()

    def root(self, size: int) -> bytes:
        """The root of the tree of the first `size` events; InvalidInput if there are not so many."""
        with self._turn:
            self._catch_up(size)
            return root(size, self._node)

    def inclusion(self, seq: int, size: int) -> list[bytes]:
        """The proof that event `seq` is among the first `size`."""
        with self._turn:
            self._catch_up(size)
            return inclusion_proof(seq - 1, size, self._node)

    def consistency(self, first: int, second: int) -> list[bytes]:
        """The proof that the first `second` events begin with the first `first`."""
        with self._turn:
            self._catch_up(second)
            return consistency_proof(first, second, self._node)

    def grow(self, most: int) -> bool:
        """Take in up to `most` more events; whether these were all. For a long ledger that has no tree yet."""
        with self._turn:
            end = self._ledger.head(self._desk).seq
            known = self._known()
            self._catch_up(min(end, known + most))
            return end <= known + most

    def missing(self, size: int) -> int:
        """How many of the first `size` events are not in the tree yet."""
        with self._turn:
            return max(0, size - self._known())

    # The leaves that are not in tiles yet.

    def _known(self) -> int:
        if not self._rest:
            self._full = max(self._full, WIDTH * self._count())
        return self._full + len(self._rest)

    def _catch_up(self, size: int) -> None:
        end = self._ledger.head(self._desk).seq
        if size > end:
            raise InvalidInput(f"the size must be <= {end}, the number of events, got {size}")
        while (known := self._known()) < size:
            self._advance(known, min(size, known + STEP))

    def _advance(self, known: int, until: int) -> None:
        made: list[Tile] = []
        leaves = self._rest[:]
        builder = self._builder(made.append)
        for seq, row in enumerate(self._ledger.rows(self._desk, known, until), start=known + 1):
            if row.seq != seq:
                raise DamagedLedger(f"event {seq} of desk {self._desk!r} is missing; verify the ledger")
            leaves.append(leaf_hash(row.previous, row.text))
            builder.add(leaves[-1])
        if self._full + len(leaves) != until:
            raise DamagedLedger(f"desk {self._desk!r} lacks events up to {until}; verify the ledger")
        if made:
            with self._ledger.transaction(writes=True) as connection:
                connection.exec_driver_sql(INSERT, [(self._desk, *tile) for tile in made])
        done = WIDTH * sum(tile.level == 0 for tile in made)
        self._full, self._rest = self._full + done, leaves[done:]

    def _builder(self, store: Callable[[Tile], None]) -> TileBuilder:
        """A builder that goes on where this tree ends."""
        builder, tiles, level = TileBuilder(store), self._full // WIDTH, 0
        builder.resume(tiles, self._rest[:])
        while tiles:  # a full tile is a hash of the level above
            above, after = divmod(tiles, WIDTH)
            builder.resume(above, self._roots(level, tiles - after, tiles))
            tiles, level = above, level + 1
        return builder

    # Nodes and tiles.

    def _node(self, height: int, index: int) -> bytes:
        level, within = divmod(height, HEIGHT)
        position, place = divmod(index << within, WIDTH)
        return nodes_of(self._tile(level, position))(within, place >> within)

    def _tile(self, level: int, position: int) -> list[bytes]:
        """The hashes of a tile, full or not."""
        if position < self._full // WIDTH ** (level + 1):
            return self._full_tile(level, position)
        if level == 0:
            return self._rest
        return self._roots(level - 1, WIDTH * position, self._full // WIDTH**level)

    def _count(self) -> int:
        with self._ledger.transaction() as connection:
            statement = "SELECT max(position) FROM tree_tiles WHERE desk = ? AND level = 0"
            found = connection.exec_driver_sql(statement, (self._desk,)).scalar()
        return 0 if found is None else int(found) + 1

    def _roots(self, level: int, first: int, end: int) -> list[bytes]:
        with self._ledger.transaction() as connection:
            found = connection.exec_driver_sql(SELECT_ROOTS, (self._desk, level, first, end)).fetchall()
        if len(found) != end - first:
            raise self._lacking()
        return [bytes(one) for (one,) in found]

    def _read_tile(self, level: int, position: int) -> list[bytes]:
        tile = stored_tile(self._ledger, self._desk, level, position)
        if tile is None or len(tile.hashes) != WIDTH * HASH:
            raise self._lacking()
        return [tile.hashes[at : at + HASH] for at in range(0, len(tile.hashes), HASH)]

    def _lacking(self) -> DamagedLedger:
        return DamagedLedger(f"the tree of desk {self._desk!r} lacks a tile; delete all its tiles: they are made again")


def stored_tile(ledger: Ledger, desk: str, level: int, position: int) -> Tile | None:
    """A tile as it is stored; None if it is not."""
    with ledger.transaction() as connection:
        found = connection.exec_driver_sql(SELECT, (desk, level, position)).fetchone()
    return None if found is None else Tile(level, position, bytes(found[0]), bytes(found[1]))


def has_trees(ledger: Ledger) -> bool:
    """Whether the database has trees and signed heads; one of an earlier version that is only read has none."""
    with ledger.transaction() as connection:
        return inspect(connection).has_table("signed_heads")
