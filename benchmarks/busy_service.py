"""One desk's decisions while the service is kept busy: the largest certificates in a loop, and a capped desk.

python -m benchmarks.busy_service [--seconds S] [--stretches N]

A client asks one desk for one decision after the other. Quiet and busy stretches follow each other. In the busy ones
one client asks for certificates with 46 features and 50 candidates, a new decision each time so that none is kept, and
another one for decisions among 40 candidates of a desk that may never be flagged, after 60 interview answers. The goal:
the 99th percentile of the first desk is at most 3 times what it is in quiet stretches. Processes of their own that
keep one core or two busy are measured as well: what any computation costs on a machine with few cores. Certificates
and the capped desk compute on two.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np

from benchmarks.busy_desk import ANSWERS, CANDIDATES, DESKS, FEATURES
from benchmarks.service import TOKEN, server, started

WIDE, MANY = 46, 50
"""Features and candidates of the largest certificates."""

BUSY = {"one busy process": 1, "two busy processes": 2}
"""Processes that do nothing but keep a core busy."""

HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def people(rng: np.random.Generator, k: int, d: int) -> dict[str, object]:
    """A request for a decision among k random candidates."""
    contexts = rng.normal(size=(k, d))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True) * 1.01
    return {"candidates": [{"id": f"c{i}", "context": row} for i, row in enumerate(contexts.tolist())]}


def make_desks(http: httpx.Client, rng: np.random.Generator) -> None:
    """A desk to measure, a wide one and a capped one, the latter two after an interview."""
    http.post(DESKS, json={"name": "quiet", "n_features": FEATURES}).raise_for_status()
    http.post(DESKS, json={"name": "wide", "n_features": WIDE}).raise_for_status()
    http.post(DESKS, json={"name": "capped", "n_features": FEATURES, "max_unfair_rounds": 0}).raise_for_status()
    for desk, d, n in (("wide", WIDE, 2 * ANSWERS), ("capped", FEATURES, ANSWERS)):
        weights, last = rng.uniform(0.1, 1.0, size=d), 0
        for _ in range(n):
            x, y = rng.normal(size=(2, d)) / np.sqrt(d) / 4
            gap = float(rng.uniform(0.05, 0.95))
            unfair = bool(gap > np.sqrt(weights @ (x - y) ** 2))
            answer = {"x": x.tolist(), "y": y.tolist(), "gap": gap, "unfair": unfair}
            last = http.post(f"{DESKS}/{desk}/answers", json=answer).raise_for_status().json()["seq"]
        while http.get(f"{DESKS}/{desk}").raise_for_status().json()["state"] < last:
            time.sleep(0.1)


@contextmanager
def looping(address: str, ask: Callable[[httpx.Client], None]) -> Iterator[list[float]]:
    """A client that asks again and again; gives how long each took, in seconds."""
    stopped, took = threading.Event(), list[float]()

    def loop() -> None:
        with httpx.Client(base_url=address, headers=HEADERS, timeout=120) as http:
            while not stopped.is_set():
                begun = time.perf_counter()
                ask(http)
                took.append(time.perf_counter() - begun)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield took
    finally:
        stopped.set()
        thread.join()


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes that keep a core busy each."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def certificate(rng: np.random.Generator) -> Callable[[httpx.Client], None]:
    """Asks for a decision of the wide desk, and its certificate."""

    def ask(http: httpx.Client) -> None:
        made = http.post(f"{DESKS}/wide/decisions", json=people(rng, MANY, WIDE)).raise_for_status().json()
        http.get(f"{DESKS}/wide/decisions/{made['id']}/certificate")  # or 503, if the machine is too busy for it

    return ask


def capped(rng: np.random.Generator) -> Callable[[httpx.Client], None]:
    """Asks for a decision of the capped desk."""

    def ask(http: httpx.Client) -> None:
        http.post(f"{DESKS}/capped/decisions", json=people(rng, CANDIDATES, FEATURES)).raise_for_status()

    return ask


def latencies(http: httpx.Client, rng: np.random.Generator, seconds: float) -> list[float]:
    """Milliseconds of one decision after the other."""
    found, until = [], time.perf_counter() + seconds
    while time.perf_counter() < until:
        body = people(rng, 5, FEATURES)
        begun = time.perf_counter()
        http.post(f"{DESKS}/quiet/decisions", json=body).raise_for_status()
        found.append((time.perf_counter() - begun) * 1e3)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=15.0, help="of one stretch")
    parser.add_argument("--stretches", type=int, default=3)
    options, rng = parser.parse_args(), np.random.default_rng(0)
    found: dict[str, list[float]] = {name: [] for name in ("nothing", *BUSY, "certificates and a cap")}
    took: list[list[float]] = [[], []]
    with tempfile.TemporaryDirectory() as folder, started([sys.executable, *server(Path(folder))[1:]]) as port:
        address = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=address, headers=HEADERS, timeout=120) as http:
            make_desks(http, rng)
            certificate(rng)(http)  # starts the worker process
            latencies(http, rng, 2.0)
            for _ in range(options.stretches):
                found["nothing"] += latencies(http, rng, options.seconds)
                for name, processes in BUSY.items():
                    with busy(processes):
                        found[name] += latencies(http, rng, options.seconds)
                one, two = (np.random.default_rng(rng.integers(2**32)) for _ in range(2))
                with looping(address, certificate(one)) as first, looping(address, capped(two)) as second:
                    found["certificates and a cap"] += latencies(http, rng, options.seconds)
                took[0] += first
                took[1] += second
    usual = np.percentile(found["nothing"], (50, 99))
    for name, measured in found.items():
        p50, p99 = np.percentile(measured, (50, 99))
        ratios = f"against nothing: {p50 / usual[0]:.2f} and {p99 / usual[1]:.2f} times"
        print(f"beside {name:>22}: p50 {p50:6.1f} ms, p99 {p99:6.1f} ms of {len(measured)}; {ratios}")
    for name, times in zip(("certificates", "capped decisions"), took, strict=True):
        print(f"{len(times)} {name}, the slowest took {max(times):.1f} s")


if __name__ == "__main__":
    main()
