"""Interviewing: before a desk goes live, a reviewer answers questions about pairs with made-up odds.

Every answer is a line of the ledger, so an interview can be put down at any time and taken up by any process: what
is known is the desk's state, and what was asked, and may be taken back, is read from the lines. Between two folds a
copy of the bandit learns the answers of this conversation at once.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.desk.commands import AnswerQuestion
from evenhand.desk.desk import Desk
from evenhand.desk.projection.quiet_bandit import QuietBandit
from evenhand.desk.review_book import ReviewBook
from evenhand.errors import InvalidInput
from evenhand.interview import Interview
from evenhand.interview.choice import steps_in_one
from evenhand.interview.question import Question, check_said
from evenhand.records.review_metadata import ANSWERS, JUDGEMENTS
from evenhand.review.display import rows_of, shown_and_hidden
from evenhand.review.interview_history import SAID, Given, past_of
from evenhand.review.interview_people import KnownPeople, keep_people, known_people, people_in_csv
from evenhand.review.reviewing import INSTRUCTION
from evenhand.review.sealed import seal, unseal

EPSILON = 0.05
"""Five percentage points: finer than that few people judge odds. Unless the desk says otherwise."""

SYNC_SECONDS = 30.0
"""So often what others answered is taken in."""

FOLD_SECONDS = 5.0
"""So long a withdrawal may take to be folded before the conversation goes on without waiting."""


@dataclass
class Conversation:
    """One reviewer's interview in this process."""

    people: KnownPeople
    interview: Interview
    expected_first: float
    """How many unfair pairs were to be expected when nothing was known at all: the meter's full length."""
    synced: float = 0.0
    """When the desk's state was last taken over."""
    given: list[Given] = field(default_factory=list)
    """Answers of this conversation, and of those before about the same people."""
    again: list[Given] = field(default_factory=list)
    """Answers that were taken back; the last one's question is asked next."""
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    known: int = 0
    """How many answers of this reviewer the conversation knows of: those before it began, and its own."""
    turn: int = 0
    """How often another question was asked: one question is answered once, and once more after it was taken back."""

    @property
    def question(self) -> Question | None:
        """What to ask now; None when the interview is over, or decisions have no pairs to be learned for."""
        if self.again:
            return self.again[-1].question
        return None if self.people.always_alone else self.interview.question


class Interviewing:
    """The interview page's side of one desk. Its methods block and may be called from any thread."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._conversations: dict[str, Conversation] = {}
        self._book = ReviewBook(desk.ledger, desk.name)
        self._lock = threading.RLock()
        self._secret = hashlib.sha256(b"evenhand questions" + desk.settings.seed.to_bytes(16)).digest()

    # Asking.

    def asked(self, reviewer: str) -> dict[str, Any]:
        """The question before this reviewer, the same until it is answered, and the meter; or why there is none."""
        with self._lock:
            talk = self._conversation(reviewer)
            if talk is None:
                return {"item": None, "meter": None, "people": 0, "ended": None, "is_live": self._is_live()}
            self._take_back(talk)
            self._sync(talk)
            return self._told(talk, reviewer)

    def last(self, reviewer: str) -> dict[str, Any] | None:
        """This reviewer's last answer that stands, with what was remarked: a page opened anew can take it back."""
        with self._lock:
            talk = self._conversations.get(reviewer)
            if talk is None or not talk.given:
                return None
            line = talk.given[-1].line
        body = self.desk.event(line).body
        told = body["circumstances"]
        answer = told.get("answer", SAID[body["unfair"]])
        return {"review": line, "answer": answer, "reason": told.get("reason"), "note": told.get("note")}

    def _is_live(self) -> bool:
        """Whether the desk has decided about anybody yet."""
        return self.desk.head.decisions > 0

    def _conversation(self, reviewer: str) -> Conversation | None:
        self._book.refresh()
        given, begun = self._book.interviewed(reviewer), self._conversations.get(reviewer)
        # Anew, too, if they went on elsewhere: what was asked there is not asked here; or if pairs may have come since.
        if begun is None or given > begun.known or begun.people.always_alone:
            settings = self.desk.settings
            people = known_people(self.desk.ledger, self.desk.name, settings)
            if len(people.rows) < 2:
                return None
            epsilon = EPSILON if settings.epsilon is None else settings.epsilon
            seed = hashlib.blake2b(
                f"{self.desk.head.seq} {reviewer}".encode(), digest_size=8, key=self._secret
            ).digest()
            # Begun with a bandit that knows nothing, so that the meter tells how much of everything is unknown.
            new = settings.first_bandit()
            past = past_of(self.desk.ledger, self.desk.name, reviewer, people)
            interview = Interview(
                new, people.contexts, epsilon=epsilon, seed=int.from_bytes(seed), answers=past.answers
            )
            expected = interview.expected_unfair_pairs
            self._conversations[reviewer] = Conversation(
                people, interview, expected, given=past.given, again=past.again, known=given
            )
        return self._conversations[reviewer]

    def _sync(self, talk: Conversation, *, wait_for: int = 0) -> None:
        """Now and then the bandit is the desk's: what others said, and what was taken back, is in it."""
        if not wait_for and time.monotonic() - talk.synced < SYNC_SECONDS:
            return
        if not talk.synced:
            wait_for = self.desk.head.seq  # a desk just opened may still be folding what was said before
        elif talk.given:
            wait_for = max(wait_for, self.desk.event(talk.given[-1].line).seq)
        patience = time.monotonic() + FOLD_SECONDS
        while self.desk.projection.seq < wait_for and time.monotonic() < patience:
            time.sleep(0.02)
        if self.desk.projection.seq >= wait_for:
            talk.interview.bandit = QuietBandit.from_state(self.desk.projection.bandit.state())
            talk.synced = time.monotonic()

    def _take_back(self, talk: Conversation) -> None:
        """Questions whose answers were withdrawn since are asked again, the latest first."""
        while talk.given:
            with self.desk.ledger.reading(self.desk.name) as view:
                withdrawals = [row for row in view.about([talk.given[-1].line]) if row.kind == "withdrawal"]
            if not withdrawals:
                return
            talk.again.append(talk.given.pop())
            talk.turn += 1
            self._sync(talk, wait_for=withdrawals[-1].seq)

    def _told(self, talk: Conversation, reviewer: str) -> dict[str, Any]:
        question = talk.question
        told = {
            "item": None,
            "meter": self._meter(talk),
            "people": len(talk.people.rows),
            "ended": None,
            "is_live": self._is_live(),
            "always_alone": talk.people.always_alone,
        }
        if question is None:
            return {**told, "ended": talk.interview.ended}
        again_of = talk.again[-1].line if talk.again else None
        return {**told, "again_of": again_of, **self._shown(talk, question, reviewer)}

    def _shown(self, talk: Conversation, question: Question, reviewer: str) -> dict[str, Any]:
        """A question for the page: two people, who is on the left by lot, without what is hidden from reviewers."""
        rows, rules = talk.people.rows, self._book.rules
        x, y = (talk.people.contexts[place].tolist() for place in question.pair)
        sides = self._sides(f"{reviewer} {question.number} {x} {y}")
        left, right = (rows[question.pair[side]] for side in sides)
        shown, hidden = shown_and_hidden(left, self.desk.settings, rules.hidden)
        note = {
            "reviewer": reviewer,
            "question": question.to_dict(),
            "x": x,
            "y": y,
            "names": shown,
            "hidden": hidden,
            "left": "xy"[sides[0]],
            "once": f"{talk.name} {talk.turn}",
        }
        return {
            "item": seal(self._secret, note),
            "draft": hashlib.blake2b(f"{reviewer} {x} {y}".encode(), digest_size=12, key=self._secret).hexdigest(),
            "rows": rows_of(left, right, self.desk.settings, rules.hidden),
            "withheld": bool(hidden),
            "odds": [question.odds[side] for side in sides],
            "gap": question.gap,
            "digits": max(0, len(str(steps_in_one(talk.interview.epsilon))) - 3),
            "instruction": INSTRUCTION,
        }

    def _sides(self, question: str) -> tuple[int, int]:
        """Who of the two stands on the left, by lot: the same whenever the question is shown."""
        lot = hashlib.blake2b(f"sides {question}".encode(), digest_size=1, key=self._secret).digest()[0] % 2
        return (1, 0) if lot else (0, 1)

    @staticmethod
    def _meter(talk: Conversation) -> dict[str, Any]:
        interview = talk.interview
        return {
            "unknown": interview.unknown,
            "expected_unfair_pairs": 0.0 if talk.people.always_alone else interview.expected_unfair_pairs,
            "expected_first": talk.expected_first,
            "enough": interview.enough,
            "answers": len(talk.given),
            "epsilon": interview.epsilon,
        }

    # Telling.

    def opened(self, note: str, reviewer: str) -> dict[str, Any]:
        """The question that a page sends back."""
        content: dict[str, Any] = unseal(self._secret, note)
        if content["reviewer"] != reviewer:
            raise InvalidInput("this question was put before another reviewer; ask for the next one")
        return content

    def command(self, content: Mapping[str, Any], answer: str, remarks: Mapping[str, Any]) -> AnswerQuestion:
        """The line to be recorded; that of "unsure", "skip" and "conflict" teaches nothing."""
        unfair = None if _passes(answer) else answer == "unfair"
        question = content["question"]
        key = hashlib.blake2b(f"{content['once']} {question} {content['reviewer']}".encode(), digest_size=16)
        circumstances = {
            "interview": True,
            "question": question,
            "shown": content["names"],
            "hidden": content["hidden"],
            "left": content["left"],
            "instruction": INSTRUCTION,
            "answer": answer,
            **remarks,
        }
        return AnswerQuestion(
            content["x"],
            content["y"],
            question["gap"],
            unfair,
            reviewer=content["reviewer"],
            circumstances=circumstances,
            actor=content["reviewer"],
            idempotency_key=f"question-{key.hexdigest()}",
        )

    def heard(self, content: Mapping[str, Any], answer: str, line: str) -> dict[str, Any]:
        """The next question after an answer, of which `line` is the id."""
        reviewer, question = content["reviewer"], Question.from_dict(content["question"])
        with self._lock:
            talk = self._conversations.get(reviewer)
            if talk is not None and talk.question == question and _is_same(talk, question, content):
                self._learn(talk, question, answer, reviewer)
                talk.turn += 1
                talk.known += 1
                talk.given.append(Given(line, question))
            elif talk is not None:
                talk.synced = 0.0  # another process asked, or another window: what was said comes with the state
        return self.asked(reviewer)

    @staticmethod
    def _learn(talk: Conversation, question: Question, answer: str, reviewer: str) -> None:
        if not talk.again:
            talk.interview.answer("unsure" if _passes(answer) else check_said(answer), reviewer)
            return
        talk.again.pop()
        if not _passes(answer):
            x, y = (talk.people.contexts[place] for place in question.pair)
            talk.interview.bandit.learn_pair(x, y, gap=question.gap, unfair=answer == "unfair", reviewer=reviewer)

    def take_people(self, text: str) -> int:
        """Keep people from comma-separated values, and begin anew with them; how many there are."""
        rows = people_in_csv(text, self.desk.settings)
        with self._lock:
            keep_people(self.desk.ledger, self.desk.name, rows)
            self._conversations.clear()
        return len(rows)


def _passes(answer: str) -> bool:
    """Whether an answer passes the pair over; InvalidInput if it is none."""
    if answer not in ANSWERS:
        raise InvalidInput(f"the answer is {answer!r}; allowed are {', '.join(ANSWERS)}")
    return answer not in JUDGEMENTS


def _is_same(talk: Conversation, question: Question, content: Mapping[str, Any]) -> bool:
    """Whether the question was about these very people, not about others with the same places in another list."""
    x, y = (talk.people.contexts[place] for place in question.pair)
    return bool(np.array_equal(x, content["x"]) and np.array_equal(y, content["y"]))
