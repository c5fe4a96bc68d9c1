"""Which problem an error of the library is: the sentence stays, the kind gives the status."""

from __future__ import annotations

import logging

from evenhand.errors import (
    AlreadyRecorded,
    ContradictoryReview,
    DamagedLedger,
    EvenhandError,
    ForeignDecision,
    IdempotencyConflict,
    InvalidInput,
    LedgerUnavailable,
    NotChosen,
    UnknownPair,
    UnknownRecord,
    UnsupportedReview,
)
from evenhand.service.problems import Problem

log = logging.getLogger(__name__)

KINDS: tuple[tuple[type[EvenhandError], str], ...] = (
    (UnknownRecord, "not-found"),
    (AlreadyRecorded, "conflict"),
    (IdempotencyConflict, "key-reused"),
    (LedgerUnavailable, "unavailable"),
    (InvalidInput, "invalid"),
    (UnknownPair, "invalid"),
    (NotChosen, "invalid"),
    (ContradictoryReview, "invalid"),
    (UnsupportedReview, "invalid"),
    (ForeignDecision, "invalid"),
)
"""What a caller can bring about. Whatever is not here is the service's own failure."""


def problem_of(error: EvenhandError) -> Problem | None:
    """The problem an error is; None if nobody expected it."""
    if isinstance(error, Problem):
        return error
    for kind, name in KINDS:
        if isinstance(error, kind):
            if name == "unavailable":
                # Its words name files and hosts: they are for the log, not for whoever asks.
                return Problem(
                    name,
                    "the ledger cannot be read or written now; what was acknowledged is safe, send the request again",
                    headers={"Retry-After": "1"},
                )
            return Problem(name, str(error))
    if isinstance(error, DamagedLedger):
        log.error("a ledger is damaged: %s", error)
        return Problem(
            "damaged", "the ledger was changed or damaged; the log says where, as does evenhand ledger verify"
        )
    return None
