"""QueuePages: where a page of the queue ended, as a note that whoever pages on can neither read nor change.

The place of a pair in the queue is its priority, which reviewers are not told: it says how the desk would answer.
"""

from __future__ import annotations

import hashlib

from evenhand.errors import InvalidInput
from evenhand.ledger.waiting_pairs import QueuePosition
from evenhand.review.sealed import seal, unseal

EVEN = 64
LONGEST_NOTE = 8_000
"""Two ids of 200 characters, each of up to six bytes as JSON writes them, and the rest; in base64."""


class QueuePages:
    """Notes of one desk, whose seed nobody is told.

    >>> pages = QueuePages("loans", 7)
    >>> pages.place(pages.note(QueuePosition(1.25, "dec_1", "a", "b"))).priority
    1.25
    """

    def __init__(self, desk: str, seed: int) -> None:
        self._secret = hashlib.sha256(f"evenhand pages of the queue {seed} {desk}".encode()).digest()

    def note(self, place: QueuePosition) -> str:
        """To be sent back for what comes after this place."""
        return seal(self._secret, list(place), even=EVEN)

    def place(self, note: str) -> QueuePosition:
        """What a note says; InvalidInput if it is none of this desk."""
        try:
            return QueuePosition(*unseal(self._secret, note))
        except InvalidInput:
            raise InvalidInput(f"after is {note[:40]!r}; allowed is the `next` of a page of this queue") from None
