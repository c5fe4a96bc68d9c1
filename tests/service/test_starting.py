"""A service that cannot start says why in a sentence."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from evenhand.desk import Desk
from evenhand.desk.fold import Fold
from evenhand.errors import DamagedLedger, EvenhandError
from evenhand.service import Settings, create_app
from tests.service.asking import ADMIN


async def failure_of(settings: Settings) -> str:
    """What the server is told when the application cannot start."""
    told: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        told.append(message)

    with pytest.raises(EvenhandError):
        await create_app(settings)({"type": "lifespan", "state": {}}, receive, send)
    (message,) = told
    assert message["type"] == "lifespan.startup.failed"
    return str(message["message"])


def test_a_start_that_fails_is_told_in_a_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One line that says what is wrong; the traceback is there for whoever asks for the level debug."""
    (tmp_path / "ledger.db").write_bytes(b"this is no database " * 500)
    with caplog.at_level(logging.DEBUG, "evenhand.service.starting"):
        said = asyncio.run(failure_of(Settings(database_url=f"sqlite:///{tmp_path}/ledger.db", admin_token=ADMIN)))
    assert said.startswith("the service cannot start: the database was damaged")
    assert "\n" not in said
    assert "Traceback" not in said
    traces = [record for record in caplog.records if record.exc_info]
    assert [record.levelno for record in traces] == [logging.DEBUG]


def test_a_folder_that_fails_logs_a_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A desk whose ledger cannot be folded says why, without a traceback above the level debug."""

    def damaged(*_: Any, **__: Any) -> None:
        raise DamagedLedger("line 2 of the ledger cannot be read; verify it")

    with Desk.open(f"sqlite:///{tmp_path}/ledger.db", "loans", n_features=2) as desk:
        desk.decide([[0.1, 0.2], [0.3, 0.4]])
        monkeypatch.setattr(Fold, "advance", damaged)
        with caplog.at_level(logging.INFO, "evenhand.desk.folding"):
            desk.fold_in_background()
            while not caplog.records:
                assert desk._folder is not None
                desk._folder.join(0.02)
    assert "line 2 of the ledger cannot be read" in caplog.records[0].getMessage()
    assert not any(record.exc_info for record in caplog.records)
