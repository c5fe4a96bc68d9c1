"""Auditors that answer less than a complete review: a few pairs, the worst pair, one bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import comb

from evenhand._internal.checks import check_whole, refusal
from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.auditor import Auditor, WrappingAuditor
from evenhand.auditors.pairs import verdicts_by_pair, worst_pair
from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision, Pair, Review

Choose = Callable[[Decision, int], Iterable[Pair]]


class PartialAuditor(WrappingAuditor):
    """The verdicts of `auditor` on `n` pairs only, drawn at random from those it reviewed.

    choose: a function of the decision and n that returns at most n pairs to review, instead of the draw; for example
    a bandit's own proposal. A pair without a verdict of `auditor` gets none. One-bit reviews are refused, since they
    name no pairs.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(3), np.array([0.9, 0.1, 0.0]), (0,), 1, np.zeros(3))
    >>> auditor = PartialAuditor(MahalanobisAuditor(0.2 * np.eye(3)), 2, choose=lambda decision, n: [(0, 1), (1, 2)])
    >>> auditor.review(decision)
    Review(kind='partial', unfair=((0, 1),), fair=((1, 2),), any_unfair=None, reviewer=None)
    """

    def __init__(self, auditor: Auditor, n: int, *, choose: Choose | None = None, seed: Seed = None) -> None:
        super().__init__(auditor)
        self.n = check_whole("n", n, least=1)
        if choose is not None and not callable(choose):
            raise refusal("choose", "a function of a decision and a number, or None", choose)
        self.choose = choose
        self._rng = as_generator(seed)

    def change(self, decision: Decision, review: Review) -> Review:
        """A partial review of the chosen pairs that have a verdict."""
        verdicts = verdicts_by_pair(decision, review)
        pairs = self._drawn(list(verdicts)) if self.choose is None else self._chosen(decision, self.choose)
        unfair = [pair for pair in pairs if verdicts.get(pair) is True]
        fair = [pair for pair in pairs if verdicts.get(pair) is False]
        return Review.partial(unfair=unfair, fair=fair, reviewer=review.reviewer)

    def _drawn(self, pairs: Sequence[Pair]) -> list[Pair]:
        drawn = self._rng.choice(len(pairs), size=min(self.n, len(pairs)), replace=False) if pairs else ()
        return [pairs[i] for i in drawn]

    def _chosen(self, decision: Decision, choose: Choose) -> tuple[Pair, ...]:
        chosen = Review.partial(fair=choose(decision, self.n))  # which also refuses what are no pairs
        chosen.check_fits(decision.n_candidates)
        if len(chosen.fair) > self.n:
            raise InvalidInput(f"choose must return at most n = {self.n} pairs, got {len(chosen.fair)}")
        return chosen.fair


class OneReportAuditor(WrappingAuditor):
    """Reports the worst unfair pair only; silent where `auditor` finds nothing unfair.

    The worst pair is the one whose gap exceeds its distance most or, if `auditor` knows no distances, the flagged pair
    with the widest gap. silent_means_fair: silence says that all pairs reviewed by `auditor` were fair; if False, it
    says nothing. One-bit reviews are refused, since they name no pairs.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> contexts, p = np.array([[0.0], [0.1], [0.9]]), np.array([0.1, 0.4, 0.7])
    >>> decision = Decision("", 0, contexts, p, (), 1, np.zeros(3))
    >>> MahalanobisAuditor([[0.5]]).review(decision).unfair
    ((0, 1), (0, 2))
    >>> OneReportAuditor(MahalanobisAuditor([[0.5]])).review(decision)
    Review(kind='partial', unfair=((0, 1),), fair=(), any_unfair=None, reviewer=None)
    """

    def __init__(self, auditor: Auditor, *, silent_means_fair: bool = True) -> None:
        super().__init__(auditor)
        self.silent_means_fair = bool(silent_means_fair)

    def change(self, decision: Decision, review: Review) -> Review:
        """A partial review with one pair; without an unfair pair, the review itself or an empty one."""
        if any(verdicts_by_pair(decision, review).values()):
            pair = worst_pair(self.auditor, decision, review.unfair)
            return Review.partial(unfair=[pair], reviewer=review.reviewer)
        return review if self.silent_means_fair else Review.partial(reviewer=review.reviewer)


class OneBitAuditor(WrappingAuditor):
    """One bit: whether `auditor` finds anything unfair.

    "Nothing was unfair" is a statement about every pair. An auditor that reviewed some pairs and found nothing cannot
    make it; the review is then partial and empty.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    >>> [OneBitAuditor(MahalanobisAuditor(a * np.eye(2))).review(decision).any_unfair for a in (0.1, 1.0)]
    [True, False]
    """

    def change(self, decision: Decision, review: Review) -> Review:
        """A one-bit review, or an empty partial one."""
        if review.kind == "one_bit":
            return review
        verdicts = verdicts_by_pair(decision, review)
        any_unfair = any(verdicts.values())
        if any_unfair or len(verdicts) == comb(decision.n_candidates, 2):
            return Review.one_bit(any_unfair, reviewer=review.reviewer)
        return Review.partial(reviewer=review.reviewer)
