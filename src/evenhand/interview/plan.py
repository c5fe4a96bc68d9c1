"""ReviewPlan: how decisions are made and reviewed once a bandit is live."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand._internal.checks import check_whole, check_whole_or_none


@dataclass(frozen=True)
class ReviewPlan:
    """What a forecast is about: so many decisions, with so many candidates each, some of their pairs being reviewed.

    The capacity is the bandit's.

    >>> ReviewPlan(candidates=50, pairs=3).all_pairs
    1225
    """

    candidates: int = 5
    """Candidates in a decision."""
    pairs: int | None = None
    """Pairs of a decision that are reviewed, chosen by `FairBandit.pairs_to_review`; None: all of them."""
    decisions: int = 300

    def __post_init__(self) -> None:
        check_whole("candidates", self.candidates, least=1)
        check_whole_or_none("pairs", self.pairs, least=0)
        check_whole("decisions", self.decisions, least=1)

    @property
    def each(self) -> str:
        """What each decision is like, in words.

        >>> ReviewPlan(candidates=50, pairs=3).each
        '50 candidates each, 3 of 1,225 pairs reviewed'
        """
        reviewed = self.all_pairs if self.pairs is None else min(self.pairs, self.all_pairs)
        return f"{self.candidates:,} candidates each, {reviewed:,} of {self.all_pairs:,} pairs reviewed"

    @property
    def all_pairs(self) -> int:
        """The number of pairs in a decision."""
        return self.candidates * (self.candidates - 1) // 2
