"""PartialAuditor: looks at a few pairs of a decision and says nothing of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.auditor import Auditor
from evenhand.auditors.checks import as_whole
from evenhand.auditors.said import said
from evenhand.auditors.wrapping import WrappingAuditor
from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision, Pair, Review

Choose = Callable[[Decision, int], Iterable[Pair]]


class PartialAuditor(WrappingAuditor):
    """Of what `auditor` would say, only what concerns `n` pairs, drawn at random from those that were looked at.

    choose: a function that is given the decision and n and says which pairs to look at, at most n of them, instead of
    the draw; a bandit's own proposal, say. A pair on which `auditor` says nothing gets no verdict. One-bit reviews name
    no pairs and are refused.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(3), np.array([0.9, 0.1, 0.0]), (0,), 1, np.zeros(3))
    >>> auditor = PartialAuditor(MahalanobisAuditor(0.2 * np.eye(3)), 2, choose=lambda decision, n: [(0, 1), (1, 2)])
    >>> auditor.review(decision)
    Review(kind='partial', unfair=((0, 1),), fair=((1, 2),), any_unfair=None, reviewer=None)
    """

    def __init__(self, auditor: Auditor, n: int, *, choose: Choose | None = None, seed: Seed = None) -> None:
        super().__init__(auditor)
        self.n = as_whole("n", n, least=1)
        if choose is not None and not callable(choose):
            raise InvalidInput(f"choose is {choose!r}; allowed is a function of a decision and a number, or None")
        self.choose = choose
        self._rng = as_generator(seed)

    def change(self, decision: Decision, review: Review) -> Review:
        """A partial review, of the pairs that were looked at and judged."""
        verdicts = said(decision, review)
        pairs = self._drawn(list(verdicts)) if self.choose is None else self._chosen(decision, self.choose)
        unfair = [pair for pair in pairs if verdicts.get(pair) is True]
        fair = [pair for pair in pairs if verdicts.get(pair) is False]
        return Review.partial(unfair=unfair, fair=fair, reviewer=review.reviewer)

    def _drawn(self, pairs: Sequence[Pair]) -> list[Pair]:
        drawn = self._rng.choice(len(pairs), size=min(self.n, len(pairs)), replace=False) if pairs else ()
        return [pairs[i] for i in drawn]

    def _chosen(self, decision: Decision, choose: Choose) -> tuple[Pair, ...]:
        looked_at = Review.partial(fair=choose(decision, self.n))  # which also refuses what are no pairs
        looked_at.check_fits(decision.n_candidates)
        if len(looked_at.fair) > self.n:
            raise InvalidInput(f"{len(looked_at.fair)} pairs were chosen; allowed are at most n = {self.n}")
        return looked_at.fair
