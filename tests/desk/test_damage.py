"""Tampering, truncation, a full disk, a database that goes away: found out, said, and nothing acknowledged lost."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Decide, Desk, Ledger, open_ledger
from evenhand.desk.event import chained
from evenhand.desk.sql_ledger import SqlLedger
from evenhand.desk.verify import verify
from evenhand.errors import DamagedLedger, EvenhandError, InvalidInput, LedgerUnavailable, NewerFile
from tests.desk.conftest import running_postgresql
from tests.desk.play import D, done, people, play


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An SQLite file with a desk that has played some days."""
    file = tmp_path / "ledger.db"
    with Desk.open(f"sqlite:///{file}", "loans", n_features=D, seed=1) as desk:
        play(desk, 3)
    return file


def tampered(file: Path, *statements: str) -> None:
    """What somebody with a database tool could do, triggers removed."""
    connection = sqlite3.connect(file)
    for trigger in ("events_no_update", "events_no_delete"):
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("UPDATE events SET text = replace(text, 'person 0', 'person O') WHERE seq = 5", 5),
        ("UPDATE events SET text = replace(text, '0.', '1.') WHERE seq = 3", 3),
        ("UPDATE events SET text = 'nonsense' WHERE seq = 7", 7),
        ("UPDATE events SET hash = previous WHERE seq = 6", 6),
        ("UPDATE events SET previous = hash WHERE seq = 6", 6),
        ("UPDATE events SET target = NULL WHERE seq = 4", 4),
        ("UPDATE events SET number = 99 WHERE seq = 2", 2),
        ("UPDATE events SET kind = 'outcome' WHERE seq = 2", 2),
        ("UPDATE events SET id = 'dec_0' WHERE seq = 2", 2),
        ("UPDATE events SET undoes = 3 WHERE seq = 5", 5),
        ("DELETE FROM events WHERE seq = 5", 5),
        ("DELETE FROM events WHERE seq > 8", None),
        ("UPDATE events SET seq = seq + 100 WHERE seq = 3", 3),
        ("UPDATE desks SET decisions = decisions + 1", None),
        ("UPDATE desks SET seq = seq - 1", None),
    ],
)
def test_any_change_is_found(path: Path, statement: str, line: int | None) -> None:
    """verify names the line that was changed, whichever column it was."""
    tampered(path, statement)
    ledger = open_ledger(f"sqlite:///{path}")
    try:
        with pytest.raises(DamagedLedger) as raised:
            verify(ledger, "loans")
    finally:
        ledger.close()
    if line is not None:
        assert f"line {line} " in str(raised.value)


def test_a_ledger_written_anew_is_found_by_a_noted_line(path: Path) -> None:
    """Somebody who chains everything again passes, but not whoever noted a hash before."""
    ledger = open_ledger(f"sqlite:///{path}")
    noted = verify(ledger, "loans")
    with ledger.reading("loans") as view:
        rows = view.after(0, 1000)
    ledger.close()
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER events_no_update")
    previous = rows[0].previous
    for row in rows:
        text = row.text.replace("person 0", "person O")
        digest = chained(previous, text)
        connection.execute(
            "UPDATE events SET text = ?, previous = ?, hash = ? WHERE seq = ?", (text, previous, digest, row.seq)
        )
        previous = digest
    connection.execute("UPDATE desks SET hash = ?", (previous,))
    connection.commit()
    connection.close()
    ledger = open_ledger(f"sqlite:///{path}")
    try:
        assert verify(ledger, "loans").seq == noted.seq
        with pytest.raises(DamagedLedger):
            verify(ledger, "loans", known=(noted.seq, noted.hash))
        with pytest.raises(DamagedLedger):
            verify(ledger, "loans", known=(noted.seq + 1, noted.hash))
    finally:
        ledger.close()


def test_the_database_itself_refuses_changes(durable_url: str, name: str) -> None:
    """Rows of the ledger can be neither changed nor removed, short of removing the triggers."""
    with Desk.open(durable_url, name, n_features=D) as desk:
        done(desk.execute([Decide(people(np.random.default_rng(0)))]))
        assert isinstance(desk.ledger, SqlLedger)
        for statement in ("UPDATE events SET kind = 'x'", "DELETE FROM events"):
            with pytest.raises(Exception, match="append-only"), desk.ledger.transaction(writes=True) as connection:
                connection.exec_driver_sql(statement)
        assert verify(desk.ledger, name).seq == 2


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.95])
def test_a_truncated_file_is_told(path: Path, share: float) -> None:
    """Whatever is left of the file: a sentence, no traceback of the database, and never a silent loss."""
    ledger = open_ledger(f"sqlite:///{path}")
    whole = verify(ledger, "loans")
    ledger.close()
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    try:
        ledger = open_ledger(f"sqlite:///{path}")
    except (DamagedLedger, LedgerUnavailable):
        return
    try:
        with pytest.raises(EvenhandError):
            verify(ledger, "loans", known=(whole.seq, whole.hash))
    finally:
        ledger.close()


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    """Also a folder that is not there, and a URL of something else."""
    file = tmp_path / "letter.txt"
    file.write_text("Dear Sir or Madam, " * 100)
    with pytest.raises(DamagedLedger, match="damaged"):
        open_ledger(f"sqlite:///{file}")
    with pytest.raises(InvalidInput, match="folder"):
        open_ledger(f"sqlite:///{tmp_path}/nowhere/ledger.db")
    for url in ("sqlite://", "mysql://localhost/x", "nonsense"):
        with pytest.raises(InvalidInput):
            open_ledger(url)


def test_a_newer_database_is_told(path: Path) -> None:
    """Tables of a later version are not touched."""
    tampered(path, "UPDATE evenhand_version SET version_num = '9999'")
    with pytest.raises(NewerFile, match="9999"):
        open_ledger(f"sqlite:///{path}")


def test_a_full_disk_loses_nothing(path: Path) -> None:
    """When there is no room the batch is refused with a sentence; when there is room again, it goes on."""
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        assert isinstance(desk.ledger, SqlLedger)
        limit(desk.ledger, 0)
        before, acknowledged, refused = desk.head.seq, 0, None
        rng = np.random.default_rng(0)
        for _ in range(400):
            try:
                acknowledged += len(done(desk.execute([Decide(people(rng)) for _ in range(8)])))
            except LedgerUnavailable as error:
                refused = error
                break
        assert refused is not None
        assert "disk is full" in str(refused)
        assert verify(desk.ledger, "loans").seq == before + acknowledged
        limit(desk.ledger, 1 << 30)
        done(desk.execute([Decide(people(rng))]))
        assert verify(desk.ledger, "loans").seq == before + acknowledged + 1


def limit(ledger: SqlLedger, pages: int) -> None:
    """Let the database grow no further than so many pages, or not at all: as a full disk does."""
    from sqlalchemy import event

    ledger.engine.dispose()

    @event.listens_for(ledger.engine, "connect")
    def _limited(connection: Any, record: Any) -> None:
        (now,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {max(pages, now)}")


def test_a_database_that_goes_away_and_comes_back() -> None:
    """While PostgreSQL is down every command is refused with a sentence; afterwards the desk goes on by itself."""
    rng = np.random.default_rng(0)
    with running_postgresql() as server:
        url = re.sub("^postgresql", "postgresql+psycopg", server.get_uri())
        with Desk.open(url, "loans", n_features=D, seed=1) as desk:
            desk.fold_in_background()
            play(desk, 2)
            last = verify(desk.ledger, "loans")
            stopped(server)
            with pytest.raises(LedgerUnavailable, match="acknowledged is safe"):
                desk.execute([Decide(people(rng), idempotency_key="again")])
            started(server)
            (event,) = done(desk.execute([Decide(people(np.random.default_rng(0)), idempotency_key="again")]))
            assert event.seq == last.seq + 1
            desk.fold(wait=True)
            assert desk.state.seq == desk.head.seq
            assert verify(desk.ledger, "loans", known=(last.seq, last.hash)).seq == last.seq + 1


def stopped(server: Any) -> None:
    """Stop a server at once, as when its machine fails."""
    pid = server.get_pid()
    os.kill(pid, signal.SIGQUIT)
    end = time.monotonic() + 20
    while (server.pgdata / "postmaster.pid").exists():
        assert time.monotonic() < end
        time.sleep(0.05)


def started(server: Any) -> None:
    """Start it again; on a busy machine it may take more than one try."""
    for _ in range(5):
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.ensure_postgres_running()
            return


def test_opening_is_cheap_to_get_wrong(ledger: Ledger, name: str) -> None:
    """A desk that cannot be opened leaves no desk behind."""
    with pytest.raises(InvalidInput):
        Desk.open(ledger, name, n_features=D, capacity=-1)
    assert name not in ledger.names()
