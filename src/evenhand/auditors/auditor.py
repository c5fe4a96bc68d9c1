"""What an auditor does, what is needed to know the truth, and the base class of auditors that wrap another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import refusal
from evenhand.records.decision import Decision, Review

Arrival = tuple[Decision, Review]
"""A review that has arrived, with the decision it is about."""


@runtime_checkable
class Auditor(Protocol):
    """Reviews decisions: the paper's fairness oracle."""

    def review(self, decision: Decision) -> Review:
        """The review of one decision."""
        ...


@runtime_checkable
class LateAuditor(Auditor, Protocol):
    """An auditor whose reviews may arrive late, or several for one decision; call it through `arriving`."""

    def reviews(self, decision: Decision) -> Sequence[Arrival]:
        """The reviews that arrive once this decision has been made, each with its own decision."""
        ...


@runtime_checkable
class Truth(Protocol):
    """Knows which pairs are really unfair, whatever a reviewer answers."""

    def distances(self, contexts: Floats) -> Floats:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        ...

    def excess(self, decision: Decision) -> Floats:
        """By how much each pair's gap exceeds its true distance, (k, k); negative where it does not."""
        ...


def arriving(auditor: Auditor, decision: Decision) -> Sequence[Arrival]:
    """The reviews that arrive once `decision` has been made, each with the decision it is about.

    An auditor with `reviews` decides itself what arrives; any other reviews this decision at once.

    >>> import numpy as np
    >>> from evenhand.auditors import DelayedAuditor, MahalanobisAuditor
    >>> exact = MahalanobisAuditor([[0.1]])
    >>> late = DelayedAuditor(exact, 1)
    >>> first, second = (
    ...     Decision("", t, np.array([[1.0], [0.0]]), np.array([0.9, 0.1]), (0,), 1, np.zeros(2)) for t in (0, 1)
    ... )
    >>> [(about.round, review.unfair) for about, review in arriving(exact, first)]
    [(0, ((0, 1),))]
    >>> arriving(late, first), [about.round for about, _ in arriving(late, second)]
    ([], [0])
    """
    if isinstance(auditor, LateAuditor):
        return auditor.reviews(decision)
    return [(decision, auditor.review(decision))]


def as_auditor(value: Any) -> Auditor:
    """`value`, if it is an object (not a class) that can review."""
    if isinstance(value, type) or not callable(getattr(value, "review", None)):
        raise refusal("the auditor", "an object with review(decision)", value)
    auditor: Auditor = value
    return auditor


class WrappingAuditor(ABC):
    """Changes the reviews of another auditor; a subclass defines how.

    Wrapped auditors may be wrapped again. Prompt and late reviews are changed alike, as they arrive, and keep the
    reviewer's name. A wrapper knows no distances: in the lab, pass `truth` as well.

    >>> from evenhand.auditors import MahalanobisAuditor
    >>> class Approving(WrappingAuditor):
    ...     def change(self, decision, review):
    ...         return Review.complete()
    >>> type(Approving(MahalanobisAuditor([[0.1]])).auditor).__name__
    'MahalanobisAuditor'
    """

    def __init__(self, auditor: Auditor) -> None:
        self.auditor = as_auditor(auditor)

    @abstractmethod
    def change(self, decision: Decision, review: Review) -> Review:
        """The review of `decision` that replaces `review`."""

    def review(self, decision: Decision) -> Review:
        """The wrapped auditor's review, changed."""
        return self.change(decision, self.auditor.review(decision))

    def reviews(self, decision: Decision) -> list[Arrival]:
        """Everything that arrives from the wrapped auditor, changed."""
        return [(about, self.change(about, review)) for about, review in arriving(self.auditor, decision)]
