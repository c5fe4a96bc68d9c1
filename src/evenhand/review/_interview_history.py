"""The questions that a reviewer answered in earlier interviews, from the ledger, so that undo works after a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from evenhand.interview.question import Answer, Judgement, Question
from evenhand.ledger.ledger import Ledger
from evenhand.review._interview_people import KnownPeople

KINDS = ("answer", "withdrawal")
ANSWERS_BY_VERDICT: dict[bool | None, Judgement] = {True: "unfair", False: "acceptable", None: "unsure"}


class AnsweredQuestion(NamedTuple):
    """The id of an answer's event, and its question."""

    event: str
    question: Question


@dataclass
class InterviewHistory:
    """A conversation so far, as if its process had never ended."""

    answered: list[AnsweredQuestion] = field(default_factory=list)
    """Answers that were not withdrawn."""
    again: list[AnsweredQuestion] = field(default_factory=list)
    """Withdrawn answers; the last one's question comes next."""
    _unfair: dict[str, bool | None] = field(default_factory=dict)
    _withdrawn: set[str] = field(default_factory=set)

    def add(self, event: str, question: Question, unfair: bool | None) -> None:
        """An answer; to another question than the withdrawn one, its reviewer has moved on."""
        if self.again and replace(self.again[-1].question, why="") == replace(question, why=""):
            self.again.pop()
        else:
            self.again.clear()
        self.answered.append(AnsweredQuestion(event, question))
        self._unfair[event] = unfair

    def take_back(self, event: str) -> None:
        """A withdrawal: the latest answers are asked for again."""
        self._withdrawn.add(event)
        while self.answered and self.answered[-1].event in self._withdrawn:
            self.again.append(self.answered.pop())

    @property
    def answers(self) -> list[Answer]:
        """All answers, numbered in order: a pair answered "unsure" is not asked again for a while."""
        return [
            Answer(replace(question, number=number), ANSWERS_BY_VERDICT[self._unfair[event]])
            for number, (event, question) in enumerate(self.answered, start=1)
        ]


def read_history(ledger: Ledger, desk: str, reviewer: str, people: KnownPeople) -> InterviewHistory:
    """The reviewer's questions and answers about these people; others cannot be asked again."""
    places = {tuple(context): place for place, context in enumerate(people.contexts.tolist())}
    history = InterviewHistory()
    for row in ledger.rows(desk, kinds=KINDS):
        body = row.event.body
        if row.kind == "withdrawal":
            history.take_back(body["review"])
        elif body["reviewer"] == reviewer:
            question = _question(body, places)
            if question is not None:
                history.add(row.id, question, body["unfair"])
    return history


def _question(body: Mapping[str, Any], places: Mapping[tuple[float, ...], int]) -> Question | None:
    """An event's question, about the same two people wherever they are in the list now; None if it has none."""
    both = [places.get(tuple(body[name])) for name in ("x", "y")]
    record = (body["circumstances"] or {}).get("question")
    if both[0] is None or both[1] is None or not isinstance(record, dict):
        return None
    try:
        return Question.from_dict({**record, "pair": both})
    except (KeyError, TypeError, ValueError):  # a client may send anything
        return None
