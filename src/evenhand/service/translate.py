"""Which problem an error of the library is: the sentence stays, the kind gives the status."""

from __future__ import annotations

from evenhand.errors import (
    AlreadyRecorded,
    ContradictoryReview,
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
"""What a caller can bring about. Whatever is not here, such as a damaged ledger, is the service's own failure."""


def problem_of(error: EvenhandError) -> Problem | None:
    """The problem an error is; None if it is none that a caller could bring about."""
    if isinstance(error, Problem):
        return error
    for kind, name in KINDS:
        if isinstance(error, kind):
            if name == "unavailable":
                # Its words name files and hosts: they are for the log, not for whoever asks.
                return Problem(
                    name, "the ledger cannot be reached now; send the request again", headers={"Retry-After": "1"}
                )
            return Problem(name, str(error))
    return None
