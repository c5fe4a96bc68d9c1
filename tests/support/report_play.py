"""A desk with everything that a report tells of: shadow and live, overrides, withdrawals, repeats, an erased person."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenhand as eh
from evenhand.desk import Desk, DeskDecision
from evenhand.ledger.signed_heads import SignedHeads
from evenhand.ledger.signing_keys import signing_key

DESK = "loans"
SCHEMA = eh.Schema(
    [eh.Number("income", low=0, high=100_000, unit="EUR"), eh.YesNo("has_guarantor")], carry=["sex", "region"]
)
SETTINGS: dict[str, Any] = {
    "schema": SCHEMA,
    "capacity": 2,
    "metric": "VersionSpace",
    "reviewer_error": 0.01,
    "shadow": True,
    "seed": 5,
}


def applicants(rng: np.random.Generator, day: int, k: int = 4) -> list[dict[str, Any]]:
    """Candidates with features and carried columns; of some the sex is not known."""
    found = []
    for i in range(k):
        carried = {"sex": ("f", "m", None)[int(rng.choice(3, p=[0.4, 0.4, 0.2]))], "region": f"r{rng.integers(3)}"}
        features = {"income": float(rng.uniform(1e4, 9e4)), "has_guarantor": bool(rng.integers(2)), **carried}
        found.append({"id": f"{day}-{i}", "features": features})
    return found


def play_for_report(desk: Desk, days: int = 12) -> None:
    """Play a desk that begins in shadow mode."""
    rng = np.random.default_rng(1)
    for day in range(days):
        if day == 4:
            desk.switch("live", reason="decided by the board")
        if day == 6:
            desk.change_settings(capacity=1, overlap=0.5, actor="manager")
        decision = _decided(desk, rng, day)
        _reviewed(desk, decision, day)
        if day == 7:
            SignedHeads(desk.ledger).sign(DESK, signing_key(desk.ledger))
    desk.answer([0.1, 0.2, 0.5], [0.3, 0.2, 0.5], gap=0.2, unfair=True, reviewer="Kim")
    desk.answer([0.1, 0.2, 0.5], [0.4, 0.2, 0.5], gap=0.1, unfair=None, reviewer="Lee")
    desk.erase("8-1", reason="asked for it")


def _decided(desk: Desk, rng: np.random.Generator, day: int) -> DeskDecision:
    """A decision with what was done and what came of it."""
    people = applicants(rng, day)
    if day == 5:
        people.append({"id": "odd", "features": {"income": "much", "has_guarantor": True, "sex": "f", "region": "r0"}})
    action = {"chosen": [f"{day}-1"]} if day == 1 else None
    decision = desk.decide(people, action=action, on_invalid="skip")
    chosen = decision.chosen
    if decision.shadow and day != 3:  # what was done on day 3 is never told
        chosen = [f"{day}-1"]
        if action is None:
            desk.action(decision.id, chosen, scores=dict.fromkeys(decision.candidates, 1.0))
    if day in (5, 9):
        chosen = [name for name in decision.candidates if name not in decision.chosen][:1]
        desk.override(decision.id, [], reason="wait")
        desk.override(decision.id, chosen, reason="a second look", actor="manager")
    for name in chosen:
        desk.outcome(decision.id, {name: round(float(rng.uniform(0, 1)), 3)})
    return decision


def _reviewed(desk: Desk, decision: DeskDecision, day: int) -> None:
    """Reviews of several kinds, some withdrawn, superseded or repeated."""
    a, b, c, d = decision.candidates[:4]
    seconds = {"started": "2026-01-01T10:00:00Z", "ended": f"2026-01-01T10:00:{10 + day}Z"}
    shown: dict[str, Any] = {"pair": [a, b], "answer": "unfair" if day % 3 else "acceptable", **seconds}
    named = [(a, b)]
    unfair, fair = (named, []) if day % 3 else ([], named)
    first = desk.review(decision.id, "partial", unfair=unfair, fair=fair, reviewer="Kim", **shown)
    if day % 2 == 0:
        desk.review(decision.id, "complete", unfair=[(a, b)] if day % 8 == 0 else [], reviewer="Lee")
    if decision.shadow and day in (0, 1):
        desk.review(decision.id, "partial", unfair=[(a, b)], subject="system", reviewer="Kim")
    if day == 2:
        second = desk.review(decision.id, "partial", unfair=[(c, d)], reviewer="Lee")
        desk.review(decision.id, "partial", unfair=[], fair=[(c, d)], reviewer="Lee", supersedes=second.id)
    if day == 7:
        again = {"repeat": True, "repeat_of": first.id, "pair": [a, b], "answer": "unfair"}
        desk.review(decision.id, "partial", unfair=[(a, b)], reviewer="Kim", circumstances=again)
    if day == 5:
        desk.withdraw(first.id, reason="mixed up", actor="Kim")
    if day == 10:
        desk.review(decision.id, "one_bit", any_unfair=True, reviewer="Lee")
