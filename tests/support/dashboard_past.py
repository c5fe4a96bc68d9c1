"""A desk with decisions, outcomes, reviews, a withdrawal, an override and an answer, for tests to look at."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.desk import Desk
from evenhand.environments.lending import SCHEMA, Applicants
from evenhand.ledger.ledger import Ledger
from tests.support.same_lottery import same_secrets
from tests.support.serving import Serving

SETTINGS: dict[str, Any] = {"schema": SCHEMA, "seed": 5, "target_unfair_share": 0.1, "metric": "BayesPoint"}


def play(desk: Desk, decisions: int, *, seed: int = 0, first: int = 0) -> None:
    """Decisions; outcomes of most, reviews of some by two people, every seventh review taken back."""
    rng = np.random.default_rng(seed)
    for number in range(first, first + decisions):
        rows = Applicants().rows(4, rng)
        decision = desk.decide([{"id": f"p{number}-{i}", "features": row} for i, row in enumerate(rows)])
        if decision.chosen and rng.random() < 0.9:
            desk.outcome(decision.id, {decision.chosen[0]: round(float(rng.normal()), 3)})
        if number % 3 == 0:
            a, b, c, _ = decision.candidates
            unfair, fair = ([(a, b)], [(b, c)]) if rng.random() < 0.5 else ([], [(a, b)])
            who = "Ana" if number % 2 else "Ben"
            review = desk.review(decision.id, "partial", unfair=unfair, fair=fair, reviewer=who)
            if number % 7 == 0:
                desk.withdraw(review.id, "on second thoughts")
        if number % 10 == 9:
            desk.override(decision.id, decision.candidates[:1], "a hardship case")


def open_with_a_past(url: str | Ledger, name: str, decisions: int = 24) -> None:
    """Make a desk and let it work."""
    with same_secrets(), Desk.open(url, name, **SETTINGS) as desk:
        play(desk, decisions)
        x, y = SCHEMA.encode(Applicants().rows(2, np.random.default_rng(1))).tolist()
        desk.answer(x, y, gap=0.4, unfair=True, reviewer="Ana")
        desk.catch_up(wait=True)


@cache
def past_and_empty() -> bytes:
    """A database with the desk `loans`, which has a past, and the desk `empty`, made once."""
    with tempfile.TemporaryDirectory() as folder:
        service = Serving(Path(folder))
        open_with_a_past(service.database, "loans")
        service.open_desk("empty", 0)
        return (service.folder / "ledger.db").read_bytes()


def judged(desk: Desk, answers: int) -> None:
    """Answers of Ana and Ben on pairs of two features: both go by the first, Ben a little by the second as well."""
    rng = np.random.default_rng(0)
    for _ in range(answers):
        x, y, gap = rng.uniform(-0.7, 0.7, 2), rng.uniform(-0.7, 0.7, 2), float(rng.uniform(0.05, 0.9))
        for name, weights in (("Ana", (1.0, 0.0)), ("Ben", (0.9, 0.3))):
            felt = abs(float(np.dot(weights, x - y))) + 0.1 * float(rng.normal())
            desk.answer(x.tolist(), y.tolist(), gap=gap, unfair=gap > felt, reviewer=name)
