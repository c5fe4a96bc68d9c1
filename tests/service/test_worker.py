"""The worker process: it has a deadline, ends with its client, and is started again when it dies or hangs."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from evenhand.service.background.worker import Worker
from evenhand.service.problems import Problem

pytestmark = pytest.mark.process

SECONDS = 60.0
"""More than any of this takes."""


def run(test: Callable[[Worker], Awaitable[None]], *, watch_seconds: float = 0.2) -> None:
    """Run a test with a worker, and end that."""

    async def with_worker() -> None:
        worker = Worker(watch_seconds=watch_seconds)
        try:
            await test(worker)
        finally:
            worker.close()

    asyncio.run(with_worker())


async def has_ended(pid: int) -> None:
    """Wait until a process is gone, or waits to be collected."""
    status = Path(f"/proc/{pid}/status")
    while status.exists() and "State:\tZ" not in status.read_text():
        await asyncio.sleep(0.01)


async def begun(file: Path) -> None:
    """Wait until the work in the process has begun."""
    while not file.exists():
        await asyncio.sleep(0.01)


def endless(file: str) -> None:
    """Says that it has begun, and never ends."""
    Path(file).touch()
    while True:
        time.sleep(0.01)


def refuse() -> None:
    """Fails."""
    raise ValueError("no")


def blas_threads() -> set[int]:
    """How many threads the libraries of linear algebra of this process use."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def niceness() -> int:
    """How much the process leaves to others."""
    return os.nice(0)


def test_it_computes_in_another_process_that_leaves_the_processor_to_decisions() -> None:
    """Results and errors come back; the process stays for the next one."""

    async def test(worker: Worker) -> None:
        assert worker.pid is None
        pid = await worker.run(os.getpid, seconds=SECONDS)
        assert pid == worker.pid != os.getpid()
        with pytest.raises(ValueError, match="no"):
            await worker.run(refuse, seconds=SECONDS)
        assert await worker.run(niceness, seconds=SECONDS) > os.nice(0)
        assert worker.pid == pid

    run(test)


def test_what_takes_too_long_is_ended_and_refused(tmp_path: Path) -> None:
    """503 with a time at which to try again; the process is gone, and the next request gets another one."""

    async def test(worker: Worker) -> None:
        first = await worker.run(os.getpid, seconds=SECONDS)
        with pytest.raises(Problem) as late:
            await worker.run(endless, str(tmp_path / "begun"), seconds=0.5)
        assert (late.value.status, late.value.headers["Retry-After"]) == (503, "5")
        await has_ended(first)
        assert await worker.run(os.getpid, seconds=SECONDS) != first

    run(test)


def test_waiting_counts(tmp_path: Path) -> None:
    """A request behind another one is refused at its own deadline, and never carried out."""

    async def test(worker: Worker) -> None:
        busy = asyncio.create_task(worker.run(endless, str(tmp_path / "busy"), seconds=SECONDS))
        await begun(tmp_path / "busy")
        with pytest.raises(Problem):
            await worker.run(endless, str(tmp_path / "late"), seconds=0.1)
        busy.cancel()
        await worker.run(os.getpid, seconds=SECONDS)
        assert not (tmp_path / "late").exists()

    run(test)


def test_work_ends_with_the_client(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Cancelled, nothing goes on computing, and nothing is logged as an error."""

    async def test(worker: Worker) -> None:
        work = asyncio.create_task(worker.run(endless, str(tmp_path / "begun"), seconds=SECONDS))
        await begun(tmp_path / "begun")
        pid = worker.pid
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert pid is not None
        await has_ended(pid)
        await worker.run(os.getpid, seconds=SECONDS)  # what has become of the first work is known by then

    run(test)
    gc.collect()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_one_that_is_stopped_or_killed_is_replaced(how: signal.Signals) -> None:
    """Requests that meet it get 503; the watch starts another one, without any request."""

    async def test(worker: Worker) -> None:
        first = await worker.run(os.getpid, seconds=SECONDS)
        os.kill(first, how)
        with pytest.raises(Problem) as gone:
            await worker.run(os.getpid, seconds=1.0)
        assert gone.value.status == 503
        watching = asyncio.create_task(worker.watch())
        while worker.pid in (None, first):
            await asyncio.sleep(0.01)
        watching.cancel()
        assert await worker.run(os.getpid, seconds=SECONDS) == worker.pid

    run(test)


def test_an_idle_one_that_is_stopped_is_noticed() -> None:
    """Before anybody needs it."""

    async def test(worker: Worker) -> None:
        first = await worker.run(os.getpid, seconds=SECONDS)
        os.kill(first, signal.SIGSTOP)
        watching = asyncio.create_task(worker.watch())
        await has_ended(first)
        while worker.pid in (None, first):
            await asyncio.sleep(0.01)
        watching.cancel()

    run(test)


def test_closing_ends_it() -> None:
    """Whatever it is doing."""

    async def test(worker: Worker) -> None:
        pid = await worker.run(os.getpid, seconds=SECONDS)
        os.kill(pid, signal.SIGSTOP)
        worker.close()
        assert worker.pid is None
        await has_ended(pid)

    run(test)


@pytest.mark.skipif(not blas_threads(), reason="this linear algebra does not say its threads")
def test_linear_algebra_has_one_thread_in_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process takes no second processor from decisions, whatever the environment asks for."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "2")

    async def test(worker: Worker) -> None:
        assert await worker.run(blas_threads, seconds=SECONDS) == {1}

    run(test)
