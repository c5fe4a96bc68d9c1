"""Migrations create the tables that the code uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import inspect

from evenhand.desk import Desk, open_ledger
from evenhand.ledger import tables
from evenhand.ledger.migrate import NEWEST


def test_migrations_make_the_tables_in_use(durable_url: str) -> None:
    """Every table in use is in the database with the columns that queries name; the ledger's own are there too."""
    ledger = open_ledger(durable_url)
    with ledger.transaction() as connection:
        inspector = inspect(connection)
        assert {"desks", "events", "snapshots", "waiting_pairs", "signed_heads", "tree_tiles"} <= set(
            inspector.get_table_names()
        )
        used = (tables.tokens, tables.sessions, tables.interview_people, tables.service_keys, tables.lottery_secrets)
        for table in used:
            assert [column["name"] for column in inspector.get_columns(table.name)] == list(table.c.keys())
    ledger.close()


def test_steps_are_numbered_up_to_the_newest() -> None:
    """The newest step is the last file."""
    import evenhand.ledger.migrations as migrations

    steps = sorted(Path(migrations.__file__).parent.glob("versions/v*.py"))
    assert steps[-1].name.startswith(f"v{NEWEST}")


@pytest.mark.process
def test_many_open_a_new_database_at_once(tmp_path: Path) -> None:
    """Processes that open one new file at the same moment all get a ledger, and one desk is made."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    code = f"from evenhand.desk import Desk; Desk.open({url!r}, 'loans', n_features=3, seed=1).close()"
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [process.wait(timeout=60) for process in running] == [0] * 4
    with Desk.open(url, "loans") as desk:
        assert desk.head.seq == 1
        assert "events" in inspect(desk.ledger.engine).get_table_names()


@pytest.mark.process
def test_the_package_does_without_the_desk() -> None:
    """Importing evenhand needs neither SQLAlchemy nor orjson."""
    code = "import sys, evenhand; assert not {'sqlalchemy', 'orjson', 'alembic', 'evenhand.desk'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@pytest.mark.process
@pytest.mark.parametrize("missing", ["sqlalchemy", "orjson"])
def test_a_missing_package_is_named(missing: str) -> None:
    """Without an extra the message says which."""
    code = f"""
import sys
sys.modules[{missing!r}] = None
from evenhand.errors import MissingExtra
try:
    from evenhand.desk import Desk
    Desk.open("memory:", "loans", n_features=2)
except MissingExtra as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "evenhand[desk]" in ran.stdout
