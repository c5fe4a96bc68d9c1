"""Kernels are compiled in advance, once, and say so when it takes long."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.bandit import warm_up
from evenhand.cli.main import main
from evenhand.desk import Desk
from evenhand.metrics import ProjectedVolume, VersionSpace
from tests.support.desk_play import people

USUAL = """
import gc
import numpy as np
from numba.core.dispatcher import Dispatcher
import evenhand as eh
from evenhand.desk import Desk
from evenhand.bandit.warm_up import warm_up

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
bandit = eh.FairBandit(10, seed=1)
for _ in range(6):
    decision = bandit.decide(contexts / np.linalg.norm(contexts, axis=1, keepdims=True))
    bandit.learn(decision, review=eh.Review.complete(unfair=[(0, 1)]))
print(len(before), sorted(kernels() - before))
"""


@pytest.mark.process
def test_the_usual_work_of_a_desk_compiles_nothing_more() -> None:
    """After warming up, a desk or a bandit of ten features that decides, learns and explains compiles no kernel."""
    output = subprocess.run([sys.executable, "-c", USUAL], capture_output=True, text=True, check=True).stdout
    number, more = output.split(" ", 1)
    assert int(number) > 20
    assert more.strip() == "[]"


def test_other_writers_are_not_blocked_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A desk's first decision in a process compiles before it takes the database's one lock, and only once."""
    file, written = tmp_path / "ledger.db", []

    def slow(*_: object, **__: object) -> None:
        with closing(sqlite3.connect(file, timeout=0.0)) as other:
            other.execute("BEGIN IMMEDIATE")
            written.append(True)

    with Desk.open(f"sqlite:///{file}", "loans", n_features=3, seed=1) as desk:
        monkeypatch.setattr(warm_up, "_is_done", False)
        monkeypatch.setattr(warm_up, "_play", slow)
        for _ in range(2):
            desk.decide(people(np.random.default_rng(0)))
    assert len(written) == len(warm_up.SHAPES) + 1


def test_every_learner_is_warmed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line's warm-up also plays VersionSpace, and ProjectedVolume with a thin direction."""
    played: list[Any] = []
    original = warm_up._play

    def noted(*shape: Any, **settings: Any) -> Any:
        if "metric" in settings:
            metric = settings["metric"]
            played.append(metric.thin_directions.shape[1] if isinstance(metric, ProjectedVolume) else type(metric))
        return original(*shape, **settings)

    monkeypatch.setattr(warm_up, "_play", noted)
    assert main(["warm-up"]) == 0
    assert played == [1, VersionSpace]
