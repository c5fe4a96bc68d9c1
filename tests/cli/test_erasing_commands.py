"""`evenhand ledger erase`, `evenhand backup` and `evenhand restore`."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from evenhand.cli.main import main
from evenhand.desk import Desk
from tests.support.forgotten import FEATURES, WHO, found_in, visit

OLD = Path(__file__).parents[1] / "data" / "v0_1" / "ledger.db"


def run(*arguments: str) -> int:
    """The exit status of `evenhand` with these arguments."""
    try:
        return main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger that knows her."""
    path = tmp_path / "ledger.db"
    with Desk.open(f"sqlite:///{path}", "loans", features=list(FEATURES), seed=3) as desk:
        visit(desk, np.random.default_rng(1), "bob", "cleo")
    return path


def test_a_restored_backup_forgets_again(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A backup from before an erasure still has the key; restored, it loses it again, and verifies."""
    database, copy = ("--database", f"sqlite:///{file}"), str(tmp_path / "copy.db")
    assert run("backup", copy, *database) == 0
    assert "1 desk, " in capsys.readouterr().out
    assert run("ledger", "erase", "loans", "--candidate", WHO, "--reason", "asked", *database) == 0
    assert f"{WHO} was erased by event" in capsys.readouterr().out
    assert keys(Path(copy)) == keys(file) | {WHO}
    assert run("ledger", "verify", *database) == run("ledger", "replay", "loans", *database) == 0
    printed = capsys.readouterr().out
    assert "6 contents were erased" in printed
    assert "1 decision cannot be made again" in printed
    assert run("backup", copy, *database) == run("restore", copy, *database) == 2  # neither overwrites anything
    file.unlink()
    assert run("restore", copy, *database) == 0
    assert "1 of 1 noted erasures" in capsys.readouterr().out
    assert keys(file) == {"bob", "cleo"}
    assert found_in(file) == []
    assert run("ledger", "verify", *database) == 0


def test_a_log_that_was_left_behind_is_not_applied_to_a_backup(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite would add what a killed process had left in `ledger.db-wal` to the restored ledger, without a word."""
    database, copy = ("--database", f"sqlite:///{file}"), str(tmp_path / "copy.db")
    assert run("backup", copy, *database) == 0
    for suffix in ("-wal", "-journal"):
        left = Path(f"{file}{suffix}")
        file.unlink(missing_ok=True)
        left.write_bytes(b"left behind")
        assert run("restore", copy, *database) == 2
        assert f"there is a file {left} already" in capsys.readouterr().err
        assert not file.exists()
        left.unlink()
    assert run("restore", copy, *database) == 0


def test_old_events_end_with_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a ledger of 0.1 the refusal is wrong usage; where only a part can be erased, the status is 1."""
    shutil.copy(OLD, tmp_path / "ledger.db")
    erase = ("ledger", "erase", "loans", "--database", f"sqlite:///{tmp_path}/ledger.db", "--candidate")
    with Desk.open(f"sqlite:///{tmp_path}/ledger.db", "loans") as desk:
        event = desk.events(kinds=["decision"])[0]
        who = event.body["candidates"][0]
    assert run(*erase, who) == 2
    assert "What is possible" in capsys.readouterr().err
    with Desk.open(f"sqlite:///{tmp_path}/ledger.db", "loans") as desk:
        desk.decide([{"id": who, "context": event.body["contexts"][0]}])
    assert run(*erase, who) == 1
    assert "stay as they are" in capsys.readouterr().out
    assert run(*erase, "nobody") == 2


def keys(file: Path) -> set[str]:
    """The people whose contents can be read."""
    connection = sqlite3.connect(file)
    found = {person for (person,) in connection.execute("SELECT person FROM person_keys")}
    connection.close()
    return found


def test_the_only_desk_need_not_be_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there are several, an id may be somebody else's at another: nobody is erased."""
    database = ("--database", f"sqlite:///{file}")
    with Desk.open(f"sqlite:///{file}", "jobs", n_features=2):
        pass
    assert run("ledger", "erase", "--candidate", WHO, *database) == 2
    assert "name the desk: there are 2: jobs, loans" in capsys.readouterr().err
    assert WHO in keys(file)
    assert run("ledger", "erase", "loans", "--candidate", WHO, *database) == 0
    single = file.with_name("single.db")
    with Desk.open(f"sqlite:///{single}", "loans", features=list(FEATURES), seed=3) as desk:
        visit(desk, np.random.default_rng(1), "bob", "cleo")
    assert run("ledger", "erase", "--candidate", WHO, "--database", f"sqlite:///{single}") == 0
    assert WHO not in keys(single)
