"""A service in processes of its own over a real SQLite file, with desks of loan applicants and tokens for everybody."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
import numpy as np

from evenhand.desk import Desk
from evenhand.ledger.ledger import open_ledger
from evenhand.schema import Category, Number, Schema, YesNo
from evenhand.service.tokens import new_token, open_tokens
from tests.support.ports import free_port
from tests.support.same_lottery import same_secrets
from tests.support.waiting import wait_for

SCHEMA = Schema(
    [
        Number("income", low=0, high=200_000, unit="EUR"),
        Number("years employed", low=0, high=40, unit="years"),
        Category("purpose", levels=("car", "home", "study")),
        YesNo("guarantor"),
    ]
)
START_SECONDS = 180.0


def person(rng: np.random.Generator, name: str) -> dict[str, Any]:
    """A loan applicant."""
    features = {
        "income": float(rng.integers(15, 120) * 1000),
        "years employed": float(rng.integers(0, 30)),
        "purpose": str(rng.choice(["car", "home", "study"])),
        "guarantor": bool(rng.random() < 0.3),
    }
    return {"id": name, "features": features}


def fill(desk: Desk, decisions: int, *, seed: int = 0, k: int = 4, names: Sequence[str] | None = None) -> None:
    """Make decisions about applicants, with outcomes."""
    rng = np.random.default_rng(seed)
    for number in range(decisions):
        ids = list(names or ()) or [f"applicant {number}-{i}" for i in range(k)]
        decision = desk.decide([person(rng, name) for name in ids])
        desk.outcome(decision.id, {name: float(rng.random()) for name in decision.chosen}) if decision.chosen else None


@dataclass
class Serving:
    """A service that can be stopped and started again; tokens by name."""

    folder: Path
    port: int = field(default_factory=free_port)
    tokens: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    options: tuple[str, ...] = ()
    """More for the command line."""
    elsewhere: str | None = None
    """The URL of another database than the SQLite file in its folder."""

    @property
    def database(self) -> str:
        """The URL of its database."""
        return self.elsewhere or f"sqlite:///{self.folder / 'ledger.db'}"

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def open_desk(self, name: str, decisions: int, *, ids: Sequence[str] | None = None, **settings: Any) -> None:
        """Make a desk with some decisions, before the service starts."""
        ledger = open_ledger(self.database)
        try:
            given = {"schema": SCHEMA, "epsilon": 0.05, "seed": 3, **settings}
            with same_secrets(), Desk.open(ledger, name, **given) as desk:
                fill(desk, decisions, names=ids)
                desk.catch_up(wait=True)
        finally:
            ledger.close()

    def token(self, name: str, roles: list[str], desks: list[str] | None = None) -> str:
        """Make a token; its secret."""
        token, secret = new_token(name, roles, desks)
        with open_tokens(self.database) as store:
            store.add(token)
        self.tokens[name] = secret
        return secret

    def start(self) -> None:
        """Start it and wait until it is ready."""
        command = [sys.executable, "-m", "evenhand", "serve", "--database", self.database]
        command += ["--port", str(self.port), "--no-request-log", *self.options]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=dict(os.environ))
        wait_for(self._is_ready, what="the start of the service", seconds=START_SECONDS, pause=0.05)

    def _is_ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            return httpx.get(f"{self.url}/ready", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop it and wait until it is gone."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(60)
            self.process = None

    def ask(self, method: str, path: str, *, by: str, body: Any = None) -> httpx.Response:
        """One request with somebody's token."""
        headers = {"Authorization": f"Bearer {self.tokens[by]}"}
        return httpx.request(method, self.url + path, headers=headers, json=body, timeout=60)

    def metric(self, desk: str = "loans") -> Any:
        """What the desk has learned."""
        return self.ask("GET", f"/api/desks/{desk}/metric", by="owner").json()

    def events(self, kind: str, desk: str = "loans") -> list[dict[str, Any]]:
        """All lines of a kind."""
        found: list[dict[str, Any]] = []
        after = 0
        while True:
            page = self.ask("GET", f"/api/desks/{desk}/events?limit=1000&after={after}", by="owner").json()
            found += [event for event in page["events"] if event["kind"] == kind]
            if page["next"] is None:
                return found
            after = page["next"]
