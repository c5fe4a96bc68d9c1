"""After its start a service verifies the ledgers of its desks and shows the result."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from evenhand.desk import Desk, open_ledger
from evenhand.ledger.event import Row
from evenhand.ledger.verify import Chain
from evenhand.service import ServiceSettings
from evenhand.service.verification import PENDING, VERIFIED, Verification
from tests.support.desk_play import QUICK, play
from tests.support.running_service import ADMIN, MEMORY, running
from tests.support.tampering import tampered
from tests.support.waiting import wait_for

HEADERS = {"Authorization": f"Bearer {ADMIN}"}


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread rests many times as long as it worked; on a busy machine that may be a minute."""
    monkeypatch.setattr("evenhand.service.verification.REST", 0.0)


@pytest.fixture
def settings(tmp_path: Path) -> ServiceSettings:
    """A database with a desk that has played some days."""
    with Desk.open(f"sqlite:///{tmp_path}/ledger.db", "loans", **QUICK, seed=1) as desk:
        play(desk, 3)
    return replace(MEMORY, database_url=f"sqlite:///{tmp_path}/ledger.db")


def result_of(url: str, desk: str) -> str:
    """The result for a desk, once there is one."""

    def result() -> str | None:
        answer = httpx.get(f"{url}/api/desks/{desk}", headers=HEADERS, timeout=60)
        assert answer.status_code == 200, answer.text
        found = str(answer.json()["ledger"])
        return None if found == PENDING else found

    return str(wait_for(result, what="a result", pause=0.02))


def test_an_intact_ledger_is_logged_as_checked(settings: ServiceSettings, caplog: pytest.LogCaptureFixture) -> None:
    """Also that of a desk that is opened later."""
    with caplog.at_level(logging.INFO, "evenhand.service.verification"), running(settings) as (url, _):
        assert result_of(url, "loans") == "checked"
        opened = httpx.post(f"{url}/api/desks", json={"name": "more", "n_features": 2}, headers=HEADERS, timeout=60)
        assert opened.status_code == 201
        assert result_of(url, "more") == "checked"
    messages = [record.getMessage() for record in caplog.records]
    assert [message.split(":")[0] for message in messages] == ["ledger verified"] * 2


def test_an_old_line_that_was_changed_is_found(
    settings: ServiceSettings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A line from before the snapshot, which opening does not read: the desk and the log name it."""
    tampered(tmp_path / "ledger.db", "UPDATE events SET text = replace(text, '0.', '1.') WHERE seq = 3")
    with caplog.at_level(logging.INFO, "evenhand.service.verification"), running(settings) as (url, _):
        assert result_of(url, "loans") == "damaged at event 3"
    (message,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert "event 3 of desk 'loans' was changed" in message


@pytest.mark.parametrize("value", ["CAST(x'7bff7d' AS TEXT)", "CAST(text AS BLOB)"])
def test_a_line_that_is_no_text_is_found(settings: ServiceSettings, tmp_path: Path, value: str) -> None:
    """The desk names it, and other desks are checked after it."""
    tampered(tmp_path / "ledger.db", f"UPDATE events SET text = {value} WHERE seq = 3")
    with running(settings) as (url, _):
        assert result_of(url, "loans") == "damaged at event 3"
        opened = httpx.post(f"{url}/api/desks", json={"name": "more", "n_features": 2}, headers=HEADERS, timeout=60)
        assert opened.status_code == 201
        assert result_of(url, "more") == "checked"


def test_verification_goes_on_after_any_error(settings: ServiceSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread survives an unexpected error and tries again."""
    errors, add = [TypeError("of a kind nobody thought of")], Chain.add

    def failing(self: Chain, row: Row) -> None:
        if errors:
            raise errors.pop()
        add(self, row)

    monkeypatch.setattr(Chain, "add", failing)
    monkeypatch.setattr("evenhand.service.verification.RETRY_SECONDS", 0.01)
    ledger = open_ledger(settings.database_url)
    verification = Verification(ledger)
    wait_for(lambda: verification.result("loans") == VERIFIED)
    verification.stop()
    ledger.close()
    assert errors == []


@pytest.mark.parametrize("value", ["replace(text, ':', ': ')", "CAST(x'7bff7d' AS TEXT)", "CAST(text AS BLOB)"])
def test_a_desk_whose_newest_lines_were_changed_is_not_served(
    settings: ServiceSettings, tmp_path: Path, value: str
) -> None:
    """Opening it is refused with a problem that says so."""
    last = "(SELECT max(seq) FROM events)"
    tampered(tmp_path / "ledger.db", f"UPDATE events SET text = {value} WHERE seq = {last}")
    with running(settings) as (url, _):
        answer = httpx.get(f"{url}/api/desks/loans", headers=HEADERS, timeout=60)
    assert answer.status_code == 500
    assert answer.json()["type"].endswith(":damaged")
    assert "evenhand ledger verify" in answer.json()["detail"]
