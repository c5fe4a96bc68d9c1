"""A desk's own decisions are a log with the chances that it played."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.desk import open_ledger
from evenhand.desk.past_log import past_log
from evenhand.errors import InvalidInput


def test_other_settings_are_evaluated_on_a_desks_own_decisions() -> None:
    """Probabilities, outcomes and standing reviews come back; overridden and erased decisions are named instead."""
    rng = np.random.default_rng(0)
    ledger = open_ledger("memory:")
    with pytest.raises(InvalidInput, match="got 0"), eh.Desk.open(ledger, "empty", n_features=2):
        past_log(ledger, "empty")
    with eh.Desk.open(ledger, "loans", n_features=2, capacity=2, seed=0) as desk:
        decisions = []
        for number in range(40):
            people = [{"id": f"p{number}-{i}", "context": (rng.random(2) / 2).tolist()} for i in range(5)]
            decision = desk.decide(people)
            decisions.append(decision)
            desk.outcome(decision.id, {name: float(rng.random() < 0.6) for name in decision.chosen})
        first = decisions[0]
        desk.review(first.id, "partial", unfair=[("p0-0", "p0-1")], fair=[("p0-2", "p0-3")], reviewer="kim")
        taken_back = desk.review(decisions[1].id, unfair=[("p1-0", "p1-1")])
        desk.withdraw(taken_back.id)
        desk.override(decisions[2].id, chosen=["p2-4"], reason="error")
        desk.erase("p3-0")
        log = past_log(ledger, "loans")
        assert [row.place for row in log.refused] == [f"decision {decisions[i].id}" for i in (2, 3)]
        assert (len(log), log.n_candidates) == (38, 190)
        assert log.probabilities is not None
        played = [p for d in (*decisions[:2], *decisions[4:]) for p in d.probabilities.values()]
        np.testing.assert_allclose(log.probabilities, played, atol=1e-12)
        assert int(log.is_observed.sum()) == int(log.chosen.sum())
        assert [(v.first, v.unfair, v.reviewer) for v in log.verdicts] == [
            (f"{first.id}/p0-0", True, "kim"),
            (f"{first.id}/p0-2", False, "kim"),
        ]
        result = eh.history.evaluate(log, {"equal": eh.history.equal_probabilities()})
        assert result.propensities.is_recorded
        assert result["equal"].refusal is None
    ledger.close()


def test_what_the_system_in_force_did_is_a_log_too() -> None:
    """In shadow mode: who was really chosen, with probabilities if told for all; reviews of the system only."""
    rng = np.random.default_rng(0)
    ledger = open_ledger("memory:")
    with eh.Desk.open(ledger, "loans", n_features=2, capacity=2, seed=0, shadow=True) as desk:
        decisions = []
        for number in range(30):
            people = [{"id": f"p{number}-{i}", "context": (rng.random(2) / 2).tolist()} for i in range(5)]
            decisions.append(desk.decide(people))
            if number == 29:
                break
            winner = f"p{number}-{rng.integers(5)}"
            desk.action(decisions[-1].id, [winner], probabilities=[0.2] * 5)
            desk.outcome(decisions[-1].id, {winner: float(rng.random() < 0.6)})
        desk.review(decisions[0].id, "partial", unfair=[("p0-0", "p0-1")], subject="desk")
        desk.review(decisions[0].id, "partial", fair=[("p0-2", "p0-3")], subject="system")
    log = past_log(ledger, "loans", of="system")
    assert log.places.tolist() == [1] * 29
    assert log.probabilities is not None
    assert set(log.probabilities.tolist()) == {0.2}
    assert [str(row) for row in log.refused] == [f"decision {decisions[29].id}: nobody said yet what was really done"]
    assert [(v.first, v.unfair) for v in log.verdicts] == [(f"{decisions[0].id}/p0-2", False)]
    assert int(log.is_observed.sum()) == 29
    with pytest.raises(InvalidInput, match="must have at least 1 decision of the desk that can be used, got 0"):
        past_log(ledger, "loans")
    ledger.close()
