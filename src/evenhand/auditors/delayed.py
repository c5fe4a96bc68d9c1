"""DelayedAuditor: answers rounds later."""

from __future__ import annotations

import heapq

from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.arriving import arriving
from evenhand.auditors.auditor import Arrival, Auditor
from evenhand.auditors.checks import as_auditor, as_whole
from evenhand.records.decision import Decision, Review


class DelayedAuditor:
    """What comes in from `auditor`, `delay` rounds later; with `at_random`, each review 0 to `delay` rounds later.

    Rounds are those of the decisions it is shown. It must be asked with `arriving` or `reviews`, once a round; `review`
    says at once what will come. Reviews that come in together are in the order in which they were due, then in that in
    which they were written. It remembers what is still out, so an auditor serves one run.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> auditor = DelayedAuditor(MahalanobisAuditor(np.eye(2)), 2)
    >>> for t in range(4):
    ...     decision = Decision("", t, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    ...     print([seen.round for seen, _ in auditor.reviews(decision)], len(auditor.still_out))
    [] 1
    [] 2
    [0] 2
    [1] 2
    """

    def __init__(self, auditor: Auditor, delay: int, *, at_random: bool = False, seed: Seed = None) -> None:
        self.auditor = as_auditor(auditor)
        self.delay = as_whole("delay", delay, least=0)
        self.at_random = bool(at_random)
        self._rng = as_generator(seed)
        self._out: list[tuple[int, int, Arrival]] = []  # a heap: the round it is due, a running number, the review
        self._written = 0

    @property
    def still_out(self) -> tuple[Arrival, ...]:
        """What was written and has not come in yet, the next first."""
        return tuple(arrival for _, _, arrival in sorted(self._out, key=lambda entry: entry[:2]))

    def review(self, decision: Decision) -> Review:
        """The review that will come in, at once; it is not put among those that are out."""
        return self.auditor.review(decision)

    def reviews(self, decision: Decision) -> list[Arrival]:
        """What is due in this decision's round, or was due before."""
        for arrival in arriving(self.auditor, decision):
            wait = int(self._rng.integers(self.delay + 1)) if self.at_random else self.delay
            heapq.heappush(self._out, (decision.round + wait, self._written, arrival))
            self._written += 1
        due = []
        while self._out and self._out[0][0] <= decision.round:
            due.append(heapq.heappop(self._out)[2])
        return due
