"""AdversarialAuditor: tells a limited number of lies, where they hurt most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.auditor import Auditor
from evenhand.auditors.checks import as_whole
from evenhand.auditors.gaps import unequal_odds
from evenhand.auditors.said import restated, said
from evenhand.auditors.worst import worst
from evenhand.auditors.wrapping import WrappingAuditor
from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision, Pair, Review

Aim = Literal["regret", "unfairness", "confusion"]


class AdversarialAuditor(WrappingAuditor):
    """What `auditor` says, but for at most `budget` lies, told as early as there is something to gain.

    per_decision: so many of them in one decision at most; more make a burst, told before anybody can learn from it.

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

    def __init__(self, auditor: Auditor, budget: int, aim: Aim, *, per_decision: int = 1, seed: Seed = None) -> None:
        super().__init__(auditor)
        self.budget = as_whole("budget", budget, least=0)
        self.per_decision = as_whole("per_decision", per_decision, least=1)
        if aim not in get_args(Aim):
            raise InvalidInput(f"aim is {aim!r}; allowed are {', '.join(map(repr, get_args(Aim)))}")
        self.aim: Aim = aim
        self.lies_told = 0
        self._rng = as_generator(seed)

    def change(self, decision: Decision, review: Review) -> Review:
        """The review with lies in it, or as it is."""
        if review.kind == "one_bit":
            return self._other_bit(decision, review) if self.lies_told < self.budget else review
        truth = said(decision, review)
        told = dict(truth)
        for _ in range(min(self.per_decision, self.budget - self.lies_told)):
            pair = self._to_lie_about(decision, truth, told)
            if pair is None:
                break
            told[pair] = not told[pair]
            self.lies_told += 1
        return review if told == truth else restated(review, told)

    @property
    def _accuses(self) -> bool:
        """Whether the next lie is an accusation."""
        return self.aim == "regret" or (self.aim == "confusion" and self.lies_told % 2 == 0)

    def _other_bit(self, decision: Decision, review: Review) -> Review:
        if review.any_unfair == self._accuses or not unequal_odds(decision).any():
            return review
        told = replace(review, any_unfair=self._accuses)
        self.lies_told += 1
        return told

    def _to_lie_about(self, decision: Decision, truth: Mapping[Pair, bool], told: Mapping[Pair, bool]) -> Pair | None:
        """The pair with the most to gain, of those that were not lied about yet."""
        accuse, unequal = self._accuses, unequal_odds(decision)
        pairs = [p for p, unfair in truth.items() if unfair != accuse and told[p] == unfair and unequal[p]]
        if not pairs:
            return None
        shuffled = [pairs[i] for i in self._rng.permutation(len(pairs))]  # the first of equals is taken
        return _most_binding(decision, shuffled) if accuse else worst(self.auditor, decision, shuffled)


def _most_binding(decision: Decision, pairs: list[Pair]) -> Pair:
    """Tight pairs before others, and of these the one with the largest difference of rewards."""
    rewards, tight = decision.optimistic_rewards, set(decision.tight_pairs)
    return max(pairs, key=lambda pair: (pair in tight, abs(float(rewards[pair[0]] - rewards[pair[1]]))))
