"""Which reviews shaped a distance: what was said of pairs that differ in the same way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.certificates import ANSWER
from evenhand.certificates.statements import Statements
from evenhand.decision import Pair, Review
from evenhand.desk.ledger import Ledger, Row
from evenhand.desk.quiet_bandit import QuietBandit
from evenhand.desk.records import review_of

Floats = NDArray[np.float64]

QUOTED = 5
"""So many verdicts are quoted for each pair."""


@dataclass(frozen=True)
class Quoted:
    """One verdict, and how much it says of the pair it is quoted for."""

    review: str
    """The id of the review; empty if it was taken back since."""
    decision: str
    first: str
    second: str
    unfair: bool
    gap: float
    reviewer: str | None
    likeness: float
    """From 0 to 1: cos^2 of the angle between the ways in which the two pairs differ; at 1 they differ alike.

    A verdict on z says something of x'Gx by the overlap of zz' and xx', two directions in the space of metrics, whose
    cosine this is.
    """
    is_later: bool = False
    """Whether it was given after the explained decision was made: it tells of the distance as it is known now, and had
    no part in the odds."""


class Remembered:
    """The verdicts that a bandit keeps as evidence: all early ones, then the newest that were unfair or bound odds."""

    def __init__(self, bandit: QuietBandit) -> None:
        said = bandit.safeguards.statements()
        # An interview's answers are about two contexts, of no decision that could be quoted.
        self._statements = said.take(np.flatnonzero([source != ANSWER for source in said.sources]))

    def most_alike(self, differences: Floats, ledger: Ledger, desk: str, decided_from: int) -> list[tuple[Quoted, ...]]:
        """For each difference of two contexts (n, d) the verdicts on pairs that differ most alike.

        decided_from: the line up to which everything was known then; what was said after it is marked.
        """
        said = self._statements
        if len(said) == 0:
            return [()] * len(differences)
        lengths = np.maximum(np.sum(differences**2, axis=1), 1e-300)[:, None] * np.maximum(said.squared_lengths, 1e-300)
        likeness = (differences @ said.differences.T) ** 2 / lengths
        best = np.argsort(-likeness, axis=1, kind="stable")[:, :QUOTED]
        book = StandingReviews(ledger, desk, {number_of(said.sources[row]) for row in best.ravel()})
        return [
            tuple(_quoted(said, int(row), float(likeness[at, row]), book, decided_from) for row in best[at])
            for at in range(len(best))
        ]


def number_of(seal: str) -> int:
    """The number of the decision that a seal names."""
    return int(seal.split("-", 1)[0])


def _quoted(said: Statements, row: int, likeness: float, book: StandingReviews, decided_from: int) -> Quoted:
    """One verdict, with the review that gave it."""
    number, pair = number_of(said.sources[row]), (int(said.pairs[row][0]), int(said.pairs[row][1]))
    unfair, reviewer, decision = bool(said.unfair[row]), said.reviewers[row], book.decisions[number]
    review = book.behind(number, pair, unfair=unfair, reviewer=reviewer)
    names = [decision.event.body["candidates"][i] for i in pair]
    is_later = (decision if review is None else review).seq > decided_from
    known = (names[0], names[1], unfair, float(said.gaps[row]), reviewer, likeness, is_later)
    return Quoted("" if review is None else review.id, decision.id, *known)


class StandingReviews:
    """Decisions by number, with the reviews of them that nobody has taken back."""

    def __init__(self, ledger: Ledger, desk: str, numbers: Iterable[int]) -> None:
        with ledger.reading(desk) as view:
            self.decisions = view.by_number(numbers)
            about = view.about([row.id for row in self.decisions.values()])
            gone = {row.undoes for row in view.about([row.id for row in about if row.kind == "review"])}
        gone |= {row.undoes for row in about}
        self._reviews: dict[str, list[Row]] = defaultdict(list)
        for row in about:
            if row.kind == "review" and row.seq not in gone:
                self._reviews[row.target or ""].append(row)

    def behind(self, number: int, pair: Pair, *, unfair: bool, reviewer: str | None) -> Row | None:
        """The review that said this of a pair; None if it was taken back since."""
        decision = self.decisions[number]
        for row in self._reviews[decision.id]:
            told = review_of(row.event.body, decision.event.body["candidates"])
            is_repeat = bool((row.event.body["circumstances"] or {}).get("repeat"))  # which nothing was learned from
            if told.reviewer == reviewer and not is_repeat and _says(told, pair, unfair=unfair):
                return row
        return None


def _says(review: Review, pair: Pair, *, unfair: bool) -> bool:
    """Whether a review says this of a pair: a partial one of those it names alone.

    >>> _says(Review.partial(fair=[(0, 1)]), (0, 2), unfair=False), _says(Review.complete(), (0, 2), unfair=False)
    (False, True)
    """
    if review.kind == "partial":
        return pair in (review.unfair if unfair else review.fair)
    if review.kind == "complete":
        return (pair in review.unfair) == unfair
    return review.any_unfair == unfair
