"""No worker outlives the process that started it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from evenhand.service.serve import listen
from evenhand.service.shutdown import end_with_parent
from tests.support.processes import started


def below(process: int) -> list[int]:
    """All processes that a process started, and those that they did."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except FileNotFoundError:
        return []
    return [found for child in map(int, children) for found in (child, *below(child))]


def command_of(process: int) -> str:
    """What it runs; nothing once it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    except (FileNotFoundError, ProcessLookupError):
        return ""


@pytest.mark.process
def test_workers_end_when_who_started_them_is_killed(tmp_path: Path) -> None:
    """SIGKILL of the first process: workers end by themselves, and the port is free again."""
    with started(f"sqlite:///{tmp_path}/ledger.db", tmp_path, "--workers", "2") as service:
        assert service.process is not None
        until = time.monotonic() + 60
        while sum("spawn_main" in command_of(each) for each in below(service.process.pid)) < 2:
            assert time.monotonic() < until, "the workers did not start"
            time.sleep(0.05)
        all_of_it = below(service.process.pid)
        service.kill("parent")
        while any(command_of(each) for each in all_of_it):
            assert time.monotonic() < until, [command_of(each) for each in all_of_it]
            time.sleep(0.05)
        listen("127.0.0.1", service.port).close()


def test_a_process_that_nobody_started_waits_for_nobody() -> None:
    """The application of a worker can be made anywhere."""
    end_with_parent()
    assert "evenhand-parent" not in [thread.name for thread in threading.enumerate()]
