"""A real Dask cluster on loopback: one scheduler and two workers, each a process, ended when the test is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
SOURCES = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
"""The package and the tests, for processes that unpickle functions of both."""
PATIENCE = 120.0


class Cluster(NamedTuple):
    """Where the scheduler listens, and the processes that do the work."""

    address: str
    workers: tuple[int, ...]


@contextmanager
def loopback_cluster(folder: Path) -> Iterator[Cluster]:
    """A scheduler on a free port; a worker with one thread and another with two, as clusters come in all kinds."""
    contact = folder / "scheduler.json"
    common = ["--scheduler-file", str(contact), "--host", "127.0.0.1", "--no-dashboard"]
    worker = ["worker", *common, "--no-nanny", "--death-timeout", "60", "--local-directory", str(folder)]
    started: list[subprocess.Popen[bytes]] = []
    try:
        started.append(_start(folder, ["scheduler", *common, "--port", "0", "--idle-timeout", "120"]))
        address = _address(contact)
        started += [_start(folder, [*worker, "--nthreads", threads]) for threads in ("1", "2")]
        _wait_for_workers(address, len(started) - 1)
        yield Cluster(address, tuple(process.pid for process in started[1:]))
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def _start(folder: Path, arguments: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", *arguments]
    with (folder / f"{arguments[0]}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=os.environ | {"PYTHONPATH": SOURCES})


def _address(contact: Path) -> str:
    """The scheduler's address, which it writes to a file once it listens."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            return str(json.loads(contact.read_text())["address"])
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.05)
    raise TimeoutError("the scheduler did not start")


def _wait_for_workers(address: str, count: int) -> None:
    import distributed

    client_of: Any = distributed.Client  # has no types
    with client_of(address, timeout=PATIENCE) as client:
        client.wait_for_workers(count, timeout=PATIENCE)
