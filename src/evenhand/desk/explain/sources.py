"""Elsewhere: which line of the ledger a verdict came from that is of no decision of this desk: imported, or an answer.

A bandit remembers how two people differed, and what was said; so a line is found by that. Lines are read once, and only
what somebody asked for is kept of them.
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
from evenhand.ledger.ledger import Ledger, Row
from evenhand.records.decision import Review

Floats = NDArray[np.float64]

KINDS = ("imported", "answer")
CHUNK = 1000
ANSWERED = ("one", "the other")
"""Whom an interview's answer is about: two contexts, that have no names."""


class Verdict(NamedTuple):
    """What was said of two people: how they differ, in bytes, whether it was unfair, and who said so."""

    difference: bytes
    unfair: bool
    reviewer: str | None


class Told(NamedTuple):
    """A line that says it, and of whom."""

    seq: int
    id: str
    kind: str
    first: str
    second: str
    gap: float


def as_bytes(differences: Floats) -> list[bytes]:
    """Each difference (n, d) in bytes, the same for both orders of the two.

    >>> first, second = as_bytes(np.array([[0.0, -1.0, 2.0], [-0.0, 1.0, -2.0]]))
    >>> first == second
    True
    """
    n, d = differences.shape
    leading = differences[np.arange(n), np.argmax(differences != 0.0, axis=1)]
    content = (np.where(leading < 0.0, -1.0, 1.0)[:, None] * differences + 0.0).tobytes()  # + 0.0: one zero, not two
    return [content[at : at + 8 * d] for at in range(0, 8 * d * n, 8 * d)]


class Elsewhere:
    """The imported lines and answers of one desk, looked up by what they say. Safe to share by threads."""

    def __init__(self, ledger: Ledger, desk: str) -> None:
        self._ledger, self._desk = ledger, desk
        self._lock = threading.Lock()
        self._asked: set[Verdict] = set()
        self._found: defaultdict[Verdict, list[Told]] = defaultdict(list)
        self._read_to = 0

    def behind(self, said: Sequence[tuple[Verdict, float]], until: int) -> list[Told | None]:
        """For each verdict, given with its gap, the line up to `until` that says it and was not taken back by then.

        A verdict that is among them twice was said twice: each has a line of its own, as far as there are any.
        """
        if not said:
            return []
        with self._lock:
            self._look_for({verdict for verdict, _ in said})
            with self._ledger.reading(self._desk) as view:
                gone = {seq for by, seq in view.withdrawals() if by <= until}
            standing = {
                verdict: [told for told in self._found.get(verdict, ()) if told.seq <= until and told.seq not in gone]
                for verdict, _ in said
            }
        return [_nearest(standing[verdict], gap) for verdict, gap in said]

    def _look_for(self, verdicts: set[Verdict]) -> None:
        """Read what is new in the ledger; and what was read before, if there is something in it that was not asked."""
        before, missing = self._read_to, verdicts - self._asked
        self._asked |= missing
        with self._ledger.reading(self._desk) as view:
            self._read_to = view.head.seq
        self._note(before, self._read_to, self._asked)
        self._note(0, before, {said for said in missing if said not in self._found})

    def _note(self, after: int, until: int, wanted: set[Verdict]) -> None:
        reviewers = {said.reviewer for said in wanted}
        while wanted and after < until:
            with self._ledger.reading(self._desk) as view:
                rows = view.after(after, CHUNK, KINDS)
            for row in rows:
                if row.seq <= until:
                    for said, told in _found_in(row, wanted, reviewers):
                        self._found[said].append(told)
            after = rows[-1].seq if len(rows) == CHUNK else until


def _nearest(lines: list[Told], gap: float) -> Told | None:
    """The line with this gap, or the nearest; taken out of the list unless it is the last."""
    if not lines:
        return None
    found = min(lines, key=lambda told: (abs(told.gap - gap), told.seq))
    if len(lines) > 1:
        lines.remove(found)
    return found


def _found_in(row: Row, wanted: Set[Verdict], reviewers: Set[str | None]) -> Iterator[tuple[Verdict, Told]]:
    """What a line says of what is wanted; reviewers: whose verdicts those are."""
    body = row.event.body
    if row.kind == "answer":
        both = np.array([body["x"], body["y"]], dtype=np.float64)
        said = Verdict(as_bytes(both[:1] - both[1:])[0], bool(body["unfair"]), body["reviewer"])
        if body["unfair"] is not None and said in wanted:
            yield said, Told(row.seq, row.id, row.kind, *ANSWERED, float(body["gap"]))
        return
    for review in body["reviews"]:
        if review["reviewer"] in reviewers:
            yield from _found_in_review(row, body, review_of(review, body["candidates"]), wanted)


def _found_in_review(
    row: Row, body: Mapping[str, Any], review: Review, wanted: Set[Verdict]
) -> Iterator[tuple[Verdict, Told]]:
    """The same of one review of an imported line; that some pair was unfair says nothing of any of them."""
    names, odds = body["candidates"], body["probabilities"]
    unfair = set(review.unfair)
    looked_at = (
        sorted(unfair.union(review.fair)) if review.kind == "partial" else list(combinations(range(len(names)), 2))
    )
    if review.any_unfair or not looked_at:
        return
    contexts, places = np.array(body["contexts"], dtype=np.float64), np.array(looked_at)
    differences = as_bytes(contexts[places[:, 0]] - contexts[places[:, 1]])
    for (i, j), difference in zip(looked_at, differences, strict=True):
        said = Verdict(difference, (i, j) in unfair, review.reviewer)
        if said in wanted:
            yield said, Told(row.seq, row.id, row.kind, names[i], names[j], abs(odds[i] - odds[j]))
