"""worst: which of some unfair pairs a reviewer minds most."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.auditors.auditor import Auditor, Truth
from evenhand.auditors.gaps import gaps
from evenhand.records.decision import Decision, Pair


def worst(auditor: Auditor, decision: Decision, pairs: Sequence[Pair]) -> Pair:
    """Of `pairs` the one whose gap exceeds its distance most; if `auditor` knows no distances, of the widest gap.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor, PureNoiseAuditor
    >>> contexts, odds = np.array([[0.0], [0.1], [0.9]]), np.array([0.1, 0.4, 0.6])
    >>> decision = Decision("", 0, contexts, odds, (), 1, np.zeros(3))
    >>> worst(MahalanobisAuditor([[0.5]]), decision, [(0, 1), (0, 2)])
    (0, 1)
    >>> worst(PureNoiseAuditor(0.5), decision, [(0, 1), (0, 2)])
    (0, 2)
    """
    harm = auditor.excess(decision) if isinstance(auditor, Truth) else gaps(decision)
    return max(pairs, key=lambda pair: float(harm[pair]))
