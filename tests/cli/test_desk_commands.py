"""`evenhand desk live`, `shadow`, `differences` and `forecast`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
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
    assert printed.startswith("In 1 decision the desk and the system in force agree by")
    assert "decision 0  agreement" in printed
    assert run("desk", "differences", "loans", "--json", "--last", "5", *database) == 0
    assert json.loads(capsys.readouterr().out)["compared"] == 1
    assert run("desk", "live", "loans", "--reason", "ready", *database) == 0
    assert "desk loans is live since event 7, from decision 1 on" in capsys.readouterr().out
    assert run("desk", "live", "loans", *database) == 2
    assert "the desk is live already" in capsys.readouterr().err
    assert run("desk", "shadow", "loans", *database) == 0
    assert "desk loans is in shadow mode since event 8, from decision 1 on" in capsys.readouterr().out
    capsys.readouterr()
    assert run("desk", "live", "loan", *database) == 2
    assert capsys.readouterr().err.rstrip().endswith("error: there is no desk 'loan'")
    assert run("ledger", "verify", *database) == run("ledger", "replay", "loans", *database) == 0


def test_a_forecast_is_about_the_desk_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its people, the median number of candidates and the pairs that reviewers are shown; nothing is recorded."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    forecast = ("desk", "forecast", "loans", "--database", url, "--weeks", "2", "--decisions-a-week", "3")
    rng = np.random.default_rng(0)
    with Desk.open(url, "loans", n_features=2, capacity=1, pairs_per_decision=2) as desk:
        assert run(*forecast) == 2
        assert "at least as many people as a decision has candidates, 5, got 0" in capsys.readouterr().err
        for number, k in enumerate((4, 4, 7)):
            people = rng.uniform(-0.7, 0.7, size=(k, 2)).tolist()
            desk.decide([{"id": f"{number}-{i}", "context": context} for i, context in enumerate(people)])
        events = desk.head.seq
        assert run(*forecast, "--worlds", "3") == 0
        assert desk.head.seq == events
    printed = capsys.readouterr().out
    assert "loans, after 3 decisions" in printed
    assert "4 candidates; 3 a week" in printed
    assert "2 of the 6 pairs of a decision" in printed
    assert "15, of the newest decisions" in printed
    assert "of 3 simulated worlds" in printed
