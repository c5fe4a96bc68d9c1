"""A desk in a notebook: at hand, readable when printed, and the guide's example runs as often as one likes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import evenhand as eh
from evenhand.desk import Desk, open_ledger
from evenhand.ledger.verify import verify
from tests.support.desk_play import QUICK, people

GUIDE = Path(__file__).parents[2] / "docs" / "ledger.md"


def test_the_desk_is_at_the_top() -> None:
    """eh.Desk is the desk, among the names that the package lists; loaded when first asked for (test_migrations)."""
    assert eh.Desk is Desk
    assert "Desk" in eh.__all__
    assert "Desk" in dir(eh)


def test_a_desk_and_a_decision_can_be_read() -> None:
    """Printed, a desk shows its length, a decision its probabilities and who was drawn, however many candidates."""
    with Desk.open("memory:", "loans", **QUICK, seed=1) as desk:
        decision = desk.decide(people(np.random.default_rng(0)))
        desk.catch_up()
        assert repr(desk) == "Desk('loans', 3 features, capacity 1, 1 decision in 2 events)"
        assert decision.id in repr(decision)
        assert f"chosen {decision.chosen}" in repr(decision)
        assert all(f"{name!r}: {p:.3g}" in repr(decision) for name, p in decision.probabilities.items())
        crowd = desk.decide(people(np.random.default_rng(0), k=40))
        assert "... 40 in all" in repr(crowd)
        assert len(repr(crowd)) < 300


def test_the_guide_can_be_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run finds the desk there and goes on with it."""
    monkeypatch.chdir(tmp_path)
    example = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)[0]
    for _ in range(2):
        exec(compile(example, GUIDE.name, "exec"), {"__name__": "__main__"})
    ledger = open_ledger("sqlite:///ledger.db")
    assert verify(ledger, "loans").decisions == 10
    ledger.close()
