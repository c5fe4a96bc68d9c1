"""Everything that can go wrong, under one root, each also a built-in error of its kind.

Every message says what was wrong and what is allowed, and the object that raised it is as it was before the call.

>>> issubclass(InvalidInput, EvenhandError) and issubclass(InvalidInput, ValueError)
True
"""


class EvenhandError(Exception):
    """The root of all errors that evenhand raises on purpose."""


class InvalidInput(EvenhandError, ValueError):
    """A value that does not fit: wrong shape, not a number, out of range."""


class UnknownPair(EvenhandError, KeyError):
    """A pair that names a candidate the decision does not have."""

    def __str__(self) -> str:  # KeyError would show the repr of the sentence
        return str(self.args[0]) if self.args else ""


class NotChosen(EvenhandError, KeyError):
    """An outcome for a candidate who was not chosen: nobody can have seen it."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ForeignDecision(EvenhandError, ValueError):
    """A decision that this bandit did not make, or that was changed since."""


class ContradictoryReview(EvenhandError, ValueError):
    """A review that says of one pair both that it was fair and that it was not."""


class UnsupportedReview(EvenhandError, NotImplementedError):
    """A kind of review that the metric learner in use cannot learn from."""


class DamagedFile(EvenhandError, ValueError):
    """A file that is no saved bandit, or no longer the one that was written."""


class NewerFile(EvenhandError, ValueError):
    """A file written by a later version in a format this version does not know."""


class CannotWrite(EvenhandError, OSError):
    """A file or a stream that could not be written to the end: there is no room, for instance."""


class CannotListen(EvenhandError, OSError):
    """A port that a service cannot listen on: another program does, for instance."""


class SolverFailed(EvenhandError, ArithmeticError):
    """A numerical answer that did not pass its own verification."""


class InvalidCertificate(EvenhandError, ValueError):
    """A certificate that does not prove what it says."""


class MissingExtra(EvenhandError, ImportError):
    """A part that needs a library which a plain installation does not bring; the message says how to get it."""


class InconsistentReviews(EvenhandError, UserWarning):
    """Warned, not raised: verdicts that contradict what was said before. All else was learned when it is given."""


class MisleadingReviewer(EvenhandError, UserWarning):
    """Warned, not raised: a reviewer was found to be wrong more often than right."""


# What can go wrong at a desk.


class UnknownRecord(EvenhandError, KeyError):
    """A desk, a decision or a review that the ledger does not hold."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class AlreadyRecorded(EvenhandError, ValueError):
    """Something the ledger holds already: an outcome seen before, a review given or withdrawn before, a desk."""


class IdempotencyConflict(EvenhandError, ValueError):
    """An idempotency key that was used before, for another command."""


class LedgerUnavailable(EvenhandError, OSError):
    """The database cannot be reached or written to now; what was acknowledged before is safe."""


class DamagedLedger(EvenhandError, ValueError):
    """A ledger that is not what was written: a changed row, a broken chain, a truncated file."""
