"""A database that goes away, fills up or is cut off under a service: reported clearly, nothing acknowledged lost."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from evenhand.client import DeskClient
from evenhand.desk import open_ledger
from evenhand.errors import EvenhandError
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.verify import verify
from evenhand.service import ServiceSettings
from tests.support.broken_databases import limit_size, start_server, stop_server
from tests.support.ledgers import running_postgresql
from tests.support.processes import Running, check_ledger, open_desk, started, streams_of, wait_for_answers
from tests.support.running_service import ADMIN, MEMORY, asking, candidates
from tests.support.waiting import wait_for

HEADERS = {"Authorization": f"Bearer {ADMIN}"}
PEOPLE = {"candidates": [{"id": f"p{i}", "context": [i / 4, 0.1, 0.2]} for i in range(3)]}
REQUESTS: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/api/desks/{desk}/decisions", PEOPLE),
    ("POST", "/api/desks/{desk}/decisions/{decision}/outcomes", {"rewards": {"p0": 1.0}}),
    ("POST", "/api/desks/{desk}/decisions/{decision}/reviews", {"kind": "complete"}),
    ("POST", "/api/desks/{desk}/answers", {"x": [0, 0, 0.1], "y": [0, 0.2, 0.1], "gap": 0.1, "unfair": None}),
    ("POST", "/api/desks", {"name": "another", "n_features": 2}),
    ("GET", "/api/desks", None),
    ("GET", "/api/desks/{desk}", None),
    ("GET", "/api/desks/{desk}/decisions/{decision}", None),
    ("GET", "/api/desks/{desk}/events", None),
    ("GET", "/api/desks/{desk}/queue", None),
    ("GET", "/api/desks/never-opened-here", None),
    ("GET", "/ready", None),
)


def check_problem(answer: httpx.Response) -> None:
    """A problem document that says to come back, and nothing of hosts, files or statements."""
    problem = answer.json()
    assert answer.status_code == 503, (answer.request.url.path, problem)
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) >= 1
    assert problem["type"] == "urn:evenhand:problem:unavailable"
    assert not re.search("psycopg|sqlite|SELECT|INSERT|socket|/tmp", problem["detail"])


@pytest.mark.postgres
@pytest.mark.process
@pytest.mark.slow
def test_postgresql_goes_away_under_load_and_comes_back(tmp_path: Path) -> None:
    """Twice: every request meanwhile gets 503, clients that try again go on by themselves, all answered is there."""
    with running_postgresql() as server:
        url = re.sub("^postgresql", "postgresql+psycopg", server.get_uri())
        with started(url, tmp_path) as running:
            open_desk(running, "loans")
            with DeskClient(running.address, ADMIN) as client:
                made = client.decide("loans", PEOPLE["candidates"], key="0-0")
            streams = streams_of([running.address], "loans")
            try:
                for seconds in (0.5, 7.0):  # shorter, and longer, than tokens are believed without being read again
                    wait_for_answers(streams, 20)
                    stop_server(server)
                    time.sleep(seconds)
                    away(running, made["id"])
                    start_server(server)
                    wait_for_answers(streams, 40)
                wait_for_projection(running)
            finally:
                for stream in streams:
                    stream.stop()
            assert "Traceback" not in running.log.read_text()
            running.stop()
            check_ledger(url, "loans", streams)


def away(running: Running, decision: str) -> None:
    """Check the response to every kind of request while the database is away."""
    for method, path, body in REQUESTS:
        filled = running.address + path.format(desk="loans", decision=decision)
        check_problem(httpx.request(method, filled, json=body, headers=HEADERS, timeout=60))
    assert httpx.get(f"{running.address}/health", timeout=60).status_code == 200


def wait_for_projection(running: Running, desk: str = "loans") -> None:
    """Until what is decided from has caught up with the ledger as it is now: the projector goes on, too."""
    with DeskClient(running.address, ADMIN, timeout=60) as client:
        head = client.desk(desk)["events"]
        wait_for(lambda: client.desk(desk)["state"] >= head, what="a projection that is up to date", pause=0.05)


@pytest.fixture
def settings(tmp_path: Path) -> ServiceSettings:
    """A service in this process, on SQLite."""
    return replace(MEMORY, database_url=f"sqlite:///{tmp_path}/ledger.db")


def test_a_full_disk_under_a_service(settings: ServiceSettings) -> None:
    """Changes get 503 while there is no room, looking on works, and with room again it goes on; nothing is lost."""
    with asking(settings) as ask:
        ledger = ask.service.ledger
        assert isinstance(ledger, Ledger)
        limit_size(ledger, 0)
        made = []
        while (answer := ask("POST", "/api/desks/loans/decisions", candidates())).status_code == 201:
            made.append(answer.json())
            assert len(made) < 2_000
        check_problem(answer)
        check_problem(ask("POST", "/api/desks/loans/decisions", candidates(100)))
        for _ in range(2):
            check_problem(refused := ask("GET", "/ready", by="nobody"))
            assert "cannot be written" in refused.json()["detail"]
        assert ask("GET", f"/api/desks/loans/decisions/{made[-1]['id']}").status_code == 200
        limit_size(ledger, 1 << 30)
        assert ask("GET", "/ready", by="nobody").status_code == 200  # nobody has written anything meanwhile
        assert ledger.snapshots("") == []
        made.append(ask.decide())
        assert verify(ledger, "loans").decisions == len(made)
        for decision in made[:: max(1, len(made) // 20)]:
            assert ask("GET", f"/api/desks/loans/decisions/{decision['id']}").status_code == 200


@pytest.mark.parametrize("how", ["moved", "removed", "replaced"])
def test_a_file_taken_away_under_a_service(settings: ServiceSettings, tmp_path: Path, how: str) -> None:
    """Nothing is answered that would be lost: 503 and not ready, before anything was tried, and no file is made.

    With the same file back in its place it goes on by itself.
    """
    file, away = tmp_path / "ledger.db", tmp_path / "away.db"
    with asking(settings) as ask:
        made = [ask.decide()]
        if how == "removed":
            os.link(file, away)
            file.unlink()
        else:
            file.rename(away)
        if how == "replaced":
            file.write_bytes(away.read_bytes())
        check_problem(ask("GET", "/ready", by="nobody"))
        for _ in range(3):
            check_problem(ask("POST", "/api/desks/loans/decisions", candidates()))
            check_problem(ask("GET", "/ready", by="nobody"))
        check_problem(ask("POST", "/api/desks", {"name": "another", "n_features": 2}))
        assert file.exists() == (how == "replaced")
        away.replace(file)
        assert ask("GET", "/ready", by="nobody").status_code == 200
        made.append(ask.decide())
    ledger = open_ledger(settings.database_url)
    assert verify(ledger, "loans").decisions == len(made)
    ledger.close()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_file_cut_off_under_a_service(
    settings: ServiceSettings, tmp_path: Path, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every request is answered right or with a problem document; the next start, or verify, reports what is wrong."""
    # Some connection may be left with a lock on what is no database any more: others say so when they have waited.
    monkeypatch.setattr("evenhand.ledger.engine.WAIT", 2.0)
    file = tmp_path / "ledger.db"
    with asking(settings) as ask:
        for _ in range(30):
            made = ask.decide()
        noted = ask("GET", "/api/desks/loans").json()
        ledger = ask.service.ledger
        assert isinstance(ledger, Ledger)
        ledger.engine.dispose()  # connections that are opened anew have nothing in memory
        empty_log(file)  # a thread that was reading keeps it, and what is cut off would come back from it
        os.truncate(file, int(file.stat().st_size * share))
        for method, path, body in REQUESTS:
            filled = path.format(desk="loans", decision=made["id"])
            answer = ask(method, filled, body)
            if answer.status_code >= 400:
                assert answer.headers["content-type"] == "application/problem+json"
                kind = answer.json()["type"].rsplit(":", 1)[1]
                assert kind in ("damaged", "unavailable", "not-found", "invalid"), answer.json()
        assert ask("GET", "/health").status_code == 200
    with pytest.raises(EvenhandError):
        check_whole(settings.database_url, (noted["events"], noted["head"]))


def empty_log(file: Path) -> None:
    """Put all that SQLite's log holds into its file."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        wait_for(lambda: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0, what="a checkpoint")


def check_whole(url: str, known: tuple[int, str]) -> None:
    """Open a ledger and verify it against a noted line."""
    ledger = open_ledger(url)
    try:
        verify(ledger, "loans", known=known)
    finally:
        ledger.close()
