"""A ledger that cannot be written: list, verify, replay and export read it all the same, and make nothing beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.desk import Desk, open_ledger
from evenhand.errors import LedgerUnavailable, NewerFile
from evenhand.ledger.verify import verify
from tests.support.ledger_command import run
from tests.support.tampering import tampered

COMMANDS = (["list"], ["verify"], ["replay", "loans"], ["export", "loans", "--output", os.devnull])
AS_SOMEBODY_ELSE = """
import os, sys
from evenhand.cli.main import main
def run(url):
    for command in %r:
        try:
            status = main(["ledger", *command, "--database", url])
        except SystemExit as end:
            status = end.code
        print("status", status, flush=True)
run(sys.argv[1])  # somebody else may not be able to read the packages: all that is needed is loaded
if os.geteuid() == 0:  # who may do everything is kept from nothing by a file's mode
    os.setgid(65534)
    os.setuid(65534)
run(sys.argv[2])
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others can look into; pytest's own they cannot."""
    with tempfile.TemporaryDirectory(prefix="evenhand-read-only-") as made:
        Path(made).chmod(0o755)
        yield Path(made)
        Path(made).chmod(0o755)


def run_commands(file: Path, other: Path) -> tuple[list[str], str]:
    """What each command prints at its end, and on stderr, run by somebody who cannot write there.

    other: a ledger that can be written.
    """
    for each in file.parent.iterdir():
        each.chmod(0o444)
    file.parent.chmod(0o555)
    command = [sys.executable, "-c", AS_SOMEBODY_ELSE % (COMMANDS,), f"sqlite:///{other}", f"sqlite:///{file}"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    stated = [line for line in ran.stdout.splitlines() if line.startswith("status")]
    assert stated[: len(COMMANDS)] == ["status 0"] * len(COMMANDS), ran.stderr
    return stated[len(COMMANDS) :], ran.stderr


@pytest.mark.process
def test_a_ledger_on_read_only_media_is_read(path: Path, folder: Path) -> None:
    """Each of the commands does what it does elsewhere, and nothing is there afterwards that was not before."""
    file = Path(shutil.copy(path, folder / "ledger.db"))
    before = file.read_bytes()
    assert run_commands(file, path) == (["status 0"] * len(COMMANDS), "")
    assert [each.name for each in folder.iterdir()] == ["ledger.db"]
    assert file.read_bytes() == before


@pytest.mark.process
def test_lines_in_a_log_are_not_passed_over(path: Path, folder: Path) -> None:
    """A copy of a ledger in use: with all its files it is read, without the small one a sentence says what to do."""
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        desk.decide([[0.1] * desk.settings.n_features])
        for end in ("", "-wal", "-shm"):
            shutil.copy(f"{path}{end}", folder / f"ledger.db{end}")
    statuses, _ = run_commands(folder / "ledger.db", path)
    assert statuses == ["status 0"] * len(COMMANDS)
    folder.chmod(0o755)
    (folder / "ledger.db-shm").unlink()
    statuses, stated = run_commands(folder / "ledger.db", path)
    assert statuses == ["status 1"] * len(COMMANDS)
    assert stated.count("has events that are not in the database file yet") == len(COMMANDS)


@pytest.fixture
def kept_from_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where nothing can be written."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)


@pytest.mark.usefixtures("kept_from_writing")
def test_an_older_ledger_is_read_as_it_is(path: Path) -> None:
    """It is not brought up to date, since it cannot be; a newer one is refused, and nothing can be written."""
    tampered(path, "UPDATE evenhand_version SET version_num = '0001'")
    before = path.read_bytes()
    ledger = open_ledger(f"sqlite:///{path}", make=False, reads=True)
    assert verify(ledger, "loans").seq > 1
    with pytest.raises(LedgerUnavailable, match="readonly"):
        ledger.check_writable()
    ledger.close()
    assert path.read_bytes() == before
    tampered(path, "UPDATE evenhand_version SET version_num = '9999'")
    with pytest.raises(NewerFile):
        open_ledger(f"sqlite:///{path}", make=False, reads=True)


@pytest.mark.usefixtures("kept_from_writing")
def test_a_reader_is_warned_when_somebody_begins_to_write(path: Path) -> None:
    """What was taken for a file that nobody changes is not read on."""
    reading = open_ledger(f"sqlite:///{path}", make=False, reads=True)
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        desk.decide([[0.1] * desk.settings.n_features])
        with pytest.raises(LedgerUnavailable, match="not in the database file yet"):
            verify(reading, "loans")
    reading.close()


def test_where_it_can_be_written_nothing_is_different(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An older ledger is brought up to date as ever."""
    assert run("verify", "--database", f"sqlite:///{path}") == 0
    assert "every hash and link is right" in capsys.readouterr().out
