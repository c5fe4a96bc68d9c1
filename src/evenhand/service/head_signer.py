"""HeadSigner: signs where ledgers end, now and then and when the service stops, and sends new heads to a witness.

It works in a thread of its own; nothing that fails here is in the way of a decision.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError
from evenhand.ledger.service_stream import begin
from evenhand.ledger.signed_heads import SignedHeads, heads_file
from evenhand.ledger.signing_keys import signing_key
from evenhand.service.logs import about
from evenhand.service.witness.client import WitnessClient

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger
    from evenhand.ledger.signed_head import SigningKey
    from evenhand.service.settings import ServiceSettings

log = logging.getLogger(__name__)

CHUNK = 2_000
"""Events of a long ledger without a tree that are taken in at once."""

REST = 9.0
"""The thread rests this many times as long as it worked on such a chunk: it takes a tenth of a core."""


class HeadSigner:
    """Signs the heads of all desks that have grown, every `sign_every` seconds, until it is stopped."""

    def __init__(self, ledger: Ledger, settings: ServiceSettings) -> None:
        file = heads_file(ledger) if settings.heads_file is None else Path(settings.heads_file)
        self.heads = SignedHeads(ledger, file)
        self._ledger, self._settings = ledger, settings
        self._witness = (
            None if settings.witness_url is None else WitnessClient(settings.witness_url, ledger, self.heads)
        )
        self._signed: dict[str, int] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evenhand-signer", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._round()
        while not self._stopped.wait(self._settings.sign_every):
            self._round()

    def _round(self, *, at_once: bool = False) -> None:
        """Sign what has grown; whatever fails is tried again in the next round."""
        try:
            self.sign_all(at_once=at_once)
        except Exception as error:  # whatever it was, later heads still have to be signed
            log.warning("heads cannot be signed; retrying", extra=about(error))
        if self._witness is not None:
            self._witness.send_all()

    def sign_all(self, *, at_once: bool = True) -> None:
        """Sign the heads of all streams that have grown since they were signed.

        at_once: False to leave those that another process signed since about the last round.
        """
        if not self._signed:
            with self._ledger.transaction(writes=True) as connection:
                begin(connection)
        key = signing_key(self._ledger, self._settings.signing_key)
        for desk, size in self._ledger.heads(self.heads.streams()).items():
            if size > self._signed.get(desk, 0) and (at_once or self._is_due(desk)):
                self._sign(desk, size, key)

    def _is_due(self, desk: str) -> bool:
        """Whether the newest head of a desk is old enough: one process of several signs, and reads the events."""
        latest = self.heads.latest(desk)
        return latest is None or datetime.now(UTC) - latest.moment > timedelta(seconds=self._settings.sign_every / 2)

    def _sign(self, desk: str, size: int, key: SigningKey) -> None:
        try:
            if not self._grow(desk):
                return
            head = self.heads.sign(desk, key)
        except (EvenhandError, OSError) as error:  # a damaged ledger must not keep others from being signed
            log.warning("head cannot be signed: %s", error, extra={"desk": desk})
            return
        self._signed[desk] = size if head is None else head.size
        if self._witness is not None:
            self._witness.add(desk)

    def _grow(self, desk: str) -> bool:
        """Take in all events of a desk, slowly if they are many; False if the service stops before."""
        tree = self.heads.tree(desk)
        while True:
            begun = time.monotonic()
            if tree.grow(CHUNK):
                return True
            if self._stopped.wait(REST * (time.monotonic() - begun)):
                return False

    def stop(self) -> None:
        """Sign what was written last, and stop."""
        self._stopped.set()
        self._thread.join()
        self._round(at_once=True)
