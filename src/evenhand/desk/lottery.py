"""Lottery: how candidates are drawn. The desk commits to the key of a draw one decision ahead, and reveals it with it.

Decision n is drawn with K_n = HMAC-SHA256(S, n). S is the desk's secret: 32 random bytes in the database, in no event
and in no export. The event that opens a desk has SHA-256(K_0); that of decision n has K_n and SHA-256(K_n+1). So
whoever has the ledger can verify every draw, and foresee none.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from evenhand.errors import DamagedLedger
from evenhand.ledger.ledger import Ledger, LedgerView
from evenhand.ledger.lottery import SECRET_BYTES, commitment_in, commitment_to, keep_secret, secret_of

DRAWS_STREAM = 2
"""Streams spawned from a desk's seed: 0 the bandit's key, 1 the metric learner's, 2 the draws of earlier versions."""


class Draw(NamedTuple):
    """Random numbers for one decision, and what its event says of them."""

    rng: np.random.Generator
    """Valid until the next draw."""
    record: dict[str, Any]


class SeededDraws:
    """Draws of earlier versions: Philox, keyed by the desk's seed, its counter set by the decision's number.

    `np.random.Philox(key=draws.key, counter=[0, number, 0, 0])` gives the same numbers, in any order of calls.

    >>> first = SeededDraws(7).of(3).rng.random()
    >>> fresh = np.random.Generator(np.random.Philox(key=SeededDraws(7).key, counter=[0, 3, 0, 0]))
    >>> first == fresh.random()
    True
    """

    def __init__(self, seed: int) -> None:
        self.key = np.random.SeedSequence(seed).spawn(DRAWS_STREAM + 1)[DRAWS_STREAM].generate_state(2, np.uint64)
        self._bits = np.random.Philox(key=self.key)
        self._blank = self._bits.state
        self._generator = np.random.Generator(self._bits)

    def of(self, number: int) -> Draw:
        """The draw of decision `number`."""
        self._blank["state"]["counter"][:] = (0, number, 0, 0)
        self._bits.state = self._blank
        return Draw(self._generator, {"lots": {"generator": "Philox", "counter": [0, number, 0, 0]}})


def keyed_draw(key: bytes) -> Draw:
    """The draw with a key: PCG64, seeded with the key as a whole number.

    >>> key = bytes(range(32))
    >>> keyed_draw(key).rng.random() == np.random.default_rng(int.from_bytes(key)).random()
    True
    """
    return Draw(np.random.Generator(np.random.PCG64(int.from_bytes(key))), {"lots": {"generator": "PCG64"}})


def recorded_draw(body: Mapping[str, Any], seeded: SeededDraws) -> Draw:
    """The draw of a decision again, from its event."""
    key = (body.get("lottery") or {}).get("key")
    return seeded.of(body["number"]) if key is None else keyed_draw(bytes.fromhex(key))


def new_secret() -> bytes:
    """The secret of a new desk."""
    return secrets.token_bytes(SECRET_BYTES)


@lru_cache(maxsize=64)  # each is needed twice: for the commitment to it, and for its draw
def key_of(secret: bytes, number: int) -> bytes:
    """K_n: the key of decision `number`."""
    return hmac.digest(secret, number.to_bytes(8), "sha256")


def first_commitment(secret: bytes) -> dict[str, str]:
    """What the event that opens a desk says of its lottery."""
    return {"next": commitment_to(key_of(secret, 0))}


def key_for(ledger: Ledger, desk: str, purpose: str) -> bytes:
    """A key for other draws of a desk, such as which pair a reviewer sees: always the same, in no event."""
    return hmac.digest(keep_secret(ledger, desk, new_secret()), purpose.encode(), "sha256")


class DeskLottery:
    """The draws of one desk, for whoever writes its decisions."""

    def __init__(self, ledger: Ledger, desk: str, seed: int) -> None:
        self._ledger, self._desk, self._seeded = ledger, desk, SeededDraws(seed)
        self._secret: bytes | None = None
        self._seen: tuple[int, str] | None = None
        """The number of a decision, and the commitment to its key."""

    @property
    def is_committed(self) -> bool:
        """Whether the next decision's key is committed to: not yet where an earlier version has decided last."""
        return self._seen is not None

    def read(self, view: LedgerView) -> None:
        """Notice that commitments have begun."""
        if self._seen is None:
            number = view.head.decisions
            last = view.by_number([number - 1]).get(number - 1) if number else next(iter(view.after(0, 1)), None)
            commitment = None if last is None else commitment_in(last.event.body)
            self._seen = None if commitment is None else (number, commitment)

    def begin(self, number: int) -> None:
        """Notice that the event before decision `number`, of this process, commits to its key."""
        if self._seen is None and self._secret is not None:
            self._seen = number, commitment_to(key_of(self._secret, number))

    def prepare(self) -> None:
        """Read the secret, or make one where commitments are to begin; what is wrong with it `of` raises."""
        if self._secret is None:
            secret = secret_of(self._ledger, self._desk)
            if self._seen is None:
                secret = secret or keep_secret(self._ledger, self._desk, new_secret())
            elif secret is None or commitment_to(key_of(secret, self._seen[0])) != self._seen[1]:
                return
            self._secret = secret

    def of(self, number: int, *, is_committed: bool) -> Draw:
        """The draw of decision `number`, with the commitment to the next; without one to itself, from the seed.

        DamagedLedger if the secret is not the one that the ledger has commitments to.
        """
        if self._secret is None:
            raise DamagedLedger(
                f"the secret of desk {self._desk!r} for its lottery is missing, or not the one that its ledger "
                "committed to; restore a backup of the database"
            )
        key, following = key_of(self._secret, number), {"next": commitment_to(key_of(self._secret, number + 1))}
        if not is_committed:
            draw = self._seeded.of(number)
            return Draw(draw.rng, {**draw.record, "lottery": following})
        draw = keyed_draw(key)
        return Draw(draw.rng, {**draw.record, "lottery": {"key": key.hex(), **following}})
