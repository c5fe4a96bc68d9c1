"""Snapshots: a fold as bytes, in the format of a saved bandit, and which of them are worth keeping."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand._internal.archive import UNREADABLE, read_archive, write_archive
from evenhand.desk.projection.quiet_bandit import QuietBandit
from evenhand.desk.projection.reducer import Reducer
from evenhand.desk.projection.round_history import RoundHistory
from evenhand.desk.projection.snapshot_checksum import sealed, unsealed
from evenhand.errors import DamagedFile, DamagedLedger, EvenhandError
from evenhand.ledger.ledger import Stamp

FORMAT = 3
"""Raised whenever an older evenhand could not read a snapshot; it then folds from the first line."""

CLOSEST = 256
"""Snapshots closer to each other than this many lines are not all kept, but for the newest."""


def to_bytes(fold: Reducer, chain: str) -> bytes:
    """A fold as bytes, sealed; `chain` is the hash of its last line, by which it knows the ledger it belongs to."""
    content = {
        "passed_over": list(fold.skipped),
        "history": fold.history.state(),
        "bandit": fold.bandit.state(),
    }
    with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
        path = Path(folder) / "snapshot"
        write_archive(path, kind="DeskSnapshot", version=FORMAT, content=content)
        return sealed(fold.stamp, chain, path.read_bytes())


def from_bytes(blob: bytes, chain: str | None = None) -> Reducer | None:
    """The fold that was kept; None if it cannot be read or its seal is not right: folding again always is.

    chain: the hash that its last line has now; DamagedLedger if it was another when the snapshot was taken.
    """
    try:
        found = unsealed(blob)
        if chain is not None and found.chain != chain:
            raise DamagedLedger(
                f"line {found.stamp.seq} was changed: it had another hash when a snapshot was taken there; verify the "
                "ledger, against a hash noted elsewhere (if it is whole, delete its snapshots)"
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
    """The seqs of snapshots that need not be kept: the older, the fewer, in cells that double in width with age.

    Of n lines about 2 log2(n) stay, and from any line of age a the next older snapshot is no older than about 5 a.

    >>> to_drop([Stamp(s, s) for s in (100, 900, 950, 990, 1000)], 1000)
    [950, 990]
    """
    oldest: dict[tuple[int, int], int] = {}
    for stamp in stamps:
        age = (newest - stamp.seq) // CLOSEST
        width = CLOSEST << max(age.bit_length() - 1, 0)  # cells lie still: two become one when they are old enough
        cell = (width, stamp.seq // width)
        oldest[cell] = min(oldest.get(cell, stamp.seq), stamp.seq)
    return sorted(stamp.seq for stamp in stamps if stamp.seq != newest and stamp.seq not in oldest.values())
