"""VerdictSources: which imported record or interview answer a verdict came from.

A bandit remembers how two people differed and what the verdict was, not where it came from; so events are found by
that. Each event is read once, and only what somebody looked up is kept of it.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.desk.event_records import review_of
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.records.decision import Review

Floats = NDArray[np.float64]

KINDS = ("imported", "answer")
ANSWERED = ("one", "the other")
"""The two contexts of an interview answer, which have no names."""


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
    """The imported records and interview answers of one desk, found by their verdicts. Threads may share it."""

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
        for row in self._ledger.rows(self._desk, after, until, KINDS) if wanted else ():
            for key, source in _sources_in(row, wanted, reviewers):
                self._found[key].append(source)


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
    body = row.event.body
    if row.kind == "answer":
        both = np.array([body["x"], body["y"]], dtype=np.float64)
        key = VerdictKey(as_bytes(both[:1] - both[1:])[0], bool(body["unfair"]), body["reviewer"])
        if body["unfair"] is not None and key in wanted:
            yield key, VerdictSource(row.seq, row.id, row.kind, *ANSWERED, float(body["gap"]))
        return
    for review in body["reviews"]:
        if review["reviewer"] in reviewers:
            yield from _sources_in_review(row, body, review_of(review, body["candidates"]), wanted)


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
