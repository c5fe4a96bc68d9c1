"""Which reviews shaped a distance: the verdicts on pairs that differ in the same way."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.desk.event_records import is_repeat, review_of, subject_of
from evenhand.desk.projection.projection import Projection
from evenhand.desk.remaining import remaining_past
from evenhand.desk.shadow import was_ever_shadow
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.records.decision import Pair, Review

Floats = NDArray[np.float64]

QUOTED = 5
"""Verdicts quoted for each pair."""

KINDS = ("imported", "answer")
ANSWERED = ("one", "the other")
"""The two contexts of an interview answer, which have no names."""


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
        self._statements, self._known_to = projection.bandit.safeguards.log.verdicts(), projection.seq
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
            if row.kind == "review" and row.seq not in withdrawn and subject_of(row.event.body) == "desk":
                self._reviews[row.target or ""].append(row)

    def behind(self, number: int, pair: Pair, *, unfair: bool, reviewer: str | None) -> Row | None:
        """The review with this verdict on a pair; None if it was withdrawn."""
        decision = self.decisions[number]
        for row in self._reviews[decision.id]:
            body = decision.event.body
            review = review_of(row.event.body, body["candidates"]).as_verdicts(body["probabilities"])
            is_learned = not is_repeat(row.event.body)
            if review.reviewer == reviewer and is_learned and _has_verdict(review, pair, unfair=unfair):
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


class VerdictKey(NamedTuple):
    """What a verdict is found by: how the two differ, in bytes, whether it was unfair, and whose it is."""

    difference: bytes
    unfair: bool
    reviewer: str | None


class VerdictSource(NamedTuple):
    """The event of a verdict, and the two candidates."""

    seq: int
    id: str
    kind: str
    first: str
    second: str
    gap: float = 0.0
    decision: str = ""
    """The decision of this desk that it is about; empty if it is about none."""


def as_bytes(differences: Floats) -> list[bytes]:
    """Each difference (n, d) in bytes, the same for both orders of the two.

    >>> first, second = as_bytes(np.array([[0.0, -1.0, 2.0], [-0.0, 1.0, -2.0]]))
    >>> first == second
    True
    """
    n, d = differences.shape
    leading = differences[np.arange(n), np.argmax(differences != 0.0, axis=1)]
    content = (np.where(leading < 0.0, -1.0, 1.0)[:, None] * differences + 0.0).tobytes()  # + 0.0: -0.0 becomes 0.0
    return [content[at : at + 8 * d] for at in range(0, 8 * d * n, 8 * d)]


class VerdictSources:
    """The imported records and interview answers of one desk, found by their verdicts. Threads may share it.

    A bandit remembers how two people differed and what the verdict was, not where it came from; so events are found by
    that. Each event is read once, and only what somebody looked up is kept of it.
    """

    def __init__(self, ledger: Ledger, desk: str) -> None:
        self._ledger, self._desk = ledger, desk
        self._lock = threading.Lock()
        self._wanted: set[VerdictKey] = set()
        self._found: defaultdict[VerdictKey, list[VerdictSource]] = defaultdict(list)
        self._read_to = 0

    def find(self, verdicts: Sequence[tuple[VerdictKey, float]], until: int) -> list[VerdictSource | None]:
        """For each verdict, passed with its gap, its event up to `until`, unless it was withdrawn by then.

        A verdict that occurs twice has an event for each occurrence, as far as there are any.
        """
        if not verdicts:
            return []
        with self._lock:
            self._read({key for key, _ in verdicts})
            with self._ledger.reading(self._desk) as view:
                withdrawn = {seq for by, seq in view.withdrawals() if by <= until}
            standing = {
                key: [
                    source for source in self._found.get(key, ()) if source.seq <= until and source.seq not in withdrawn
                ]
                for key, _ in verdicts
            }
        return [_nearest(standing[key], gap) for key, gap in verdicts]

    def _read(self, keys: set[VerdictKey]) -> None:
        """Read new events; and earlier ones again, for keys that nobody has looked up before."""
        before, new = self._read_to, keys - self._wanted
        self._wanted |= new
        self._read_to = self._ledger.head(self._desk).seq
        self._search(before, self._read_to, self._wanted)
        self._search(0, before, {key for key in new if key not in self._found})

    def _search(self, after: int, until: int, wanted: set[VerdictKey]) -> None:
        reviewers = {key.reviewer for key in wanted}
        if not wanted or after >= until:
            return
        for row in self._ledger.rows(self._desk, after, until, KINDS):
            for key, source in _sources_in(row, wanted, reviewers):
                self._found[key].append(source)
        for row, decision in self._of_system(after, until):
            for key, source in _sources_in_system_review(row, decision, wanted, reviewers):
                self._found[key].append(source)

    def _of_system(self, after: int, until: int) -> Iterator[tuple[Row, Row]]:
        """Reviews of what the system in force did, each with the decision that the desk made beside it."""
        with self._ledger.reading(self._desk) as view:
            if not was_ever_shadow(view):
                return
        for row in self._ledger.rows(self._desk, after, until, ("review",)):
            if subject_of(row.event.body) == "system" and row.target is not None:
                with self._ledger.reading(self._desk) as view:
                    yield row, view.by_id([row.target])[row.target]


def _nearest(sources: list[VerdictSource], gap: float) -> VerdictSource | None:
    """The source with the nearest gap; removed from the list unless it is the last."""
    if not sources:
        return None
    found = min(sources, key=lambda source: (abs(source.gap - gap), source.seq))
    if len(sources) > 1:
        sources.remove(found)
    return found


def _sources_in(
    row: Row, wanted: Set[VerdictKey], reviewers: Set[str | None]
) -> Iterator[tuple[VerdictKey, VerdictSource]]:
    """The wanted verdicts in an event; reviewers: whose verdicts those are."""
    body = remaining_past(row.event.body) if row.kind == "imported" else row.event.body
    if row.kind == "answer" and "x" not in body:  # erased
        return
    if row.kind == "answer":
        both = np.array([body["x"], body["y"]], dtype=np.float64)
        key = VerdictKey(as_bytes(both[:1] - both[1:])[0], bool(body["unfair"]), body["reviewer"])
        if body["unfair"] is not None and key in wanted:
            yield key, VerdictSource(row.seq, row.id, row.kind, *ANSWERED, float(body["gap"]))
        return
    for review in body["reviews"]:
        if review["reviewer"] in reviewers:
            verdicts = review_of(review, body["candidates"]).as_verdicts(body["probabilities"])
            yield from _sources_in_review(row, body, verdicts, wanted)


def _sources_in_system_review(
    row: Row, decision: Row, wanted: Set[VerdictKey], reviewers: Set[str | None]
) -> Iterator[tuple[VerdictKey, VerdictSource]]:
    """The wanted verdicts in a review of what the system in force did."""
    review, made = row.event.body, decision.event.body
    if review["reviewer"] not in reviewers or is_repeat(review):
        return
    body = remaining_past({**made, "probabilities": review["treatment"], "rewards": {}, "reviews": [review]})
    for left in body["reviews"]:
        verdicts = review_of(left, body["candidates"]).as_verdicts(body["probabilities"])
        for key, source in _sources_in_review(row, body, verdicts, wanted):
            yield key, source._replace(decision=decision.id)


def _sources_in_review(
    row: Row, body: Mapping[str, Any], review: Review, wanted: Set[VerdictKey]
) -> Iterator[tuple[VerdictKey, VerdictSource]]:
    """The same for one review of an imported record; that some pair was unfair is no verdict on any of them."""
    names, probabilities, unfair = body["candidates"], body["probabilities"], set(review.unfair)
    every = combinations(range(len(names)), 2)
    pairs = sorted(unfair.union(review.fair)) if review.kind == "partial" else list(every)
    if review.any_unfair or not pairs:
        return
    contexts, places = np.array(body["contexts"], dtype=np.float64), np.array(pairs)
    differences = as_bytes(contexts[places[:, 0]] - contexts[places[:, 1]])
    for (i, j), difference in zip(pairs, differences, strict=True):
        key = VerdictKey(difference, (i, j) in unfair, review.reviewer)
        if key in wanted:
            gap = abs(probabilities[i] - probabilities[j])
            yield key, VerdictSource(row.seq, row.id, row.kind, names[i], names[j], gap)
