"""Checkpoints: SQLite's log is emptied beside the writing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from evenhand.desk import Decide, Desk
from evenhand.ledger.checkpoints import LINES, Checkpoints
from evenhand.ledger.database_file import DatabaseFile
from evenhand.ledger.ledger import open_ledger
from evenhand.ledger.verify import verify
from tests.support.desk_play import D, done, people


def test_what_is_written_reaches_the_file_and_the_thread_ends_with_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long before SQLite would do it itself; the ledger is whole, and no thread is left."""
    monkeypatch.setattr("evenhand.ledger.checkpoints.LINES", 50)
    file, rng = tmp_path / "ledger.db", np.random.default_rng(0)
    with Desk.open(f"sqlite:///{file}", "loans", n_features=D, seed=1) as desk:
        before = file.stat().st_size
        for _ in range(6):
            done(desk.execute([Decide(people(rng)) for _ in range(50)]))
        until = time.monotonic() + 60
        while file.stat().st_size < before + 50_000:
            assert time.monotonic() < until, "nothing reaches the file"
            time.sleep(0.01)
    assert not [thread for thread in threading.enumerate() if thread.name == "checkpoints"]
    ledger = open_ledger(f"sqlite:///{file}")
    assert verify(ledger, "loans").seq == 301
    ledger.close()


def test_a_checkpoint_that_fails_is_not_the_last(tmp_path: Path) -> None:
    """The next one is made when it is due."""
    file = tmp_path / "some.db"
    turns: list[int] = []

    @contextmanager
    def turn() -> Iterator[None]:
        turns.append(len(turns))
        if len(turns) == 1:
            raise OSError("no space left on device")
        yield

    checkpoints = Checkpoints(DatabaseFile(file, make=True), turn)
    until = time.monotonic() + 30
    for wanted in (1, 2):
        checkpoints.wrote(LINES)
        while len(turns) < wanted:
            assert time.monotonic() < until
            time.sleep(0.01)
    checkpoints.close()
    assert turns == [0, 1]
