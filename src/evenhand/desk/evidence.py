"""Which reviews shaped a distance: what was said of pairs that differ in the same way."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.certificates import ANSWER
from evenhand.certificates.statements import Statements
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
        book = _Book(ledger, desk, {_number(said.sources[row]) for row in best.ravel()}, decided_from)
        return [
            tuple(book.quoted(said, int(row), float(likeness[at, row])) for row in best[at]) for at in range(len(best))
        ]


def _number(seal: str) -> int:
    """The number of the decision that a seal names."""
    return int(seal.split("-", 1)[0])


class _Book:
    """Decisions by number, with their reviews."""

    def __init__(self, ledger: Ledger, desk: str, numbers: set[int], decided_from: int) -> None:
        self._decided_from = decided_from
        with ledger.reading(desk) as view:
            self._decisions = view.by_number(numbers)
            about = view.about([row.id for row in self._decisions.values()])
            gone = {row.undoes for row in view.about([row.id for row in about if row.kind == "review"])}
        gone |= {row.undoes for row in about}
        self._reviews: dict[str, list[Row]] = defaultdict(list)
        for row in about:
            if row.kind == "review" and row.seq not in gone:
                self._reviews[row.target or ""].append(row)

    def quoted(self, said: Statements, row: int, likeness: float) -> Quoted:
        """One verdict, with the review that gave it."""
        decision = self._decisions[_number(said.sources[row])]
        i, j = (int(at) for at in said.pairs[row])
        candidates, unfair, reviewer = decision.event.body["candidates"], bool(said.unfair[row]), said.reviewers[row]
        for review in self._reviews[decision.id]:
            told = review_of(review.event.body, candidates)
            if told.reviewer == reviewer and ((i, j) in told.unfair) == unfair:
                found, seq = review.id, review.seq
                break
        else:
            found, seq = "", decision.seq
        names, is_later = (candidates[i], candidates[j]), seq > self._decided_from
        return Quoted(found, decision.id, *names, unfair, float(said.gaps[row]), reviewer, likeness, is_later)
