"""Commands that read find the database that is there; they make none, neither here nor in somebody else's."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from evenhand.desk import Desk, open_ledger
from evenhand.errors import DamagedLedger, InvalidInput
from tests.support.desk_play import D
from tests.support.ledger_command import run

READING = [("verify", "loans"), ("replay", "loans"), ("export", "loans"), ("export", "loans", "--format", "dsjson")]


@pytest.mark.parametrize("command", READING)
def test_a_reading_command_makes_no_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """Whether the folder, the URL or the environment is mistyped: a sentence, status 2, and nothing is there after."""
    for where in (("--data", str(tmp_path / "typo")), ("--database", f"sqlite:///{tmp_path}/typo.db")):
        assert run(*command, *where) == 2
        assert f"there is no ledger {tmp_path}/typo" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert run(*command, "--data", ".", "--database", "memory:") == 2


@pytest.mark.parametrize("command", READING)
def test_another_database_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """A file of another program gets no tables of ours."""
    file = tmp_path / "ledger.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE letters (words TEXT)")
    connection.close()
    assert run(*command, "--data", str(tmp_path)) == 2
    assert "has no ledger" in capsys.readouterr().err
    connection = sqlite3.connect(file)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("letters",)]
    connection.close()


@pytest.mark.postgres
def test_an_empty_postgresql_gets_no_tables(postgresql: str) -> None:
    """Whoever only reads learns that there is no ledger, and leaves the database as it was."""
    plain = postgresql.replace("+psycopg", "", 1)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS blank")
        connection.execute("CREATE DATABASE blank")
    url = make_url(postgresql).set(database="blank").render_as_string(hide_password=False)
    with pytest.raises(InvalidInput, match="has no ledger"):
        open_ledger(url, make=False)
    with psycopg.connect(url.replace("+psycopg", "", 1)) as connection:
        found = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert found == (0,)


@pytest.mark.parametrize("command", [*READING, ("import", "loans", "{file}")])
def test_an_empty_file_is_called_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """A ledger that was cut off to nothing is a loss, status 1; it is not taken for a new one and filled again."""
    file, past = tmp_path / "ledger.db", tmp_path / "past.jsonl"
    file.touch()
    past.write_text('{"settings": {"n_features": 3}}')
    assert run(*(word.format(file=past) for word in command), "--data", str(tmp_path)) == 1
    assert capsys.readouterr().err.startswith(f"the database {file} is empty")
    assert file.read_bytes() == b""


def test_a_ledger_without_a_version_is_damaged(path: Path) -> None:
    """One that lost the table of its version is damaged, also for whoever only reads."""
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE evenhand_version")
    connection.close()
    with pytest.raises(DamagedLedger, match="no version"):
        open_ledger(f"sqlite:///{path}", make=False)


def test_a_ledger_that_is_there_is_opened(tmp_path: Path) -> None:
    """With a name that a URL has to quote, too."""
    url = f"sqlite:///{tmp_path}/a%20ledger.db"
    Desk.open(url, "loans", n_features=D).close()
    ledger = open_ledger(url, make=False)
    assert ledger.names() == ["loans"]
    ledger.close()
    assert run("verify", "loans", "--database", url) == 0
