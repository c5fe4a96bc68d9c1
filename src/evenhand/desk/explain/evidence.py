"""Which reviews shaped a distance: what was said of pairs that differ in the same way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.certificates.sourced_verdicts import SourcedVerdicts
from evenhand.desk.event_records import review_of
from evenhand.desk.explain.sources import Elsewhere, Verdict, as_bytes
from evenhand.desk.projection.projection import Projection
from evenhand.ledger.ledger import Ledger, Row
from evenhand.records.decision import Pair, Review

Floats = NDArray[np.float64]

QUOTED = 5
"""So many verdicts are quoted for each pair."""


@dataclass(frozen=True)
class Quoted:
    """One verdict, and how much it says of the pair it is quoted for."""

    review: str
    """The id of the line that says it: a review, an imported line, or an interview's answer, as `kind` tells."""
    decision: str
    """The decision of this desk that it is of; empty if it is of none."""
    first: str
    second: str
    """Candidates' ids; in an interview's answer, which is about two contexts, "one" and "the other"."""
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
    kind: str = "review"
    """Where it stands: "review", of a decision of this desk; "imported", of a decision made elsewhere before; "answer",
    in an interview."""


class Remembered:
    """The verdicts that a bandit keeps as evidence: all early ones, then the newest that were unfair or bound odds."""

    def __init__(self, state: Projection) -> None:
        self._statements, self._known_to = state.bandit.safeguards.verdicts(), state.seq

    def most_alike(
        self, differences: Floats, ledger: Ledger, elsewhere: Elsewhere, desk: str, decided_from: int
    ) -> list[tuple[Quoted, ...]]:
        """For each difference of two contexts (n, d) the verdicts on pairs that differ most alike.

        Each is quoted with the line that stood when this was known. decided_from: the line up to which everything was
        known when it was decided; what was said after it is marked.
        """
        said = self._statements
        if len(said) == 0:
            return [()] * len(differences)
        lengths = np.maximum(np.sum(differences**2, axis=1), 1e-300)[:, None] * np.maximum(said.squared_lengths, 1e-300)
        likeness = (differences @ said.differences.T) ** 2 / lengths
        best = np.argsort(-likeness, axis=1, kind="stable")[:, :QUOTED]
        found = self._lines(np.unique(best), ledger, elsewhere, desk)
        return [
            tuple(
                _quoted(said, int(row), float(likeness[at, row]), found[row], decided_from)
                for row in best[at]
                if row in found
            )
            for at in range(len(best))
        ]

    def _lines(self, rows: NDArray[np.intp], ledger: Ledger, elsewhere: Elsewhere, desk: str) -> dict[int, Line]:
        """Where each of these verdicts stands in the ledger."""
        said = self._statements
        numbers = {int(row): number_of(said.sources[row]) for row in rows if _is_seal(said.sources[row])}
        book = StandingReviews(ledger, desk, numbers.values(), until=self._known_to)
        found = {row: _of_decision(said, row, book.decisions[number], book) for row, number in numbers.items()}
        return found if len(found) == len(rows) else {**self._from_elsewhere(elsewhere), **found}

    def _from_elsewhere(self, elsewhere: Elsewhere) -> dict[int, Line]:
        """Where all remembered verdicts stand that are of no decision of this desk.

        All are asked for at once, so that the ledger is read once for all explanations.
        """
        said = self._statements
        rows = [row for row, source in enumerate(said.sources) if not _is_seal(source)]
        differences = as_bytes(said.differences[rows])
        verdicts = [
            Verdict(difference, bool(said.unfair[row]), said.reviewers[row])
            for difference, row in zip(differences, rows, strict=True)
        ]
        told = elsewhere.behind(
            [(one, float(said.gaps[row])) for one, row in zip(verdicts, rows, strict=True)], self._known_to
        )
        return {
            row: Line(line.seq, line.id, line.kind, "", line.first, line.second)
            for row, line in zip(rows, told, strict=True)
            if line is not None
        }


class Line(NamedTuple):
    """Where a verdict stands, and of whom it is."""

    seq: int
    id: str
    kind: str
    decision: str
    first: str
    second: str


def _is_seal(source: str) -> bool:
    """Whether a verdict is of a decision of this desk, which its source then names."""
    return source.partition("-")[0].isdecimal()


def number_of(seal: str) -> int:
    """The number of the decision that a seal names."""
    return int(seal.split("-", 1)[0])


def _of_decision(said: SourcedVerdicts, row: int, decision: Row, book: StandingReviews) -> Line:
    """The review behind a verdict on a decision of this desk."""
    pair, number = (int(said.pairs[row][0]), int(said.pairs[row][1])), number_of(said.sources[row])
    review = book.behind(number, pair, unfair=bool(said.unfair[row]), reviewer=said.reviewers[row])
    first, second = (decision.event.body["candidates"][i] for i in pair)
    where = decision if review is None else review
    return Line(where.seq, "" if review is None else review.id, "review", decision.id, first, second)


def _quoted(said: SourcedVerdicts, row: int, likeness: float, line: Line, decided_from: int) -> Quoted:
    """One verdict, with the line that says it."""
    known = (bool(said.unfair[row]), float(said.gaps[row]), said.reviewers[row], likeness, line.seq > decided_from)
    return Quoted(line.id, line.decision, line.first, line.second, *known, line.kind)


class StandingReviews:
    """Decisions by number, with the reviews of them that nobody has taken back.

    until: reviews up to this line, but for those taken back by a line up to it; None for all there are now.
    """

    def __init__(self, ledger: Ledger, desk: str, numbers: Iterable[int], *, until: int | None = None) -> None:
        with ledger.reading(desk) as view:
            self.decisions = view.by_number(numbers)
            about = view.about([row.id for row in self.decisions.values()])
            later = view.about([row.id for row in about if row.kind == "review"])
        known = [row for row in (*about, *later) if until is None or row.seq <= until]
        gone = {row.undoes for row in known}
        self._reviews: dict[str, list[Row]] = defaultdict(list)
        for row in known:
            if row.kind == "review" and row.seq not in gone:
                self._reviews[row.target or ""].append(row)

    def behind(self, number: int, pair: Pair, *, unfair: bool, reviewer: str | None) -> Row | None:
        """The review that said this of a pair; None if it was taken back."""
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
