"""The questions that a reviewer answered in earlier interviews, from the ledger, so that undo works after a restart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from evenhand.interview.question import Answer, Judgement, Label, Question
from evenhand.ledger.ledger import Ledger
from evenhand.records.decision import Pair
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


def read_history(
    ledger: Ledger, desk: str, reviewer: str, people: KnownPeople, labels: Sequence[Label | None]
) -> InterviewHistory:
    """The reviewer's questions and answers about these people; others cannot be asked again.

    labels: the feature of each column, for partial profiles.
    """
    finder, history = _PeopleFinder(people, labels), InterviewHistory()
    for row in ledger.rows(desk, kinds=KINDS):
        body = row.event.body
        if row.kind == "withdrawal":
            history.take_back(body["review"])
        elif body["reviewer"] == reviewer:
            question = _question(body, finder)
            if question is not None:
                history.add(row.id, question, body["unfair"])
    return history


@dataclass(frozen=True)
class _PeopleFinder:
    """Where the people of an earlier question are in the list now."""

    people: KnownPeople
    labels: Sequence[Label | None]

    @cached_property
    def places(self) -> dict[tuple[float, ...], int]:
        return {tuple(context): place for place, context in enumerate(self.people.contexts.tolist())}

    def pair(self, x: Sequence[float], y: Sequence[float], question: Question) -> Pair | None:
        """The indices of two contexts, or of a person and the donor; None if one is not there any more."""
        first = self.places.get(tuple(x))
        second = self.places.get(tuple(y)) if question.replaced is None else self._donor(x, y, question)
        return None if first is None or second is None else (first, second)

    def _donor(self, x: Sequence[float], y: Sequence[float], question: Question) -> int | None:
        """Somebody with the replaced features of y: the one of that time, if still there, as values may have been
        written in other words."""
        if question.replaced is None or not set(question.replaced) <= set(self.labels):
            return None
        columns = np.array([label in question.replaced for label in self.labels])
        if not np.array_equal(np.array(x)[~columns], np.array(y)[~columns]):
            return None
        able = np.flatnonzero(np.all(self.people.contexts[:, columns] == np.array(y)[columns], axis=1))
        if not len(able):
            return None
        return question.pair[1] if question.pair[1] in able else int(able[0])


def _question(body: Mapping[str, Any], finder: _PeopleFinder) -> Question | None:
    """An event's question, about the same two people wherever they are in the list now; None if it has none."""
    record = (body["circumstances"] or {}).get("question")
    if not isinstance(record, dict):
        return None
    try:
        question = Question.from_dict({"pair": (0, 0), **record})
        pair = finder.pair(body["x"], body["y"], question)
    except (KeyError, TypeError, ValueError):  # a client may send anything
        return None
    return None if pair is None else replace(question, pair=pair)
