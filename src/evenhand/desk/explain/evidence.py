"""Which reviews shaped a distance: the verdicts on pairs that differ in the same way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.desk.event_records import review_of
from evenhand.desk.explain.sources import VerdictKey, VerdictSource, VerdictSources, as_bytes
from evenhand.desk.projection.projection import Projection
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.records.decision import Pair, Review

Floats = NDArray[np.float64]

QUOTED = 5
"""Verdicts quoted for each pair."""


@dataclass(frozen=True)
class Quoted:
    """One verdict, and how similar its pair is to the pair it is quoted for."""

    review: str
    """The id of its event: a review, an imported record, or an interview answer, see `kind`."""
    decision: str
    """The decision of this desk that it is about; empty if it is about none."""
    first: str
    second: str
    """Candidates' ids; in an interview answer, which is about two contexts, "one" and "the other"."""
    unfair: bool
    gap: float
    reviewer: str | None
    likeness: float
    """From 0 to 1: cos^2 of the angle between the differences of the two pairs; 1 if they differ in the same way.

    A verdict on z bears on x'Gx by the overlap of zz' and xx', two directions in the space of metrics: this is their
    cosine.
    """
    is_later: bool = False
    """Whether it came after the explained decision: it bears on the distance known now, not on the probabilities."""
    kind: str = "review"
    """"review" of a decision of this desk, "imported", or "answer" in an interview."""


class RememberedVerdicts:
    """The verdicts that a bandit keeps as evidence: all early ones, then the newest that were unfair or tight."""

    def __init__(self, projection: Projection, ledger: Ledger, sources: VerdictSources, desk: str) -> None:
        self._statements, self._known_to = projection.bandit.safeguards.verdicts(), projection.seq
        self._ledger, self._sources, self._desk = ledger, sources, desk

    def most_alike(self, differences: Floats, decided_from: int) -> list[tuple[Quoted, ...]]:
        """For each difference of two contexts (n, d) the verdicts on pairs that differ most similarly.

        Each is quoted with its event as of the projection. decided_from: verdicts after this event are marked as later.
        """
        known = self._statements
        if len(known) == 0:
            return [()] * len(differences)
        squares = np.maximum(np.sum(differences**2, axis=1), 1e-300)[:, None]
        likeness = (differences @ known.differences.T) ** 2 / (squares * np.maximum(known.squared_lengths, 1e-300))
        best = np.argsort(-likeness, axis=1, kind="stable")[:, :QUOTED]
        events = self._events(np.unique(best))
        return [
            tuple(
                self._quoted(int(row), float(likeness[at, row]), events[row], decided_from)
                for row in best[at]
                if row in events
            )
            for at in range(len(best))
        ]

    def _quoted(self, row: int, likeness: float, event: VerdictSource, decided_from: int) -> Quoted:
        known = self._statements
        verdict = (bool(known.unfair[row]), float(known.gaps[row]), known.reviewers[row])
        where = (event.id, event.decision, event.first, event.second)
        return Quoted(*where, *verdict, likeness, event.seq > decided_from, event.kind)

    def _events(self, rows: NDArray[np.intp]) -> dict[int, VerdictSource]:
        """The event of each of these verdicts."""
        sources = self._statements.sources
        numbers = {int(row): number_of(sources[row]) for row in rows if _is_decision_id(sources[row])}
        reviews = StandingReviews(self._ledger, self._desk, numbers.values(), until=self._known_to)
        found = {row: self._of_decision(row, number, reviews) for row, number in numbers.items()}
        return found if len(found) == len(rows) else {**self._of_no_decision(), **found}

    def _of_decision(self, row: int, number: int, reviews: StandingReviews) -> VerdictSource:
        """The review behind a verdict on a decision of this desk."""
        known, decision = self._statements, reviews.decisions[number]
        pair = (int(known.pairs[row][0]), int(known.pairs[row][1]))
        review = reviews.behind(number, pair, unfair=bool(known.unfair[row]), reviewer=known.reviewers[row])
        first, second = (decision.event.body["candidates"][i] for i in pair)
        seq, name = (decision.seq, "") if review is None else (review.seq, review.id)
        return VerdictSource(seq, name, "review", first, second, decision=decision.id)

    def _of_no_decision(self) -> dict[int, VerdictSource]:
        """The events of all verdicts that are on no decision of this desk: at once, so the ledger is read once."""
        known = self._statements
        rows = [row for row, source in enumerate(known.sources) if not _is_decision_id(source)]
        verdicts = [
            (VerdictKey(difference, bool(known.unfair[row]), known.reviewers[row]), float(known.gaps[row]))
            for difference, row in zip(as_bytes(known.differences[rows]), rows, strict=True)
        ]
        found = zip(rows, self._sources.find(verdicts, self._known_to), strict=True)
        return {row: source for row, source in found if source is not None}


def _is_decision_id(source: str) -> bool:
    """Whether a verdict is on a decision of this desk, whose id is then its source."""
    return source.partition("-")[0].isdecimal()


def number_of(decision_id: str) -> int:
    """The number of a decision, from the id that the bandit gave it."""
    return int(decision_id.split("-", 1)[0])


class StandingReviews:
    """Decisions by number, with their reviews that were not withdrawn.

    until: reviews up to this event, except those withdrawn by an event up to it; None for all there are now.
    """

    def __init__(self, ledger: Ledger, desk: str, numbers: Iterable[int], *, until: int | None = None) -> None:
        with ledger.reading(desk) as view:
            self.decisions = view.by_number(numbers)
            rows = view.following([row.id for row in self.decisions.values()])
        known = [row for row in rows if until is None or row.seq <= until]
        withdrawn = {row.undoes for row in known}
        self._reviews: dict[str, list[Row]] = defaultdict(list)
        for row in known:
            if row.kind == "review" and row.seq not in withdrawn:
                self._reviews[row.target or ""].append(row)

    def behind(self, number: int, pair: Pair, *, unfair: bool, reviewer: str | None) -> Row | None:
        """The review with this verdict on a pair; None if it was withdrawn."""
        decision = self.decisions[number]
        for row in self._reviews[decision.id]:
            review = review_of(row.event.body, decision.event.body["candidates"])
            is_repeat = bool((row.event.body["circumstances"] or {}).get("repeat"))  # not learned from
            if review.reviewer == reviewer and not is_repeat and _has_verdict(review, pair, unfair=unfair):
                return row
        return None


def _has_verdict(review: Review, pair: Pair, *, unfair: bool) -> bool:
    """Whether a review has this verdict on a pair; a partial one only on those it names.

    >>> review = Review.partial(fair=[(0, 1)])
    >>> _has_verdict(review, (0, 2), unfair=False), _has_verdict(Review.complete(), (0, 2), unfair=False)
    (False, True)
    """
    if review.kind == "partial":
        return pair in (review.unfair if unfair else review.fair)
    if review.kind == "complete":
        return (pair in review.unfair) == unfair
    return review.any_unfair == unfair
