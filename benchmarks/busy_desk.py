"""One desk busy with a slow decision: how long the decisions of another desk take meanwhile, against before.

python -m benchmarks.busy_desk [--switch-seconds S]

The slow decision is a real one: no unfair round is allowed, so that every pair of 40 candidates is bounded by 60
interview answers. One process serves both desks, as `evenhand serve` starts it; a client asks for one decision after
the other. Three stretches follow each other, several times: nothing beside it; a process of its own that keeps one
core busy, which is what any computation costs on a machine with few cores; and the slow decision.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
import numpy as np

from benchmarks.service import TOKEN, server, started
from evenhand.service.serve import SWITCH_SECONDS

FEATURES, ANSWERS, CANDIDATES = 6, 60, 40
CALM_SECONDS = 5.0
DESKS = "/api/desks"
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
    http.post(DESKS, json={"name": "fast", "n_features": FEATURES}).raise_for_status()
    http.post(DESKS, json={"name": "slow", "n_features": FEATURES, "max_unfair_rounds": 0}).raise_for_status()
    weights = rng.uniform(0.1, 1.0, size=FEATURES)
    last = 0
    for _ in range(ANSWERS):
        x, y = rng.normal(size=(2, FEATURES)) / np.sqrt(FEATURES) / 2
        gap = float(rng.uniform(0.05, 0.95))
        answer = {"x": x.tolist(), "y": y.tolist(), "gap": gap, "unfair": bool(gap > np.sqrt(weights @ (x - y) ** 2))}
        last = http.post(f"{DESKS}/slow/answers", json=answer).raise_for_status().json()["seq"]
    while http.get(f"{DESKS}/slow").raise_for_status().json()["state"] < last:
        time.sleep(0.1)


def latencies(http: httpx.Client, rng: np.random.Generator, busy: threading.Thread | None) -> list[float]:
    """Milliseconds of one decision after the other: as long as the slow one takes, or for some seconds."""
    found, until = [], time.perf_counter() + CALM_SECONDS
    while time.perf_counter() < until if busy is None else busy.is_alive():
        body = people(rng, 5)
        begun = time.perf_counter()
        http.post(f"{DESKS}/fast/decisions", json=body).raise_for_status()
        found.append((time.perf_counter() - begun) * 1e3)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--switch-seconds", type=float, default=SWITCH_SECONDS, help="the interpreter's interval")
    parser.add_argument("--stretches", type=int, default=3)
    options, rng = parser.parse_args(), np.random.default_rng(0)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    found: dict[str, list[list[float]]] = {name: [] for name in ("nothing", "a busy process", "a slow decision")}
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
                    found["nothing"].append(latencies(http, rng, None))
                    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
                        found["a busy process"].append(latencies(http, rng, None))
                        busy.kill()
                    body = people(rng, CANDIDATES)
                    slow = threading.Thread(target=other.post, args=[f"{DESKS}/slow/decisions"], kwargs={"json": body})
                    slow.start()
                    found["a slow decision"].append(latencies(http, rng, slow))
    print(f"switch interval {options.switch_seconds * 1e3:g} ms")
    for name, stretches in found.items():
        measured = [np.percentile(stretch, (50, 95)) for stretch in stretches]
        usual = [np.percentile(stretch, (50, 95)) for stretch in found["nothing"]]
        times, ratios = np.median(measured, axis=0), np.median(np.divide(measured, usual), axis=0)
        print(
            f"beside {name:>15}: p50 {times[0]:5.1f} ms, p95 {times[1]:5.1f} ms; "
            f"against nothing: {ratios[0]:.2f} and {ratios[1]:.2f} times"
        )


if __name__ == "__main__":
    main()
