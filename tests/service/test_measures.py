"""Measures of several processes: the folder in which they keep their numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.service.measures import forget_the_dead
from tests.support.running_service import MEMORY, asking


@pytest.mark.parametrize("apart", [False, True])
def test_whoever_is_for_one_desk_hears_of_no_other(tmp_path: Path, apart: bool) -> None:
    """An admin of one desk gets its numbers and the service's own; of other desks not even the name."""
    settings = replace(MEMORY, database_url=f"sqlite:///{tmp_path}/ledger.db", apart=apart)
    with asking(settings) as ask:
        for desk in ("loans", "jobs"):
            ask.decide(desk)
        told = {by: ask("GET", "/metrics", by=by).text for by in ("local admin", "admin", "metrics")}
    for by, text in told.items():
        assert "evenhand_requests_total" in text
        assert "evenhand_batch_commands_count" in text
        assert 'evenhand_state_seq{desk="loans"}' in text
        assert ("jobs" in text) == (by != "local admin")


def test_numbers_kept_together_are_told_apart_too(tmp_path: Path) -> None:
    """With several workers, whose numbers are added up from a folder, it is the same."""
    code = """
from evenhand.service.measures import DeskMeasures
measures = DeskMeasures()
measures.standing({"loans": (5, True), "jobs": (7, False)})
print(measures.told(("loans",)).decode(), "---", measures.told(None).decode())
"""
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    of_one, of_all = done.stdout.split("---")
    assert 'evenhand_state_seq{desk="loans"} 5.0' in of_one
    assert "jobs" not in of_one
    assert 'evenhand_state_seq{desk="jobs"} 7.0' in of_all


def test_what_stood_in_processes_that_ended_is_forgotten(tmp_path: Path) -> None:
    """How far an office had come is told as long as it lives; what was counted stays for good."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    names = [
        f"{kind}_{pid}.db" for kind in ("gauge_livemax", "gauge_livesum", "counter") for pid in (ended.pid, os.getpid())
    ]
    for name in names:
        (tmp_path / name).touch()
    forget_the_dead(str(tmp_path))
    left = {path.name for path in tmp_path.iterdir()}
    assert set(names) - left == {f"gauge_livemax_{ended.pid}.db", f"gauge_livesum_{ended.pid}.db"}
