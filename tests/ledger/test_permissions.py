"""Files of a ledger are their owner's: nobody else on the machine reads them."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand._internal.private_file import make_private
from evenhand.cli.main import main
from evenhand.desk import Desk, open_ledger
from tests.support.desk_play import D, play


@pytest.fixture(autouse=True)
def _open_to_others() -> Iterator[None]:
    """A machine where new files can be read by everybody."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    """The permissions of a file or a folder."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_ledger_is_its_owners(tmp_path: Path) -> None:
    """The database, its log and its index, and the locks beside it."""
    with Desk.open(f"sqlite:///{tmp_path}/ledger.db", "loans", n_features=D) as desk:
        desk.project_in_background()
        play(desk, 1)
        files = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert {"ledger.db", "ledger.db-wal", "ledger.db-shm"} <= files.keys()
    assert any(name.endswith(".lock") for name in files)
    assert set(files.values()) == {0o600}, files


def test_what_the_command_line_makes_is_its_owners(tmp_path: Path) -> None:
    """The data folder, the ledger in it, and an export into a new file; one that is replaced keeps its permissions."""
    past, data = tmp_path / "past.jsonl", tmp_path / "data"
    past.write_text('{"settings": {"n_features": 2}}\n')
    assert main(["ledger", "import", "loans", str(past), "--data", str(data)]) == 0
    assert (mode(data), mode(data / "ledger.db")) == (0o700, 0o600)
    new, old = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    old.touch(0o640)
    for file, expected in ((new, 0o600), (old, 0o640)):
        assert main(["ledger", "export", "loans", "--data", str(data), "--output", str(file)]) == 0
        assert (mode(file), len(file.read_text().splitlines())) == (expected, 1)


def test_backups_and_the_list_of_erasures_are_their_owners(tmp_path: Path) -> None:
    """A copy of the ledger is as secret as the ledger, and so is a list of who was erased."""
    file, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    with Desk.open(f"sqlite:///{file}", "loans", n_features=D, reviewer_error=1e-3) as desk:
        play(desk, 1)
        desk.erase(
            desk.decide([{"id": "Ada", "context": [0.1] * D}, {"id": "Bob", "context": [0.2] * D}]).candidates[0]
        )
    assert main(["backup", "--database", f"sqlite:///{file}", str(copy)]) == 0
    assert {path.name: mode(path) for path in (copy, tmp_path / "ledger.db.erasures")} == {
        "copy.db": 0o600,
        "ledger.db.erasures": 0o600,
    }


def test_a_ledger_that_others_can_read_is_opened_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It was made before, or somebody opened it on purpose: its permissions stay."""
    url, file = f"sqlite:///{tmp_path}/ledger.db", tmp_path / "ledger.db"
    with caplog.at_level(logging.WARNING):
        open_ledger(url).close()
        open_ledger(url).close()
        assert not caplog.messages
        file.chmod(0o640)
        open_ledger(url).close()
    (message,) = caplog.messages
    assert "ledger.db can be read by other users" in message
    assert mode(file) == 0o640


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can make files for others")
def test_what_root_makes_beside_a_ledger_belongs_to_the_ledgers_owner(tmp_path: Path) -> None:
    """A service under an account of its own goes on after an operator has erased, signed, verified or restored."""
    data, owner = tmp_path / "data", 12_345
    data.mkdir()
    os.chown(data, owner, owner)
    database = ("--database", f"sqlite:///{data}/ledger.db")
    with Desk.open(database[1], "loans", n_features=D, reviewer_error=1e-3) as desk:
        play(desk, 1)
        desk.project_in_background()
        person = desk.decision_event(desk.events(kinds=["decision"])[0].id).body["candidates"][0]
        copy = tmp_path / "copy.db"
        assert main(["backup", str(copy), *database]) == 0
        assert main(["ledger", "erase", "--candidate", person, *database]) == 0
        assert main(["ledger", "sign", *database]) == 0
        found = {path.name: path.stat().st_uid for path in data.iterdir()}
    assert {"ledger.db", "ledger.db.erasures", "ledger.db.heads.jsonl"} <= found.keys()
    assert any(name.endswith(".lock") for name in found)
    assert set(found.values()) == {owner}, found
    (data / "ledger.db").unlink()
    assert main(["restore", str(copy), *database]) == 0
    assert {path.stat().st_uid for path in data.iterdir()} == {owner}
    assert copy.stat().st_uid == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root tries")
def test_a_root_that_may_not_give_files_away_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container without that capability, or on a file system of another machine."""

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    make_private(tmp_path / "file")
    assert mode(tmp_path / "file") == 0o600
