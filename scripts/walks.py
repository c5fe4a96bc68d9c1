"""Count the walks through the code: files touched, and changes from file to file, by one decision or one review.

python -m scripts.walks [--files]

A profile records every Python call in evenhand's own files, in all threads. A change of file is a call in another file
than the thread's call before it. Each walk is made several times, once everything is compiled, opened and warm, and
the median is printed: now and then a review also sets off a search for a metric that fits, or points walk again. A
decision's walk ends with its answer, so the projection that it sets off in the background is left out. A review's walk
ends when the desk's projection has learned from it. Every walk is counted with BayesPoint alone
(`reviewer_error=0.001`) and with the default, in which several learners learn side by side.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from types import FrameType
from typing import Any

import httpx
import numpy as np
import uvicorn
from fastapi import FastAPI

import evenhand as eh
from evenhand.service import ServiceSettings, create_app

ROOT = os.path.dirname(eh.__file__) + os.sep
TOKEN = "a-token-for-counting-walks-only"
WARM_UP, WALKS = 30, 9
LEARNERS = {"BayesPoint": 1e-3, "the default": None}
"""The `reviewer_error` of each."""


class Walk:
    """The calls of one walk, by thread."""

    def __init__(self, without: tuple[str, ...]) -> None:
        self.calls: dict[int, list[str]] = {}
        self.without = without
        """Threads whose name starts with one of these are left out."""

    @property
    def changes(self) -> int:
        """The number of changes from file to file."""
        return sum(a != b for calls in self.calls.values() for a, b in pairwise(calls))

    @property
    def files(self) -> list[str]:
        """The files touched, in the order of their first call."""
        return list(dict.fromkeys(file for calls in self.calls.values() for file in calls))


class Tracer:
    """Records calls in evenhand's files while a walk is being counted."""

    def __init__(self, *, show_files: bool) -> None:
        self._walk: Walk | None = None
        self._walks: dict[str, list[Walk]] = {}
        self._show_files = show_files
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:
        walk = self._walk
        file = frame.f_code.co_filename
        if walk is not None and event == "call" and file.startswith(ROOT):
            if walk.without and threading.current_thread().name.startswith(walk.without):
                return
            walk.calls.setdefault(threading.get_ident(), []).append(file.removeprefix(ROOT))

    @contextmanager
    def counting(self, name: str, *, without: tuple[str, ...] = ()) -> Iterator[None]:
        """Count what happens inside as one walk of this name."""
        walk = self._walk = Walk(without)
        yield
        self._walk = None
        self._walks.setdefault(name, []).append(walk)

    def report(self) -> None:
        """Print the median walk of each name counted so far, in order, and begin anew."""
        for name, walks in self._walks.items():
            walk = sorted(walks, key=lambda walk: walk.changes)[len(walks) // 2]
            least, most = min(walk.changes for walk in walks), max(walk.changes for walk in walks)
            print(f"{name}: {len(walk.files)} files, {walk.changes} changes of file ({least} to {most})")
            if self._show_files:
                print("".join(f"    {file}\n" for file in walk.files), end="")
        self._walks.clear()


def contexts(rng: np.random.Generator, k: int = 5, d: int = 5) -> list[list[float]]:
    """k random contexts on the sphere."""
    x = rng.normal(size=(k, d))
    rows: list[list[float]] = (x / np.linalg.norm(x, axis=1, keepdims=True)).tolist()
    return rows


def in_the_library(tracer: Tracer, rng: np.random.Generator, name: str, reviewer_error: float | None) -> None:
    """decide and learn."""
    bandit = eh.FairBandit(n_features=5, seed=0, reviewer_error=reviewer_error)
    review = eh.Review.complete(unfair=[])
    for _ in range(WARM_UP):
        decision = bandit.decide(contexts(rng))
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.5), review=review)
    for _ in range(WALKS):
        people = contexts(rng)
        with tracer.counting(f"decide, {name}"):
            decision = bandit.decide(people)
        rewards = dict.fromkeys(decision.chosen, 0.5)
        with tracer.counting(f"learn, {name}"):
            bandit.learn(decision, rewards=rewards, review=review)
    tracer.report()


def over_http(
    tracer: Tracer,
    rng: np.random.Generator,
    http: httpx.Client,
    app: FastAPI,
    name: str,
    reviewer_error: float | None,
) -> None:
    """A decision, and a review until the metric has learned from it."""
    desk_name = name.replace(" ", "-").lower()

    def decide() -> dict[str, Any]:
        body = {"candidates": [{"id": f"c{i}", "context": x} for i, x in enumerate(contexts(rng))]}
        return http.post(f"/api/desks/{desk_name}/decisions", json=body).raise_for_status().json()  # type: ignore[no-any-return]

    def review(decision: dict[str, Any]) -> dict[str, Any]:
        body = {"kind": "complete", "unfair": [], "reviewer": "Kim"}
        answer = http.post(f"/api/desks/{desk_name}/decisions/{decision['id']}/reviews", json=body)
        return answer.raise_for_status().json()  # type: ignore[no-any-return]

    def wait_until_learned(event: dict[str, Any]) -> None:
        for _ in range(600):
            if http.get(f"/api/desks/{desk_name}").json()["state"] >= event["seq"]:
                return
            time.sleep(0.05)
        raise RuntimeError("the desk did not catch up within 30 s")

    settings = {"name": desk_name, "n_features": 5, "seed": 3, "reviewer_error": reviewer_error}
    http.post("/api/desks", json=settings).raise_for_status()
    for _ in range(5):
        wait_until_learned(review(decide()))
    desk = asyncio.run(app.state.service.desks.get(desk_name)).desk
    for _ in range(WALKS):
        time.sleep(0.5)  # background work ends
        with tracer.counting(f"HTTP decision, {name}", without=("MainThread", "evenhand-projector")):
            decision = decide()
        wait_until_learned(decision)
        time.sleep(0.5)
        with tracer.counting(f"HTTP review to learned metric, {name}", without=("MainThread",)):
            assert desk.wait_for(review(decision)["seq"], timeout=30)
    tracer.report()


@contextmanager
def serving() -> Iterator[tuple[httpx.Client, FastAPI]]:
    """A service in a thread of this process, with a ledger in SQLite, as `evenhand serve` runs it."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(ServiceSettings(database_url=f"sqlite:///{folder}/ledger.db", admin_token=TOKEN))
        config = uvicorn.Config(app, port=0, log_config=None, access_log=False, ws="none", lifespan="on")
        server, listening = uvicorn.Server(config), config.bind_socket()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            address = f"http://127.0.0.1:{listening.getsockname()[1]}"
            with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
                yield http, app
        finally:
            server.should_exit = True
            thread.join(30)
            listening.close()


def main() -> None:
    """Count all walks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="list the files of each walk, in order of first call")
    tracer, rng = Tracer(show_files=parser.parse_args().files), np.random.default_rng(0)
    for learner in LEARNERS.items():
        in_the_library(tracer, rng, *learner)
    for learner in LEARNERS.items():
        with serving() as (http, app):
            over_http(tracer, rng, http, app, *learner)


if __name__ == "__main__":
    main()
