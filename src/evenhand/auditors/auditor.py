"""What a simulated reviewer does, and what somebody does who knows the truth: two things, often in two objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from evenhand.records.decision import Decision, Review

Arrival = tuple[Decision, Review]
"""A review that has come in, with the decision it speaks of."""


@runtime_checkable
class Auditor(Protocol):
    """Looks at a decision and says what was unfair: the paper's fairness oracle."""

    def review(self, decision: Decision) -> Review:
        """The review of one decision."""
        ...


@runtime_checkable
class LateAuditor(Auditor, Protocol):
    """An auditor whose reviews may come late, or several for one decision; ask with `arriving`."""

    def reviews(self, decision: Decision) -> Sequence[Arrival]:
        """What comes in once this decision has been made, each review with its own decision."""
        ...


@runtime_checkable
class Truth(Protocol):
    """Knows who is really unfair, whatever a reviewer says of it."""

    def distances(self, contexts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        ...

    def excess(self, decision: Decision) -> NDArray[np.float64]:
        """By how much each pair's gap exceeds its true distance, (k, k); negative where it does not."""
        ...
