"""Services as processes of their own, for tests that kill them, and clients that go on regardless."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from evenhand.client import DeskClient, ServiceAway, ServiceProblem
from evenhand.desk.replay import replay
from evenhand.errors import CannotListen
from evenhand.ledger.ledger import open_ledger
from evenhand.ledger.verify import verify
from evenhand.service.serve import listen
from tests.support.ports import free_port
from tests.support.running_service import ADMIN
from tests.support.waiting import wait_for

START_SECONDS = 300.0
"""On a machine that has much else to do."""


@dataclass
class Running:
    """A service that can be started, killed and started again at one address."""

    url: str
    log: Path
    port: int = field(default_factory=free_port)
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it is ready."""
        command = [sys.executable, "-m", "evenhand", "serve", "--database", self.url, "--port", str(self.port)]
        environment = {**os.environ, "EVENHAND_ADMIN_TOKEN": ADMIN}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *self.options], stdout=log, stderr=log, env=environment, start_new_session=True
            )
        wait_for(self._is_ready, what="the start of the service", seconds=START_SECONDS, pause=0.05)

    def _is_ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text()[-2000:]
        try:
            return httpx.get(f"{self.address}/ready", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def kill(self, what: str = "all") -> None:
        """SIGKILL: all its processes, or the parent of workers only."""
        assert self.process is not None
        if what == "all":
            os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()
        self.process.wait(60)

    def stop(self) -> None:
        """SIGTERM, and what is left after that."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


@contextmanager
def started(url: str, folder: Path, *options: str) -> Iterator[Running]:
    """A running service; ended with the block."""
    running = Running(url, folder / f"service-{free_port()}.log", options=options)
    try:
        running.start()
        yield running
    finally:
        running.stop()


class Stream(threading.Thread):
    """A client that decides, records outcomes and reviews, one after the other, until it is stopped."""

    def __init__(self, addresses: list[str], desk: str, number: int) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self._addresses, self._desk, self.number = addresses, desk, number
        self._rng = np.random.default_rng(number)
        self._stopped = threading.Event()
        self.sent = 0
        self.answered: dict[str, dict[str, Any]] = {}
        """What was answered, by idempotency key."""
        self.failures: list[Exception] = []

    def run(self) -> None:
        """Until stopped; whatever is not sat out by the client's retries is a failure."""
        clients = [
            DeskClient(url, ADMIN, retries=200, pause=0.02, timeout=20, sleep=self._sleep) for url in self._addresses
        ]
        try:
            while not self._stopped.is_set():
                self._round(clients[self.sent % len(clients)])
        except (ServiceAway, ServiceProblem, AssertionError) as error:
            if not self._stopped.is_set():
                self.failures.append(error)
        finally:
            for client in clients:
                client.close()

    def _sleep(self, seconds: float) -> None:
        self._stopped.wait(min(seconds, 0.25))

    def _round(self, client: DeskClient) -> None:
        contexts = self._rng.normal(size=(4, 3))
        contexts /= np.linalg.norm(contexts, axis=1, keepdims=True) * 1.01
        people = [{"id": f"p{i}", "context": row} for i, row in enumerate(contexts.tolist())]
        made = self._did(client.decide(self._desk, people, key=self._key()))
        if made["chosen"]:
            self._did(
                client.outcome(self._desk, made["id"], {made["chosen"][0]: float(self._rng.uniform())}, key=self._key())
            )
        if self._rng.uniform() < 0.3:
            unfair = [("p0", "p1")] if self._rng.uniform() < 0.5 else []
            review = self._did(client.review(self._desk, made["id"], "partial", unfair=unfair, key=self._key()))
            if self._rng.uniform() < 0.1:
                self._did(client.withdraw(self._desk, review["id"], key=self._key()))

    def _key(self) -> str:
        self.sent += 1
        return f"{self.number}-{self.sent}"

    def _did(self, answer: dict[str, Any]) -> dict[str, Any]:
        self.answered[f"{self.number}-{self.sent}"] = answer
        return answer

    def stop(self) -> None:
        """Send nothing more."""
        self._stopped.set()
        self.join(60)
        assert not self.is_alive()


def open_desk(running: Running, desk: str) -> None:
    """Open a desk with three features."""
    with DeskClient(running.address, ADMIN) as client:
        client.open_desk(desk, n_features=3, seed=5)


def streams_of(addresses: list[str], desk: str, number: int = 4) -> list[Stream]:
    """Clients that have begun."""
    streams = [Stream(addresses, desk, i) for i in range(number)]
    for stream in streams:
        stream.start()
    return streams


def answered(streams: list[Stream]) -> int:
    """How many requests were answered so far."""
    return sum(len(stream.answered) for stream in streams)


def wait_for_answers(streams: list[Stream], more: int) -> None:
    """Wait until so many requests more were answered."""
    enough = answered(streams) + more
    wait_for(lambda: answered(streams) >= enough, what=f"{more} more answers", seconds=120)


def check_ledger(url: str, desk: str, streams: list[Stream]) -> None:
    """Every answered request is in the ledger as answered, no key twice, the chain is whole, decisions replay."""
    ledger = open_ledger(url)
    try:
        verify(ledger, desk)
        keys: dict[str, dict[str, Any]] = {}
        with ledger.reading(desk) as view:
            for row in view.after(1, 1_000_000):  # the first line opened the desk
                if row.key is not None:
                    assert row.key not in keys, f"key {row.key} is in the ledger twice"
                    keys[row.key] = row.event.to_dict()
        for stream in streams:
            assert not stream.failures, stream.failures
            for key, answer in stream.answered.items():
                event = keys.get(key)
                assert event is not None, f"{key} was answered, and is not in the ledger"
                assert (event["id"], event["seq"], event["time"]) == (answer["id"], answer["seq"], answer["time"])
                assert event["body"].get("probabilities") == answer.get("probabilities")
        assert set(keys) <= {f"{stream.number}-{i + 1}" for stream in streams for i in range(-1, stream.sent)}
        assert replay(ledger, desk).is_same
    finally:
        ledger.close()


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


def workers_of(parent: int) -> list[int]:
    """The workers that a service has started, and their own."""
    return [each for each in below(parent) if "spawn_main" in command_of(each)]


def two_workers(parent: int) -> list[int]:
    """The workers, once there are two."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    found = [each for each in map(int, children) if "spawn_main" in command_of(each)]
    return found if len(found) == 2 else []


def can_listen(port: int) -> bool:
    """Whether nobody listens on a port."""
    try:
        listen("127.0.0.1", port).close()
    except CannotListen:
        return False
    return True
