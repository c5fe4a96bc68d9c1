"""An SQLite file that is removed, moved or replaced under an open desk: nothing is acknowledged that would be lost."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Decide, Desk, open_ledger
from evenhand.errors import LedgerUnavailable
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.transaction import DatabaseFile
from evenhand.ledger.verify import verify
from tests.support.desk_play import done, people

RNG = np.random.default_rng(0)


def decided(desk: Desk, key: str | None = None) -> None:
    """One decision more."""
    done(desk.execute([Decide(people(RNG), idempotency_key=key)]))


def moved(file: Path) -> None:
    """Out of the way."""
    file.rename(file.with_suffix(".away"))


def removed(file: Path) -> None:
    """With the log and all else that is beside it."""
    for each in file.parent.glob(f"{file.name}*"):
        each.unlink()


def replaced(file: Path) -> None:
    """By a copy, as when a backup is restored."""
    shutil.copy(file, file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)


def folder_moved(file: Path) -> None:
    """With the folder it is in."""
    file.parent.rename(file.parent.with_name("elsewhere"))


@pytest.mark.parametrize("taken", [moved, removed, replaced, folder_moved])
def test_nothing_is_acknowledged_without_the_file(path: Path, taken: Callable[[Path], None]) -> None:
    """Neither what is written nor what is read, also by connections made later; and no file is made in its place."""
    folder = path.parent / "data"
    folder.mkdir()
    file = Path(shutil.copy(path, folder / "ledger.db"))
    with Desk.open(f"sqlite:///{file}", "loans") as desk:
        decided(desk)
        taken(file)
        assert isinstance(desk.ledger, Ledger)
        for _ in range(2):
            with pytest.raises(
                LedgerUnavailable, match=r"ledger\.db is gone or was replaced; nothing of this was ackn"
            ):
                decided(desk)
            with pytest.raises(LedgerUnavailable, match="gone or was replaced"):
                desk.events()
            with pytest.raises(LedgerUnavailable):
                desk.ledger.check_writable()
            desk.ledger.engine.dispose()
        assert file.exists() == (taken is replaced)


def test_with_the_same_file_back_it_goes_on(path: Path) -> None:
    """By itself, and what was acknowledged is there."""
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        decided(desk)
        before = desk.head.seq
        moved(path)
        with pytest.raises(LedgerUnavailable):
            decided(desk)
        path.with_suffix(".away").rename(path)
        decided(desk)
        assert verify(desk.ledger, "loans").seq == before + 1


def test_a_file_that_goes_during_the_commit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was committed then is not acknowledged; sent again with its key, once the file is back, it is there once."""
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        decided(desk)
        before = desk.head.seq
        writing = desk.ledger.writing

        @contextmanager
        def interrupted(name: str) -> Any:
            with writing(name) as view:
                yield view
                moved(path)

        monkeypatch.setattr(desk.ledger, "writing", interrupted)
        with pytest.raises(LedgerUnavailable, match="nothing of this was acknowledged"):
            desk.execute([Decide(people(np.random.default_rng(5)), idempotency_key="again")])
        monkeypatch.undo()
        path.with_suffix(".away").rename(path)
        done(desk.execute([Decide(people(np.random.default_rng(5)), idempotency_key="again")]))
        assert verify(desk.ledger, "loans").seq == before + 1


def test_a_log_that_is_removed(path: Path) -> None:
    """Somebody clears it away to make room: nothing more is acknowledged, and what was is there at the next start."""
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        for _ in range(3):
            decided(desk)
        known = (desk.head.seq, desk.head.hash)
        Path(f"{path}-wal").unlink()
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match=r"the log .* is gone or was replaced"):
                decided(desk)
    ledger = open_ledger(f"sqlite:///{path}")
    assert verify(ledger, "loans", known=known).seq == known[0]
    ledger.close()


def test_connections_that_are_all_closed_take_the_log_with_them(path: Path) -> None:
    """SQLite removes it then, and makes another one: that is no loss, and the desk goes on."""
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        assert isinstance(desk.ledger, Ledger)
        for _ in range(3):
            decided(desk)
            desk.ledger.engine.dispose()
            assert not Path(f"{path}-wal").exists()
        assert verify(desk.ledger, "loans").seq == desk.head.seq


def test_a_file_is_made_at_first_alone(tmp_path: Path) -> None:
    """And not at all for whoever needs one that is there."""
    file = DatabaseFile(tmp_path / "new.db", make=False)
    with pytest.raises(Exception, match="unable to open"):
        file.connect()
    assert not file.path.exists()


def test_two_that_open_a_new_file_at_the_same_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that finds the other at work on the new file tries again, where SQLite itself refuses without waiting."""
    file, paused = tmp_path / "new.db", []
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        def pause(seconds: float) -> None:
            paused.append(seconds)
            if len(paused) == 3:
                other.execute("ROLLBACK")

        monkeypatch.setattr(time, "sleep", pause)
        open_ledger(f"sqlite:///{file}").close()
    assert len(paused) == 3


def test_a_file_that_stays_locked_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a sentence, after the time that any writer may take."""
    monkeypatch.setattr("evenhand.ledger.engine.WAIT", 0.0)
    file = tmp_path / "new.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="database is locked"):
            open_ledger(f"sqlite:///{file}")
