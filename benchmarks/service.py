"""Decisions over HTTP against empty FastAPI endpoints, measured in turn in the same run.

python -m benchmarks.service [--quick]

32 keep-alive connections, k = 10 candidates, d = 10 features, a ledger in SQLite, synced to disk before every response.
Servers are processes of their own: the service as `evenhand serve` starts it, with its defaults but for the rate of a
token; once with 10^3 events in the ledger, once with 10^6. Before that it is measured how long a new process needs to
open the desk with the latter. One empty endpoint takes no body; the others take the body of a decision, as FastAPI
reads it, and do nothing with it: one on uvicorn with its fastest parser, httptools, one with h11, as the service. This
process makes the load.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import orjson

from benchmarks.http_load import Load, load, request

TOKEN = "a-token-for-the-benchmark-only"
K = D = 10
BODIES = 512

EMPTY, TAKING, SAFER = "an empty endpoint", "one that takes a body", "the same with h11"
EMPTY_SERVER = """
import sys, uvicorn
from typing import Any
from fastapi import FastAPI
app = FastAPI()

@app.get("/empty")
async def empty() -> dict[str, str]:
    return {}

@app.post("/taking", status_code=201)
async def taking(body: dict[str, Any]) -> dict[str, str]:
    return {}

config = uvicorn.Config(app, port=int(sys.argv[1]), loop="uvloop", http=sys.argv[2], ws="none", access_log=False,
                        log_config=None, proxy_headers=False, server_header=False)
listening = config.bind_socket()
print("serves http://127.0.0.1:%d" % listening.getsockname()[1], flush=True)
uvicorn.Server(config).run(sockets=[listening])
"""


@contextmanager
def running(arguments: list[str]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server process; gives it and its port once it says that."""
    environment = {**os.environ, "EVENHAND_ADMIN_TOKEN": TOKEN}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        try:
            assert process.stdout is not None
            line = next((line for line in process.stdout if "http://" in line), "")
            if not line:
                log.seek(0)
                raise RuntimeError(f"the server did not start: {log.read().decode()[-2000:]}")
            port = int(line.rsplit(":", 1)[1])
            wait_for(port)
            yield process, port
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


@contextmanager
def started(arguments: list[str]) -> Iterator[int]:
    """A server process; gives its port once it says it."""
    with running(arguments) as (_, port):
        yield port


def wait_for(port: int) -> None:
    """Until somebody listens."""
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"nobody listens on port {port}")


@dataclass(frozen=True)
class Target:
    """A server's port, the requests it gets, and the status it answers with."""

    port: int
    requests: list[bytes]
    status: int = 201


def decision_requests(path: str, rng: np.random.Generator) -> list[bytes]:
    """Requests for decisions, all of them different."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    requests = []
    for _ in range(BODIES):
        contexts = rng.normal(size=(K, D))
        contexts /= np.linalg.norm(contexts, axis=1, keepdims=True) * rng.uniform(1.0, 2.0, size=(K, 1))
        candidates = [{"id": f"a{i}", "context": row} for i, row in enumerate(contexts.tolist())]
        requests.append(request("POST", path, orjson.dumps({"candidates": candidates}), headers))
    return requests


def server(folder: Path) -> list[str]:
    """How the service is started: defaults, with a rate that the load does not reach."""
    options = ["--data", str(folder), "--port", "0", "--rate", "1000000", "--burst", "1000000"]
    return [sys.executable, "-m", "evenhand", "serve", *options]


def fill(folder: Path, events: int, rng: np.random.Generator) -> None:
    """Put decisions into a new ledger until it has so many events, through the desk itself, in this process."""
    from evenhand.desk import Decide, Desk

    contexts = rng.normal(size=(64, K, D))
    contexts /= np.linalg.norm(contexts, axis=2, keepdims=True)
    folder.mkdir()
    began = time.perf_counter()
    with Desk.open(f"sqlite:///{folder / 'ledger.db'}", "bench", n_features=D, seed=0) as desk:
        while (missing := events - desk.head.seq) > 0:
            desk.execute([Decide(contexts[i % 64]) for i in range(min(256, missing))])
        desk.catch_up()
    print(f"a ledger of {events:,} events, filled in {time.perf_counter() - began:.0f} s", flush=True)


OPENING = """
import sys, time
from evenhand.desk import Desk
began = time.perf_counter()
with Desk.open(sys.argv[1], "bench") as desk:
    desk.catch_up()
    took = time.perf_counter() - began
    assert desk.projection.seq == desk.head.seq == int(sys.argv[2]), (desk.projection.seq, desk.head.seq)
print(took)
"""


def report_opening(folder: Path, events: int, times: int = 3) -> None:
    """How long a new process needs until a desk of so many events is ready to decide from all of them."""
    command = [sys.executable, "-c", OPENING, f"sqlite:///{folder / 'ledger.db'}", str(events)]
    opening, whole = [], []
    for _ in range(times):
        began = time.perf_counter()
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        whole.append(time.perf_counter() - began)
        opening.append(float(output))
    print(
        f"opening a desk of {events:,} events in a new process: {median(opening):.2f} s (wanted: 2), "
        f"{median(whole):.2f} s with starting Python",
        flush=True,
    )


def measured(targets: dict[str, Target], seconds: float, stretches: int) -> dict[str, list[Load]]:
    """Stretches of load on each server in turn, so that whatever disturbs one disturbs the others as well."""
    loads: dict[str, list[Load]] = {name: [] for name in targets}
    for target in targets.values():
        load(target.port, target.requests, seconds=2.0, status=target.status)  # compiled kernels, warm caches
    for _ in range(stretches):
        for name, target in targets.items():
            found = load(target.port, target.requests, seconds=seconds, status=target.status)
            if found.wrong:
                raise RuntimeError(f"{found.wrong} answers of {name} had another status than {target.status}")
            loads[name].append(found)
    return loads


def ratio(one: list[Load], other: list[Load]) -> float:
    """The median of the ratios of stretches that followed each other."""
    return median(a.rate / b.rate for a, b in zip(one, other, strict=True))


def report(loads: dict[str, list[Load]]) -> None:
    """A line for each server, and the ratios."""
    for name, parts in loads.items():
        rate, p50, p99 = (median(getattr(part, what) for part in parts) for what in ("rate", "p50", "p99"))
        print(f"{name:>22}: {rate:8,.0f} answers/s   p50 {p50:6.1f} ms   p99 {p99:6.1f} ms")
    empty, taking, safer, few, many = loads.values()
    print(f"decisions / empty endpoint: {ratio(few, empty):.2f}")
    print(f"decisions / empty endpoint that takes the same body: {ratio(few, taking):.2f} (wanted: 0.25)")
    print(f"decisions / the same on the service's parser: {ratio(few, safer):.2f}")
    print(f"many events / few events: {ratio(many, few):.2f} (wanted: 0.9)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter stretches, and 10^5 events for 10^6")
    options = parser.parse_args()
    needed = ("fastapi", "httptools", "sqlalchemy", "uvloop")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        print(f"the service was not measured: {', '.join(missing)} missing; pip install 'evenhand[service,bench]'")
        return
    seconds, stretches, most = (2.0, 3, 100_000) if options.quick else (5.0, 7, 1_000_000)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        few, many = Path(name) / "few", Path(name) / "many"
        fill(few, 1_000, rng)
        fill(many, most, rng)
        report_opening(many, most)
        httptools, h11 = ([sys.executable, "-c", EMPTY_SERVER, "0", parser] for parser in ("httptools", "h11"))
        with (
            started(httptools) as empty,
            started(h11) as safer,
            started(server(few)) as port,
            started(server(many)) as full,
        ):
            requests = decision_requests("/api/desks/bench/decisions", rng)
            targets = {
                EMPTY: Target(empty, [request("GET", "/empty")], status=200),
                TAKING: Target(empty, decision_requests("/taking", rng)),
                SAFER: Target(safer, decision_requests("/taking", rng)),
                "1,000 events": Target(port, requests),
                f"{most:,} events": Target(full, requests),
            }
            report(measured(targets, seconds, stretches))


if __name__ == "__main__":
    main()
