"""AdversarialAuditor: tells a limited number of lies, where they hurt most."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from evenhand.auditors.auditor import Auditor
from evenhand.auditors.checks import as_whole
from evenhand.auditors.gaps import unequal_odds
from evenhand.auditors.said import restated, said
from evenhand.auditors.worst import worst
from evenhand.auditors.wrapping import WrappingAuditor
from evenhand.decision import Decision, Pair, Review
from evenhand.errors import InvalidInput
from evenhand.randomness import Seed, as_generator

Aim = Literal["regret", "unfairness", "confusion"]


class AdversarialAuditor(WrappingAuditor):
    """What `auditor` says, but for at most `budget` lies, one a decision, told as early as there is something to gain.

    aim "regret": says unfair of a fair pair; of one that binds if there is one, and of these of the pair with the
    largest difference in the rewards the odds were chosen for. "unfairness": says acceptable of the worst unfair pair,
    whose gap exceeds its distance most (or is widest, if `auditor` knows no distances). "confusion": the one and the
    other by turns. Of pairs equally good to lie about one is drawn. Pairs with equal odds are not lied about. A lie in
    a one-bit review is the other bit.

    >>> import numpy as np
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> decision = Decision("", 0, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    >>> liar = AdversarialAuditor(MahalanobisAuditor(np.eye(2)), 1, "regret", seed=0)
    >>> [liar.review(decision).unfair for _ in range(3)], liar.lies_told
    ([((0, 1),), (), ()], 1)
    """

    def __init__(self, auditor: Auditor, budget: int, aim: Aim, *, seed: Seed = None) -> None:
        super().__init__(auditor)
        self.budget = as_whole("budget", budget, least=0)
        if aim not in get_args(Aim):
            raise InvalidInput(f"aim is {aim!r}; allowed are {', '.join(map(repr, get_args(Aim)))}")
        self.aim: Aim = aim
        self.lies_told = 0
        self._rng = as_generator(seed)

    def change(self, decision: Decision, review: Review) -> Review:
        """The review with one lie in it, or as it is."""
        if self.lies_told >= self.budget:
            return review
        accuse = self.aim == "regret" or (self.aim == "confusion" and self.lies_told % 2 == 0)
        lie = self._other_bit if review.kind == "one_bit" else self._other_verdict
        told = lie(decision, review, accuse)
        self.lies_told += told != review
        return told

    def _other_bit(self, decision: Decision, review: Review, accuse: bool) -> Review:
        return replace(review, any_unfair=accuse) if unequal_odds(decision).any() else review

    def _other_verdict(self, decision: Decision, review: Review, accuse: bool) -> Review:
        verdicts, unequal = said(decision, review), unequal_odds(decision)
        pairs = [pair for pair, unfair in verdicts.items() if unfair != accuse and unequal[pair]]
        if not pairs:
            return review
        shuffled = [pairs[i] for i in self._rng.permutation(len(pairs))]  # the first of equals is taken
        pair = _most_binding(decision, shuffled) if accuse else worst(self.auditor, decision, shuffled)
        return restated(review, verdicts | {pair: accuse})


def _most_binding(decision: Decision, pairs: list[Pair]) -> Pair:
    """Tight pairs before others, and of these the one with the largest difference of rewards."""
    rewards, tight = decision.optimistic_rewards, set(decision.tight_pairs)
    return max(pairs, key=lambda pair: (pair in tight, abs(float(rewards[pair[0]] - rewards[pair[1]]))))
