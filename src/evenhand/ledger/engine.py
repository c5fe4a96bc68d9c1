"""Connections to a ledger's database: how each kind is opened, and what its errors mean."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from evenhand.errors import DamagedLedger, EvenhandError, InvalidInput, LedgerUnavailable, MissingExtra
from evenhand.ledger.database_file import DatabaseFile

WAIT = 30.0
"""Seconds to wait for another process to finish writing."""

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

PRAGMAS = (
    "PRAGMA page_size = 8192",  # two decisions of ten candidates a page; only a new file takes it
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # a commit is on disk when it returns
    "PRAGMA cache_size = -65536",
    "PRAGMA wal_autocheckpoint = 4000",  # pages; as a rule `checkpoints` is there before
)


PATIENCE = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
"""How long a silent PostgreSQL is waited for, unless the URL says otherwise. A machine that vanishes closes no
connection: without these a request would hang for minutes instead of being told to come again."""

OF_SESSION = {
    "lock_timeout": f"{WAIT:g}s",
    "idle_in_transaction_session_timeout": "5min",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
"""The same for the server's end: what a process held that vanished in the middle of something falls free."""

SESSION = "SELECT " + ", ".join(f"set_config('{name}', '{value}', false)" for name, value in OF_SESSION.items())
DURABLE = (  # a commit is on disk when it returns; what is stricter stays
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)


def open_engine(url: str, *, make: bool = True, reads: bool = False) -> Engine:
    """An engine for a URL; SQLite with a write-ahead log, one fsync a commit, and transactions that begin when told.

    make: False for whoever needs a database that is there: SQLite makes none then. reads: see `DatabaseFile`.
    """
    parsed = _parsed(url)
    if parsed.get_backend_name() == "postgresql":
        return _postgresql(parsed.set(drivername="postgresql+psycopg"))
    if parsed.get_backend_name() != "sqlite":
        raise InvalidInput(f"{parsed.get_backend_name()} is no kind of database a ledger can be in; use PostgreSQL")
    file = _file(parsed)
    if not make and not file.is_file():
        raise InvalidInput(f"there is no ledger {file}")
    if not make:
        refuse_empty(url)
    return _sqlite(parsed, DatabaseFile(file, make=make, reads=reads))


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except ArgumentError:
        raise InvalidInput(
            f"{url!r} is no database; allowed are memory:, sqlite:///PATH, postgresql+psycopg://..."
        ) from None


def _file(url: URL) -> Path:
    """The file of an SQLite database."""
    if url.database in (None, "", ":memory:"):
        raise InvalidInput("an SQLite ledger needs a file; for a ledger in memory the URL is memory:")
    return Path(str(url.database)).resolve()


def refuse_empty(url: str) -> None:
    """DamagedLedger if the file of an SQLite database is empty, which one that was ever used is not."""
    if url == "memory:" or (parsed := _parsed(url)).get_backend_name() != "sqlite":
        return
    file = _file(parsed)
    if file.is_file() and file.stat().st_size == 0:
        raise DamagedLedger(
            f"the database {file} is empty: all that was in it is lost, or it was never begun; restore it from a "
            "backup, or remove the file to begin anew"
        )


def _postgresql(url: URL) -> Engine:
    try:
        # psycopg prepares a statement once it was sent five times; a broken connection shows before it is used.
        arguments = {name: value for name, value in PATIENCE.items() if name not in url.query}
        engine = create_engine(url, pool_size=8, max_overflow=24, pool_pre_ping=True, connect_args=arguments)
    except (ImportError, NoSuchModuleError):
        raise MissingExtra("PostgreSQL needs psycopg: pip install 'evenhand[postgres]'") from None

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        connection.autocommit = True  # what is set in a transaction goes when it is rolled back
        connection.execute(SESSION)
        connection.execute(DURABLE)
        connection.autocommit = False

    return engine


def _sqlite(url: URL, file: DatabaseFile) -> Engine:
    if not file.path.parent.is_dir():
        raise InvalidInput(f"there is no folder {file.path.parent} to keep a ledger in")
    engine = create_engine(url, pool_size=8, max_overflow=24, connect_args={"timeout": WAIT})
    _files[engine] = file

    @event.listens_for(engine, "do_connect")
    def _connecting(dialect: Any, record: Any, arguments: Any, named: dict[str, Any]) -> sqlite3.Connection:
        return file.connect(**named)

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # the driver would begin by itself, and too late
        try:
            for pragma in () if file.is_read_only else PRAGMAS:
                connection.execute(pragma)
            file.connected(connection, record)
        except BaseException:
            connection.close()  # nobody else would
            raise

    @event.listens_for(engine, "close")
    def _closing(connection: Any, record: Any) -> None:
        file.closing(record)

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get("evenhand_writes", False)
        driver: Any = connection.connection.driver_connection
        driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


_files: WeakKeyDictionary[Engine, DatabaseFile] = WeakKeyDictionary()
"""The file of each engine that is SQLite's."""


def file_of(engine: Engine) -> DatabaseFile:
    """The file of an SQLite database."""
    return _files[engine]


@contextmanager
def transaction(engine: Engine, *, writes: bool) -> Iterator[Connection]:
    """A connection within one transaction; what goes wrong with the database comes out as an EvenhandError.

    SQLite's file is looked for before, and after a commit once more: what went into one that was removed or replaced
    is not acknowledged. Not written it is, if the file was gone at the first look; if it went in between, it may be
    found in the file when that is put back, as after a connection that broke during a commit.
    """
    file = _files.get(engine)
    turn = turn_to_write(engine) if writes and file is not None else nullcontext()
    with translated(), turn, engine.connect() as connection:
        if file is not None:
            file.check()
        if writes:
            connection.execution_options(evenhand_writes=True)
        with connection.begin():
            yield connection
        if writes and file is not None:
            file.check()


_writers: WeakKeyDictionary[Engine, threading.Lock] = WeakKeyDictionary()


@contextmanager
def turn_to_write(engine: Engine) -> Iterator[None]:
    """One thread after the other: left to SQLite, a thread that finds the file locked sleeps longer than need be."""
    lock = _writers.setdefault(engine, threading.Lock())
    if not lock.acquire(timeout=WAIT):
        raise LedgerUnavailable(f"another thread has been writing for {WAIT:g} seconds; nothing was written")
    try:
        yield
    finally:
        lock.release()


@contextmanager
def translated() -> Iterator[None]:
    """Errors of the database as sentences."""
    try:
        yield
    except (EvenhandError, IntegrityError, DataError, sqlite3.IntegrityError):  # but for the first: evenhand is wrong
        raise
    except DBAPIError as error:
        told = _as_sentence(error.orig if error.orig is not None else error)
        raise told from None if is_undecodable(error.orig) else error
    except (SQLAlchemyError, OSError, sqlite3.Error) as error:
        raise _as_sentence(error) from None if is_undecodable(error) else error


def is_undecodable(error: BaseException | None) -> bool:
    """Whether SQLite's driver found a text that is no UTF-8; its words quote the whole of it."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode to UTF-8")


def _as_sentence(error: BaseException) -> EvenhandError:
    if is_undecodable(error):
        return DamagedLedger("the database was damaged: it has a text that is no UTF-8; verify the ledger")
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    shown = " ".join(str(error).split())
    if code in DAMAGED:
        return DamagedLedger(f"the database was damaged ({shown}); restore it from a backup, then verify the ledger")
    if code == sqlite3.SQLITE_FULL:
        return LedgerUnavailable(f"nothing was written: the disk is full ({shown}); what was acknowledged is safe")
    return LedgerUnavailable(
        f"the database cannot be used now ({shown}); what was acknowledged is safe, what was not may be sent again"
    )
