"""InterviewSessions: before a desk goes live, a reviewer answers questions about pairs with hypothetical chances.

Every answer is an event, so an interview can be interrupted at any time and continued by any process: what is known is
the desk's projection, what was asked is read from the ledger. In between, a copy of the bandit learns each answer of
this conversation at once.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from evenhand._internal.checks import check_one_of
from evenhand.desk.commands import AnswerQuestion
from evenhand.desk.desk import Desk
from evenhand.desk.lottery import key_for
from evenhand.desk.projection.projection import QuietBandit
from evenhand.interview import Interview
from evenhand.interview.interview import EPSILON_OF_PEOPLE
from evenhand.interview.profiles import chosen_differences, rows_of_question
from evenhand.interview.question import Question, check_judgement, steps_in_one
from evenhand.records.review_metadata import ANSWERS, JUDGEMENTS
from evenhand.review._interview_history import ANSWERS_BY_VERDICT, AnsweredQuestion, InterviewHistory, read_history
from evenhand.review._interview_people import (
    KnownPeople,
    ids_in_csv,
    keep_people,
    known_people,
    people_in_csv,
    plan_in_force,
    profile_labels,
)
from evenhand.review.display import rows_of, shown_and_hidden
from evenhand.review.encryption import Encryption
from evenhand.review.review_book import ReviewBook
from evenhand.review.review_sessions import INSTRUCTION

SYNC_SECONDS = 30.0
"""How often the answers of others are taken over."""

CATCH_UP_SECONDS = 5.0
"""How long to wait for the projection to include a withdrawal."""


@dataclass
class Conversation:
    """One reviewer's interview in this process."""

    people: KnownPeople
    interview: Interview
    history: InterviewHistory
    """Answers in this conversation, and earlier ones about the same people."""
    expected_first: float
    """Expected unfair pairs when nothing was known: the meter's full length."""
    flags_first: int | None = None
    """How many decisions could ever be flagged when nothing was known; None if the metric learner has no theorem."""
    synced: float = 0.0
    """When the desk's projection was last taken over."""
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    known: int = 0
    """How many answers of this reviewer the conversation includes."""
    turn: int = 0
    """How many questions were asked: a question is answered once, and once more after a withdrawal."""
    erasures: int = 0
    """The last erasure when it began."""

    @property
    def question(self) -> Question | None:
        """The current question; None when the interview is over, or decisions have no pairs to learn for."""
        if self.history.again:
            return self.history.again[-1].question
        return None if self.people.always_alone else self.interview.question


class InterviewSessions:
    """The interview page's side of one desk. Methods block, and may be called from any thread."""

    def __init__(self, desk: Desk, keys: Sequence[bytes] = (), book: ReviewBook | None = None) -> None:
        self.desk = desk
        self._conversations: dict[str, Conversation] = {}
        self._book = book or ReviewBook(desk.ledger, desk.name)
        self._lock = threading.RLock()
        self._encryption = Encryption(desk.ledger, desk.name, "interview question", keys)

    @cached_property
    def _draw_key(self) -> bytes:
        return key_for(self.desk.ledger, self.desk.name, "interview questions")

    # Questions.

    def next(self, reviewer: str) -> dict[str, Any]:
        """The reviewer's current question, the same until it is answered, and the meter; or why there is none."""
        with self._lock:
            page = {"item": None, "meter": None, "people": 0, "ended": None, "is_live": self.desk.head.decisions > 0}
            talk = self._conversation(reviewer)
            if talk is None:
                return page
            self._take_back(talk)
            self._sync(talk)
            return page | self._display(talk, reviewer)

    def last(self, reviewer: str) -> dict[str, Any] | None:
        """This reviewer's last answer with its remarks, so that a reloaded page can take it back."""
        with self._lock:
            talk = self._conversations.get(reviewer)
            if talk is None or not talk.history.answered:
                return None
            event = talk.history.answered[-1].event
        body = self.desk.event(event).body
        metadata = body["circumstances"] or {}  # none if it was erased
        answer = metadata.get("answer", ANSWERS_BY_VERDICT[body["unfair"]])
        return {"review": event, "answer": answer, "reason": metadata.get("reason"), "note": metadata.get("note")}

    def _conversation(self, reviewer: str) -> Conversation | None:
        self._book.refresh()
        answered, begun = self._book.interviewed(reviewer), self._conversations.get(reviewer)
        # Begin anew if the reviewer continued elsewhere, somebody was erased, or there may be pairs for the first time.
        erasures = max(self._book.erasures.values(), default=0)
        if begun is None or answered > begun.known or begun.people.always_alone or erasures > begun.erasures:
            settings = self.desk.settings
            people = known_people(self.desk.ledger, self.desk.name, settings)
            if len(people.rows) < 2:
                return None
            # The bandit knows nothing yet, so that the meter shows how much of everything is unknown.
            labels = profile_labels(people, settings, self._book.rules.hidden)
            history = read_history(self.desk.ledger, self.desk.name, reviewer, people, labels)
            interview = Interview(
                settings.first_bandit(),
                people.contexts,
                epsilon=EPSILON_OF_PEOPLE if settings.epsilon is None else settings.epsilon,
                seed=int.from_bytes(self._draw(f"{self.desk.head.seq} {reviewer}", 8)),
                answers=history.answers,
                differ_in=self._differ_in(),
                features=labels,
                plan=plan_in_force(self.desk.ledger, self.desk.name, settings),
            )
            first = (interview.expected_unfair_pairs, interview.flags_left)
            self._conversations[reviewer] = Conversation(
                people, interview, history, *first, known=answered, erasures=erasures
            )
        return self._conversations[reviewer]

    def _differ_in(self) -> int | None:
        """In how many features two people differ at most; whole profiles by default where no schema names features."""
        schema = self.desk.settings.schema
        return chosen_differences(self._book.rules.differ_in, 0 if schema is None else len(schema.features))

    def _draw(self, text: str, size: int) -> bytes:
        """Bytes that look random, always the same for the same text."""
        return hashlib.blake2b(text.encode(), digest_size=size, key=self._draw_key).digest()

    def _sync(self, talk: Conversation, *, wait_for: int = 0) -> None:
        """Now and then take over the desk's bandit, with the answers and withdrawals of others."""
        if not wait_for and time.monotonic() - talk.synced < SYNC_SECONDS:
            return
        if not talk.synced:
            wait_for = self.desk.head.seq  # a desk that was just opened may still be catching up
        elif talk.history.answered:
            wait_for = max(wait_for, self.desk.event(talk.history.answered[-1].event).seq)
        if self.desk.wait_for(wait_for, CATCH_UP_SECONDS):
            talk.interview.bandit = QuietBandit.from_state(self.desk.projection.bandit.state())
            talk.synced = time.monotonic()

    def _take_back(self, talk: Conversation) -> None:
        """Ask again the questions whose answers were withdrawn, latest first."""
        while talk.history.answered:
            with self.desk.ledger.reading(self.desk.name) as view:
                withdrawals = [row for row in view.about([talk.history.answered[-1].event]) if row.kind == "withdrawal"]
            if not withdrawals:
                return
            talk.history.again.append(talk.history.answered.pop())
            talk.turn += 1
            self._sync(talk, wait_for=withdrawals[-1].seq)

    # How a question is displayed.

    def _display(self, talk: Conversation, reviewer: str) -> dict[str, Any]:
        question, people = talk.question, talk.people
        page = {"meter": self._meter(talk), "people": len(people.rows), "always_alone": people.always_alone}
        if question is None:
            return {**page, "ended": talk.interview.ended}
        again_of = talk.history.again[-1].event if talk.history.again else None
        return {**page, "again_of": again_of, **self._display_question(talk, question, reviewer)}

    def _display_question(self, talk: Conversation, question: Question, reviewer: str) -> dict[str, Any]:
        """Two people, left and right at random, without what is hidden from reviewers."""
        rules, people = self._book.rules, rows_of_question(question, talk.people.rows)
        x, y = talk.interview.contexts_of(question).tolist()
        swapped = self._draw(f"sides {reviewer} {question.number} {x} {y}", 1)[0] % 2
        sides = (1, 0) if swapped else (0, 1)
        left, right = (people[side] for side in sides)
        shown, hidden = shown_and_hidden(left, self.desk.settings, rules.hidden)
        content = {
            "reviewer": reviewer,
            "question": question.to_dict(),
            "x": x,
            "y": y,
            "names": shown,
            "hidden": hidden,
            "left": "xy"[sides[0]],
            "people": [] if talk.people.ids is None else [talk.people.ids[place] for place in question.pair],
            "once": f"{talk.name} {talk.turn}",
        }
        return {
            "item": self._encryption.encrypt(content, reviewer),
            "draft": self._encryption.digest(f"{reviewer} {x} {y}"),
            "rows": rows_of(left, right, self.desk.settings, rules.hidden),
            "withheld": bool(hidden),
            "is_partial": question.replaced is not None,
            "probabilities": [question.probabilities[side] for side in sides],
            "gap": question.gap,
            "digits": max(0, len(str(steps_in_one(talk.interview.epsilon))) - 3),
            "instruction": INSTRUCTION["verdicts"],
        }

    @staticmethod
    def _meter(talk: Conversation) -> dict[str, Any]:
        interview = talk.interview
        return {
            "unknown": interview.unknown,
            "expected_unfair_pairs": 0.0 if talk.people.always_alone else interview.expected_unfair_pairs,
            "expected_first": talk.expected_first,
            "enough": interview.enough,
            "decisions": interview.plan.decisions,
            "answers": len(talk.history.answered),
            "epsilon": interview.epsilon,
            "flags_left": interview.flags_left,
            "flags_first": talk.flags_first,
            "promise": interview.bandit.promise,
        }

    # Answers.

    def decrypt(self, token: str, reviewer: str) -> dict[str, Any]:
        """The question that a page returns; InvalidInput if it is not this reviewer's."""
        content: dict[str, Any] = self._encryption.decrypt(token, reviewer)
        return content

    def command(self, content: Mapping[str, Any], answer: str, remarks: Mapping[str, Any]) -> AnswerQuestion:
        """The answer to record; nothing is learned from "unsure", "skip" and "conflict"."""
        check_one_of("answer", answer, ANSWERS)
        unfair = answer == "unfair" if answer in JUDGEMENTS else None
        question = content["question"]
        key = hashlib.blake2b(f"{content['once']} {question} {content['reviewer']}".encode(), digest_size=16)
        metadata = {
            "interview": True,
            "question": question,
            "shown": content["names"],
            "hidden": content["hidden"],
            "left": content["left"],
            "instruction": INSTRUCTION["verdicts"],
            "answer": answer,
            **remarks,
        }
        return AnswerQuestion(
            content["x"],
            content["y"],
            question["gap"],
            unfair,
            reviewer=content["reviewer"],
            circumstances=metadata,
            actor=content["reviewer"],
            idempotency_key=f"question-{key.hexdigest()}",
            people=content.get("people", ()),
        )

    def answered(self, content: Mapping[str, Any], answer: str, event: str) -> dict[str, Any]:
        """The next question after an answer, recorded under this event's id."""
        reviewer, question = content["reviewer"], Question.from_dict(content["question"])
        with self._lock:
            talk = self._conversations.get(reviewer)
            if talk is not None and talk.question == question and _same_people(talk, question, content):
                self._learn(talk, question, answer, reviewer)
                talk.turn += 1
                talk.known += 1
                talk.history.answered.append(AnsweredQuestion(event, question))
            elif talk is not None:
                talk.synced = 0.0  # asked by another process or tab: the answer comes with the projection
        return self.next(reviewer)

    @staticmethod
    def _learn(talk: Conversation, question: Question, answer: str, reviewer: str) -> None:
        judged = answer in JUDGEMENTS
        if not talk.history.again:
            talk.interview.answer(check_judgement(answer) if judged else "unsure", reviewer)
            return
        talk.history.again.pop()
        if judged:
            x, y = talk.interview.contexts_of(question)
            talk.interview.bandit.learn_pair(x, y, gap=question.gap, unfair=answer == "unfair", reviewer=reviewer)

    def upload_people(self, text: str) -> int:
        """Store people from comma-separated values and begin anew with them; returns how many."""
        rows = people_in_csv(text, self.desk.settings)
        with self._lock:
            keep_people(self.desk.ledger, self.desk.name, rows, ids_in_csv(text, rows))
            self._conversations.clear()
        return len(rows)


def _same_people(talk: Conversation, question: Question, content: Mapping[str, Any]) -> bool:
    """Whether the question was about these people, not others at the same places of another list."""
    x, y = talk.interview.contexts_of(question)
    return bool(np.array_equal(x, content["x"]) and np.array_equal(y, content["y"]))
