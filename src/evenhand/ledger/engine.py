"""Engines of a ledger's database: how each kind is opened.

SQL is written for SQLite, with `?` for values and INDEXED BY; for PostgreSQL it is translated when it is executed.
"""

from __future__ import annotations

import re
import sqlite3
import time
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, StaticPool, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from evenhand.errors import DamagedLedger, InvalidInput, MissingExtra
from evenhand.ledger.transaction import WAIT, DatabaseFile, begin, files

PRAGMAS = (
    "PRAGMA page_size = 8192",  # two decisions of ten candidates a page; only a new file takes it
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # a commit is on disk when it returns
    "PRAGMA cache_size = -8192",  # kibibytes of each of up to 32 connections, which stay filled; the system caches too
    "PRAGMA wal_autocheckpoint = 1000",  # pages
    "PRAGMA secure_delete = ON",  # deleted content is overwritten: people can be erased
)

LOCKED_PAUSE = 0.01
"""Seconds until a file that was locked is tried again."""

CONNECT_TIMEOUTS = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
"""How long to wait for a silent PostgreSQL, unless the URL says otherwise. A machine that vanishes closes no
connection: without these a request would hang for minutes."""

SESSION_SETTINGS = {
    "lock_timeout": f"{WAIT:g}s",
    "idle_in_transaction_session_timeout": "5min",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
"""The same for the server's end: locks of a process that vanished are released."""

SET_SESSION = "SELECT " + ", ".join(
    f"set_config('{name}', '{value}', false)" for name, value in SESSION_SETTINGS.items()
)
SET_DURABLE = (  # a commit is on disk when it returns; anything stricter stays
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)


def open_engine(url: str, *, make: bool = True, reads: bool = False) -> Engine:
    """An engine for a URL; SQLite with a write-ahead log and one fsync a commit.

    make: False to open only a database that exists. reads: see `DatabaseFile`.
    """
    parsed = _parse(url)
    backend = parsed.get_backend_name()
    if backend == "postgresql":
        return _postgresql(parsed.set(drivername="postgresql+psycopg"))
    if backend != "sqlite":
        raise InvalidInput(f"database must be SQLite or PostgreSQL, got {backend}")
    file = _file(parsed)
    if file is None and not make:
        raise InvalidInput("a ledger in memory belongs to the process that made it; name a database")
    if file is None:
        return _sqlite_in_memory()
    if file.is_dir():
        raise InvalidInput(f"database must be a file, got the folder {file}")
    if not make and not file.is_file():
        raise InvalidInput(f"there is no ledger {file}")
    if not make:
        refuse_empty(url)
    return _sqlite(parsed, DatabaseFile(file, make=make, reads=reads))


def _parse(url: str) -> URL:
    try:
        return make_url("sqlite://" if url == "memory:" else url)
    except ArgumentError:
        raise InvalidInput(
            f"database must be memory:, sqlite:///PATH or postgresql+psycopg://..., got {url!r}"
        ) from None


def _file(url: URL) -> Path | None:
    """The file of an SQLite database; None if it is in memory."""
    return None if url.database in (None, "", ":memory:") else Path(str(url.database)).resolve()


def file_of(url: str) -> Path | None:
    """The file of the database at a URL; None if it is not in a file of SQLite."""
    parsed = _parse(url)
    return _file(parsed) if parsed.get_backend_name() == "sqlite" else None


def refuse_empty(url: str) -> None:
    """DamagedLedger if the file of an SQLite database is empty, which one that was ever used is not."""
    file = file_of(url)
    if file is not None and file.is_file() and file.stat().st_size == 0:
        raise DamagedLedger(
            f"the database {file} is empty: its content is lost, or it was never begun; restore it from a backup, or "
            "remove the file to begin anew"
        )


def _postgresql(url: URL) -> Engine:
    try:
        # psycopg prepares a statement once it was sent five times; pre_ping finds broken connections.
        arguments = {name: value for name, value in CONNECT_TIMEOUTS.items() if name not in url.query}
        engine = create_engine(url, pool_size=8, max_overflow=24, pool_pre_ping=True, connect_args=arguments)
    except (ImportError, NoSuchModuleError):
        raise MissingExtra("PostgreSQL needs psycopg: pip install 'evenhand[postgres]'") from None

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        connection.autocommit = True  # what is set in a transaction is lost when it is rolled back
        connection.execute(SET_SESSION)
        connection.execute(SET_DURABLE)
        connection.autocommit = False

    @event.listens_for(engine, "before_cursor_execute", retval=True)
    def _executing(connection: Any, cursor: Any, statement: str, values: Any, *rest: Any) -> tuple[str, Any]:
        return for_postgresql(statement), values

    return engine


@lru_cache
def for_postgresql(statement: str) -> str:
    """A statement with PostgreSQL's placeholders; it chooses indexes by itself.

    >>> for_postgresql("SELECT seq FROM events INDEXED BY events_id WHERE desk = ?")
    'SELECT seq FROM events WHERE desk = %s'
    """
    return re.sub(r" INDEXED BY \w+", "", statement).replace("?", "%s")


def _sqlite(url: URL, file: DatabaseFile) -> Engine:
    if not file.path.parent.is_dir():
        raise InvalidInput(f"there is no folder {file.path.parent} to keep a ledger in")
    engine = create_engine(url, pool_size=8, max_overflow=24, connect_args={"timeout": WAIT})
    files[engine] = file

    @event.listens_for(engine, "do_connect")
    def _connecting(dialect: Any, record: Any, arguments: Any, named: dict[str, Any]) -> sqlite3.Connection:
        return file.connect(**named)

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # the driver would begin transactions by itself, and too late
        try:
            for pragma in () if file.is_read_only else PRAGMAS:
                execute_patiently(connection, pragma)
            file.connected(connection, record)
        except BaseException:
            connection.close()  # nobody else would
            raise

    @event.listens_for(engine, "close")
    def _closing(connection: Any, record: Any) -> None:
        file.closing(record)

    event.listen(engine, "begin", begin)
    return engine


def execute_patiently(connection: sqlite3.Connection, statement: str) -> None:
    """Execute a statement, again and again for `WAIT` seconds while the file is locked.

    Changing to a write-ahead log needs the whole file, and SQLite refuses at once, without its own waiting, if another
    process that opens the same new file does so at the same moment.
    """
    until = time.monotonic() + WAIT
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(LOCKED_PAUSE)


def _sqlite_in_memory() -> Engine:
    """One connection, which all threads take in turn; a copy of a database that has the tables already."""
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        connection.deserialize(_empty_ledger())

    event.listen(engine, "begin", begin)
    return engine


@cache
def _empty_ledger() -> bytes:
    """An SQLite database with the tables of a ledger: copying it takes a thousandth of the time of migrating."""
    from evenhand.ledger.migrate import bring_up_to_date

    engine = create_engine("sqlite://", poolclass=StaticPool)
    try:
        with engine.begin() as connection:
            bring_up_to_date(connection)
        driver: Any = engine.raw_connection().driver_connection
        return bytes(driver.serialize())
    finally:
        engine.dispose()
