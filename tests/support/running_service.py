"""A service in this process, on a port of its own, with a token of every kind, for tests to ask."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from evenhand.service import ServiceSettings, create_app
from evenhand.service.serve import AnnouncingServer, address_of, config_of, listen
from evenhand.service.service import Service
from evenhand.service.tokens import new_token

ADMIN = "an-admin-token-for-tests-only"
METRICS = "a-metrics-token-for-tests-only"
MEMORY = ServiceSettings(database_url="memory:", admin_token=ADMIN, metrics_token=METRICS, log_requests=False)
DESK = {"name": "loans", "n_features": 2, "seed": 3}
DECISIONS = "/api/desks/loans/decisions"


@dataclass
class Asking:
    """Asks a service with the token of somebody: admin, decide, review, elsewhere, nobody, ..."""

    http: httpx.Client
    service: Service
    secrets: dict[str, str] = field(default_factory=lambda: {"admin": ADMIN, "metrics": METRICS})

    @property
    def url(self) -> str:
        """Where it is."""
        return str(self.http.base_url)

    def __call__(self, method: str, path: str, body: Any = None, *, by: str = "admin", **more: Any) -> httpx.Response:
        """One request."""
        headers = dict(more.pop("headers", {}))
        if by in self.secrets:
            headers["Authorization"] = f"Bearer {self.secrets[by]}"
        if body is not None:
            more["json"] = body
        return self.http.request(method, path, headers=headers, **more)

    def token(self, by: str, roles: list[str], desks: list[str] | None = None) -> None:
        """Make a token, to be used under this name."""
        token, self.secrets[by] = new_token(by, roles, desks)
        self.service.tokens.add(token)
        self.service.authenticator.refresh()

    def decide(self, desk: str = "loans", *, by: str = "admin", k: int = 3, **more: Any) -> dict[str, Any]:
        """A decision among k candidates that are far from each other."""
        answer = self("POST", f"/api/desks/{desk}/decisions", candidates(k), by=by, **more)
        assert answer.status_code == 201, answer.text
        decision: dict[str, Any] = answer.json()
        return decision


def candidates(k: int = 3) -> dict[str, Any]:
    """The body of a request for a decision."""
    return {"candidates": [{"id": f"c{i}", "context": [i / k, 1 - i / k]} for i in range(k)]}


def is_problem(answer: httpx.Response, status: int, kind: str | None = None) -> dict[str, Any]:
    """Check that an answer is a problem document of this status; gives its members."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    members: dict[str, Any] = answer.json()
    assert members["status"] == status
    assert members["type"].startswith("urn:evenhand:problem:")
    assert members["title"]
    assert members["detail"]
    if kind is not None:
        assert members["type"].endswith(f":{kind}")
    return members


@contextmanager
def running(settings: ServiceSettings) -> Iterator[tuple[str, Service]]:
    """A service in a thread; gives its address."""
    app = create_app(settings)
    started = threading.Event()
    server = AnnouncingServer(config_of(app), started.set)
    with listen("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not started.wait(0.1):
                assert thread.is_alive(), "the service did not start"
            yield address_of(listening, "127.0.0.1"), app.state.service
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive(), "the service did not stop"


@contextmanager
def asking(settings: ServiceSettings = MEMORY) -> Iterator[Asking]:
    """A running service with the desks loans and jobs, deciders and reviewers of each."""
    with running(settings) as (url, service), httpx.Client(base_url=url, timeout=60) as http:
        ask = Asking(http, service)
        if settings.tokens:
            ask.token("decide", ["decide"], ["loans"])
            ask.token("review", ["review"], ["loans"])
            ask.token("elsewhere", ["decide", "review"], ["jobs"])
            ask.token("local admin", ["admin"], ["loans"])
        for name in ("loans", "jobs"):
            opened = ask("POST", "/api/desks", {**DESK, "name": name})
            assert opened.status_code == 201, opened.text
        yield ask
