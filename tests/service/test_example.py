"""The example drives a running service."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.running_service import ADMIN, Asking

EXAMPLE = Path(__file__).parents[2] / "examples" / "lending_desk.py"


def test_the_lending_desk_runs_and_its_ledger_records_it(ask: Asking) -> None:
    """Every day of the example is a decision and a review in the ledger."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        env={**os.environ, "EVENHAND_ADMIN_TOKEN": ADMIN, "EVENHAND_URL": ask.url, "EVENHAND_DAYS": "5"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "day   5" in done.stdout
    (desk,) = [name for name in ask("GET", "/api/desks").json()["desks"] if name.startswith("loans-")]
    events = ask("GET", f"/api/desks/{desk}/events").json()["events"]
    assert [event["kind"] for event in events].count("decision") == 5
    assert [event["kind"] for event in events].count("review") == 5


def test_without_a_service_it_says_what_to_do() -> None:
    """Nobody at the address: one sentence, no trace."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        env={**os.environ, "EVENHAND_URL": "http://127.0.0.1:1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "start a service first" in done.stderr
    assert "Traceback" not in done.stderr
