"""Item: one pair as it was put before one reviewer. A browser holds it sealed and sends it back with the answer."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.review.sealed import seal, unseal

WHY = {
    "most telling": "of the pairs that wait, this was one whose answer was expected to teach most.",
    "planned overlap": "two reviewers are asked about this pair on purpose, to see how far they agree.",
    "random control": "this pair was drawn by lot from all decisions, as a control.",
    "taken back": "this pair was asked about before, and the answer was taken back.",
    "repeat": "you had answered on this pair before; some pairs come twice, to see how steady answers are.",
    "again": "you took your earlier answer on this pair back.",
}
"""Why a pair was asked about, in words that say nothing of what the desk has learned."""


@dataclass(frozen=True)
class Item:
    """Which pair, on which sides, for whom and why."""

    reviewer: str
    number: int
    """How many answers the reviewer had given when it was put before them."""
    decision: str
    left: str
    right: str
    why: str
    """One of the keys of WHY."""
    detail: str = ""
    """What the desk knew of the pair when it was put into the queue; for the record, not for the reviewer."""
    score: float | None = None
    """Its priority in the queue."""
    place: int = 0
    repeat_of: str | None = None
    """The answer that it is asked for to compare with."""
    again_of: str | None = None
    """The answer, taken back, that it is asked for to replace."""
    hidden: tuple[str, ...] = ()
    ids: bool = False
    """Whether the candidates' ids were shown."""

    @property
    def pair(self) -> frozenset[str]:
        """The two, whichever side they are on."""
        return frozenset((self.left, self.right))

    @property
    def key(self) -> str:
        """An idempotency key: one item is answered once, however often and from however many windows it is sent."""
        said = "\n".join([self.reviewer, str(self.number), self.decision, *sorted(self.pair), self.why])
        return f"item-{hashlib.blake2b(said.encode(), digest_size=16).hexdigest()}"

    def draft(self, secret: bytes) -> str:
        """By what a browser knows a note that was begun; it tells nothing of the pair, nor whether it came before."""
        return hashlib.blake2b(self.key.encode(), digest_size=12, key=secret).hexdigest()

    def sealed(self, secret: bytes) -> str:
        """For the browser."""
        return seal(secret, asdict(self))

    @classmethod
    def unsealed(cls, secret: bytes, note: str, reviewer: str) -> Item:
        """What the browser sent back; InvalidInput if it is not this reviewer's."""
        content: dict[str, Any] = unseal(secret, note)
        item = cls(**{**content, "hidden": tuple(content["hidden"])})
        if item.reviewer != reviewer:
            raise InvalidInput("this item was put before another reviewer; ask for the next one")
        return item
