"""No worker outlives the process that started it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from uvicorn.supervisors.multiprocess import Process

from evenhand.errors import InvalidInput
from evenhand.service.serve import Supervisor, config_of, serve
from evenhand.service.settings import ServiceSettings
from evenhand.service.shutdown import end_with_parent
from tests.support.processes import below, can_listen, command_of, started, two_workers, workers_of
from tests.support.waiting import wait_for


@pytest.mark.process
def test_workers_end_when_who_started_them_is_killed(tmp_path: Path) -> None:
    """SIGKILL of the first process: workers end by themselves, and the port is free again."""
    with started(f"sqlite:///{tmp_path}/ledger.db", tmp_path, "--workers", "2") as service:
        assert service.process is not None
        parent = service.process.pid
        wait_for(lambda: sum("spawn_main" in command_of(each) for each in below(parent)) == 2, what="two workers")
        all_of_it = below(parent)
        service.kill("parent")
        wait_for(lambda: not any(map(command_of, all_of_it)), what="the end of the workers")
        wait_for(lambda: can_listen(service.port), what="a free port")  # a process that ends closes its sockets last


@pytest.mark.process
def test_a_worker_that_is_stopped_is_replaced(tmp_path: Path) -> None:
    """SIGSTOP of one of two workers: the service goes on answering, and soon has two workers again."""
    with started(f"sqlite:///{tmp_path}/ledger.db", tmp_path, "--workers", "2") as service:
        assert service.process is not None
        parent = service.process.pid
        workers = wait_for(lambda: two_workers(parent), what="two workers")
        os.kill(workers[0], signal.SIGSTOP)
        wait_for(lambda: workers[0] not in below(parent) and two_workers(parent), what="another worker")
        with httpx.Client(base_url=service.address, timeout=60) as http:
            assert http.get("/ready").status_code == 200


@pytest.mark.process
def test_a_single_worker_that_is_supervised(tmp_path: Path) -> None:
    """SIGSTOP of the only worker: another one is started, and answers on the same port."""
    with started(f"sqlite:///{tmp_path}/ledger.db", tmp_path, "--supervise") as service:
        assert service.process is not None
        parent = service.process.pid
        (worker,) = workers_of(parent)
        os.kill(worker, signal.SIGSTOP)
        wait_for(lambda: workers_of(parent) not in ([], [worker]), what="another worker", seconds=60)
        wait_for(lambda: is_ready(service.address), what="a service that is ready again", seconds=60, pause=0.1)


def is_ready(address: str) -> bool:
    """Whether decisions can be made; a connection that was waiting for the stopped worker is cut off."""
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{address}/ready", timeout=10).status_code == 200
    return False


def test_a_ledger_in_memory_is_not_supervised() -> None:
    """It would be gone with the worker."""
    with pytest.raises(InvalidInput, match="ends with its process"):
        serve(ServiceSettings(database_url="memory:"), port=0, supervised=True)


HUNG = """
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor
from evenhand.service.shutdown import end_if_hung

async def main():
    loop, stuck = asyncio.get_running_loop(), [0.0]
    loop.set_default_executor(ThreadPoolExecutor(1))
    watching = asyncio.create_task(end_if_hung(lambda: stuck[0], 0.5))
    await asyncio.sleep(1.0)
    print("alive", flush=True)
    {hang}
    await watching

asyncio.run(main())
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "hang", ["stuck[0] = 0.6", "loop.run_in_executor(None, threading.Event().wait)"], ids=["a desk", "all readers"]
)
def test_a_worker_whose_threads_hang_ends(hang: str) -> None:
    """With the place in the log; while threads come to an end it goes on."""
    script = HUNG.format(hang=hang)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stdout) == (1, "alive\n"), ended.stderr
    assert "hanging for more than 0.5 s" in ended.stderr
    assert "most recent call first" in ended.stderr


class SlowPipe:
    """The parent's end of the pipe to a worker that answers after some looks, so many times."""

    def __init__(self, looks: int, answers: float) -> None:
        self.looks, self.answers, self.pings = looks, answers, 0

    def send(self, ping: bytes) -> None:
        """A ping."""
        self.pings += 1

    def poll(self, seconds: float) -> bool:
        """Whether there is an answer."""
        self.looks -= 1
        return self.looks < 0 and self.answers >= self.pings

    def recv(self) -> bool:
        """The answer."""
        return True

    def close(self) -> None:
        """No more."""


def supervisor_of(pipe: SlowPipe, monkeypatch: pytest.MonkeyPatch) -> tuple[Supervisor, list[int]]:
    """A supervisor with one worker at this pipe, and the processes that it killed."""
    monkeypatch.setattr("uvicorn.supervisors.multiprocess.signal.signal", lambda *handler: None)
    supervisor, killed = Supervisor(config_of("nothing:app", factory=True), []), list[int]()

    def worker_at(pid: int, connection: object) -> Any:
        running = SimpleNamespace(pid=pid, exitcode=-9, is_alive=lambda: True, join=lambda: None, start=lambda: None)
        running.kill = lambda: killed.append(pid)
        made: Any = Process.__new__(Process)
        made.process, made.parent_conn, made.child_conn = running, connection, connection
        return made

    supervisor.processes = [worker_at(1, pipe)]
    monkeypatch.setattr(
        "uvicorn.supervisors.multiprocess.Process", lambda *arguments: worker_at(2, SlowPipe(0, float("inf")))
    )
    return supervisor, killed


def test_a_worker_that_starts_slowly_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers later than one that hangs may: it was ended before it had imported anything, again and again."""
    supervisor, killed = supervisor_of(SlowPipe(50, float("inf")), monkeypatch)
    for _ in range(3):
        supervisor.keep_subprocess_alive()
    assert killed == []


def test_a_worker_that_has_answered_has_less_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that never answers, or not again, is replaced; a signal is not kept waiting for it."""
    monkeypatch.setattr("evenhand.service.serve.START_SECONDS", 0.05)
    supervisor, killed = supervisor_of(SlowPipe(10**9, 0), monkeypatch)
    supervisor.keep_subprocess_alive()
    assert killed == [1]
    supervisor, killed = supervisor_of(SlowPipe(0, 2), monkeypatch)
    supervisor.keep_subprocess_alive()
    assert killed == []
    supervisor.keep_subprocess_alive()
    assert killed == [1]
    monkeypatch.setattr("evenhand.service.serve.START_SECONDS", 1e9)
    supervisor, _ = supervisor_of(SlowPipe(10**9, 0), monkeypatch)
    supervisor.signal_queue.append(15)
    supervisor.keep_subprocess_alive()


STUCK = """
import asyncio, time
from evenhand.service.shutdown import end_if_stuck

async def main():
    watching = asyncio.create_task(end_if_stuck(0.5))
    await asyncio.sleep(1.0)
    print("alive", flush=True)
    time.sleep(60)

asyncio.run(main())
"""


@pytest.mark.process
def test_a_worker_whose_loop_hangs_ends() -> None:
    """With the place in the log; while the loop turns it goes on."""
    ended = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stdout) == (1, "alive\n")
    assert "Timeout" in ended.stderr


def test_a_process_that_nobody_started_waits_for_nobody() -> None:
    """The application of a worker can be made anywhere."""
    end_with_parent()
    assert "evenhand-parent" not in [thread.name for thread in threading.enumerate()]
