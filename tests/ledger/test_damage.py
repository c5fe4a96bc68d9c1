"""Truncation, a full disk, a database that goes away: detected, reported, and nothing acknowledged lost."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from evenhand.desk import Decide, Desk, Ledger, open_ledger
from evenhand.errors import DamagedLedger, EvenhandError, InvalidInput, LedgerUnavailable, NewerFile
from evenhand.ledger.verify import verify
from tests.support.broken_databases import limit_size, start_server, stop_server
from tests.support.desk_play import QUICK, done, people, play
from tests.support.ledgers import running_postgresql
from tests.support.tampering import tampered


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.95])
def test_a_truncated_file_is_reported(path: Path, share: float) -> None:
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


def test_a_file_that_is_no_database_is_reported(tmp_path: Path) -> None:
    """Also a folder that is not there, and a URL of something else."""
    file = tmp_path / "letter.txt"
    file.write_text("Dear Sir or Madam, " * 100)
    with pytest.raises(DamagedLedger, match="damaged"):
        open_ledger(f"sqlite:///{file}")
    with pytest.raises(InvalidInput, match="folder"):
        open_ledger(f"sqlite:///{tmp_path}/nowhere/ledger.db")
    for url in ("mysql://localhost/x", "nonsense"):
        with pytest.raises(InvalidInput):
            open_ledger(url)


def test_a_newer_database_is_reported(path: Path) -> None:
    """Tables of a later version are not touched."""
    tampered(path, "UPDATE evenhand_version SET version_num = '9999'")
    with pytest.raises(NewerFile, match="9999"):
        open_ledger(f"sqlite:///{path}")


def test_a_full_disk_loses_nothing(path: Path) -> None:
    """When there is no room the batch is refused with a sentence; when there is room again, it goes on."""
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        assert isinstance(desk.ledger, Ledger)
        limit_size(desk.ledger, 0)
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
        limit_size(desk.ledger, 1 << 30)
        done(desk.execute([Decide(people(rng))]))
        assert verify(desk.ledger, "loans").seq == before + acknowledged + 1


@pytest.mark.postgres
def test_a_database_that_goes_away_and_comes_back() -> None:
    """While PostgreSQL is down every command is refused with a sentence; afterwards the desk goes on by itself."""
    rng = np.random.default_rng(0)
    with running_postgresql() as server:
        url = re.sub("^postgresql", "postgresql+psycopg", server.get_uri())
        with Desk.open(url, "loans", **QUICK, seed=1) as desk:
            desk.project_in_background()
            play(desk, 2)
            last = verify(desk.ledger, "loans")
            stop_server(server)
            with pytest.raises(LedgerUnavailable, match="acknowledged is safe"):
                desk.execute([Decide(people(rng), idempotency_key="again")])
            start_server(server)
            (event,) = done(desk.execute([Decide(people(np.random.default_rng(0)), idempotency_key="again")]))
            assert event.seq == last.seq + 1
            desk.catch_up(wait=True)
            assert desk.projection.seq == desk.head.seq
            assert verify(desk.ledger, "loans", known=(last.seq, last.hash)).seq == last.seq + 1


def test_opening_is_cheap_to_get_wrong(ledger: Ledger, name: str) -> None:
    """A desk that cannot be opened leaves no desk behind."""
    with pytest.raises(InvalidInput):
        Desk.open(ledger, name, **QUICK, capacity=-1)
    assert name not in ledger.names()
