"""A ledger is taken to a computer with another processor: it replays there, projects alike, and its snapshots hold.

OpenBLAS computes as another processor would if OPENBLAS_CORETYPE names one: sums are then added up in another order.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the processors named here are x86"),
]

OLDER = {"OPENBLAS_CORETYPE": "Nehalem"}
"""Any x86 processor of the last fifteen years can compute as this one does."""

PLAY = """
import sys
import numpy as np
from evenhand.desk import Desk

url, metric, d = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng, A = np.random.default_rng(0), np.diag(np.linspace(0.1, 0.5, d))
with Desk.open(url, "loans", n_features=d, metric=metric, seed=3) as desk:
    for _ in range(30):
        X = rng.normal(size=(8, d))
        X /= np.linalg.norm(X, axis=1).max()
        decision = desk.decide([{"id": str(i), "context": x.tolist()} for i, x in enumerate(X)])
        p = [decision.probabilities[str(i)] for i in range(8)]
        desk.outcome(decision.id, {name: float(rng.normal(0.3, 0.1)) for name in decision.chosen})
        unfair = [
            (str(i), str(j)) for i in range(8) for j in range(i)
            if abs(p[i] - p[j]) > np.sqrt((X[i] - X[j]) @ A @ (X[i] - X[j]))
        ]
        desk.review(decision.id, unfair=unfair, reviewer="Kim")
"""

REPLAY = """
import json, sys
from evenhand.desk import open_ledger
from evenhand.desk.replay import replay

result = replay(open_ledger(sys.argv[1]), "loans")
print(json.dumps([result.is_same, result.decisions, result.rounding, result.differences[:1], result.snapshots]))
"""

PROJECT = """
import json, sys
from evenhand.desk import Desk, open_ledger

ledger = open_ledger(sys.argv[1])
with ledger.transaction(writes=True) as connection:
    connection.exec_driver_sql("DELETE FROM snapshots")
with Desk.open(ledger, "loans") as desk:
    desk.catch_up(wait=True)
    print(json.dumps([desk.projection.skipped, desk.projection.history.kinds["review"]]))
"""


def _run(code: str, *arguments: str, **environment: str) -> str:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize(("metric", "d"), [("auto", 3), ("auto", 8)])
def test_a_ledger_replays_on_another_processor(tmp_path: Path, metric: str, d: int) -> None:
    """Decisions and snapshots come out the same up to rounding; with the processor that wrote them, to the bit."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    _run(PLAY, url, metric, str(d))
    is_same, decisions, rounding, *rest = json.loads(_run(REPLAY, url))
    assert (is_same, decisions, rounding) == (True, 30, 0.0), rest
    is_same, decisions, rounding, *rest = json.loads(_run(REPLAY, url, **OLDER))
    assert (is_same, decisions) == (True, 30), rest
    assert rounding > 0, "it computed as the same processor does: this test shows nothing"


def test_reviews_teach_on_another_processor(tmp_path: Path) -> None:
    """Also with a learner whose first numbers rounding decides: the ledger says whose decisions were reviewed."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    _run(PLAY, url, "ProjectedVolume", "3")
    skipped, reviewed = json.loads(_run(PROJECT, url, **OLDER))
    assert (skipped, reviewed) == (0, 30)
