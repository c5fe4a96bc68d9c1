"""An SQLite file that is removed, moved or replaced under an open desk: nothing is acknowledged that would be lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import contextmanager
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
