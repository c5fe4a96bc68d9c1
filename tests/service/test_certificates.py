"""Certificates are made in the worker process, kept, given up when nobody waits, and refused if they take too long."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from evenhand.certificates import Certificate, check
from evenhand.service.background import certificates
from evenhand.testing.metric_worlds import random_contexts
from tests.service.test_http_parsing import connected
from tests.support.processes import started
from tests.support.running_service import ADMIN, DECISIONS, MEMORY, Asking, asking, is_problem
from tests.support.waiting import wait_for

pytestmark = pytest.mark.process


def endless(*_: Any) -> bytes:
    """In place of a certificate."""
    while True:
        time.sleep(0.01)


def path_of(ask: Asking) -> str:
    """The certificate of a new decision."""
    return f"{DECISIONS}/{ask.decide()['id']}/certificate"


def test_a_certificate_is_made_once(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be checked; the second request needs no process; after a review it is made again."""
    run, made_ids = ask.service.worker.run, list[str]()

    async def noted(function: Any, *args: Any, seconds: float) -> Any:
        if function is certificates.make_certificate:
            made_ids.append(args[2].id)
        return await run(function, *args, seconds=seconds)

    monkeypatch.setattr(ask.service.worker, "run", noted)
    decision = ask.decide()
    path = f"{DECISIONS}/{decision['id']}/certificate"
    made = ask("GET", path)
    assert sum(check(Certificate.from_dict(made.json()))) == 3
    assert ask("GET", path).content == made.content
    proofs = ask("GET", path.replace("certificate", "proofs")).json()
    assert Counter(pair["status"] for pair in proofs["pairs"]) == Counter(
        {name: n for name, n in proofs["counts"].items() if n}
    )
    assert len(made_ids) == 1
    review = {"kind": "complete", "unfair": []}
    seq = ask("POST", f"{DECISIONS}/{decision['id']}/reviews", review).json()["seq"]
    wait_for(lambda: ask("GET", "/api/desks/loans").json()["state"] >= seq, what="the projection")
    assert ask("GET", path).status_code == 200
    assert len(made_ids) == 2


def test_one_that_takes_too_long_is_refused_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """503 with a time; other requests are answered meanwhile, and the next certificate is made."""
    with asking(replace(MEMORY, certificate_seconds=0.1)) as ask:
        path = path_of(ask)
        with monkeypatch.context() as patched:
            patched.setattr(certificates, "make_certificate", endless)
            patched.setattr(certificates, "GRACE_SECONDS", 1.0)
            refused = ask("GET", path)
            assert is_problem(refused, 503, "unavailable")
            assert refused.headers["retry-after"] == "5"
        assert ask("GET", path).status_code == 200


def test_work_ends_when_the_client_goes(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that was at it is ended."""
    path = path_of(ask)
    with monkeypatch.context() as patched:
        patched.setattr(certificates, "make_certificate", endless)
        with connected(ask) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: desk\r\nAuthorization: Bearer {ADMIN}\r\n\r\n".encode())
            pid = wait_for(lambda: ask.service.worker.pid, what="the process")
        wait_for(lambda: ask.service.worker.pid != pid, what="the end of the work")
    assert ask("GET", path).status_code == 200


def test_too_many_that_wait_are_refused(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit at once, with 503."""
    monkeypatch.setattr(certificates, "MAX_WAITING", 0)
    assert ask("GET", path_of(ask)).headers["retry-after"] == "5"


def test_a_stopped_process_costs_one_refusal(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGSTOP: the request is refused at its deadline; the next one gets its certificate."""
    assert ask("GET", path_of(ask)).status_code == 200
    pid = ask.service.worker.pid
    assert pid is not None
    path = path_of(ask)
    with monkeypatch.context() as patched:
        patched.setattr(certificates, "GRACE_SECONDS", -9.0)  # one second in all
        os.kill(pid, signal.SIGSTOP)
        assert ask("GET", path).status_code == 503
    assert ask("GET", path).status_code == 200
    assert ask.service.worker.pid != pid


def test_the_largest_certificates_hold_up_neither_decisions_nor_the_end(tmp_path: Path) -> None:
    """46 features, 50 candidates: another desk decides meanwhile; SIGTERM ends the service and the work."""
    headers, rng = {"Authorization": f"Bearer {ADMIN}"}, np.random.default_rng(0)
    with (
        started(f"sqlite:///{tmp_path}/ledger.db", tmp_path) as service,
        httpx.Client(base_url=service.address, headers=headers, timeout=60) as http,
    ):
        for name, features in (("wide", 46), ("small", 2)):
            http.post("/api/desks", json={"name": name, "n_features": features}).raise_for_status()
        for number in range(120):
            x, y = 0.99 * random_contexts(rng, 2, 46)
            answer = {"x": x.tolist(), "y": y.tolist(), "gap": 0.1 + 0.005 * number, "unfair": number % 2 == 0}
            http.post("/api/desks/wide/answers", json=answer).raise_for_status()
        decision = http.post("/api/desks/wide/decisions", json=_people(0.99 * random_contexts(rng, 50, 46))).json()
        path = f"{service.address}/api/desks/wide/decisions/{decision['id']}/certificate"
        asked = threading.Thread(target=_get, args=(path, headers))
        asked.start()
        for _ in range(20):
            http.post("/api/desks/small/decisions", json=_people(0.99 * random_contexts(rng, 3, 2))).raise_for_status()
        assert service.process is not None
        service.process.terminate()
        assert service.process.wait(60) in (0, -signal.SIGTERM)
        asked.join()
        assert "Traceback" not in service.log.read_text()


def _get(path: str, headers: dict[str, str]) -> None:
    with contextlib.suppress(httpx.TransportError):
        httpx.get(path, headers=headers, timeout=60)


def _people(contexts: Any) -> dict[str, Any]:
    return {"candidates": [{"id": f"c{i}", "context": row} for i, row in enumerate(contexts.tolist())]}
