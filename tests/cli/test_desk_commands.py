"""`evenhand desk live`, `shadow` and `differences`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand.cli.main import main
from evenhand.desk import Desk
from tests.support.shadow_play import SHADOW, one_day


def run(*arguments: str) -> int:
    """The exit status of `evenhand` with these arguments."""
    try:
        return main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)


def test_report_then_live_then_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report in words and as JSON; the switch is an event; a second one is refused."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    with Desk.open(url, "loans", **SHADOW) as desk:
        one_day(desk, 1)
    database = ("--database", url)
    assert run("desk", "differences", "loans", *database) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("In 1 decisions the desk and the system in force agree by")
    assert "decision 0  agreement" in printed
    assert run("desk", "differences", "loans", "--json", "--last", "5", *database) == 0
    assert json.loads(capsys.readouterr().out)["compared"] == 1
    assert run("desk", "live", "loans", "--reason", "ready", *database) == 0
    assert "desk loans is live since event 7, from decision 1 on" in capsys.readouterr().out
    assert run("desk", "live", "loans", *database) == 2
    assert "the desk is live already" in capsys.readouterr().err
    assert run("desk", "shadow", "loans", *database) == 0
    assert "desk loans is in shadow mode since event 8, from decision 1 on" in capsys.readouterr().out
    assert run("ledger", "verify", *database) == run("ledger", "replay", "loans", *database) == 0
