"""Who reviews, and when: named reviewers, panels, delays."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import replace

from evenhand._internal.checks import check_text, check_whole, refusal
from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.auditor import Arrival, Auditor, WrappingAuditor, arriving, as_auditor
from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision, Review


class NamedAuditor(WrappingAuditor):
    """The reviews of `auditor` under the name `reviewer`.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    >>> NamedAuditor(MahalanobisAuditor(np.eye(2)), "Ada").review(decision).reviewer
    'Ada'
    """

    def __init__(self, auditor: Auditor, reviewer: str) -> None:
        super().__init__(auditor)
        self.reviewer = check_text("reviewer", reviewer)

    def change(self, decision: Decision, review: Review) -> Review:
        """The review under the name; any earlier name is replaced."""
        return replace(review, reviewer=self.reviewer)


class PanelAuditor:
    """Each decision is reviewed by `per_decision` of the `members`, drawn at random, under the member's name.

    members: an auditor for each name. With `arriving` or `reviews` all reviews of a decision arrive, in the order of
    `members`; `review` draws one member. Members keep their own streams of randomness. A member who is late delivers
    what is due when next drawn; to delay the panel's reviews, delay the panel.

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
            raise refusal("members", "a dict of one auditor or more, by name", members)
        self.members = dict(members)
        self._named = [NamedAuditor(auditor, check_text("a member's name", name)) for name, auditor in members.items()]
        self.per_decision = check_whole("per_decision", per_decision, least=1)
        if self.per_decision > len(members):
            raise InvalidInput(f"per_decision must be at most the {len(members)} members, got {per_decision!r}")
        self._rng = as_generator(seed)

    def review(self, decision: Decision) -> Review:
        """The review of one member, drawn at random."""
        return self._drawn(1)[0].review(decision)

    def reviews(self, decision: Decision) -> list[Arrival]:
        """What arrives from the members drawn."""
        return [arrival for member in self._drawn(self.per_decision) for arrival in arriving(member, decision)]

    def _drawn(self, n: int) -> list[NamedAuditor]:
        return [self._named[i] for i in sorted(self._rng.permutation(len(self._named))[:n])]


class DelayedAuditor:
    """The reviews of `auditor`, `delay` rounds late; with `at_random`, each 0 to `delay` rounds late.

    Rounds are those of the decisions. Call it through `arriving` or `reviews`, once a round; `review` returns at once
    what will arrive. Reviews that arrive together are ordered by due round, then by when they were written. Pending
    reviews are state, so an auditor serves one run.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> auditor = DelayedAuditor(MahalanobisAuditor(np.eye(2)), 2)
    >>> for t in range(4):
    ...     decision = Decision("", t, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    ...     print([about.round for about, _ in auditor.reviews(decision)], len(auditor.pending))
    [] 1
    [] 2
    [0] 2
    [1] 2
    """

    def __init__(self, auditor: Auditor, delay: int, *, at_random: bool = False, seed: Seed = None) -> None:
        self.auditor = as_auditor(auditor)
        self.delay = check_whole("delay", delay, least=0)
        self.at_random = bool(at_random)
        self._rng = as_generator(seed)
        self._pending: list[tuple[int, int, Arrival]] = []  # a heap: the round it is due, a running number, the review
        self._written = 0

    @property
    def pending(self) -> tuple[Arrival, ...]:
        """Reviews that were written and have not arrived yet, the next first."""
        return tuple(arrival for _, _, arrival in sorted(self._pending, key=lambda entry: entry[:2]))

    def review(self, decision: Decision) -> Review:
        """The review that will arrive, at once; it does not become pending."""
        return self.auditor.review(decision)

    def reviews(self, decision: Decision) -> list[Arrival]:
        """What is due in this decision's round, or was due before."""
        for arrival in arriving(self.auditor, decision):
            wait = int(self._rng.integers(self.delay + 1)) if self.at_random else self.delay
            heapq.heappush(self._pending, (decision.round + wait, self._written, arrival))
            self._written += 1
        due = []
        while self._pending and self._pending[0][0] <= decision.round:
            due.append(heapq.heappop(self._pending)[2])
        return due
