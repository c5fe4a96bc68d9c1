"""The PostgreSQL that these tests run on, and how a ledger uses its connections."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from evenhand.desk import open_ledger
from evenhand.ledger._locks import AdvisoryLocks
from evenhand.ledger.ledger import Ledger
from tests.support.waiting import wait_for


@pytest.mark.postgres
def test_its_data_are_in_a_folder_of_their_own(postgresql: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Another pytest that starts meanwhile may close or clear away whatever lies in pytest's temporary folder."""
    engine = create_engine(postgresql)
    with engine.connect() as connection:
        folder = Path(str(connection.execute(text("SHOW data_directory")).scalar()))
    engine.dispose()
    assert not folder.resolve().is_relative_to(tmp_path_factory.getbasetemp().parent.resolve())


@pytest.mark.postgres
def test_a_process_may_project_any_number_of_desks(postgresql: str, name: str) -> None:
    """Their locks take one connection together, and none of those that read and write."""
    ledger, other = open_ledger(postgresql), open_ledger(postgresql)
    assert isinstance(ledger, Ledger)
    locks = [ledger.projection_lock(f"{name}-{i}") for i in range(40)]
    assert all(lock.acquire() for lock in locks)
    assert ledger.engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    theirs = [other.projection_lock(f"{name}-{i}") for i in range(40)]
    assert not any(lock.acquire() for lock in theirs)
    locks[7].release()
    assert [i for i, lock in enumerate(theirs) if lock.acquire()] == [7]
    ledger.close()
    assert all(lock.acquire() for lock in theirs)
    other.close()


@pytest.mark.postgres
def test_a_session_that_breaks_has_lost_its_locks(postgresql: str, name: str) -> None:
    """Whoever held one finds out when they ask, and gets it again only if nobody else has it."""
    ledger, other = open_ledger(postgresql), open_ledger(postgresql)
    assert isinstance(ledger, Ledger)
    assert isinstance(ledger._locks, AdvisoryLocks)
    mine, second, theirs = (
        ledger.projection_lock(name),
        ledger.projection_lock(f"{name}-2"),
        other.projection_lock(name),
    )
    assert mine.acquire()
    assert second.acquire()
    ledger._locks._connection.close()
    wait_for(theirs.acquire)
    assert not mine.acquire()
    wait_for(second.acquire)  # the server frees the locks of a session one by one
    theirs.release()
    assert mine.acquire()
    ledger.close()
    other.close()


@pytest.mark.postgres
def test_nobody_waits_for_ever(postgresql: str) -> None:
    """Sessions give up locks and dead peers after a while, on both ends, and a commit is on disk when it returns."""
    asleep = create_engine(postgresql)
    with asleep.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ALTER ROLE CURRENT_USER SET synchronous_commit = off"))
    try:
        ledger = open_ledger(postgresql)
        assert isinstance(ledger, Ledger)
        with ledger.transaction() as connection:
            reported = {
                name: connection.execute(text(f"SHOW {name}")).scalar()
                for name in ("lock_timeout", "idle_in_transaction_session_timeout", "synchronous_commit")
            }
            driver = connection.connection.driver_connection
            assert driver is not None
            parameters = driver.info.get_parameters()
        ledger.close()
    finally:
        with asleep.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("ALTER ROLE CURRENT_USER RESET synchronous_commit"))
        asleep.dispose()
    assert reported == {
        "lock_timeout": "30s",
        "idle_in_transaction_session_timeout": "5min",
        "synchronous_commit": "on",
    }
    assert (parameters["keepalives_idle"], parameters["tcp_user_timeout"]) == ("10", "25000")
