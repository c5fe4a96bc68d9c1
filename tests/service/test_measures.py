"""Measures of several processes: the folder in which they keep their numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from evenhand.service.measures import forget_the_dead


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
