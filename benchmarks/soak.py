"""A service under mixed load for an hour: whether its memory, descriptors and threads stay where they are.

python -m benchmarks.soak [--minutes M] [--rate R]

Three desks with 5, 10 and 46 features. Clients decide, record outcomes, review pairs, open pages, look at explanations
and ask for certificates; a live stream is open all the time, another one for each page of the dashboard. The load is
half of what the service answered in the first half-minute, at random moments. Each minute prints what the service
uses; at the end the trend of the second half is compared with its mean. Linux only: it reads /proc.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import tempfile
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.service import TOKEN, running, server

DESKS = {"small": (5, 5), "loans": (10, 10), "wide": (20, 46)}
"""Candidates and features of each desk."""
PEOPLE = 100_000
"""Different ids of candidates."""
RECENT = 3_000
"""Decisions that outcomes, reviews and readers come back to."""
SHARES = {
    "decide": 0.49,
    "outcome": 0.24,
    "review": 0.01,
    "explanation": 0.12,
    "decision page": 0.04,
    "dashboard": 0.04,
    "queue": 0.05,
    "certificate": 0.01,
}
"""Which of all requests are of which kind. Reviews are people's: a learner keeps some kilobytes of each of the first
thousand or so, which would look like a leak."""
CALIBRATION_SECONDS = 30.0
IN_FLIGHT = 32
FLAT = 0.1
"""The largest trend over the second half, as a share of its mean, that counts as flat."""


@dataclass
class Made:
    """A decision that was answered: where, its candidates, and who was chosen without an outcome yet."""

    desk: str
    id: str
    people: dict[str, list[float]]
    waiting: list[str]


@dataclass
class Load:
    """Clients of one service, and what became of their requests."""

    http: httpx.AsyncClient
    rng: np.random.Generator
    made: deque[Made] = field(default_factory=lambda: deque(maxlen=RECENT))
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    answered: int = 0
    changes: int = 0

    async def one(self) -> None:
        """One request of a random kind."""
        kind = str(self.rng.choice(list(SHARES), p=list(SHARES.values())))
        asks: dict[str, Callable[[Made], Awaitable[None]]] = {
            "outcome": self._outcome,
            "review": self._review,
            "explanation": lambda made: self._get("explanation", self._path(made)),
            "decision page": lambda made: self._get("decision page", self._path(made) + "/window"),
            "certificate": lambda made: self._get("certificate", self._path(made) + "/certificate"),
        }
        if kind == "dashboard":
            await self._dashboard(self._desk())
        elif kind == "queue":
            await self._get(kind, f"/api/desks/{self._desk()}/queue")
        elif kind == "decide" or not self.made:
            await self._decide(self._desk())
        else:
            await asks[kind](self.made[int(self.rng.integers(len(self.made)))])

    def _desk(self) -> str:
        return str(self.rng.choice(list(DESKS)))

    @staticmethod
    def _path(made: Made) -> str:
        return f"/api/desks/{made.desk}/decisions/{made.id}"

    async def _decide(self, desk: str) -> None:
        k, d = DESKS[desk]
        contexts = self.rng.normal(size=(k, d))
        contexts /= np.linalg.norm(contexts, axis=1, keepdims=True) * self.rng.uniform(1.0, 2.0, size=(k, 1))
        ids = [f"person-{number}" for number in self.rng.choice(PEOPLE, size=k, replace=False)]
        people = dict(zip(ids, contexts.tolist(), strict=True))
        body = {"candidates": [{"id": name, "context": row} for name, row in people.items()]}
        answer = await self._post("decide", f"/api/desks/{desk}/decisions", body)
        if answer is not None:
            self.made.append(Made(desk, answer["id"], people, list(answer["chosen"])))

    async def _outcome(self, made: Made) -> None:
        if not made.waiting:
            return await self._decide(made.desk)
        reward = float(np.clip(np.mean(made.people[made.waiting[0]]) + self.rng.normal(scale=0.1), -1, 1))
        await self._post("outcome", self._path(made) + "/outcomes", {"rewards": {made.waiting.pop(0): reward}})

    async def _review(self, made: Made) -> None:
        """A partial review of one pair, by a rule: the first feature does not matter, all others the same."""
        one, two = self.rng.choice(list(made.people), size=2, replace=False)
        apart = np.linalg.norm((np.array(made.people[one]) - made.people[two])[1:])
        pairs = {"unfair" if apart < 0.7 else "fair": [[str(one), str(two)]]}
        await self._post("review", self._path(made) + "/reviews", {"kind": "partial", **pairs})

    async def _dashboard(self, desk: str) -> None:
        """The page, what its scripts request, and the first piece of its stream."""
        for path in (f"/desks/{desk}", f"/api/desks/{desk}/window", f"/api/desks/{desk}/window/decisions"):
            await self._get("dashboard", path)
        async with self.http.stream("GET", f"/api/desks/{desk}/stream") as stream:
            await anext(stream.aiter_bytes())
            self._count("stream", stream.status_code)

    async def _get(self, kind: str, path: str) -> None:
        self._count(kind, (await self.http.get(path)).status_code)

    async def _post(self, kind: str, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        self.changes += 1
        answer = await self.http.post(path, json=body, headers={"Idempotency-Key": f"soak-{self.changes}"})
        self._count(kind, answer.status_code)
        return dict(answer.json()) if answer.is_success else None

    def _count(self, kind: str, status: int) -> None:
        self.answered += 1
        self.statuses[kind, status] += 1

    async def watch(self, desk: str) -> None:
        """Follow the live stream of a desk until cancelled."""
        async with self.http.stream("GET", f"/api/desks/{desk}/stream", timeout=None) as stream:
            async for _ in stream.aiter_bytes():
                pass


@dataclass(frozen=True)
class Usage:
    """What a service and its worker process use."""

    minute: float
    megabytes: float
    of_children: float
    descriptors: int
    threads: int
    cpu_seconds: float


def usage(pid: int, minute: float) -> Usage:
    """Read from /proc; memory is what is resident."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return Usage(
        minute,
        resident(pid),
        sum(resident(child) for child in children(pid)),
        len(os.listdir(f"/proc/{pid}/fd")),
        int(status["Threads"]),
        sum(map(int, times[11:13])) / os.sysconf("SC_CLK_TCK"),
    )


def resident(pid: int) -> float:
    """Megabytes of a process, 0 if it has ended."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
    return 0.0


def children(pid: int) -> list[int]:
    """The processes that a process started, and theirs."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(child) for child in (task / "children").read_text().split()]
    return found + [grandchild for child in found for grandchild in children(child)]


async def capacity(load: Load, seconds: float) -> float:
    """Requests a second when eight clients each send the next one once the last one is answered."""
    begun, before = time.perf_counter(), load.answered

    async def client() -> None:
        while time.perf_counter() < begun + seconds:
            await load.one()

    await asyncio.gather(*(client() for _ in range(8)))
    return (load.answered - before) / (time.perf_counter() - begun)


async def keep_up(load: Load, rate: float, until: float, failures: list[BaseException]) -> None:
    """Send requests at random moments, so many a second on average, and at most IN_FLIGHT at a time."""
    turn, tasks, due = asyncio.Semaphore(IN_FLIGHT), set[asyncio.Task[None]](), time.perf_counter()

    def ended(task: asyncio.Task[None]) -> None:
        turn.release()
        tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            failures.append(task.exception() or RuntimeError())

    while (now := time.perf_counter()) < until:
        due = max(due, now - 1.0) + float(load.rng.exponential(1 / rate))  # what a stall held up is not sent at once
        await asyncio.sleep(max(0.0, due - now))
        await turn.acquire()
        task = asyncio.create_task(load.one())
        tasks.add(task)
        task.add_done_callback(ended)
    await asyncio.gather(*tasks, return_exceptions=True)


async def soak(pid: int, port: int, minutes: float, rate: float | None) -> list[Usage]:
    """Keep a service under load and print what it uses each minute; ends by itself."""
    # The service closes connections that are idle for 5 seconds: a request on one that is being closed would be lost.
    limits = httpx.Limits(max_connections=2 * IN_FLIGHT, keepalive_expiry=2.0)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    address = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=120, limits=limits) as http:
        for name, (_, d) in DESKS.items():
            (await http.post("/api/desks", json={"name": name, "n_features": d})).raise_for_status()
        load, failures, found = Load(http, np.random.default_rng(0)), list[BaseException](), list[Usage]()
        await capacity(load, CALIBRATION_SECONDS)  # compiled kernels, opened desks
        most = await capacity(load, CALIBRATION_SECONDS)
        rate = rate or most / 2 * (1 - 3 * SHARES["dashboard"] / (1 + 3 * SHARES["dashboard"]))
        print(f"answers {most:.0f} requests a second; under load of {rate:.0f} visits a second", flush=True)
        begun = time.perf_counter()
        watcher = asyncio.create_task(load.watch("loans"))
        clients = asyncio.create_task(keep_up(load, rate, begun + minutes * 60, failures))
        while not clients.done():
            await asyncio.wait({clients}, timeout=60)
            found.append(usage(pid, (time.perf_counter() - begun) / 60))
            print(line_of(found[-1], load, failures), flush=True)
        watcher.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watcher
        print("\n".join(f"{n:>9,} {kind}: {status}" for (kind, status), n in sorted(load.statuses.items())))
        print(f"{len(failures)} requests without an answer {Counter(map(repr, failures)).most_common(3)}")
    return found


def line_of(now: Usage, load: Load, failures: list[BaseException]) -> str:
    """A minute in one line."""
    return (
        f"{now.minute:5.1f} min: {now.megabytes:6.1f} MB, worker {now.of_children:6.1f} MB, {now.descriptors:3} "
        f"descriptors, {now.threads:3} threads, {now.cpu_seconds:7.1f} s of CPU, {load.answered:8,} answers, "
        f"{len(failures)} lost {failures[-1:]}, load of the machine {os.getloadavg()[0]:.1f}"
    )


def trend(values: list[float]) -> float:
    """How much a line through the values rises from the first to the last, as a share of their mean."""
    slope = np.polyfit(np.arange(len(values)), values, 1)[0] if len(values) > 1 else 0.0
    return float(slope * (len(values) - 1) / np.mean(values))


def main() -> None:
    """Run it and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, help="visits a second; half of what the service can answer by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(server(Path(folder))) as (process, port):
        found = asyncio.run(soak(process.pid, port, options.minutes, options.rate))
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 1e6
    later = found[len(found) // 2 :]
    for name in ("megabytes", "descriptors", "threads"):
        values = [float(getattr(one, name)) for one in later]
        rise = trend(values)
        verdict = "flat" if rise <= FLAT else "rises"
        print(f"{name} in the second half: {min(values):.0f} to {max(values):.0f}, trend {rise:+.1%}: {verdict}")
    print(f"the ledger has {size:.0f} MB")


if __name__ == "__main__":
    main()
