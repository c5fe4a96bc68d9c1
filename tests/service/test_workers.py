"""Several workers: none outlives the process that started them, and a port that nobody serves is not listened on."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest
import uvicorn

from evenhand.service.listening import listen
from evenhand.service.workers import Workers, end_with_parent
from tests.service.processes import started


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


def test_workers_end_when_who_started_them_is_killed(tmp_path: Path) -> None:
    """SIGKILL of the first process: workers and offices end by themselves, and the port is free again."""
    with started(f"sqlite:///{tmp_path}/ledger.db", tmp_path, "--workers", "2") as service:
        assert service.process is not None
        until = time.monotonic() + 60
        while sum("office_process" in command_of(each) for each in below(service.process.pid)) < 2:
            assert time.monotonic() < until, "the workers did not start"
            time.sleep(0.05)
        all_of_it = below(service.process.pid)
        service.kill("door")
        while any(command_of(each) for each in all_of_it):
            assert time.monotonic() < until, [command_of(each) for each in all_of_it]
            time.sleep(0.05)
        listen("127.0.0.1", service.port).close()


def test_the_port_is_let_go_of_before_workers_end() -> None:
    """Whoever connects while they end is refused, and does not wait for an answer that never comes."""
    before = {kind: signal.getsignal(kind) for kind in signal.Signals if kind not in (signal.SIGKILL, signal.SIGSTOP)}
    listening = listen("127.0.0.1", 0)
    place = listening.getsockname()
    try:
        Workers(uvicorn.Config("nothing:here", workers=2, log_config=None), [listening]).terminate_all()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(place, timeout=10)
    finally:
        listening.close()
        for kind, handler in before.items():
            if signal.getsignal(kind) is not handler:
                signal.signal(kind, handler)


def test_a_process_that_nobody_started_waits_for_nobody() -> None:
    """The application of a worker can be made anywhere."""
    end_with_parent()
    assert os.getpid()
