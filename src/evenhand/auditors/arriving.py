"""arriving: what comes in after a decision, from any reviewer, prompt or late."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.auditors.auditor import Arrival, Auditor, LateAuditor
from evenhand.records.decision import Decision


def arriving(auditor: Auditor, decision: Decision) -> Sequence[Arrival]:
    """The reviews that come in once `decision` has been made, each with the decision it speaks of.

    Of an auditor with `reviews` whatever it hands in; of any other its review of this decision.

    >>> import numpy as np
    >>> from evenhand.auditors import DelayedAuditor, MahalanobisAuditor
    >>> exact = MahalanobisAuditor([[0.1]])
    >>> late = DelayedAuditor(exact, 1)
    >>> first, second = (
    ...     Decision("", t, np.array([[1.0], [0.0]]), np.array([0.9, 0.1]), (0,), 1, np.zeros(2)) for t in (0, 1)
    ... )
    >>> [(seen.round, review.unfair) for seen, review in arriving(exact, first)]
    [(0, ((0, 1),))]
    >>> arriving(late, first), [seen.round for seen, _ in arriving(late, second)]
    ([], [0])
    """
    if isinstance(auditor, LateAuditor):
        return auditor.reviews(decision)
    return [(decision, auditor.review(decision))]
