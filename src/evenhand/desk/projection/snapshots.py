"""Snapshots: a reducer as bytes, in the format of a saved bandit, and which of them are kept."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand._internal.archive import UNREADABLE, read_archive, write_archive
from evenhand.desk.projection.quiet_bandit import QuietBandit
from evenhand.desk.projection.reducer import Reducer
from evenhand.desk.projection.round_history import RoundHistory
from evenhand.desk.projection.snapshot_checksum import checked, with_checksum
from evenhand.errors import DamagedFile, DamagedLedger, EvenhandError
from evenhand.ledger.event import Stamp

FORMAT = 3
"""Raised whenever an older evenhand could not read a snapshot; it then projects from the first event."""

CLOSEST = 256
"""Of snapshots closer to each other than this many events, not all are kept."""


def to_bytes(reducer: Reducer, chain: str) -> bytes:
    """A reducer as bytes, with a checksum; `chain` is the hash of its last event, which ties it to its ledger."""
    content = {
        "passed_over": list(reducer.skipped),
        "history": reducer.history.state(),
        "bandit": reducer.bandit.state(),
    }
    with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
        path = Path(folder) / "snapshot"
        write_archive(path, kind="DeskSnapshot", version=FORMAT, content=content)
        return with_checksum(reducer.stamp, chain, path.read_bytes())


def from_bytes(blob: bytes, chain: str | None = None) -> Reducer | None:
    """The reducer of a snapshot; None if it cannot be read or its checksum is wrong: projecting again is always right.

    chain: the hash that its last event has now; DamagedLedger if it was another when the snapshot was taken.
    """
    try:
        found = checked(blob)
        if chain is not None and found.chain != chain:
            raise DamagedLedger(
                f"event {found.stamp.seq} was changed: it had another hash when a snapshot was taken there; verify the "
                "ledger against a hash noted elsewhere (if it is intact, delete its snapshots)"
            )
        with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
            path = Path(folder) / "snapshot"
            path.write_bytes(found.content)
            content = read_archive(path, kind="DeskSnapshot", version=FORMAT)
        skipped, history = [int(seq) for seq in content["passed_over"]], RoundHistory.from_state(content["history"])
        return Reducer(QuietBandit.from_state(content["bandit"]), found.stamp, skipped, history=history)
    except DamagedLedger:
        raise
    except (DamagedFile, EvenhandError, *UNREADABLE, AttributeError, IndexError, np.linalg.LinAlgError):
        return None


def to_drop(stamps: Sequence[Stamp], newest: int) -> list[int]:
    """The seqs of snapshots to drop: the older, the fewer are kept, in cells that double in width with age.

    Of n events about 2 log2(n) snapshots stay; from any event of age a the next older one has age at most about 5 a.

    >>> to_drop([Stamp(s, s) for s in (100, 900, 950, 990, 1000)], 1000)
    [950, 990]
    """
    oldest: dict[tuple[int, int], int] = {}
    for stamp in stamps:
        age = (newest - stamp.seq) // CLOSEST
        width = CLOSEST << max(age.bit_length() - 1, 0)  # cells do not move: two become one when they are old enough
        cell = (width, stamp.seq // width)
        oldest[cell] = min(oldest.get(cell, stamp.seq), stamp.seq)
    return sorted(stamp.seq for stamp in stamps if stamp.seq != newest and stamp.seq not in oldest.values())
