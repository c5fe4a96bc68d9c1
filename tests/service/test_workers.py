"""How a service ends: no worker outlives who started it, nobody waits at a port not served, no request is cut off."""

from __future__ import annotations

import signal
import socket
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
import uvicorn
from evenhand.service.listening import listen
from evenhand.service.protocol import DeskProtocol
from evenhand.service.workers import Workers, end_with_parent

from tests.support.processes import started
from tests.support.running_service import MEMORY, running


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


def test_a_request_on_its_way_when_the_service_stops_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that nothing was asked on: its next request is answered, and told to be the last; then it ends."""
    monkeypatch.setattr("evenhand.service.protocol.LAST_SECONDS", 60.0)
    stopping, shutdown = threading.Event(), DeskProtocol.shutdown

    def noticed(self: DeskProtocol) -> None:
        shutdown(self)
        stopping.set()

    monkeypatch.setattr(DeskProtocol, "shutdown", noticed)
    with ExitStack() as stack:
        url, _ = stack.enter_context(running(MEMORY))
        place = url.removeprefix("http://").split(":")
        with socket.create_connection((place[0], int(place[1])), timeout=30) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: desk\r\n\r\n")
            first = b""
            while not first.endswith(b"}"):
                first += connection.recv(65_536)
            assert b"connection: close" not in first
            ending = threading.Thread(target=stack.close)
            ending.start()
            assert stopping.wait(30)
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: desk\r\n\r\n")
            said = b"".join(iter(lambda: connection.recv(65_536), b""))
            ending.join(60)
    assert said.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"connection: close" in said


def test_a_process_that_nobody_started_waits_for_nobody() -> None:
    """The application of a worker can be made anywhere."""
    end_with_parent()
    assert "parent" not in [thread.name for thread in threading.enumerate()]
