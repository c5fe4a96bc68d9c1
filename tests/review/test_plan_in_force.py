"""The plan that an interview's forecast is about: the desk's own."""

from __future__ import annotations

import numpy as np

from evenhand.desk import Desk, Ledger
from evenhand.review._interview_people import plan_in_force
from evenhand.review.interview_sessions import InterviewSessions


def crowd(n: int) -> list[list[float]]:
    """Contexts of n people."""
    rng = np.random.default_rng(n)
    return [[float(value) for value in rng.uniform(-0.5, 0.5, size=2)] for _ in range(n)]


def test_it_has_the_candidates_of_recent_decisions_and_the_pairs_in_the_queue(ledger: Ledger, name: str) -> None:
    """Decisions about 3, 9 and 9 people: nine candidates; two pairs of each are shown to reviewers."""
    with Desk.open(ledger, name, n_features=2, seed=1, epsilon=0.02, metric="BayesPoint", pairs_per_decision=2) as desk:
        assert (plan := plan_in_force(ledger, name, desk.settings)).pairs == 2
        assert plan.candidates == 5  # as in any interview before there are decisions
        for size in (3, 9, 9):
            desk.decide(crowd(size))
        plan = plan_in_force(ledger, name, desk.settings)
    assert (plan.candidates, plan.pairs) == (9, 2)


def test_the_meter_of_a_page_counts_it(ledger: Ledger, name: str) -> None:
    """The same people and decisions: with one pair of each reviewed, more unfair pairs are expected than with forty."""
    expected = {}
    for pairs in (1, 40):
        settings = {"n_features": 2, "seed": 1, "epsilon": 0.02, "metric": "BayesPoint", "pairs_per_decision": pairs}
        with Desk.open(ledger, f"{name}-{pairs}", **settings) as desk:
            desk.decide(crowd(9))
            desk.catch_up(wait=True)
            meter = InterviewSessions(desk).next("Kim")["meter"]
            assert meter["decisions"] == plan_in_force(ledger, desk.name, desk.settings).decisions
            expected[pairs] = meter["expected_unfair_pairs"]
    assert expected[1] > 2 * expected[40]
