"""Keys of the service from its environment: the newest encrypts, any decrypts, and one that is left out does not."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from evenhand.errors import InvalidInput
from evenhand.ledger.ledger import open_ledger
from evenhand.service import ServiceSettings
from tests.support.running_service import ADMIN, MEMORY, candidates, running
from tests.support.waiting import wait_for

OLD, NEW = secrets.token_hex(32), secrets.token_hex(32)
LOANS = "/api/desks/loans"


def shown(settings: ServiceSettings) -> dict[str, Any]:
    """A page of the queue and a pair, as a service with these settings gives them."""
    with running(settings) as (url, _), httpx.Client(base_url=url, timeout=60) as http:
        http.headers["Authorization"] = f"Bearer {ADMIN}"
        if http.get(LOANS).status_code == 404:
            assert http.post("/api/desks", json={"name": "loans", "n_features": 2}).status_code == 201
            for _ in range(2):
                assert http.post(f"{LOANS}/decisions", json=candidates()).status_code == 201
        first = f"{LOANS}/queue?limit=1"
        found = wait_for(lambda: http.get(first).json()["next"], what="two waiting pairs", pause=0.05)
        return {"next": found, "item": http.get(f"{LOANS}/review/next").json()["item"]}


def taken(settings: ServiceSettings, held: dict[str, Any]) -> tuple[bool, bool]:
    """Whether a service with these settings takes what an earlier one gave."""
    with running(settings) as (url, _), httpx.Client(base_url=url, timeout=60) as http:
        http.headers["Authorization"] = f"Bearer {ADMIN}"
        page = http.get(f"{LOANS}/queue", params={"after": held["next"]})
        times = {"started": "2026-11-05T10:00:00Z", "ended": "2026-11-05T10:00:41Z"}
        answer = http.post(f"{LOANS}/review/answers", json={"item": held["item"], "answer": "skip", **times})
        assert {page.status_code, answer.status_code} <= {200, 201, 422}
        return page.status_code == 200, answer.status_code == 201


def test_keys_are_rotated_by_putting_a_new_one_first(tmp_path: Path) -> None:
    """What pages hold outlives the change while the old key is still there, and no longer."""
    settings = replace(MEMORY, database_url=f"sqlite:///{tmp_path}/ledger.db")
    held = shown(replace(settings, keys=OLD))
    assert taken(replace(settings, keys=NEW), held) == (False, False)
    assert taken(settings, held) == (False, False), "the database's own key is another"
    assert taken(replace(settings, keys=f"{NEW},{OLD}"), held) == (True, True)
    newer = shown(replace(settings, keys=f"{NEW}, {OLD}"))
    assert taken(replace(settings, keys=NEW), newer) == (True, True)


def test_a_service_with_keys_keeps_none_in_the_database(tmp_path: Path) -> None:
    """Whoever gets a copy of the database cannot read what pages hold."""
    settings = replace(MEMORY, database_url=f"sqlite:///{tmp_path}/ledger.db", keys=NEW)
    shown(settings)
    ledger = open_ledger(settings.database_url)
    with ledger.transaction() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM service_keys WHERE name = 'review'").scalar() == 0
    ledger.close()


@pytest.mark.parametrize(
    "keys", ["secret", "00" * 31, f"{NEW},short", "zz" * 32], ids=["word", "short", "second", "no"]
)
def test_a_key_that_is_none_is_refused_and_not_quoted(keys: str) -> None:
    """Settings say what a key is, and show none."""
    with pytest.raises(InvalidInput, match="64 hexadecimal digits") as raised:
        ServiceSettings.from_environment({"EVENHAND_KEYS": keys})
    assert keys not in str(raised.value)
    settings = ServiceSettings(keys=NEW)
    assert NEW not in repr(settings)
    assert ServiceSettings.from_environment(settings.to_environment()) == settings
