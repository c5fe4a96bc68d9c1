"""Deciding under a cap costs a bounded amount of work, and says so when that was not enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand._internal.arrays import Floats
from evenhand.allocation import fair_distribution
from evenhand.bandit._proved_distances import WORK, ProvedDistances, proved_distances
from evenhand.certificates import Evidence, OutOfBudget, ProofSearch, SearchBudget, check, lower_bounds
from evenhand.desk import Desk
from evenhand.desk.replay import replay
from evenhand.metrics import Pairs
from evenhand.metrics.learner import as_square
from evenhand.testing.metric_worlds import random_contexts

Answer = dict[str, Any]


def answers(d: int, n: int, *, near: bool = False) -> list[Answer]:
    """Interview answers of somebody with a diagonal metric; near: on gaps about as wide as the distance."""
    rng = np.random.default_rng(0)
    weights, found = rng.uniform(0.1, 1.0, size=d), []
    for _ in range(n):
        x, y = rng.normal(size=(2, d)) / np.sqrt(d) / 4
        distance = float(np.sqrt(weights @ (x - y) ** 2))
        gap = min(1.0, distance * float(rng.uniform(0.5, 1.5))) if near else float(rng.uniform(0.05, 0.95))
        found.append({"x": x.tolist(), "y": y.tolist(), "gap": gap, "unfair": gap > distance})
    return found


def capped(d: int, n: int, *, near: bool = False, **settings: Any) -> eh.FairBandit:
    """A bandit that may never be flagged, after an interview."""
    bandit = eh.FairBandit(d, max_unfair_rounds=0, seed=1, **settings)
    for answer in answers(d, n, near=near):
        bandit.learn_pair(**answer)
    return bandit


def evidence_of(bandit: eh.FairBandit) -> Evidence:
    """What it proves with."""
    return bandit.safeguards.log.evidence


@pytest.mark.parametrize("capacity", [1, 3, None])
def test_the_proofs_that_matter_give_the_probabilities_that_all_proofs_give(capacity: int | None) -> None:
    """Fewer pairs are proved, and the value is that of the program with all of them."""
    evidence, rng = evidence_of(capped(3, 60, near=True)), np.random.default_rng(1)
    values = []
    for _ in range(5):
        contexts, rewards = random_contexts(rng, 8, 3), rng.uniform(size=8)
        proved = proved_distances(evidence, contexts, rewards, capacity, scale=1.0)
        everything = as_square(8, lower_bounds(evidence, Pairs.of(contexts)))
        assert proved.unproved_pairs == 0
        assert np.all((proved.table == 0.0) | np.isclose(proved.table, everything, rtol=1e-12))
        value = fair_distribution(rewards, proved.table, capacity).value
        assert value == pytest.approx(fair_distribution(rewards, everything, capacity).value, rel=1e-9)
        values.append(value - fair_distribution(rewards, np.zeros((8, 8)), capacity).value)
    assert capacity is None or max(values) > 0.01  # not only because all of them are equal


def test_work_is_bounded_however_many_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 6 features and 60 answers: 40 candidates and 500 both take no more work than the budget, and little beyond.

    What is not proved by then is equal, and the decision says how many pairs that were.
    """
    spent: list[SearchBudget] = []

    def noted(work: float) -> SearchBudget:
        spent.append(SearchBudget(work))
        return spent[-1]

    monkeypatch.setattr("evenhand.bandit._proved_distances.SearchBudget", noted)
    bandit, rng = capped(6, 60), np.random.default_rng(2)
    few, many = (bandit.decide(random_contexts(rng, k, 6)) for k in (40, 500))
    assert [budget.used < 1.2 * WORK for budget in spent] == [True, True]
    assert few.unproved_pairs == 0
    assert many.unproved_pairs > 0
    assert np.ptp(many.probabilities) <= 1e-9


def test_what_was_not_proved_is_equal_and_the_same_every_time(tmp_path: Path) -> None:
    """A small budget: only gaps that are proved are played, and another run comes to the same, to the bit."""
    bandit, rng = capped(3, 60, near=True), np.random.default_rng(3)
    contexts, rewards = random_contexts(rng, 12, 3), rng.uniform(size=12)
    evidence, last = evidence_of(bandit), 0
    for work in (3e7, 1e9):
        one, two = (proved_distances(evidence, contexts, rewards, 1, 1.0, work) for _ in range(2))
        assert np.array_equal(one.table, two.table)
        assert one.unproved_pairs == two.unproved_pairs
        last = one.unproved_pairs
        proved = as_square(12, lower_bounds(evidence, Pairs.of(contexts)))
        assert np.all(one.table <= proved * (1.0 + 1e-12))
    assert last == 0
    bandit.save(tmp_path / "bandit")
    again = eh.FairBandit.load(tmp_path / "bandit").decide(contexts)
    decision = bandit.decide(contexts)
    assert np.array_equal(decision.probabilities, again.probabilities)
    assert decision.id == again.id


def test_every_gap_that_is_played_can_be_certified_in_any_order() -> None:
    """A proof depends on the evidence and the pair alone: what was proved when deciding is proved later."""
    bandit, rng = capped(4, 80, near=True), np.random.default_rng(4)
    widest = 0.0
    for _ in range(3):
        decision = bandit.decide(random_contexts(rng, 10, 4))
        certificate = bandit.certify(decision)
        assert check(certificate).proved == certificate.count("proved") == 45
        widest = max(widest, float(np.ptp(decision.probabilities)))
    assert widest > 0.01


def test_the_record_says_that_proofs_were_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the decision, its event, and its explanation; a replay comes to the same. Without it nothing is added."""
    with Desk.open("memory:", "loans", n_features=3, max_unfair_rounds=0, seed=1) as desk:
        for answer in answers(3, 30, near=True):
            desk.answer(**answer)
        enough = desk.decide(random_contexts(np.random.default_rng(5), 6, 3))
        monkeypatch.setattr("evenhand.bandit.safeguards.proved_distances", _impatient)
        short = desk.decide(random_contexts(np.random.default_rng(6), 6, 3))
        assert replay(desk.ledger, "loans").differences == [
            (enough.event.seq, replay(desk.ledger, "loans").differences[0][1])
        ]  # made with more work than now
        monkeypatch.undo()
        assert [seq for seq, _ in replay(desk.ledger, "loans").differences] == [short.event.seq]
        assert "unproved_pairs" not in enough.event.body
        assert short.event.body["unproved_pairs"] == desk.explain(short.id).unproved_pairs > 0
        assert "left without one" in desk.explain(short.id).sentences[-1]
        assert desk.explain(enough.id).unproved_pairs == 0
    decision = eh.Decision.from_dict({**capped(2, 5).decide([[1.0, 0.0], [0.0, 1.0]]).to_dict(), "unproved_pairs": 7})
    assert decision.unproved_pairs == eh.Decision.from_dict(decision.to_dict()).unproved_pairs == 7


def _impatient(
    evidence: Evidence, contexts: Floats, rewards: Floats, capacity: float | None, scale: float, **bounds: Any
) -> ProvedDistances:
    return proved_distances(evidence, contexts, rewards, capacity, scale, work=1e5, **bounds)


def test_an_exhausted_budget_stops_every_search() -> None:
    """OutOfBudget from the first proof on; nothing is taken for proved."""
    evidence = evidence_of(capped(3, 20))
    budget = SearchBudget(work=0.0)
    with pytest.raises(OutOfBudget):
        ProofSearch(evidence, budget).proof(np.array([0.5, 0.1, 0.0]))
    assert budget.is_spent
