"""ReviewBook: who answered what on which pair, read from a desk's ledger and kept up to date with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from evenhand.desk.event_records import ReviewAnswer, answers_in, metadata_of, subject_of
from evenhand.desk.review_rules import ReviewRules
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.waiting_pairs import Subject
from evenhand.records.review_metadata import DECLINED

KINDS = ("review", "answer", "withdrawal", "settings", "switch", "erasure")
CHUNK = 2000

PairOfDecision = tuple[tuple[str, Subject], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Who withdrew an answer, and when."""

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
        self._by_review: dict[str, list[ReviewAnswer]] = {}
        self._by_reviewer: dict[str | None, list[ReviewAnswer]] = {}
        self._by_pair: dict[PairOfDecision, list[ReviewAnswer]] = {}
        self._whole: list[ReviewAnswer] = []
        self._withdrawn: dict[str, Withdrawal] = {}
        self._replaced: set[str] = set()
        self.erasures: dict[str, int] = {}
        """The people who were erased, each with the event that did so last."""
        self._own_withdrawals: list[ReviewAnswer] = []
        """Answers that were withdrawn by the reviewer who gave them."""

    def refresh(self) -> None:
        """Read all events up to the ledger's head."""
        with self._lock:
            while True:
                with self._ledger.reading(self._desk) as view:
                    head = view.head.seq
                    rows = view.after(self._read_to, CHUNK, KINDS) if head > self._read_to else []
                    if self._read_to == 0:
                        rows = [*view.after(0, 1, ("opened",)), *rows]
                    decisions = view.by_id({row.target or "" for row in rows if _is_complete(row)})
                for row in rows:
                    decision = decisions.get(row.target or "")
                    self.add(row, 0 if decision is None else len(decision.event.body["candidates"]))
                if len(rows) < CHUNK:
                    self._read_to = head
                    return
                self._read_to = rows[-1].seq

    def add(self, row: Row, candidates: int = 0) -> None:
        """Add the next event, of one of KINDS or the first; candidates: of the decision that a complete review is of.

        For whoever reads a ledger anyway; `refresh` does it otherwise.
        """
        body = row.event.body
        if row.kind in ("review", "answer"):
            self._whole += whole_in(row, candidates)
        if row.kind == "review":
            for answer in answers_in(row):
                self._by_review.setdefault(answer.review, []).append(answer)
                self._by_reviewer.setdefault(answer.reviewer, []).append(answer)
                self._by_pair.setdefault((answer.treated, answer.pair), []).append(answer)
                if answer.again_of is not None:
                    self._replaced.add(answer.again_of)
            if body["supersedes"] is not None:
                self._withdraw(body["supersedes"], row)
                self._replaced.add(body["supersedes"])
        elif row.kind == "withdrawal":
            self._withdraw(body["review"], row)
        elif row.kind == "erasure":
            self.erasures[body["candidate"]] = row.seq
        elif row.kind != "answer":
            self.rules = ReviewRules.create(body["settings"].get("reviewing"))

    def _withdraw(self, review: str, by: Row) -> None:
        event = by.event
        self._withdrawn[review] = Withdrawal(event.actor, datetime.fromisoformat(event.time).timestamp())
        self._own_withdrawals += [a for a in self._by_review.get(review, ()) if a.reviewer == event.actor]

    def _answers(self, reviewer: str | None) -> Iterator[ReviewAnswer]:
        """Answers on pairs of one reviewer, or of all, those withdrawn among them."""
        groups = list(self._by_reviewer.values()) if reviewer is None else [self._by_reviewer.get(reviewer, [])]
        return (answer for group in groups for answer in list(group))

    def count(self, reviewer: str) -> int:
        """How many answers a reviewer has given, those withdrawn among them: it only ever grows."""
        return len(self._by_reviewer.get(reviewer, ()))

    def standing(self, reviewer: str | None = None) -> Iterator[ReviewAnswer]:
        """Answers that were not withdrawn, the oldest first; of one reviewer, or of all."""
        return (answer for answer in self._answers(reviewer) if answer.review not in self._withdrawn)

    def compared(self, reviewer: str | None = None) -> Iterator[ReviewAnswer]:
        """The same, and first answers to repeats even if their reviewer withdrew them.

        After a repeat its reviewer learns that it was one: what they answer then is not independent.
        """
        for answer in self._answers(reviewer):
            withdrawal = self._withdrawn.get(answer.review)
            if withdrawal is None or (answer.repeat_of is not None and withdrawal.actor == answer.reviewer):
                yield answer

    def whole(self) -> list[ReviewAnswer]:
        """Answers on whole decisions and in interviews that were not withdrawn, the oldest first."""
        return [answer for answer in self._whole if answer.review not in self._withdrawn]

    def interviewed(self, reviewer: str) -> int:
        """How many interview questions a reviewer has answered, those withdrawn among them."""
        return sum(answer.whole == "answer" and answer.reviewer == reviewer for answer in self._whole)

    def reviewers(self) -> list[str | None]:
        """All reviewers who have answered anything."""
        return sorted({*self._by_reviewer, *(answer.reviewer for answer in self._whole)}, key=lambda name: name or "")

    def on(self, decision: str, pair: frozenset[str], subject: Subject = "desk") -> list[ReviewAnswer]:
        """Answers on this pair, as treated by the subject, that were not withdrawn."""
        found = self._by_pair.get(((decision, subject), pair), ())
        return [answer for answer in found if answer.review not in self._withdrawn]

    def withdrawn(self, reviewer: str | None, since: int = 1) -> int:
        """How many of a reviewer's reviews and answers, given from event `since` on, were withdrawn."""
        reviews = {answer.review for answer in self._by_reviewer.get(reviewer, ()) if answer.seq >= since}
        reviews |= {one.review for one in self._whole if one.reviewer == reviewer and one.seq >= since}
        return len(reviews & self._withdrawn.keys())

    def taken_back(self, reviewer: str, since: float) -> list[ReviewAnswer]:
        """Answers that a reviewer withdrew since this moment and that nothing has replaced; the oldest first.

        A repeat stays open however long ago that was: nobody else can answer it.
        """
        mine = [answer for answer in self._not_replaced() if answer.reviewer == reviewer]
        open_to_reviewer = (a for a in mine if a.repeat_of is not None or self._withdrawn[a.review].moment > since)
        return sorted(open_to_reviewer, key=lambda answer: answer.seq)

    def left_open(self, until: float) -> list[ReviewAnswer]:
        """Answers that were withdrawn by this moment, and that nothing has replaced."""
        found = (answer for answer in self._not_replaced() if answer.repeat_of is None)
        return [answer for answer in found if self._withdrawn[answer.review].moment <= until]

    def has_erased(self, answer: ReviewAnswer) -> bool:
        """Whether one of the pair was erased since: it cannot be shown again."""
        return any(self.erasures.get(name, 0) > answer.seq for name in answer.pair)

    def _not_replaced(self) -> Iterator[ReviewAnswer]:
        """Answers that their reviewer withdrew; nobody else takes the place of a repeat, nor of an erased pair."""
        for answer in self._own_withdrawals:
            if self.has_erased(answer):
                continue
            is_taken = answer.repeat_of is None and self._is_place_taken(answer)
            if answer.review not in self._replaced and not is_taken:
                yield answer

    def _is_place_taken(self, answer: ReviewAnswer) -> bool:
        """Whether another answer took its place; repeats do not, nor do answers that leave the pair to others."""
        others = (
            other for other in self.on(answer.decision, answer.pair, answer.subject) if other.place == answer.place
        )
        return any(other.repeat_of is None and other.answer not in DECLINED for other in others)


def whole_in(row: Row, candidates: int) -> list[ReviewAnswer]:
    """The answer of an event on a whole decision, which had this many candidates, or on an interview question."""
    body, metadata = row.event.body, metadata_of(row.event.body)
    common = (row.id, row.seq, row.event.time, body["reviewer"], body.get("decision", ""), frozenset[str]())
    if row.kind == "answer":
        answer = {True: "unfair", False: "acceptable"}.get(body["unfair"], metadata.get("answer", "unsure"))
        return [ReviewAnswer(*common, answer, seconds=metadata.get("seconds"), whole="answer")]
    if body["kind"] == "one_bit":
        bit = "unfair" if body["any_unfair"] else "acceptable"
        return [ReviewAnswer(*common, bit, whole="one_bit", subject=subject_of(body))]
    if not _is_complete(row):
        return []
    answer, pairs = "unfair" if body["unfair"] else "acceptable", candidates * (candidates - 1) // 2
    return [ReviewAnswer(*common, answer, whole="complete", pairs=pairs, subject=subject_of(body))]


def _is_complete(row: Row) -> bool:
    return row.kind == "review" and row.event.body["kind"] == "complete"
