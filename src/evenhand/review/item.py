"""Item: one pair as it is shown to one reviewer. A browser holds it encrypted and returns it with the answer."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from evenhand.desk.review_rules import Ask
from evenhand.ledger.waiting_pairs import Subject, subject_at

WHY = {
    "most telling": "of all waiting pairs, the answer on this one was expected to teach most.",
    "planned overlap": "two reviewers are asked about this pair on purpose, to measure agreement.",
    "system in force": "this desk runs beside another system; reviewers are asked about what both did.",
    "random control": "this pair was drawn at random from all decisions, as a control.",
    "taken back": "an earlier answer on this pair was taken back.",
    "repeat": "you answered on this pair before; some pairs come twice, to measure consistency.",
    "again": "you took back your earlier answer on this pair.",
}
"""Why a pair was shown, in words that say nothing about what the desk has learned."""


@dataclass(frozen=True)
class Item:
    """Which pair, on which sides, for whom and why."""

    reviewer: str
    number: int
    """How many answers the reviewer had given before."""
    decision: str
    left: str
    right: str
    why: str
    """One of the keys of WHY."""
    detail: str = ""
    """Why the desk queued the pair; for the record, not for the reviewer."""
    score: float | None = None
    """Its priority in the queue."""
    place: int = 0
    repeat_of: str | None = None
    """The answer that this one is compared with."""
    again_of: str | None = None
    """The withdrawn answer that this one replaces."""
    hidden: tuple[str, ...] = ()
    ids: bool = False
    """Whether the candidates' ids were shown."""
    ask: Ask = "verdicts"
    """What is asked about the two."""
    scale: tuple[int, int] = (1, 5)
    """The lowest and the highest rating, where those are asked for."""

    @property
    def pair(self) -> frozenset[str]:
        """The two candidates, whichever side they are on."""
        return frozenset((self.left, self.right))

    @property
    def subject(self) -> Subject:
        """Whose treatment of the two is in question."""
        return subject_at(self.place)

    @property
    def key(self) -> str:
        """The idempotency key: an item is answered once, however often it is sent, from however many tabs."""
        whose = [] if self.subject == "desk" else [self.subject]
        parts = "\n".join([self.reviewer, str(self.number), self.decision, *sorted(self.pair), self.why, *whose])
        return f"item-{hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()}"

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Item:
        """The item that `to_dict` wrote."""
        scale = record.get("scale", (1, 5))  # items of earlier versions have none
        return cls(**{**record, "hidden": tuple(record["hidden"]), "scale": (scale[0], scale[1])})
