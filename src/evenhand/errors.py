"""All errors, under one root; each is also a built-in error of its kind.

Messages read "x must be ..., got ...". After an error the object that raised it is unchanged.

>>> issubclass(InvalidInput, EvenhandError) and issubclass(InvalidInput, ValueError)
True
"""

from __future__ import annotations

from typing import Any


class EvenhandError(Exception):
    """The root of all errors that evenhand raises on purpose."""

    def __str__(self) -> str:  # KeyError would show the repr of its message
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


class InvalidInput(EvenhandError, ValueError):
    """An invalid argument: wrong type, wrong shape, out of range."""


class UnknownPair(EvenhandError, KeyError):
    """A pair with a candidate that the decision does not have."""


class NotChosen(EvenhandError, KeyError):
    """An outcome of a candidate who was not chosen."""


class ForeignDecision(EvenhandError, ValueError):
    """A decision of another bandit, or one that was changed since."""


class ContradictoryReview(EvenhandError, ValueError):
    """A review that calls one pair both fair and unfair."""


class UnsupportedReview(EvenhandError, NotImplementedError):
    """A kind of review that the metric learner cannot learn from."""


class DamagedFile(EvenhandError, ValueError):
    """A file of another kind, or one that was damaged."""


class NewerFile(EvenhandError, ValueError):
    """A file in the format of a later version."""


class CannotWrite(EvenhandError, OSError):
    """A file or stream that could not be written completely, for example on a full disk."""


class CannotListen(EvenhandError, OSError):
    """A port that the service cannot listen on, for example because it is in use."""


class CollidingBounds(EvenhandError, ValueError):
    """Floors and ceilings that no fair probabilities keep to.

    `collisions` is the `allocation.Collisions` behind it: the pairs, the amounts, and what each way out costs.
    """

    def __init__(self, message: str, collisions: Any) -> None:
        super().__init__(message, collisions)
        self.collisions = collisions

    def __str__(self) -> str:
        return str(self.args[0])


class SolverFailed(EvenhandError, ArithmeticError):
    """A numerical result that failed its verification."""


class InvalidCertificate(EvenhandError, ValueError):
    """A certificate that does not prove what it claims."""


class MissingExtra(EvenhandError, ImportError):
    """A part that needs an optional dependency; the message says which extra to install."""


class InconsistentReviews(EvenhandError, UserWarning):
    """A warning: verdicts contradict earlier ones and were left out; everything else was learned."""


class MisleadingReviewer(EvenhandError, UserWarning):
    """A warning: a reviewer is wrong more often than right."""


class NoMetricFits(EvenhandError, UserWarning):
    """A warning: the answers of reviewers follow no metric; `FairBandit.fit()` says more."""


class ExtraColumns(EvenhandError, UserWarning):
    """A warning: columns of a table that the schema does not have are not used."""


# Errors of desks and ledgers.


class UnknownRecord(EvenhandError, KeyError):
    """A desk, decision or review that is not in the ledger."""


class Erased(EvenhandError, KeyError):
    """Something that needs the contents of a person who was erased."""


class AlreadyRecorded(EvenhandError, ValueError):
    """Something that is in the ledger already: an outcome, a review, a withdrawal, a desk."""


class IdempotencyConflict(EvenhandError, ValueError):
    """An idempotency key that was used for another command."""


class LedgerUnavailable(EvenhandError, OSError):
    """The database cannot be reached or written to; acknowledged events are safe."""


class DamagedLedger(EvenhandError, ValueError):
    """A ledger with a changed row, a broken hash chain, or missing events."""
