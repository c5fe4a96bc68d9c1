"""Metrics: of some desks only, and of several processes together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.service.metrics import drop_dead_gauges
from tests.support.running_service import Asking


def test_a_token_for_one_desk_sees_no_other(ask: Asking) -> None:
    """An admin of one desk gets its metrics and the service's own; of other desks not even the name."""
    for desk in ("loans", "jobs"):
        ask.decide(desk)
    texts = {by: ask("GET", "/metrics", by=by).text for by in ("local admin", "admin", "metrics")}
    for by, text in texts.items():
        assert "evenhand_requests_total" in text
        assert "evenhand_batch_commands_count" in text
        assert 'evenhand_state_seq{desk="loans"}' in text
        assert ("jobs" in text) == (by != "local admin")


def test_accepted_and_refused_requests_are_counted(ask: Asking) -> None:
    """By operation and status."""
    ask.decide()
    ask("POST", "/api/desks/loans/decisions", {"candidates": []})
    text = ask("GET", "/metrics").text
    assert 'evenhand_requests_total{operation="decide",status="201"} 1.0' in text
    assert 'evenhand_requests_total{operation="decide",status="422"} 1.0' in text


@pytest.mark.process
def test_metrics_of_several_processes_are_separated_too(tmp_path: Path) -> None:
    """With several workers, whose metrics are added up from a folder, it is the same."""
    code = """
from evenhand.service.metrics import Metrics
metrics = Metrics()
metrics.progress({"loans": (5, True), "jobs": (7, False)})
print(metrics.text(("loans",)).decode(), "---", metrics.text(None).decode())
"""
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    of_one, of_all = done.stdout.split("---")
    assert 'evenhand_state_seq{desk="loans"} 5.0' in of_one
    assert "jobs" not in of_one
    assert 'evenhand_state_seq{desk="jobs"} 7.0' in of_all


@pytest.mark.process
def test_gauges_of_processes_that_ended_are_dropped(tmp_path: Path) -> None:
    """How far a process was counts while it lives; counters stay."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    names = [
        f"{kind}_{pid}.db" for kind in ("gauge_livemax", "gauge_livesum", "counter") for pid in (ended.pid, os.getpid())
    ]
    for name in names:
        (tmp_path / name).touch()
    drop_dead_gauges(str(tmp_path))
    left = {path.name for path in tmp_path.iterdir()}
    assert set(names) - left == {f"gauge_livemax_{ended.pid}.db", f"gauge_livesum_{ended.pid}.db"}
