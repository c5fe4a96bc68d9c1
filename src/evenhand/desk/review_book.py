"""ReviewBook: who answered what on which pair, read from a desk's ledger and kept up to date with it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evenhand.desk.review_rules import ReviewRules
from evenhand.errors import AlreadyRecorded
from evenhand.ledger.ledger import Ledger, Row
from evenhand.records.review_metadata import DECLINED, misfit

KINDS = ("review", "answer", "withdrawal", "settings")
CHUNK = 2000

PairOfDecision = tuple[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Given:
    """One answer of one person on one pair."""

    review: str
    """The id of the ledger's line."""
    seq: int
    time: str
    reviewer: str | None
    decision: str
    pair: frozenset[str]
    answer: str
    place: int = 0
    """Which of the pair's planned places it took."""
    repeat_of: str | None = None
    """The answer that it was asked for to compare with."""
    again_of: str | None = None
    """The answer, taken back, that it replaces."""
    seconds: float | None = None
    """From seeing the pair to answering."""
    whole: str = ""
    """"complete" or "one_bit" of a review of a whole decision, "answer" of an interview's; the pair is then empty."""
    item: str | None = None
    """The item that it answers, on the review page."""
    pairs: int = 0
    """Of a complete review: how many pairs the decision has."""
    left: str | None = None
    """Who of the two stood on the left, on the review page."""


@dataclass(frozen=True, slots=True)
class Undoing:
    """That an answer was taken back."""

    actor: str
    moment: float
    """In seconds since 1970."""


class ReviewBook:
    """All answers of one desk. `refresh` reads what is new in the ledger; everything else is looked up in memory."""

    def __init__(self, ledger: Ledger, desk: str) -> None:
        self._ledger, self._desk = ledger, desk
        self._lock = threading.Lock()
        self._read_to = 0
        self.rules = ReviewRules()
        self._by_review: dict[str, list[Given]] = {}
        self._by_reviewer: dict[str | None, list[Given]] = {}
        self._by_pair: dict[PairOfDecision, list[Given]] = {}
        self._whole: list[Given] = []
        self._withdrawn: dict[str, Undoing] = {}
        self._answered_again: set[str] = set()
        self._undone: list[Given] = []
        """Answers that those who gave them took back."""

    def refresh(self) -> None:
        """Take in all lines up to the ledger's head."""
        with self._lock:
            while True:
                with self._ledger.reading(self._desk) as view:
                    head = view.head.seq
                    rows = view.after(self._read_to, CHUNK, KINDS) if head > self._read_to else []
                    if self._read_to == 0:
                        rows = [*view.after(0, 1, ("opened",)), *rows]
                    decisions = view.by_id({row.target or "" for row in rows if _is_complete(row)})
                for row in rows:
                    self._take_in(row, decisions)
                if len(rows) < CHUNK:
                    self._read_to = head
                    return
                self._read_to = rows[-1].seq

    def _take_in(self, row: Row, decisions: Mapping[str, Row]) -> None:
        body = row.event.body
        if row.kind in ("review", "answer"):
            self._whole += whole_in(row, decisions)
        if row.kind == "answer":
            return
        if row.kind == "review":
            for given in answers_in(row):
                self._by_review.setdefault(given.review, []).append(given)
                self._by_reviewer.setdefault(given.reviewer, []).append(given)
                self._by_pair.setdefault((given.decision, given.pair), []).append(given)
                if given.again_of is not None:
                    self._answered_again.add(given.again_of)
            if body["supersedes"] is not None:
                self._withdraw(body["supersedes"], row)
                self._answered_again.add(body["supersedes"])
        elif row.kind == "withdrawal":
            self._withdraw(body["review"], row)
        else:
            self.rules = ReviewRules.create(body["settings"].get("reviewing"))

    def _withdraw(self, review: str, by: Row) -> None:
        event = by.event
        self._withdrawn[review] = Undoing(event.actor, datetime.fromisoformat(event.time).timestamp())
        for given in self._by_review.get(review, ()):
            if given.reviewer == event.actor:
                self._undone.append(given)

    def count(self, reviewer: str) -> int:
        """How many answers this person has given, those taken back among them: it only ever grows."""
        return len(self._by_reviewer.get(reviewer, ()))

    def standing(self, reviewer: str | None = None) -> Iterator[Given]:
        """Answers that were not taken back, the oldest first; of one person, or of all."""
        groups = [self._by_reviewer.get(reviewer, [])] if reviewer is not None else list(self._by_reviewer.values())
        return (given for group in groups for given in list(group) if given.review not in self._withdrawn)

    def compared(self, reviewer: str | None = None) -> Iterator[Given]:
        """The same, and first answers to repeats although whoever gave them took them back.

        After an answer to a repeat its reviewer is told that it was one: what they would say then is no second answer.
        """
        groups = [self._by_reviewer.get(reviewer, [])] if reviewer is not None else list(self._by_reviewer.values())
        return (given for group in groups for given in list(group) if self._counts(given))

    def _counts(self, given: Given) -> bool:
        undone = self._withdrawn.get(given.review)
        return undone is None or (given.repeat_of is not None and undone.actor == given.reviewer)

    def whole(self) -> list[Given]:
        """What was said of whole decisions and in interviews, and not taken back, the oldest first."""
        return [given for given in self._whole if given.review not in self._withdrawn]

    def interviewed(self, reviewer: str) -> int:
        """How many questions of interviews this person has answered, those taken back among them."""
        return sum(given.whole == "answer" and given.reviewer == reviewer for given in self._whole)

    def reviewers(self) -> list[str | None]:
        """Everybody who has answered, on whatever."""
        return sorted({*self._by_reviewer, *(given.reviewer for given in self._whole)}, key=lambda name: name or "")

    def on(self, decision: str, pair: frozenset[str]) -> list[Given]:
        """Answers on this pair that were not taken back."""
        return [given for given in self._by_pair.get((decision, pair), ()) if given.review not in self._withdrawn]

    def withdrawn(self, reviewer: str | None) -> int:
        """How many of this person's reviews and answers were taken back."""
        mine = {given.review for given in self._by_reviewer.get(reviewer, ())}
        mine |= {given.review for given in self._whole if given.reviewer == reviewer}
        return len(mine & self._withdrawn.keys())

    def taken_back(self, reviewer: str, since: float) -> list[Given]:
        """Answers that this person took back, since this moment, and nobody has given in their place; the oldest first.

        A repeat waits for them however long ago that was: nobody else can answer it.
        """
        found = (
            given
            for given in self._undone
            if given.reviewer == reviewer
            and self._is_open(given)
            and (given.repeat_of is not None or self._withdrawn[given.review].moment > since)
            and (given.repeat_of is not None or not self._is_replaced(given))
        )
        return sorted(found, key=lambda given: given.seq)

    def left_open(self, until: float) -> list[Given]:
        """Answers that were taken back by this moment, not given again, and that nobody gave in their place."""
        return [
            given
            for given in self._undone
            if self._withdrawn[given.review].moment <= until
            and self._is_open(given)
            and given.repeat_of is None
            and not self._is_replaced(given)
        ]

    def _is_open(self, given: Given) -> bool:
        return given.review not in self._answered_again

    def _is_replaced(self, given: Given) -> bool:
        """Whether somebody took the place of an answer: repeats do not, nor answers that leave the pair to others."""
        there = (other for other in self.on(given.decision, given.pair) if other.place == given.place)
        return any(other.repeat_of is None and other.answer not in DECLINED for other in there)


def answers_in(row: Row) -> list[Given]:
    """The answers on single pairs that a review tells: one from the review page, else all pairs that it names."""
    event = row.event
    body, circumstances = event.body, event.body["circumstances"] or {}
    common = (row.id, row.seq, event.time, body["reviewer"], body["decision"])
    if misfit(circumstances) is not None:  # the first ledgers took whatever was said
        circumstances = {}
    if circumstances.get("answer") is not None and circumstances.get("pair") is not None:
        queue = circumstances.get("queue") or {}
        return [
            Given(
                *common,
                frozenset(circumstances["pair"]),
                circumstances["answer"],
                int(queue.get("place", 0)),
                circumstances.get("repeat_of"),
                circumstances.get("again_of"),
                circumstances.get("seconds"),
                item=circumstances.get("item"),
                left=(circumstances.get("sides") or {}).get("left"),
            )
        ]
    told: Sequence[tuple[str, Any]] = [
        *(("unfair", p) for p in body["unfair"]),
        *(("acceptable", p) for p in body["fair"]),
    ]
    return [Given(*common, frozenset(pair), answer) for answer, pair in told]


def refuse_second_answer(body: Mapping[str, Any], standing: Iterable[Row]) -> None:
    """AlreadyRecorded if a review answers on a pair on which its reviewer has answered, in whichever window.

    Of reviews that answer on a pair, as the review page's do; it may supersede the earlier one. What was skipped may
    be answered. standing: the reviews of the decision that were not taken back.
    """
    told, reviewer = body["circumstances"] or {}, body["reviewer"]
    if told.get("answer") is None or reviewer is None:
        return
    pair = frozenset(told["pair"])
    for row in standing:
        for given in answers_in(row) if row.id != body["supersedes"] else ():
            is_answer = given.repeat_of is None and given.answer not in DECLINED
            if is_answer and given.pair == pair and given.reviewer == reviewer:
                raise AlreadyRecorded(f"this pair was answered before by {reviewer}, see {row.id}")


def whole_in(row: Row, decisions: Mapping[str, Row]) -> list[Given]:
    """What a line says of a whole decision, or of the two people of an interview's question."""
    event = row.event
    body, circumstances = event.body, event.body["circumstances"] or {}
    if misfit(circumstances) is not None:
        circumstances = {}
    common = (row.id, row.seq, event.time, body["reviewer"], body.get("decision", ""), frozenset[str]())
    if row.kind == "answer":
        said = {True: "unfair", False: "acceptable"}.get(body["unfair"], circumstances.get("answer", "unsure"))
        return [Given(*common, said, seconds=circumstances.get("seconds"), whole="answer")]
    if body["kind"] == "one_bit":
        return [Given(*common, "unfair" if body["any_unfair"] else "acceptable", whole="one_bit")]
    if not _is_complete(row):
        return []
    k = len(decisions[row.target or ""].event.body["candidates"])
    said = "unfair" if body["unfair"] else "acceptable"
    return [Given(*common, said, whole="complete", pairs=k * (k - 1) // 2)]


def _is_complete(row: Row) -> bool:
    return row.kind == "review" and row.event.body["kind"] == "complete"
