"""Kernels are compiled while nobody waits for it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evenhand.desk import Desk, warm_up
from tests.support.desk_play import people

USUAL = """
import gc
import numpy as np
from numba.core.dispatcher import Dispatcher
from evenhand.desk import Desk
from evenhand.desk.warm_up import warm_up

def kernels():
    found = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
    return {(one.py_func.__qualname__, str(signature)) for one in found for signature in one.signatures}

warm_up()
before, rng = kernels(), np.random.default_rng(0)
for capacity in (1, 3, None):
    with Desk.open("memory:", "loans", n_features=10, capacity=capacity, seed=1) as desk:
        for number in range(6):
            contexts = rng.normal(size=(10, 10))
            decision = desk.decide(contexts / np.linalg.norm(contexts, axis=1, keepdims=True))
            desk.outcome(decision.id, dict.fromkeys(decision.chosen, 0.5))
            desk.review(decision.id, unfair=[("0", "1")] if number % 2 else [], reviewer="Kim")
        desk.explain(decision.id)
print(len(before), sorted(kernels() - before))
"""


@pytest.mark.process
def test_the_usual_work_of_a_desk_needs_nothing_more() -> None:
    """After warming up, deciding, learning and explaining at ten candidates of ten features compiles no kernel."""
    told = subprocess.run([sys.executable, "-c", USUAL], capture_output=True, text=True, check=True).stdout
    number, more = told.split(" ", 1)
    assert int(number) > 20
    assert more.strip() == "[]"


def test_nobody_is_kept_from_writing_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A desk's first decision in a process compiles before it takes the database's one lock, and only once."""
    file, written = tmp_path / "ledger.db", []

    def slow(*_: object) -> None:
        with sqlite3.connect(file, timeout=0.0) as other:
            other.execute("BEGIN IMMEDIATE")
            written.append(True)

    with Desk.open(f"sqlite:///{file}", "loans", n_features=3, seed=1) as desk:
        monkeypatch.setattr(warm_up, "_done", False)
        monkeypatch.setattr(warm_up, "_play", slow)
        for _ in range(2):
            desk.decide(people(np.random.default_rng(0)))
    assert len(written) == len(warm_up.SHAPES)


def test_what_takes_long_is_said(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever waits for a compiler is told so; whoever does not, is not."""
    for patience, is_said in ((60.0, False), (0.0, True)):
        monkeypatch.setattr(warm_up, "_done", False)
        monkeypatch.setattr(warm_up, "PATIENCE_SECONDS", patience)
        warm_up.warm_up()
        assert (warm_up.SLOW in caplog.messages) == is_said
