"""Databases that fill up, go away and come back."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import Any

from evenhand.desk import Ledger
from tests.support.waiting import wait_for


def limit_size(ledger: Ledger, pages: int) -> None:
    """Let the database grow no further than so many pages, or not at all: as a full disk does."""
    from sqlalchemy import event

    ledger.engine.dispose()

    @event.listens_for(ledger.engine, "connect")
    def _limited(connection: Any, record: Any) -> None:
        (now,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {max(pages, now)}")


def stop_server(server: Any) -> None:
    """Stop a PostgreSQL server at once, as when its machine fails."""
    os.kill(server.get_pid(), signal.SIGQUIT)
    wait_for(lambda: not (server.pgdata / "postmaster.pid").exists(), what="the end of the server")


def start_server(server: Any) -> None:
    """Start it again; on a busy machine it may take more than one try."""
    for _ in range(5):
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.ensure_postgres_running()
            return
    server.ensure_postgres_running()
