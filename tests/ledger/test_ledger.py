"""The contract of ledgers, over SQLite in memory, an SQLite file, and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Pool, event

from evenhand.desk import Ledger, open_ledger
from evenhand.errors import LedgerUnavailable
from evenhand.ledger.engine import _empty_ledger
from evenhand.testing.ledger import LedgerContract, desk_with


class TestInMemory(LedgerContract):
    """SQLite in memory."""

    @pytest.fixture
    def ledger(self) -> Iterator[Ledger]:
        """A new one for each test."""
        opened = open_ledger("memory:")
        yield opened
        opened.close()


class TestFile(LedgerContract):
    """An SQLite file."""

    @pytest.fixture
    def ledger(self, tmp_path: Path) -> Iterator[Ledger]:
        """A new one for each test."""
        opened = open_ledger(f"sqlite:///{tmp_path}/ledger.db")
        yield opened
        opened.close()


@pytest.mark.postgres
@pytest.mark.smoke
class TestPostgreSQL(LedgerContract):
    """A real PostgreSQL."""

    @pytest.fixture
    def ledger(self, postgresql: str) -> Iterator[Ledger]:
        """One database for all tests."""
        opened = open_ledger(postgresql)
        yield opened
        opened.close()


def test_ledgers_in_memory_are_separate() -> None:
    """Each has its own desks, by either name of the URL."""
    first, second = open_ledger("memory:"), open_ledger("sqlite://")
    desk_with(first, "loans")
    assert (first.names(), second.names()) == (["loans"], [])
    first.close()
    second.close()


def test_ledgers_leave_no_connection_open() -> None:
    """Each that was opened is closed with its ledger, the one that made the tables included."""
    opened, closed = list[object](), list[object]()

    def count_opened(connection: object, record: object) -> None:
        opened.append(connection)

    def count_closed(connection: object, record: object) -> None:
        closed.append(connection)

    event.listen(Pool, "connect", count_opened)
    event.listen(Pool, "close", count_closed)
    _empty_ledger.cache_clear()
    try:
        open_ledger("memory:").close()
    finally:
        event.remove(Pool, "connect", count_opened)
        event.remove(Pool, "close", count_closed)
    assert len(opened) == 2
    assert set(map(id, closed)) == set(map(id, opened))


@pytest.mark.postgres
def test_a_database_that_cannot_be_written_says_so(postgresql: str) -> None:
    """A PostgreSQL that only reads, as a standby does: what is there is read, and writing is refused."""
    ledger = open_ledger(postgresql)
    desk_with(ledger, "read-only")
    ledger.close()
    sign = "&" if "?" in postgresql else "?"
    reading = open_ledger(f"{postgresql}{sign}options=-c%20default_transaction_read_only%3Don")
    try:
        assert "read-only" in reading.names()
        with pytest.raises(LedgerUnavailable, match="cannot be used now"):
            reading.check_writable()
    finally:
        reading.close()
