"""A person whose features and words can be looked for wherever they could have stayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evenhand.desk import Desk, DeskDecision

WHO = "wanda"
FEATURES = {"income": 0.31415926535, "debt": -0.27182818284, "years": 0.57721566490}
WORDS = ("has friends in Zanzibar", "owes rent in Valparaiso", "moved to Kilimanjaro", "mixed up with Ouagadougou")


def signs() -> list[bytes]:
    """What would give her away: features as text and as bytes, and words about her."""
    numbers = [sign for value in FEATURES.values() for sign in (repr(value).encode(), np.float64(value).tobytes())]
    return [*numbers, *(text.encode() for text in WORDS)]


def found_in(*files: Path) -> list[bytes]:
    """The signs of her in the bytes of files, as far as they exist."""
    content = b"\n".join(file.read_bytes() for file in files if file.exists())
    assert content
    return [sign for sign in signs() if sign in content]


def person(rng: np.random.Generator, name: str) -> dict[str, Any]:
    """Somebody else."""
    return {"id": name, "features": dict(zip(FEATURES, rng.uniform(-0.5, 0.5, 3).tolist(), strict=True))}


def visit(desk: Desk, rng: np.random.Generator, *others: str) -> DeskDecision:
    """She is decided about with others; everything is recorded that can be said about her."""
    people = [{"id": WHO, "features": FEATURES}, *(person(rng, name) for name in others)]
    made = desk.decide(people, idempotency_key=f"with {others}")
    desk.review(
        made.id, "partial", unfair=[(WHO, others[0])], reviewer="Kim", sides={"left": WHO, "right": others[0]},
        answer="unfair", reason=WORDS[0], circumstances={"weather": WORDS[1]},
    )  # fmt: skip
    withdrawn = desk.review(made.id, "complete", unfair=[(others[0], others[1])], reviewer="Lee", note=WORDS[1])
    desk.review(made.id, "complete", unfair=[(others[0], others[1])], reviewer="Max")
    desk.withdraw(withdrawn.id, reason=WORDS[3])
    desk.override(made.id, [WHO], reason=WORDS[2])
    desk.outcome(made.id, {WHO: 0.5})
    return made


def play(desk: Desk, rng: np.random.Generator, rounds: int, k: int = 3) -> list[DeskDecision]:
    """Decisions about others, reviewed and with outcomes."""
    made = []
    for _ in range(rounds):
        number = desk.head.decisions
        decision = desk.decide([person(rng, f"{number}-{i}") for i in range(k)])
        desk.review(decision.id, "partial", unfair=[(f"{number}-0", f"{number}-1")], reviewer="Kim")
        desk.outcome(decision.id, dict.fromkeys(decision.chosen, 0.3))
        made.append(decision)
    return made
