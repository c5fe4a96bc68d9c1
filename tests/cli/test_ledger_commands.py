"""`evenhand ledger list` and `verify`: every desk, the one that is meant, and one that was lost."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from evenhand.desk import Desk, open_ledger
from evenhand.errors import DamagedLedger
from evenhand.ledger.verify import verify
from tests.support.desk_play import QUICK, D, play
from tests.support.ledger_command import run
from tests.support.tampering import tampered


@pytest.fixture
def two(tmp_path: Path) -> str:
    """A database with two desks."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    for name in ("loans", "places"):
        with Desk.open(url, name, **QUICK, seed=1) as desk:
            play(desk, 1)
    return url


def test_list_shows_how_long_ledgers_are(two: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each desk with its lines, its decisions and the time of the last line."""
    assert run("list", "--database", two) == 0
    reported = capsys.readouterr().out.splitlines()
    for name, line in zip(("loans", "places"), reported, strict=True):
        with Desk.open(two, name) as desk:
            head, last = desk.head, desk.events()[-1]
        assert line == f"{name}  {head.seq} events  {head.decisions} decisions  last {last.time}"


def test_verify_without_a_name_goes_through_all_desks(
    two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged one does not keep the others from being checked; the status says that there is one."""
    assert run("verify", "--database", two) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["desk loans", "desk places"]
    tampered(tmp_path / "ledger.db", "UPDATE events SET kind = 'answer' WHERE seq = 3 AND desk = 'loans'")
    assert run("verify", "--database", two) == 1
    reported = capsys.readouterr()
    assert reported.out.startswith("desk places: ")
    assert reported.err.startswith("event 3 of desk 'loans' was changed")
    assert run("verify", "--database", two, "--known", f"1:{'0' * 64}") == 2


def test_no_desk_is_no_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new database has nothing to list, and nothing that could be wrong."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    open_ledger(url).close()
    assert run("list", "--database", url) == 0
    assert run("verify", "--database", url) == 0
    assert capsys.readouterr().out == "there is no desk yet\n"
    assert run("verify", "loans", "--database", url) == 2


@pytest.mark.parametrize("command", [("verify",), ("verify", "loans"), ("replay", "loans"), ("list",)])
def test_a_lost_desk_is_damage(
    two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """Lines without the desk they belong to: a sentence and status 1, not "there is no desk"."""
    tampered(tmp_path / "ledger.db", "DELETE FROM desks WHERE name = 'loans'")
    assert run(*command, "--database", two) == 1
    reported = capsys.readouterr()
    assert "desk 'loans' was removed: its events are there" in reported.err + reported.out
    for settings in ({}, {"n_features": D}):
        with pytest.raises(DamagedLedger, match="was removed"):
            Desk.open(two, "loans", **settings)


@pytest.mark.postgres
def test_a_desk_lost_in_postgresql_is_damage(postgresql: str, name: str) -> None:
    """The same there; put back, for other tests use the server too."""
    with Desk.open(postgresql, name, **QUICK, seed=1) as desk:
        play(desk, 1)
    ledger = open_ledger(postgresql)
    with psycopg.connect(postgresql.replace("+psycopg", "", 1), autocommit=True) as connection:
        row = connection.execute("DELETE FROM desks WHERE name = %s RETURNING *", (name,)).fetchone()
        assert row is not None
        try:
            assert name in ledger.names()
            with pytest.raises(DamagedLedger, match="was removed"):
                verify(ledger, name)
        finally:
            connection.execute("INSERT INTO desks VALUES (%s, %s, %s, %s, %s, %s)", row)
    verify(ledger, name)
    ledger.close()


def test_a_file_of_a_desks_name_is_not_checked_in_its_place(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bare name is a desk, whatever lies in the folder; a file is one that looks so, or is named as one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_DATABASE_URL", f"sqlite:///{path}")
    assert run("export", "loans", "--output", "loans") == 0
    assert run("export", "loans", "--output", "loans.jsonl") == 0
    tampered(path, "UPDATE events SET kind = 'answer' WHERE seq = 3")
    assert run("verify", "loans") == 1
    assert run("verify", "loans.jsonl") == 0
    assert run("verify", "./loans.jsonl") == 0
    assert run("verify", "--file", "loans") == 0
    capsys.readouterr()
    for wrong in (("--file", "nothing"), ("--file", "."), ("--file", "loans", "loans"), ("--file", "x", "--data", ".")):
        assert run("verify", *wrong) == 2
        assert "Traceback" not in capsys.readouterr().err


def test_a_name_that_is_both_a_desk_and_a_file_is_ambiguous(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A desk's name may look like a file's."""
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path}/ledger.db"
    monkeypatch.setenv("EVENHAND_DATABASE_URL", url)
    Desk.open(url, "loans.v2", **QUICK).close()
    assert run("verify", "loans.v2") == 0
    assert run("export", "loans.v2", "--output", "loans.v2") == 0
    assert run("verify", "loans.v2") == 2
    assert "use --file loans.v2" in capsys.readouterr().err
    assert run("verify", "loans.v2", "--database", url) == 0
    assert run("verify", "--file", "loans.v2") == 0
