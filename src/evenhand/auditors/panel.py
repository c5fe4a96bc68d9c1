"""PanelAuditor: several reviewers, of whom one or a few look at each decision."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.arriving import arriving
from evenhand.auditors.auditor import Arrival, Auditor
from evenhand.auditors.checks import as_name, as_whole
from evenhand.auditors.named import NamedAuditor
from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision, Review


class PanelAuditor:
    """Each decision is shown to `per_decision` of the `members`, drawn by lot; reviews carry the member's name.

    members: an auditor for each name. With `arriving` or `reviews` all reviews of a decision come in, in the order of
    `members`; with `review` only one member is drawn. Each member has an own stream of randomness, if any. A member
    who is late hands in what is due when next drawn; to have the panel's reviews late, delay the panel.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    >>> panel = PanelAuditor(
    ...     {"mild": MahalanobisAuditor(np.eye(2)), "strict": MahalanobisAuditor(0.1 * np.eye(2))}, per_decision=2
    ... )
    >>> [(review.reviewer, review.unfair) for _, review in panel.reviews(decision)]
    [('mild', ()), ('strict', ((0, 1),))]
    """

    def __init__(self, members: Mapping[str, Auditor], *, per_decision: int = 1, seed: Seed = None) -> None:
        if not isinstance(members, Mapping) or not members:
            raise InvalidInput(f"members is {members!r}; allowed is a dict of one auditor or more, by name")
        self.members = dict(members)
        self._signing = [NamedAuditor(auditor, as_name("a member's name", name)) for name, auditor in members.items()]
        self.per_decision = as_whole("per_decision", per_decision, least=1)
        if self.per_decision > len(members):
            raise InvalidInput(f"per_decision is {per_decision!r}; allowed are at most the {len(members)} members")
        self._rng = as_generator(seed)

    def review(self, decision: Decision) -> Review:
        """The review of one member, drawn by lot."""
        return self._drawn(1)[0].review(decision)

    def reviews(self, decision: Decision) -> list[Arrival]:
        """What comes in from the members drawn."""
        return [arrival for member in self._drawn(self.per_decision) for arrival in arriving(member, decision)]

    def _drawn(self, n: int) -> list[NamedAuditor]:
        return [self._signing[i] for i in sorted(self._rng.permutation(len(self._signing))[:n])]
