"""WitnessClient: sends new signed heads to a witness, with the proof that each continues the one it has.

A witness answers 409 with the size of the head it kept, and gets the proof from there. Any other endpoint that answers
2xx will do: it just keeps what it is sent.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import httpx

from evenhand.errors import EvenhandError
from evenhand.ledger.signing_keys import recorded_keys

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger
    from evenhand.ledger.signed_head import SignedHead
    from evenhand.ledger.signed_heads import SignedHeads

log = logging.getLogger(__name__)

TIMEOUT = 5.0
"""Seconds to wait for a witness; what could not be sent is sent with the next heads."""


class WitnessClient:
    """Sends the newest head of each desk to one URL; blocks."""

    def __init__(self, url: str, ledger: Ledger, heads: SignedHeads) -> None:
        self._url, self._ledger, self._heads = url, ledger, heads
        self._waiting: set[str] = set()
        self._sizes: dict[str, int] = {}
        """The size of each desk's head that the witness has, as far as is known."""

    def add(self, desk: str) -> None:
        """Note that a desk has a new head."""
        self._waiting.add(desk)

    def send_all(self) -> None:
        """Send the newest head of each desk that has a new one; what fails waits for the next time."""
        try:
            with httpx.Client(timeout=TIMEOUT) as http:
                for desk in sorted(self._waiting):
                    head = self._heads.latest(desk)
                    if head is None or self._send(http, head):
                        self._waiting.discard(desk)
        except httpx.HTTPError as error:
            log.warning("the witness does not answer; retrying", extra={"error": type(error).__name__})
        except EvenhandError as error:
            log.warning("heads cannot be sent to the witness; retrying: %s", error)

    def _send(self, http: httpx.Client, head: SignedHead) -> bool:
        """Whether the witness took the head."""
        for _ in range(2):
            first = self._sizes.get(head.desk, 0)
            response = http.post(self._url, json=self._body(head, first))
            if response.is_success:
                self._sizes[head.desk] = head.size
                return True
            kept = _kept_size(response)
            if kept is None or kept >= head.size or kept == first:
                break
            self._sizes[head.desk] = kept
        log.error(
            "the witness refused the head of %d events: status %d",
            head.size,
            response.status_code,
            extra={"desk": head.desk},
        )
        return False

    def _body(self, head: SignedHead, first: int) -> dict[str, Any]:
        proof = self._heads.tree(head.desk).consistency(first, head.size) if 0 < first <= head.size else []
        keys = [key.to_dict() for key in recorded_keys(self._ledger)]
        return {"head": head.to_dict(), "first": first, "proof": [one.hex() for one in proof], "keys": keys}


def _kept_size(response: httpx.Response) -> int | None:
    """The size of the head that a witness has, if it answered with a conflict."""
    if response.status_code != httpx.codes.CONFLICT:
        return None
    try:
        size = response.json()["size"]
    except (ValueError, KeyError, TypeError):
        return None
    return size if isinstance(size, int) else None
