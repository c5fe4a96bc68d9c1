"""A desk in shadow mode beside a rule that always chooses the first candidate."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.desk import Desk, DeskDecision
from tests.support.desk_play import QUICK, people

SHADOW: dict[str, Any] = {**QUICK, "seed": 3, "shadow": True}
RULE = {"chosen": ["person 0"]}


def proposed(desk: Desk, seed: int = 0, k: int = 4, **rest: Any) -> DeskDecision:
    """A decision in shadow mode, by default with what was really done."""
    return desk.decide(people(np.random.default_rng(seed), k=k), **{"action": RULE, **rest})


def one_day(desk: Desk, seed: int) -> DeskDecision:
    """A decision in shadow mode, its action told later, an outcome, and a review of each subject."""
    decision = proposed(desk, seed, action=None)
    first, second, third = decision.candidates[:3]
    desk.action(decision.id, [first], scores={name: 600.0 + i for i, name in enumerate(decision.candidates)})
    desk.outcome(decision.id, {first: 0.1 * seed})
    desk.review(decision.id, "partial", unfair=[(first, second)], subject="system", reviewer="Kim")
    desk.review(decision.id, "partial", fair=[(second, third)], reviewer="Kim")
    return decision
