"""One desk busy with a slow decision: how long the decisions of another desk take meanwhile, against before.

python -m benchmarks.busy_desk [--switch-seconds S]

The slow decision is a real one: no unfair round is allowed, so that every pair of 40 candidates is bounded by 60
interview answers. One process serves both desks, as `evenhand serve` starts it; a client asks for one decision after
the other. One stretch without and one with the slow decision follow each other, several times.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import httpx
import numpy as np

from benchmarks.service import TOKEN, server, started
from evenhand.service.serve import SWITCH_SECONDS

FEATURES, ANSWERS, CANDIDATES = 6, 60, 40
CALM_SECONDS = 8.0
WITH_INTERVAL = """
import sys
import evenhand.service.serve as serve
from evenhand.cli.main import main
serve.SWITCH_SECONDS = float(sys.argv.pop(1))
main()
"""


def people(rng: np.random.Generator, k: int) -> dict[str, object]:
    """A request for a decision among k random candidates."""
    contexts = rng.normal(size=(k, FEATURES))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    return {"candidates": [{"id": f"c{i}", "context": row} for i, row in enumerate(contexts.tolist())]}


def make_desks(http: httpx.Client, rng: np.random.Generator) -> None:
    """A desk that decides fast, and one that allows no unfair round and has had an interview."""
    http.post("/api/desks", json={"name": "fast", "n_features": FEATURES}).raise_for_status()
    http.post("/api/desks", json={"name": "slow", "n_features": FEATURES, "max_unfair_rounds": 0}).raise_for_status()
    weights = rng.uniform(0.1, 1.0, size=FEATURES)
    last = 0
    for _ in range(ANSWERS):
        x, y = rng.normal(size=(2, FEATURES)) / np.sqrt(FEATURES) / 2
        gap = float(rng.uniform(0.05, 0.95))
        answer = {"x": x.tolist(), "y": y.tolist(), "gap": gap, "unfair": bool(gap > np.sqrt(weights @ (x - y) ** 2))}
        last = http.post("/api/desks/slow/answers", json=answer).raise_for_status().json()["seq"]
    while http.get("/api/desks/slow").raise_for_status().json()["state"] < last:
        time.sleep(0.1)


def latencies(http: httpx.Client, rng: np.random.Generator, busy: threading.Thread | None) -> list[float]:
    """Milliseconds of one decision after the other: as long as the slow one takes, or for some seconds."""
    found, until = [], time.perf_counter() + CALM_SECONDS
    while time.perf_counter() < until if busy is None else busy.is_alive():
        body = people(rng, 5)
        begun = time.perf_counter()
        http.post("/api/desks/fast/decisions", json=body).raise_for_status()
        found.append((time.perf_counter() - begun) * 1e3)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--switch-seconds", type=float, default=SWITCH_SECONDS, help="the interpreter's interval")
    parser.add_argument("--stretches", type=int, default=3)
    options, rng = parser.parse_args(), np.random.default_rng(0)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", WITH_INTERVAL, str(options.switch_seconds), *server(Path(folder))[3:]]
        with started(command) as port:
            address = f"http://127.0.0.1:{port}"
            with (
                httpx.Client(base_url=address, headers=headers, timeout=600) as http,
                httpx.Client(base_url=address, headers=headers, timeout=600) as other,
            ):
                make_desks(http, rng)
                latencies(http, rng, None)  # compiled kernels, warm caches
                for _ in range(options.stretches):
                    before = np.percentile(latencies(http, rng, None), (50, 95))
                    body, begun = people(rng, CANDIDATES), time.perf_counter()
                    slow = threading.Thread(target=lambda body=body: other.post("/api/desks/slow/decisions", json=body))
                    slow.start()
                    during = np.percentile(latencies(http, rng, slow), (50, 95))
                    ratios.append(during / before)
                    print(
                        f"before: p50 {before[0]:.1f} ms, p95 {before[1]:.1f} ms; "
                        f"during a decision of {time.perf_counter() - begun:.1f} s: "
                        f"p50 {during[0]:.1f} ms, p95 {during[1]:.1f} ms",
                        flush=True,
                    )
    p50, p95 = (median(column) for column in zip(*ratios, strict=True))
    print(f"interval {options.switch_seconds * 1e3:g} ms: p50 {p50:.2f} times, p95 {p95:.2f} times (wanted: 2)")


if __name__ == "__main__":
    main()
